"""A site whose buffer is not known says what is in the way, with its line (``opi_xform.ownership.explain.reasons``)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from opi_xform.cli.main import main
from opi_xform.ownership.spelling.text import Texts

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 1000
struct box { double *out; int n; };
static double u[N];
static struct box one, two;
static void make(struct box *b) { b->out = malloc(N * sizeof(double)); }
static void pack(struct box *b) { for (int i = 0; i < N; i++) b->out[i] = u[i]; }
static void ship(struct box *b) { MPI_Send(b->out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }
"""
START = """int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
"""
TAIL = """
    MPI_Finalize();
    return 0;
}
"""
BOX = ["make(&one);", "make(&two);", "pack(&one);", "ship(&one);", "pack(&two);", "ship(&two);"]


def sites(
    lines: list[str], folder: Path, capfd: pytest.CaptureFixture[str], before: str = ""
) -> tuple[str, list[dict[str, Any]]]:
    text = HEAD + before + START + "\n".join(lines) + TAIL
    (folder / "a.c").write_text(text)
    assert main([str(folder / "a.c"), "--output-format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capfd.readouterr().out)["sites"]
    return text, found


def line_of(text: str, what: str) -> int:
    return next((i for i, line in enumerate(text.splitlines(), 1) if what in line), 0)


def test_two_structs_convert(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert sites(BOX, tmp_path, capfd)[1][0]["decision"] == "convert"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("one = two; // HERE", "line {} copies the struct with `b->out`"),
        ("memcpy(&two, &one, sizeof one); // HERE", "line {} calls `memcpy`, which reads the bytes of `b->out`"),
        ("two.out = one.out; // HERE", "line {} sets `b->out` to what is not known to be fresh memory of its own"),
        ("fwrite(&two, sizeof two, 1, stdout); // HERE", "line {} calls `fwrite`, which reads the bytes of `b->out`"),
        ("pack(&one); pack(&two); ship(argc > 1 ? &one : &two);", "line 11 may read `b->out`, or the same member"),
        ("u[0] += *(long *)&two.out; // HERE", "line {} may read `b->out` as something else than a pointer"),
        (
            "struct box all[4]; for (int k = 0; k < argc; k++) make(&all[k]);",
            "which change all or none, and which element of `all` is meant is not known",
        ),
    ],
)  # fmt: skip
def test_what_is_in_the_way_of_a_pointer_in_a_struct(
    extra: str, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text, found = sites([*BOX, extra], tmp_path, capfd)
    assert (found[0]["decision"], found[0]["code"]) == ("keep", "OPI402")
    at = line_of(text, "HERE")
    assert message.format(at) in found[0]["message"]
    if "{}" in message:
        assert at in [note["line"] for note in found[0]["notes"]]


def test_a_struct_that_is_made_in_a_loop(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = [
        "struct box *all[4];",
        "for (int k = 0; k < 4; k++) {",
        "    all[k] = malloc(sizeof(struct box)); // HERE",
        "    make(all[k]); pack(all[k]); ship(all[k]);",
        "}",
    ]
    text, found = sites(lines, tmp_path, capfd)
    assert found[0]["code"] == "OPI402"
    expected = f"the struct of `b->out` is allocated in a loop, at line {line_of(text, 'HERE')}: there are several"
    assert found[0]["message"] == expected


def test_a_pointer_that_changes_places_names_the_other(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = [
        "double *p = malloc(N * 8), *q = malloc(N * 8), *was;",
        "for (int t = 0; t < 4; t++) {",
        "    for (int i = 0; i < N; i++) p[i] = u[i];",
        "    MPI_Send(p, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        "    was = p; p = q; q = was;",
        "}",
    ]
    _, found = sites(lines, tmp_path, capfd)
    assert found[-1]["code"] == "OPI402"
    assert found[-1]["message"] == "`p` and `q` change places, and `q` is no message's buffer"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("double *p = malloc(N * 8), *q = p; // HERE", "if (t == 2) p = realloc(p, N * 16); // HERE"),
        (
            "double *p = aligned_alloc(64, N * 8), *q = aligned_alloc(64, N * 8); // HERE",
            "{ free(p); p = q; q = aligned_alloc(64, N * 8); } // HERE",
        ),
    ],
)
def test_a_pointer_that_is_set_twice_names_both_lines(
    first: str, then: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [
        first,
        "for (int t = 0; t < 4; t++) {",
        "    for (int i = 0; i < N; i++) p[i] = u[i];",
        "    MPI_Send(p, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        f"    {then}",
        "}",
    ]
    text, found = sites(lines, tmp_path, capfd)
    places = [i for i, line in enumerate(text.splitlines(), 1) if "HERE" in line]
    assert found[-1]["code"] == "OPI402"
    wanted = f"`p` may stand for several buffers: it is set at line {places[0]} and {places[1]}"
    assert found[-1]["message"].startswith(wanted)
    assert [note["line"] for note in found[-1]["notes"]] == places


def test_memory_from_realloc_stays(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = [
        "double *p = malloc(N);",
        "p = realloc(p, N * 8);",
        "for (int i = 0; i < N; i++) p[i] = u[i];",
        "MPI_Send(p, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        "free(p);",
    ]
    found = sites(lines, tmp_path, capfd)[1]
    assert (found[-1]["code"], found[-1]["message"][:30]) == ("OPI114", "the memory comes from realloc,")


def test_a_choice_names_its_pointers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = "static double left[N], right[N];\n"
    lines = ["MPI_Send(argc > 1 ? left : right, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"]
    message = "the call names `left` or `right`, by a condition; a message needs one pointer to its buffer"
    assert sites(lines, tmp_path, capfd, before)[1][-1]["message"].startswith(message)


@pytest.mark.parametrize(
    ("declared", "lines", "message"),
    [
        (
            "double b[2 * N]",
            ["MPI_Send(b, N, {}", "MPI_Send(b + N, N, {}"],
            "the messages of `b` begin at its bytes 0, 8000, in parts of one buffer",
        ),
        (
            "double b[2 * N]",
            ["memset(b, 0, sizeof b); // HERE", "MPI_Send(b, N, {}", "MPI_Send(b + N, N, {}"],
            "`b` has a message at its byte 8000, and line {} may touch bytes on both sides of that",
        ),
        (
            "double b[2 * N]",
            ["MPI_Send(b + N, N, {}"],
            "the call names a place 8000 bytes inside `b`, whose beginning no message has",
        ),
        (
            "double b[4 * N]",
            ["for (int d = 0; d < 4; d++) MPI_Send(b + d * N, N, {}"],
            "the call begins inside `b`, at another place in each turn of a loop; a message needs a buffer of its own",
        ),
        (
            "double b[4 * N]",
            ["for (int d = 0; d < 4; d++) { int k = atoi(argv[1]); MPI_Send(b + k * N, N, {} }"],
            "the call begins inside `b`, at a place that the program computes; a message needs a buffer of its own",
        ),
        (
            "double b[8][N]",
            ["MPI_Send(b[2], N, {}"],
            "the call names one row of `b`, and row 0 (of 7) is no message's buffer by itself",
        ),
        (
            "double b[8][N]",
            ["for (int i = 0; i < 8 * N; i++) (&b[0][0])[i] = i; // HERE", "MPI_Send(b[argc], N, {}"],
            "the call names one row of `b`, and line {} touches it other than by one of its rows",
        ),
    ],
)
def test_a_place_inside_a_buffer(
    declared: str, lines: list[str], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rest = "MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
    text, found = sites([line.replace("{}", rest) for line in lines], tmp_path, capfd, f"static {declared};\n")
    assert found[-1]["code"] == "OPI104"
    assert found[-1]["message"].startswith(message.format(line_of(text, "HERE")))


def test_a_pointer_that_shares_its_words_with_another_one_names_what_is_in_the_way_of_that(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [
        "make(&one); make(&two); pack(&one); ship(&one);",
        "struct box spare; make(&spare);",
        "struct box *any = argc > 1 ? &two : &spare;",
        "u[1] = any->out[1]; // HERE",
    ]
    text, found = sites(lines, tmp_path, capfd)
    assert found[0]["code"] == "OPI402"
    message = "the same text of `make` names `b->out` and pointers of other structs, which change all or none, and "
    message += "line {1} reads `any->out`, which may be `{0}.out` or that of another struct, as it cannot be told which"
    at = line_of(text, "HERE")
    assert found[0]["message"] in {message.format(one, at) + " one" for one in ("two", "spare")}
    assert [note["line"] for note in found[0]["notes"]] == [at]


def test_rows_in_one_block_are_no_buffers_of_their_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = """static double **rows(int n)
{
    double **a = malloc(n * sizeof *a), *all = malloc(n * n * sizeof *all);
    for (int i = 0; i < n; i++)
        a[i] = &all[i * n]; // HERE
    return a;
}
"""
    lines = [
        "int n = argc + 9;",
        "double **a = rows(n), **b = rows(n);",
        "for (int i = 0; i < n; i++) b[i][0] = a[i][0];",
        "for (int i = 0; i < argc; i++) a[i][0] = u[i];",
        "MPI_Send(a[0], N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
    ]
    text, found = sites(lines, tmp_path, capfd, before)
    expected = f"the call names a row of `a`, and line {line_of(text, 'HERE')} makes its rows parts of one block"
    message = f"{expected}; a message needs a buffer of its own"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI104", message)


def test_code_in_a_function_that_runs_is_not_said_to_be_in_one_that_does_not(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = '#define TRACE 0\nstatic void trace(void)\n{\n    if (TRACE) ship(&two);\n    printf("trace\\n");\n'
    before += "    if (TRACE) MPI_Send(u, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);\n}\n"
    text, found = sites(["trace();"], tmp_path, capfd, before)
    where = line_of(text, "if (TRACE) MPI_Send")
    message = f"the program never comes to the call: the condition of line {where} is never true"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI111", message)
    assert "never comes to the call of `ship`" in found[0]["message"]


def test_an_allocator_that_is_given_the_address_of_the_pointer_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [
        "void *b;",
        "if (posix_memalign(&b, 64, N * 8)) exit(1); // HERE",
        "memcpy(b, u, sizeof u);",
        "MPI_Send(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
    ]
    text, found = sites(lines, tmp_path, capfd)
    expected = "the address of `b` is set by `posix_memalign` outside a function that only allocates"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI104", expected)
    assert [note["line"] for note in found[-1]["notes"]] == [line_of(text, "HERE")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("#define SHOW(i) b[i]\n", "a macro"),
        ("#define BOTH(i) a[i] \\\n  b[i]\n", "a macro"),
        ("#pragma omp parallel private(b)\n", "a pragma"),
        ("# pragma weak b = c\n", "a pragma"),
        ('extern double c[] __attribute__((alias("b")));\n', "an alias or assembly code"),
    ],
)
def test_what_names_a_variable_is_told_by_its_kind(text: str, kind: str) -> None:
    texts = Texts()
    texts.files["a.c"] = data = b"int x;\n" + text.encode()
    at = re.search(rb"\bb\b", data)
    assert at is not None
    assert texts.kind_of("a.c", at.start()) == kind
    place = texts.in_directive("a.c", "b")  # where the whole directive begins
    assert kind == "a macro" or (place is not None and texts.kind_of("a.c", place) == kind)


def test_a_handler_that_lets_errors_return_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = [
        "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // HERE",
        "static double b[N]; for (int i = 0; i < N; i++) b[i] = i;",
        "if (MPI_Recv(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS) b[0] = 0;",
        "u[0] = b[3];",
    ]
    text, found = sites(lines, tmp_path, capfd)
    assert found[-1]["code"] == "OPI203"
    wanted = f"the receive may fail and bring nothing: line {line_of(text, 'HERE')} lets errors return, and"
    assert found[-1]["message"].startswith(wanted)


def test_a_struct_without_a_name_is_told_without_the_path_of_its_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = ["double *p = halo.first;", "p[N] = u[0];", "MPI_Send(halo.out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"]
    _, found = sites(lines, tmp_path, capfd, "static struct { double first[N], out[N]; } halo;\n")
    assert found[-1]["message"] == "`halo` is a struct, not an array or a pointer"


def test_memory_that_nobody_has_written_is_told_with_the_line_that_reads_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [
        "int rank;",
        "MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
        "for (int m = 0; m < 3; m++) {",
        "double *in = malloc(N * sizeof(double));",
        "MPI_Request q = MPI_REQUEST_NULL;",
        "if (m != rank) MPI_Irecv(in, N, MPI_DOUBLE, m, 0, MPI_COMM_WORLD, &q);",
        "MPI_Wait(&q, MPI_STATUS_IGNORE);",
        "for (int i = 0; i < N; i++) u[i] += in[i]; // HERE",
        "free(in);",
        "}",
    ]
    text, found = sites(lines, tmp_path, capfd)
    line = line_of(text, "HERE")
    wanted = f"could not show that something has come into `in` or been written to it wherever line {line} reads it"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI215", wanted)
    assert [(note["line"], note["message"]) for note in found[-1]["notes"]] == [
        (line, "`in` is read here"),
        (line_of(text, "MPI_Irecv"), "`MPI_Irecv` writes `in` here, where `m != rank`"),
    ]
    before = "static void step(int m, int rank)\n{\n" + "\n".join(lines[3:-1]) + "\n}\n"
    _, found = sites(["step(argc, 0);"], tmp_path, capfd, before)
    assert found[-1]["notes"][-1]["message"] == "`MPI_Irecv` writes `in` here, where `m != rank`"


def test_a_call_that_frees_one_of_two_blocks_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = """static void halve(double *p, int n)
{
    p[n / 2] = p[n - 1];
    if (n > 2) halve(p, n / 2);
}
"""
    lines = [
        "double *b = malloc(N * sizeof(double)); // ONE",
        "if (argc > 1) for (int i = 0; i < N; i++) b[i] = i;",
        "else {",
        "b = malloc(N * sizeof(double)); // OTHER",
        "MPI_Request q;",
        "MPI_Irecv(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q);",
        "MPI_Wait(&q, MPI_STATUS_IGNORE);",
        "}",
        "halve(b, N);",
        "u[0] = b[3];",
        "free(b); // HERE",
    ]
    text, found = sites(lines, tmp_path, capfd, before)
    wanted = f"line {line_of(text, 'HERE')} frees `b` or other memory; which is not known there"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI215", wanted)
    places = [(line_of(text, mark), "`b` is set here") for mark in ("ONE", "OTHER")]
    assert [(note["line"], note["message"]) for note in found[-1]["notes"]] == places


def test_a_function_without_a_body_is_told_without_the_path_of_its_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    send = "MPI_Send(u, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
    _, found = sites(["odd(u);", send], tmp_path, capfd, "static int odd(double *p);\n")
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI403", "`u`: unknown function odd")
    before = """static int odd(double *p);
static void work(void)
{
#pragma omp parallel for // HERE
    for (int i = 0; i < N; i++) odd(&u[i]);
}
"""
    text, found = sites(["work();", send], tmp_path, capfd, before)
    assert f"OpenMP `parallel for` in line {line_of(text, 'HERE')} calls `odd`" in found[-1]["message"]


def test_a_free_that_finds_no_place_is_told_with_the_line_that_would_miss_the_buffer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = """static void step(int n, double v[], int rank)
{
    for (int turn = 0; turn < 5; turn++) {
        if (rank == 0) {
            MPI_Send(v, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); // FIRST
            MPI_Send(v, n, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(v, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            u[turn] += v[1];
        }
    }
}
"""
    lines = [
        "int rank, n = atoi(argv[1]);",
        "MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
        "double v[n];",
        "for (int i = 0; i < n; i++) v[i] = i;",
        "step(n, v, rank); // HERE",
    ]
    text, found = sites(lines, tmp_path, capfd, before)
    wanted = f": not before line {line_of(text, 'HERE')}, as line {line_of(text, 'FIRST')} sends the same memory"
    wanted = f"no place was found at which that could be freed{wanted} where this call does not run"
    assert found[-1]["code"] == "OPI215"
    assert found[-1]["message"].endswith(wanted)


ROWS = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double **table(int r, int c)
{
    double *all = malloc(r * c * sizeof(double));
    double **rows = malloc(r * sizeof(double *));
    all[0] = r;
    for (int i = 0; i < r; i++)
        rows[i] = &all[c * i];
    return rows;
}
int main(int argc, char **argv)
{
    int rank, n = 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double **a = table(n, n);
    double **b = table(n, n);
    b[1][2] = a[0][1] = n;
    double *t = malloc(n * n * sizeof(double));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = i;
    TURNS {
        if (SENDER)
            MPI_Send(&a[0][0], n * n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        if (READER) {
            memcpy(t, &a[0][0], n * n * sizeof(double));
            printf("%f\\n", t[1] + b[1][2]);
        }
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("turns", "sender", "reader", "code"),
    [
        ("", "rank != 0", "rank == 0", "OPI104"),
        ("", "rank > 2", "rank <= 2", "OPI104"),
        ("", "rank != 0", "rank != 1", "OPI101"),
        ("for (int k = 0; k < 3; k++)", "k % 2", "k % 2 == 0", "OPI101"),
        ("for (int k = 0; k < 3; k++)", "k % 2 && rank", "!rank", "OPI104"),
    ],
)
def test_what_only_another_process_reads_is_no_reason(
    turns: str, sender: str, reader: str, code: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = ROWS.replace("TURNS", turns).replace("SENDER", sender).replace("READER", reader)
    (tmp_path / "a.c").write_text(text)
    assert main([str(tmp_path / "a.c"), "--output-format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["sites"][-1]["code"] == code
