"""Gaps of a datatype that a program makes, and other reasons that a message would have, too: which one is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import run_tool
from ownership_support import source_in

from opi_xform.ownership.explain.datatypes import layout_refusal
from opi_xform.ownership.model.lines import told as in_words

HEAD = "#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
MAIN = """
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    make();
    struct pair *got = exchange(n, 0);
    printf("%g\\n", got[n / 2].value);
    free(got);
    MPI_Finalize();
    return 0;
}
"""
PAIRS = """
struct pair { double value; int at; };
static MPI_Datatype kind;
static void make(void)
{
    int counts[2] = {1, 1};
    MPI_Datatype kinds[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Aint places[2] = {0, offsetof(struct pair, at)};
    MPI_Type_create_struct(2, counts, places, kinds, &kind); // HERE
    MPI_Type_commit(&kind);
}
static struct pair *exchange(int n, int rank)
{
    struct pair *out = malloc(n * sizeof(struct pair));
    for (int step = 1; step < n; step *= 2) {
        int k = 0;
        for (int i = 0; i < n * n && k < n; i += step) {
            out[k].value = i;
            out[k++].at = i + rank;
        }
        if (2 * step >= n)
            return out;
        MPI_Send(out, n, kind, rank + step, 0, MPI_COMM_WORLD);
    }
    return out;
}
"""


def test_gaps_of_a_buffer_s_own_messages_come_before_what_may_be_read_of_it(tmp_path: Path) -> None:
    """What is read is packed anew, which is not shown; that the type has gaps stays, whatever is packed."""
    text = HEAD + PAIRS + MAIN
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    made = next(i for i, line in enumerate(text.splitlines(), 1) if "HERE" in line)
    assert (site["decision"], site["code"]) == ("keep", "OPI107")
    assert [(note["line"], note["message"]) for note in site["notes"]] == [(made, "made here")]


STRIDE = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *u = calloc(2 * n, sizeof *u), s = 0;
    MPI_Request r;
    MPI_Datatype t;
    MPI_Init(&argc, &argv);
    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &t); // MADE
    MPI_Type_commit(&t);
    for (int k = 0; k < n; k++) {
        @
        for (int i = 0; i < 2 * n; i++)
            s += u[i]; // READ
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    printf("%g\\n", s);
    MPI_Finalize();
    return 0;
}
"""
INSIDE = "the call begins inside `u`, at a place that the program computes; a message needs a buffer of its own"
SYNCHRONOUS = "a synchronous send completes only when it is received, which OPI_Igive does not promise"
PERSISTENT = "a persistent request: the buffer belongs to it from MPI_Start to completion, again and again"
ALL = [
    ("MPI_Issend(u, 100 * n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r);", "OPI101", ["READ", SYNCHRONOUS]),
    ("MPI_Issend(u + n, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r);", "OPI101", ["READ", SYNCHRONOUS]),
    ("MPI_Send_init(u + n, 1, t, 1, 0, MPI_COMM_WORLD, &r); MPI_Start(&r);", "OPI107", [PERSISTENT, "MADE", INSIDE]),
    ("MPI_Recv_init(u + n, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r); MPI_Start(&r);", "OPI207", [PERSISTENT, INSIDE]),
    ("MPI_Isend(u + n, 1, t, 1, 0, MPI_COMM_WORLD, &r);", "OPI101", ["READ", "MADE"]),
    ("MPI_Irecv(u + n, 1, t, 1, 0, MPI_COMM_WORLD, &r);", "OPI204", [INSIDE, "MADE"]),
]


@pytest.mark.parametrize(("call", "code", "told"), ALL)
def test_all_that_a_call_would_have_to_change_is_told(call: str, code: str, told: list[str], tmp_path: Path) -> None:
    """Where only one of them is changed, the site stays."""
    text = STRIDE.replace("@", call)
    (tmp_path / "a.c").write_text(text)
    status, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert status == 0, err
    (site,) = json.loads(out)["sites"]
    lines = {
        mark: i for i, line in enumerate(text.splitlines(), 1) for mark in ("MADE", "READ") if f"// {mark}" in line
    }
    assert (site["decision"], site["code"]) == ("keep", code)
    parts = site["message"].split("; also, ")
    assert len(parts) == len(told)
    for part, words in zip(parts, told, strict=True):
        assert (f"line {lines[words]}" in part) if words in lines else part == words


def test_threads_that_use_the_buffer_are_told_with_the_form_of_a_call(tmp_path: Path) -> None:
    """Another form of call would leave them where they are."""
    call = "MPI_Send_init(u, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r); MPI_Start(&r);"
    call += "\n#pragma omp parallel firstprivate(u)"
    (tmp_path / "a.c").write_text(STRIDE.replace("@", call))
    status, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert status == 0, err
    (site,) = json.loads(out)["sites"]
    assert (site["code"], site["message"]) == ("OPI107", f"{PERSISTENT}; also, a pragma names `u`")


def test_a_datatype_that_is_one_of_several_constants(tmp_path: Path) -> None:
    """None of them has gaps: which one it is has to be told, with the lines that set it."""
    text = HEAD + "static MPI_Datatype real;\nint main(int argc, char **argv)\n{\nint rank;\n"
    text += "MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
    text += "real = MPI_FLOAT; // HERE\nif (argc > 1) real = MPI_DOUBLE; // THERE\ndouble *b = malloc(800);\n"
    text += "if (rank == 0) { b[0] = 1; MPI_Send(b, 100, real, 1, 0, MPI_COMM_WORLD); }\n"
    text += "else MPI_Recv(b, 100, real, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\nMPI_Finalize();\nreturn 0;\n}\n"
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    lines = [i for i, line in enumerate(text.splitlines(), 1) if "HERE" in line]
    for site in json.loads(out)["sites"]:
        where = f"it is set at line {lines[0]} and {lines[1]}"
        assert site["message"] == f"could not show which datatype `real` is: {where}"
        assert [note["line"] for note in site["notes"]] == lines


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        (
            "pass(x, MPI_INT);\npass(x, MPI_DOUBLE);",
            "called with `MPI_INT` at line {} and with `MPI_DOUBLE` at line {}",
        ),
        ("pass(x, MPI_INT);\npass(x, MPI_INT);", "called with `MPI_INT` at line {}"),
        ("pass(x, made);\npass(x, MPI_INT);", ""),
        ("void (*f)(double *, MPI_Datatype) = pass; f(x, made);\npass(x, MPI_INT);", ""),
    ],
)
def test_a_datatype_that_callers_give(calls: str, told: str, tmp_path: Path) -> None:
    """In a function that is looked at once for all of them."""
    text = "static double x[N];\nstatic MPI_Datatype made;\nstatic void pass(double *b, MPI_Datatype kind)\n"
    text += f"{{ MPI_Send(b, N, kind, 1, 0, MPI_COMM_WORLD); }}\nint main(int argc, char **argv)\n{{\n{calls}\n}}\n"
    found = source_in(tmp_path, text)
    message = layout_refusal(found.program, found.uses[0]).message
    lines = [i for i, words in enumerate(found.text.splitlines(), 1) if words.startswith("pass(x")]
    wanted = f"could not show which datatype `kind` is: `pass` is {told.format(*lines)}"
    assert (in_words(message, str(tmp_path / "f0.c")) == wanted) == bool(told)
    assert ("is called with" in message) == bool(told)


