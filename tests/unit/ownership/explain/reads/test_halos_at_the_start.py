"""A message at the start of a block: a halo of a grid, or the whole of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from grid_programs import sites, told
from read_programs import line_of

FIELDS = """static void swap(struct grid *a, struct grid *b) { double *t; t = a->u; a->u = b->u; b->u = t; }
static void evolve(struct grid *c, struct grid *p)
{
    double *now = c->u, *old = p->u;
    for (int k = c->ny; k < (c->nx - 1) * c->ny; k++)
        now[k] = old[k - c->ny] + old[k + c->ny]; // HERE
}
"""
STEPS = [
    "struct grid g = {n, n, NULL, NULL, NULL}, h = {n, n, NULL, NULL, NULL};",
    "g.u = malloc(n * n * 8); h.u = malloc(n * n * 8);",
    "for (int i = 0; i < n * n; i++) g.u[i] = h.u[i] = i;",
    "for (int t = 0; t < 9; t++) { trade(&g, rank); evolve(&h, &g); swap(&g, &h); }",
    'printf("%g\\n", g.u[n]);',
]
EDGE = "struct grid *g, int rank) { double *to = g->u, *from = g->u + g->ny, *end = g->u + (g->nx - 1) * g->ny;"
WHERE = "g->ny, MPI_DOUBLE, rank ? rank - 1 : MPI_PROC_NULL, 0,"
BOTH = f"MPI_Sendrecv(from, {WHERE} to, {WHERE} MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


def taken(name: str) -> str:
    return f"MPI_Recv({name}, {WHERE} MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


@pytest.mark.parametrize("calls", [BOTH, taken("to") + taken("end")])
def test_a_halo_at_the_beginning_of_a_block(calls: str, tmp_path: Path) -> None:
    text, found = sites(STEPS, tmp_path, f"{FIELDS}static void trade({EDGE} {calls} }}\n")
    first = next(s for s in found if s["side"] == "recv")
    where = (
        f"the message lies in `g->u`, and line {line_of(text)} may read bytes there that this receive does not bring"
    )
    assert (told(first), first["message"]) == (("keep", "OPI201"), f"{where}, as `old`")
    assert first["notes"][0]["message"] == "`old` may be read here"


def test_a_receive_of_a_whole_block_is_no_halo(tmp_path: Path) -> None:
    """What is sent from there later, and what other processes receive there, says nothing of what it brings."""
    calls = f"if (rank > 0) {{ {taken('to')} MPI_Send(from, {WHERE} MPI_COMM_WORLD); }} else {{ {taken('end')} }}"
    _, found = sites(STEPS, tmp_path, f"{FIELDS}static void trade({EDGE} {calls} }}\n")
    assert "this receive does not bring" not in found[0]["message"]


def test_a_block_that_comes_whole_by_its_first_row(tmp_path: Path) -> None:
    """Its other rows point into it: that is what it stays for, not what the message leaves out."""
    before = "static void add(double **c, double **b, int n)\n"
    before += "{ for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) c[i][k] += b[k][i]; }\n"
    lines = [
        "double **b = malloc(n * sizeof(double *)), **c = malloc(n * sizeof(double *));",
        "b[0] = malloc(n * n * 8); c[0] = malloc(n * n * 8);",
        "for (int i = 1; i < n; i++) {",
        "b[i] = b[0] + n * i; // HERE",
        "c[i] = c[0] + n * i; }",
        "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) b[i][k] = c[i][k] = i;",
        "for (int t = 0; t < 9; t++) { add(c, b, n);",
        "MPI_Recv(&b[0][0], n * n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }",
        'printf("%g\\n", c[n - 1][0]);',
    ]
    text, found = sites(lines, tmp_path, before)
    wanted = f"line {line_of(text)} makes the rows of `b` parts of the block that is the whole message"
    assert found[0]["message"] == f"{wanted}: they would point to memory that is gone"
    lines[7] = lines[7].replace("n * n, MPI", "n, MPI")
    text, found = sites(lines, tmp_path, before)
    wanted = f"the call names a row of `b`, and line {line_of(text)} makes its rows parts of one block"
    assert found[0]["message"] == f"{wanted}; a message needs a buffer of its own"


COPIED = [
    "double *own = malloc(n * n * 8), *all = calloc((n + 2) * n, 8);",
    "for (int i = 0; i < n * n; i++) own[i] = i;",
]
COPIED += ["double *first = all, *inner = all + n, *last = all + (n + 1) * n;", "memcpy(inner, own, n * n * 8);"]
COPIED += [f"MPI_Recv({name}, n, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" for name in ("first", "last")]
COPIED += ["MPI_Send(inner, n, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);", "double s = 0;"]
COPIED += ["for (int i = 1; i <= n; i++) for (int k = 0; k < n; k++) s += all[(i - 1) * n + k]; // HERE"]


def test_data_that_are_copied_in_beside_a_halo(tmp_path: Path) -> None:
    text, found = sites([*COPIED, 'printf("%g\\n", s);'], tmp_path, "")
    where = (
        f"the message lies in `first`, and line {line_of(text)} may read bytes there that this receive does not bring"
    )
    assert (told(found[0]), found[0]["message"]) == (("keep", "OPI201"), f"{where}, as `all`")
