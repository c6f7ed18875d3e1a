"""What is told of a process is what it comes to: not what another rank does, nor what comes only after the message."""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import source
from read_programs import line_of, sites

from opi_xform.codes import Reason
from opi_xform.ir.calls import calls_of
from opi_xform.ownership.explain.later import OF_ALL, set_in_turns


@pytest.mark.parametrize(("before", "early"), [("", False), ("r += v[2]; // FIRST", True)])
def test_a_free_would_be_too_early_for_what_comes_before_the_receive_alone(
    before: str, early: bool, tmp_path: Path
) -> None:
    """What comes after the loop of receives reads the old memory where that has no turns."""
    step = f"""static double r;
static void step(int n, double v[], int turns)
{{
    {before}
    for (int turn = 0; turn < turns; turn++) {{
        MPI_Recv(v, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        r += v[1];
    }}
}}
"""
    lines = ["double v[n];", "for (int i = 0; i < n; i++) v[i] = i;"]
    lines += ["step(n, v, atoi(argv[2])); // HERE", "for (int i = 0; i < n; i++) r += v[i]; // LAST"]
    text, found = sites(lines, tmp_path, step)
    here, line = line_of(text, "HERE"), line_of(text, "FIRST" if early else "LAST")
    wanted = f": not before line {here}, as line {line} uses the same memory where this call does not run"
    if early:
        wanted = f": before line {here} it would be too early, as line {line} uses the same memory"
    assert found[-1]["code"] == "OPI215"
    assert found[-1]["message"].endswith(wanted)


TEXT = """if (rank == 0) {
    for (int k = 1; k < n; k++) {
        MPI_Recv(t, N, MPI_CHAR, k, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%s\\n", t);
    }
    @
} else {
    memset(t, 0, N); // ZEROS
    sprintf(t, "%d", n);
    MPI_Send(t, N, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    #
}"""
ENDS = "could not show that the message brings the end of its text"


def texts(where: str, folder: Path, before: str = "") -> tuple[str, str, str, list[int]]:
    """The text of a program, and what is told of its receive.  before: what stands before main."""
    text, found = sites([where, TEXT.replace("@", "").replace("#", "")], folder, before)
    receive = found[0]
    return text, receive["code"], receive["message"], [note["line"] for note in receive["notes"]]


def test_zeros_that_another_process_puts_end_no_text_here(tmp_path: Path) -> None:
    """The array begins with zeros, so it stays; and of a block there is nothing to tell but that it is not shown."""
    text, code, message, lines = texts("", tmp_path, "static char t[N]; // BEGINS\n")
    assert (code, message, lines) == ("OPI210", ENDS, [line_of(text, "BEGINS")])
    _, code, message, lines = texts("char *t = malloc(N);", tmp_path)
    assert (code, message, lines) == ("OPI210", ENDS, [])


def test_zeros_of_the_same_process_are_told(tmp_path: Path) -> None:
    lines = ["for (int k = 0; k < n; k++) {", TEXT.replace("@", "memset(t, 0, N); // HERE").replace("#", ""), "}"]
    text, found = sites(lines, tmp_path, "static char t[N];\n")
    assert (found[0]["code"], found[0]["message"].startswith("a text may come without its end")) == ("OPI210", True)
    assert [note["line"] for note in found[0]["notes"]] == [line_of(text)]


def test_what_else_keeps_such_a_text_is_told_first(tmp_path: Path) -> None:
    end = "t[0] = 0;\nchar *o = t;\nif (n > 3)\nputs(t);\nfree(o); // FREED\n}\n"
    body = TEXT.replace("@", "").replace("#", "char *second = t; free(second); return;")
    before = f"static void report(int rank, int n)\n{{\nchar *t = malloc(N);\n{body}\n{end}"
    text, found = sites(["report(rank, n);"], tmp_path, before)
    wanted = f"`t` is freed at line {line_of(text, 'FREED')} by another name, `o`"
    assert (found[0]["code"], found[0]["message"]) == ("OPI215", wanted)


