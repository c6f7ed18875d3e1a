"""What a function's text reads after a message, where the program graph says nothing of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import run_tool
from ownership_support import Source, source

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.calls import calls_of
from opi_xform.ownership.explain.choosing.in_the_text import read_after, read_beside
from opi_xform.ownership.explain.choosing.in_turns import set_in_turn
from opi_xform.ownership.explain.choosing.rows_below import rows_below
from opi_xform.ownership.explain.choosing.text_names import Found, own, words_of
from opi_xform.ownership.model.buffers import Refusal

TO = "N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD"
SEND = f"MPI_Send(x, {TO});"
ROWS = f"for (int j = rank; j < n; j++) MPI_Send(u[j], {TO});\nfor (int i = 0; i < rank; i++)"
TOP = """
struct halo { double *b; int n; };
double use(double *y, int n) { return y[n - 1]; } // USED
double on(double *z, int n) { return use(z + 1, n - 1); } // ON
void fill(double *y, int n) { for (int i = 0; i < n; i++) y[i] = i; }
double s; double *other;
int munmap(void *, size_t);
"""


def program(body: str) -> Source:
    given = "double *x, double **u, struct halo *h, int n, int rank"
    return source(f"{TOP}void f({given}) {{\n{body}\n}}\nint main(void) {{ return 0; }}\n")


def told(found: Source, name: str = "MPI_Send") -> Refusal | None:
    """Of the first call of that name in ``f``."""
    functions, effects = found.program.functions, found.program.effects
    call = next(c for c in calls_of(functions["f"]) if isinstance(c.callee, ast.FuncRef) and c.callee.name == name)
    return (read_after if name.endswith("end") else read_beside)(Found(functions, effects), "f", call, call.args[0])


@pytest.mark.parametrize(
    "body",
    [
        f"{SEND}\ns += x[n]; // HERE",
        f"{SEND}\nfor (int i = 0; i < n; i++) {{\n x[i] = x[i] + 1; // HERE\n}}",  # read before it is written
        f"if (rank) {SEND}\ns += *x; // HERE",
        f"if (rank) {SEND}\nif (n > 3) s += *x; // HERE",  # conditions of other variables
        f"if (rank == 0) {SEND}\nif (rank == 0) s += *x; // HERE",  # the same condition
        f"{ROWS} u[i][1] += u[i][2];\nfor (int i = 0; i < n; i++) s += u[i][2]; // HERE",  # line before: other rows
        f"for (int t = 0; t < 9; t++) {{\n s += x[t]; // HERE\n {SEND}\n}}",  # the next turn
        f"while (n--) {{\n if (rank) {{ {SEND} break; }}\n x[0] = 1;\n}}\ns += x[5]; // HERE",  # not x[0] = 1
        f"while (n--) {{\n {SEND} continue;\n}}\ns += x[5]; // HERE",
        f"switch (rank) {{ case 0: {SEND} break; case 1: x[0] = 1; }}\ns += x[5]; // HERE",
        f"{SEND}\nmemcpy(other, x, 80); // HERE",
        f"{SEND} memcpy(other, x + 3, 8); // HERE\nx[0] = 1;",
        f"MPI_Send(h->b, {TO});\ns += h->b[n]; // HERE",
        f"MPI_Send(u[rank], {TO});\ns += u[n][3]; // HERE",
        f"{SEND}\n{SEND}\ns += x[n]; // HERE",  # another send leaves it
        f"{SEND}\nMPI_Recv(x + n, {TO}, MPI_STATUS_IGNORE);\ns += x[n]; // HERE",  # what comes further in leaves it
        f"MPI_Send(x + rank, {TO});\nMPI_Recv(x + n, {TO}, MPI_STATUS_IGNORE);\ns += x[n]; // HERE",
    ],
)
def test_a_read_that_may_come_after_the_send(body: str) -> None:
    found = program(body)
    refusal = told(found)
    assert refusal is not None
    assert refusal.reason is Reason.READ_LATER
    assert refusal.notes[0][0].line == found.line("HERE")
    assert refusal.message.endswith(", of the message or beside it")
    assert ("in the next turn of the loop" in refusal.message) is ("s += x[t]" in body)


@pytest.mark.parametrize("call", ["use(x, n)", "on(x, n)"])
def test_a_read_in_a_function_that_is_given_the_memory(call: str) -> None:
    found = program(f"{SEND}\ns += {call}; // HERE")
    refusal = told(found)
    assert refusal is not None
    at = found.line("HERE" if call.startswith("use") else "ON")
    assert [span.line for span, _ in refusal.notes] == [found.line("USED"), at]
    assert ", as `y`, of the message or beside it" in refusal.message


@pytest.mark.parametrize(
    ("rest", "read"),
    [
        ("s += v[3]; // HERE", True),
        ("fill(v, 5); s += v[3];", False),
        ("v = other; s += v[3];", False),
    ],
)
def test_a_read_in_the_function_that_gives_the_memory(rest: str, read: bool) -> None:
    given = "double *x, double **u, struct halo *h, int n, int rank"
    text = (
        f"{TOP}void f({given}) {{\n{SEND}\nreturn;\n}}\nvoid g(double *v) {{\nf(v, 0, 0, 5, 0); // CALL\n{rest}\n}}\n"
    )
    found = source(f"{text}int main(void) {{ return 0; }}\n")
    refusal = told(found)
    assert (refusal is not None) is read
    if refusal is not None:
        assert [span.line for span, _ in refusal.notes] == [found.line("HERE"), found.line("CALL")]
        assert ", as `v`, of the message or beside it" in refusal.message


@pytest.mark.parametrize(
    "body",
    [
        SEND,
        f"{SEND} munmap(x, 80);",  # it gives the memory back
        f"s += x[3]; {SEND}",  # before it
        f"{SEND} fill(x, n); s += x[3];",  # packed anew
        f"{SEND} for (int i = 0; i < n; i++) x[i] = i; s += x[3];",
        f"{SEND} memset(x, 0, 80); s += x[3];",
        f"{SEND} MPI_Recv(x, {TO}, MPI_STATUS_IGNORE); s += x[3];",
        f"{SEND} x = other; s += x[3];",
        f"{SEND} x++; s += x[3];",
        f"{SEND} free(x);",
        f"MPI_Send(u[0], {TO}); s += u[1][3];",  # which may be a buffer by itself
        f"MPI_Send(h->b, {TO}); h++; s += h->b[3];",  # another struct
        f"MPI_Send(h->b, {TO}); s += h[1].b[3];",
        f"if (rank) {SEND} else s += x[3];",  # the other arm
        f"if (rank == 0) {SEND} else n = 0; if (rank == 0) n = 0; else s += x[3];",
        f"{ROWS} s += u[i][2];",  # rows before those that are sent
        f"if (rank == 0) {SEND} if (rank == 1) s += x[3];",  # perhaps never both
        f"{SEND} return; s += x[3];",
        f"{SEND} exit(1); s += x[3];",
        f"{SEND} if (0) s += x[3];",
        f"again: {SEND} s += x[3]; if (n) goto again;",  # no order that is looked for
        f"{SEND} n = sizeof x[3]; other = &x[3];",  # no read
        f"MPI_Send(&rank, {TO}); s += rank;",
        f"MPI_Send(n ? x : other, {TO}); s += x[3];",  # no name
        f"for (int t = 0; t < 9; t++) {{ fill(x, n); s += x[t]; {SEND} }}",
        f"switch (rank) {{ case 0: {SEND} break; case 1: s += x[3]; }}",
    ],
)
def test_nothing_is_said(body: str) -> None:
    assert told(program(body)) is None


RECV = f"MPI_Recv({{}}, {TO}, MPI_STATUS_IGNORE);"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (RECV.format("&x[5]") + "\ns += x[n]; // HERE", True),
        (RECV.format("u[n]") + "\ns += u[n - 1][3];", False),  # rows may be buffers by themselves
        (RECV.format("&x[n]") + "\ns += use(x, n); // HERE", True),
        (RECV.format("x") + "\ns += x[n];", False),  # it begins where its memory does
        (RECV.format("x") + RECV.format("x + n") + "\ns += x[n]; // HERE", True),  # which goes on after it
        ("MPI_Send(x + N, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);" + RECV.format("x") + "\ns += x[n]; // HERE", True),
        ("MPI_Send(x + 1, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);" + RECV.format("x") + "\ns += x[n];", False),
        ("memcpy(x + n, other, 80);" + RECV.format("x") + "\ns += x[n]; // HERE", True),
        ("memcpy(x, other, 80);" + RECV.format("x") + "\ns += x[n];", False),
        ("if (rank) {" + RECV.format("x") + "} else {" + RECV.format("x + n") + "}\ns += x[n];", False),  # others do
        (RECV.format("&x[5 * n]") + "\ns += x[5 * n + rank];", False),  # the message's own place
        ("for (int i = 0; i < n; i++)\n" + RECV.format("&x[5 * i]") + "\ns += x[n];", False),  # the turns bring all
    ],
)
def test_what_lies_beside_a_message_that_comes(body: str, said: bool) -> None:
    found = program(body)
    refusal = told(found, "MPI_Recv")
    assert (refusal is not None) is said
    if refusal is not None:
        assert found.line("HERE") in [span.line for span, _ in refusal.notes]
        assert "may read bytes there that this receive does not bring" in refusal.message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"while (n--) {{\n{SEND}\nx = other; // HERE\n}}", True),
        (f"while (n--) {{\n{SEND}\nx += 5; // HERE\n}}", True),
        (f"while (n--) {{\nMPI_Send(h->b, {TO});\nh++; // HERE\n}}", True),
        (f"x = other;\nwhile (n--) {SEND}", False),
        (f"while (n--) {{ x = malloc(80); {SEND} free(x); }}", False),  # each turn has its own
        (f"while (n--) {{ {SEND} rank++; }}", False),
    ],
)
def test_a_pointer_that_a_loop_sets(body: str, said: bool) -> None:
    found = program(body)
    function = found.program.functions["f"]
    call = next(c for c in calls_of(function) if isinstance(c.callee, ast.FuncRef) and c.callee.name == "MPI_Send")
    refusal = set_in_turn(function, call, call.args[0])
    assert (refusal is not None) is said
    if refusal is not None:
        assert refusal.reason is Reason.SEVERAL_BUFFERS
        assert refusal.notes[0][0].line == found.line("HERE")


@pytest.mark.parametrize(
    ("loop", "below"),
    [
        ("for (int i = 0; i < rank; i++)", True),
        ("int i; for (i = 3; i < rank; ++i)", True),
        ("for (int i = 0; i <= rank; i++)", False),
        ("for (int i = 0; i < n; i++)", False),
        ("for (int i = n; i < rank; i--)", False),
        ("int i = 0; while (i++ < rank)", False),
    ],
)
def test_a_loop_that_ends_where_the_sent_rows_begin(loop: str, below: bool) -> None:
    found = program(f"for (int j = rank; j < n; j++) MPI_Send(u[j], {TO});\n{loop} use(u[i], n);")
    function = found.program.functions["f"]
    send, used = calls_of(function)
    assert rows_below(function, send.args[0], used.args[0]) is below


def test_words_and_expressions_of_a_statement() -> None:
    found = program(f"for (int i = 0; i < n; i++) {SEND}")
    function = found.program.functions["f"]
    loop = function.body.body[0]
    assert len(list(own(loop, function))) == 2  # the test and the step, not what is in its body
    (call,) = calls_of(function)
    words = words_of(call.args[0])
    assert words is not None
    assert words[0] == "x"


UNFOLLOWED = """#include <mpi.h>
#include <stdlib.h>
static double s;
static void f(double *x, int n)
{
#pragma omp critical // ONE
    s = 0;
#pragma omp task // TWO
    s = 1;
    MPI_Send(x, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) s += x[i]; // READ
    MPI_Recv(x, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void g(double *x, int n)
{
#pragma omp critical
    s = 2;
    f(x, n);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    g(calloc(argc, 8000), 1000 * argc);
    return 0;
}
"""


def test_the_program_s_data_come_before_openmp_and_all_of_that_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(UNFOLLOWED)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    send, recv = json.loads(out)["sites"]
    rows = UNFOLLOWED.splitlines()
    one, two, read = (next(i for i, row in enumerate(rows, 1) if mark in row) for mark in ("ONE", "TWO", "READ"))
    assert (send["code"], recv["code"]) == ("OPI101", "OPI211")
    first, openmp, more = send["message"].split("; also, ")
    reads = f"line {read} may read there after the send, of the message or beside it"
    assert first == f"the message lies in `x`, and {reads}"
    assert recv["message"] == f"{openmp}; also, {more}"
    both = openmp + more
    assert "`g`" in both
    assert "`f`" in both
    assert f"OpenMP `critical` in line {one} is not followed; OpenMP `task` in line {two} is not followed" in both
