"""What is told of pointers that stand for one of several blocks, or for parts of one.

That is ``opi_xform.ownership.explain.reaching.trades``, ``opi_xform.ownership.explain.pointers.touched``,
``opi_xform.ownership.explain.pointers.returned`` and ``opi_xform.ownership.explain.reaching.touching``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from read_programs import TO, line_of, sites

FROM = "1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
SWEEP = """#define AT(t, i, j) t[i][j]
static double sweep(double **src, double **dst)
{
    for (int i = 1; i < 9; i++)
        for (int j = 1; j < N - 1; j++)
            AT(dst, i, j) = AT(src, i - 1, j) + AT(src, i + 1, j); // READ
    return dst[1][1];
}
"""
TABLES = [
    "double **a = malloc(10 * sizeof *a), **b = malloc(10 * sizeof *b), **t;",
    "for (int i = 0; i < 10; i++) { a[i] = calloc(N, 8); b[i] = calloc(N, 8); }",
]
TURNS = ["s += sweep(a, b);", "t = a;", "a = b; // TRADE", "b = t;", "}"]


def test_rows_of_tables_that_change_places(tmp_path: Path) -> None:
    """A macro names the row that is read after the send; what a receive brings is a block of its own."""
    calls = [f"MPI_Send(&AT(a, 8, 0), N, MPI_DOUBLE, {TO}", f"MPI_Recv(a[0], N, MPI_DOUBLE, {FROM}"]
    text, found = sites([*TABLES, "for (int k = 0; k < n; k++) {", *calls, *TURNS], tmp_path, SWEEP)
    read = f"line {line_of(text, 'READ')} may read there after the send, as `src`"
    message = f"the message lies in `a`, and {read}, of the message or beside it"
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", message)
    message = f"`a` changes places with `b` at line {line_of(text, 'TRADE')}, so `a[0]` may be a row of either table"
    assert (found[1]["code"], found[1]["message"]) == ("OPI402", message)


def test_a_row_that_is_read_by_the_other_name(tmp_path: Path) -> None:
    calls = [f"MPI_Send(b[8], N, MPI_DOUBLE, {TO}", "t = a;", "a = b;", "b = t;", "}"]
    text, found = sites([*TABLES, "for (int k = 0; k < n; k++) {", "s += sweep(a, b);", *calls], tmp_path, SWEEP)
    message = f"the message lies in `b`, which changes places with `a`, and line {line_of(text, 'READ')} may read"
    assert found[0]["message"] == f"{message} there after the send, as `src`, of the message or beside it"


def test_where_a_row_is_not_complete_that_no_line_names(tmp_path: Path) -> None:
    """What is read before the receive is complete may be another row."""
    wait = ["MPI_Request q;", f"MPI_Irecv(a[0], N, MPI_DOUBLE, {TO[:-2]}, &q);"]
    turns = [TURNS[0], "MPI_Wait(&q, MPI_STATUS_IGNORE);", *TURNS[1:]]
    found = sites([*TABLES, "for (int k = 0; k < n; k++) {", *wait, *turns], tmp_path, SWEEP)[1]
    assert (found[0]["code"], found[0]["message"].partition(" changes")[0]) == ("OPI402", "`a`")


BUILD = """static void build(void ***rows, void **all)
{
    *all = malloc(10 * N * sizeof(double));
    *rows = malloc(10 * sizeof(void *));
    void **row = *rows;
    char *at = *all;
    for (int i = 0; i < 10; i++) {
        *(row++) = (void *)at; // ROWS
        at += N * sizeof(double);
    }
}
"""


def test_a_block_with_a_table_of_its_rows(tmp_path: Path) -> None:
    lines = ["double **x, *a, **y, *b;", "build((void ***)&x, (void **)&a);", "build((void ***)&y, (void **)&b);"]
    lines += ["for (int i = 0; i < 10 * N; i++) a[i] = b[i] = i;", f"MPI_Send(b, 10 * N, MPI_DOUBLE, {TO}"]
    text, found = sites([*lines, "s = x[0][0];"], tmp_path, BUILD)
    made = f"line {line_of(text, 'ROWS')} makes pointers to rows of the block that `b` names"
    message = f"{made}: they would point to memory that is gone"
    assert (found[0]["code"], found[0]["message"]) == ("OPI104", message)


SIDES = """struct side { int rank; double *out, *in; };
static void end(struct side *one, struct side *other)
{
    for (int k = 0; k < 2; k++) {
        struct side *w = k == 0 ? one : other;
        free(w->out);
        free(w->in); // FREED
    }
}
"""


def test_the_line_that_names_the_same_member(tmp_path: Path) -> None:
    lines = ["struct side l, r;", *(f"{one} = malloc(N * 8);" for one in ("l.out", "l.in", "r.out", "r.in"))]
    lines += [f"MPI_Recv(r.in, N, MPI_DOUBLE, {FROM}", "for (int i = 0; i < N; i++) s += r.in[i];", "end(&l, &r);"]
    text, found = sites(lines, tmp_path, SIDES)
    message = f"line {line_of(text, 'FREED')} reads `w->in`, which may be `r.in` or that of another struct"
    assert (found[0]["code"], found[0]["message"]) == ("OPI402", f"{message}, as it cannot be told which one")


def test_a_static_array_that_a_function_returns(tmp_path: Path) -> None:
    before = "static double *counts(int n)\n{\n    static double c[N];\n"
    before += "    for (int i = 0; i < N; i++) c[i] += n;\n    return c;\n}\n"
    lines = ["double *c = counts(n);", f"MPI_Send(c, N, MPI_DOUBLE, {TO}"]
    threads = before.replace("    for", "#pragma omp critical\n    for", 1)
    found = sites(lines, tmp_path, threads)[1]
    message = "the buffer is `c`, a static variable of `counts`, which all its calls share"
    assert (found[0]["code"], found[0]["message"]) == ("OPI402", message)


def test_the_address_of_a_pointer(tmp_path: Path) -> None:
    lines = ["double *d[2] = {malloc(N * 8), malloc(N * 8)};", f"MPI_Recv(&d[n], N, MPI_DOUBLE, {FROM}", "s = d[n][0];"]
    found = sites(lines, tmp_path)[1]
    message = "the message begins at the pointer `d[…]` itself, not in the memory that it points to"
    assert (found[0]["code"], found[0]["message"]) == ("OPI204", message)


def test_a_request_that_nothing_completes(tmp_path: Path) -> None:
    """Told after what keeps the call; a wait for it says no such thing."""
    lines = ["MPI_Request q;", "for (int i = 0; i < N; i++) u[i] = i;"]
    lines += [f"MPI_Isend(u, N, MPI_DOUBLE, {TO[:-2]}, &q);", "for (int i = 0; i < N; i++) s += u[i];"]
    never = "; its request, `q`, is given to no call that completes it"
    found = sites(lines, tmp_path)[1]
    assert never in found[0]["message"]
    found = sites([*lines, "MPI_Wait(&q, MPI_STATUS_IGNORE);"], tmp_path)[1]
    assert never not in found[0]["message"]


@pytest.mark.parametrize("memory", ["MPI_Request q[2];", "MPI_Request *q = malloc(2 * sizeof *q);"])
def test_a_receive_that_nothing_completes(memory: str, tmp_path: Path) -> None:
    lines = [
        memory,
        "double *v = malloc(N * 8);",
        f"MPI_Irecv(v, N, MPI_DOUBLE, {FROM.rpartition(', MPI_STATUS')[0]}, &q[n]);",
    ]
    lines += ["s = v[1];"]
    found = sites(lines, tmp_path)[1]
    assert (
        found[0]["message"] == "this receive is never complete: its request, `q`, is given to no call that completes it"
    )
    other = [memory.replace("malloc(2 * sizeof *q)", "more"), *lines[1:]]
    if "*q" in memory:  # whoever has the memory may wait
        assert "never complete" not in sites(["MPI_Request more[2];", *other], tmp_path)[1][0]["message"]