def test_the_rows_of_a_block_are_set_by_the_process_of_the_call(tmp_path: Path) -> None:
    """Each of the two processes makes a table of its own."""
    made = ["a = malloc(n * sizeof *a);", "a[0] = malloc(n * n * 8);"]
    lines = ["double **a;", "if (rank == 0) {", *made, "for (int i = 1; i < n; i++) a[i] = a[i - 1] + n; // SENDS"]
    lines += ["for (int i = 0; i < n * n; i++) a[0][i] = i;", "MPI_Send(a[1], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"]
    lines += ["} else {", *made, "for (int i = 1; i < n; i++) a[i] = a[i - 1] + n; // HERE"]
    lines += ["MPI_Recv(a[0], n * n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "}"]
    text, found = sites([*lines, "for (int i = 0; i < n; i++) s += a[i][i];"], tmp_path)
    wanted = f"line {line_of(text)} makes the rows of `a` parts of the block"
    assert (found[1]["code"], found[1]["message"].startswith(wanted)) == ("OPI204", True)


PARTS = """static float **made(int rows, int cols)
{
    float *data = malloc(rows * cols * sizeof(float)), **out = malloc(rows * sizeof(float *));
    for (int i = 0; i < rows; i++)
        out[i] = &data[cols * i]; // ROWS
    return out;
}
"""
GOES = "MPI_FLOAT, 0, 5, MPI_COMM_WORLD"


def test_a_block_that_another_turn_makes_anew_is_not_read_on_the_way_of_another_process(tmp_path: Path) -> None:
    """Rank 0 alone comes to the next turn's reads without a new block, and it does not send."""
    lines = ["float **part;", "for (int col = 0; col < n - 1; col++) {", "int q = (n - col) / size;"]
    lines += ["if (rank == 0) s += q; else {", "part = made(q, n);"]
    lines += [f"for (int i = 0; i < q; i++) MPI_Recv(&part[i][0], n, {GOES}, MPI_STATUS_IGNORE);", "}"]
    lines += ["if (rank != 0) for (int i = 0; i < q; i++) for (int k = col; k < n; k++) part[i][k] -= part[i][col];"]
    lines += [f"if (rank != 0) for (int i = 0; i < q; i++) MPI_Send(&part[i][0], n, {GOES});", "}"]
    text, found = sites(lines, tmp_path, PARTS)
    where = f"the call names a row of `part`, and line {line_of(text, 'ROWS')} makes its rows parts of one block"
    assert found[-1]["message"] == f"{where}; a message needs a buffer of its own"


@pytest.mark.parametrize(
    ("before", "inside", "found"),
    [
        ("", "int who = j / 2;", True),
        ("int who;", "who = j / 2;", True),
        ("int who = n / 2;", "", False),
    ],
)
def test_a_number_of_each_turn_tells_no_process_apart(before: str, inside: str, found: bool) -> None:
    """The other arm of a test for it may be the next turn's."""
    call = "if (who == j) n--; else MPI_Send(x, n, MPI_INT, who, 0, MPI_COMM_WORLD);"
    body = f"{before}\nfor (int j = 0; j < n; j++) {{\n{inside}\n{call}\n}}"
    program = source(f"void f(int *x, int n)\n{{\n{body}\n}}\nint main(void) {{ return 0; }}\n").program
    function = program.functions["f"]
    assert set_in_turns(function, next(iter(calls_of(function))), "who") is found


def test_what_comes_anew_in_the_next_turn_is_not_told_as_read_after_the_send(tmp_path: Path) -> None:
    """Nothing is known of the number by which a line reads: it may be beyond what comes."""
    lines = ["double *m = malloc(n * 8);", "int i, many;", "while (1) {"]
    lines += ["MPI_Bcast(&i, 1, MPI_INT, 0, MPI_COMM_WORLD);", "MPI_Bcast(&many, 1, MPI_INT, 0, MPI_COMM_WORLD);"]
    lines += ["if (i < 0) break;", "MPI_Recv(m, many, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"]
    lines += ["for (int j = 0; j < many; j++) m[j] -= m[i]; // HERE"]
    lines += ["MPI_Send(m, many, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);", "}", "free(m);"]
    text, found = sites(lines, tmp_path)
    what = f"could not show that all that line {line_of(text)} reads of `m` is written or comes after this send"
    assert found[-1]["message"] == what