def test_the_pointer_itself_is_sent(tmp_path: Path) -> None:
    """With `&` the message is the pointer; that is no small value of the program's."""
    text = HEAD + "int main(int argc, char **argv)\n{\nint rank;\ndouble *b = malloc(800);\nb[0] = argc;\n"
    text += "MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
    text += "if (rank == 0) MPI_Send(&b, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);\nMPI_Finalize();\nreturn 0;\n}\n"
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    wanted = "the call names the pointer `b` itself, and not the memory that it points to"
    assert (site["code"], site["message"]) == ("OPI108", wanted)


TYPES = """static MPI_Datatype left, right, above;
static void make(int n)
{
    MPI_Type_vector(n, 1, n, MPI_DOUBLE, &left);
    MPI_Type_vector(n, 1, n, MPI_DOUBLE, &right);
    MPI_Type_vector(1, n, n, MPI_DOUBLE, &above);
    MPI_Type_commit(&left); MPI_Type_commit(&right); MPI_Type_commit(&above);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *a = calloc(n * n, sizeof *a), *b = calloc(n * n, sizeof *b), s = 0;
    MPI_Request r[2];
    MPI_Init(&argc, &argv);
    make(n);
    MPI_Datatype kinds[] = {left, right, above};
    for (int k = 0; k < n; k++) {
        MPI_Isend(a, 1, kinds[k % 3], 1, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(a, 1, kinds[(k + 1) % 3], 1, 0, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int i = 1; i < n * n; i++)
            b[i] = a[i - 1]; // READ
        double *t = a; a = b; b = t;
        s += a[n];
    }
    printf("%g\\n", s);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("kinds", [3, 4])
def test_a_datatype_out_of_a_table_may_have_gaps(kinds: int, tmp_path: Path) -> None:
    """So a receive of it need not bring what the line after it reads, nor what the send has left; where the calls that
    make it are too many to be told, that is.
    """
    text = HEAD + TYPES
    if kinds == 4:
        text = text.replace("&right); MPI", "&right); MPI_Type_vector(n, 2, n, MPI_DOUBLE, &below); MPI", 1)
        text = text.replace("above;", "above, below;", 1).replace("above};", "above, below};").replace("% 3", "% 4")
    (tmp_path / "a.c").write_text(text)
    status, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert status == 0, err
    read = f"line {next(i for i, line in enumerate(text.splitlines(), 1) if 'READ' in line)} may read"
    told = f"the message lies in `a`, and {read}" if kinds == 4 else "could not show that the datatype has no gaps"
    found = json.loads(out)["sites"]
    assert [site["code"] for site in found] == (["OPI101", "OPI201"] if kinds == 4 else ["OPI107", "OPI207"])
    assert all(told in site["message"] for site in found)


def test_one_number_with_the_datatype_of_a_struct_is_not_called_a_small_message(tmp_path: Path) -> None:
    """Its second member lies in another variable: places are counted from the first one."""
    text = HEAD + "int main(int argc, char **argv)\n{\nint first = argc, lengths[2] = {1, 1}; float second = 1;\n"
    text += "MPI_Aint at[2], places[2] = {0, 0}; MPI_Datatype kinds[2] = {MPI_INT, MPI_FLOAT}, both;\n"
    text += "MPI_Init(&argc, &argv); MPI_Get_address(&first, &at[0]); MPI_Get_address(&second, &at[1]);\n"
    text += "places[1] = at[1] - at[0];\nMPI_Type_create_struct(2, lengths, places, kinds, &both); // HERE\n"
    text += "MPI_Type_commit(&both); MPI_Send(&first, 1, both, 1, 0, MPI_COMM_WORLD);\nMPI_Finalize();\nreturn 0;\n}\n"
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    line = next(i for i, line in enumerate(text.splitlines(), 1) if "HERE" in line)
    wanted = "could not show that the message is of `first` alone: its datatype is made by "
    assert (site["code"], site["message"]) == ("OPI107", f"{wanted}`MPI_Type_create_struct` at line {line}")


def test_the_header_of_another_mpi_beside_the_source(tmp_path: Path) -> None:
    header = "#include_next <mpi.h>\n#undef MPI_INT\nstruct other { int size; };\nextern struct other other_int;\n"
    (tmp_path / "mpi.h").write_text(header + "#define MPI_INT ((MPI_Datatype)(long)&other_int)\n")
    text = '#include "mpi.h"\nint main(int argc, char **argv)\n{\nint b[100] = {0};\nMPI_Init(&argc, &argv);\n'
    text += "MPI_Send(b, 100, MPI_INT, 1, 0, MPI_COMM_WORLD);\nMPI_Finalize();\nreturn argc;\n}\n"
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    wanted = "could not show what `MPI_INT` is: the `mpi.h` that is read is not that of the MPI in use"
    assert (site["code"], site["message"]) == ("OPI107", wanted)
    assert [(Path(note["file"]).name, note["line"]) for note in site["notes"]] == [("mpi.h", 4)]