RECV = "MPI_Recv(u, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
READS = "for (int i = 0; i < N; i++) s += u[i];"
ELSEWHERE = "no process that makes this call runs line"


def test_zeros_that_only_another_rank_sends(tmp_path: Path) -> None:
    lines = [
        "if (rank == 0) {",
        "for (int p = 1; p < size; p++) MPI_Send(u, N, MPI_DOUBLE, p, 0, MPI_COMM_WORLD); // SENT",
        "} else {",
        RECV,
        READS,
        "}",
    ]
    text, found = sites(lines, tmp_path)
    where = f"; {ELSEWHERE} {line_of(text, 'SENT')}, but its buffer is one variable for all of them"
    assert (found[1]["code"], found[1]["message"].endswith(where)) == ("OPI210", True)
    assert ELSEWHERE not in found[0]["message"]
    assert Reason.FIRST_CONTENTS in OF_ALL


def test_zeros_that_the_same_rank_may_send(tmp_path: Path) -> None:
    lines = ["if (rank != 1) MPI_Send(u, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"]
    lines += [f"if (rank > 0) {{ {RECV}", READS, "}"]
    _, found = sites(lines, tmp_path)
    assert [ELSEWHERE in site["message"] for site in found if site["side"] == "recv"] == [False]


def test_the_next_turn_sends_more_than_came(tmp_path: Path) -> None:
    lines = [
        "double *v = malloc(n * sizeof *v);",
        "for (int k = 1; k <= n; k++) {",
        "if (rank == 0) {",
        "MPI_Send(v, k, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); // SENT",
        "MPI_Recv(v, k, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "} }",
        "free(v);",
    ]
    text, found = sites(lines, tmp_path)
    message = f"could not show that line {line_of(text, 'SENT')} sends no more of `v` in the next turn than this "
    assert (found[1]["code"], found[1]["message"]) == ("OPI202", message + "receive brings: `k` may be larger then")


def test_a_function_that_calls_itself_reads_what_it_sends(tmp_path: Path) -> None:
    """The message is all of its variable: nothing lies beside it."""
    call = "if (n & 1) MPI_Send(u, @, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
    level = f"""static double r;
static void level(int n)
{{
    if (n == 0) return;
    for (int i = 0; i < N; i++) u[i] = i * n;
    {call}
    r += u[n]; // HERE
    level(n - 1);
}}
"""
    text, found = sites(["level(n);", "s = r;"], tmp_path, level.replace("@", "N"))
    wanted = ("OPI101", f"`u` may be read at line {line_of(text)} after the send")
    assert (found[0]["code"], found[0]["message"]) == wanted
    _, found = sites(["level(n);", "s = r;"], tmp_path, level.replace("@", "N / 2"))
    assert found[0]["message"].endswith("may read there after the send, of the message or beside it")


def test_what_another_rank_reads_of_what_the_program_begins_with(tmp_path: Path) -> None:
    rows = "MPI_Recv(g[k], N, MPI_DOUBLE, k, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    lines = ["if (rank == 0) {", f"for (int k = 1; k < size; k++) {rows}"]
    lines += ["for (int i = 0; i < 4; i++) s += g[i][i]; // HERE", "} else {"]
    lines += ["for (int k = 0; k < n; k++)", "for (int i = 0; i < N; i++) g[k][i] = i;"]
    lines += ["MPI_Send(g, n * N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);", "}"]
    text, found = sites(lines, tmp_path)
    send = next(site for site in found if site["call"] == "MPI_Send")
    assert send["code"] == "OPI110"
    assert f"are read at line {line_of(text)} " in send["message"]
    where = f"; {ELSEWHERE} {line_of(text)}, but its buffer is one variable for all of them"
    assert send["message"].endswith(where)
