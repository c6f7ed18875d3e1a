"""``opi_xform.ownership.explain.pointers.changed``: which variable unknown code may set is told, and where."""

from __future__ import annotations

from pathlib import Path

from told_programs import kept, line_of

GET = """static double *g_in;
static void *get(size_t n)
{
    void *p;
    MPI_Alloc_mem(n, MPI_INFO_NULL, &p);
    return p;
}
static int odd(int k)
{
    __asm__ volatile("" ::: "memory");
    return k & 1;
}
static void run(int n)
{
    double *restrict in = g_in;
    MPI_Recv(in, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        s += in[i];
}
"""


def test_the_variable_behind_a_local_one(tmp_path: Path) -> None:
    text, site = kept(GET, "    g_in = get(n * sizeof *g_in);\n    if (odd(rank))\n        run(n);\n", tmp_path)
    assert site["code"] == "OPI402"
    called = f"`odd`, called at line {line_of(text, 'if (odd(rank))')}, is not followed"
    told = f"could not show that `g_in` stays as it is: {called}: inline asm in line {line_of(text, '__asm__')}"
    assert site["message"] == told
    assert [note["line"] for note in site["notes"]] == [line_of(text, "if (odd(rank))")]


POINTER = """static int one(int k) { return k; }
static int (*number)(int) = one;
static double **rows;
static int seen[64];
static void all(void)
{
#pragma omp critical
    seen[0]++;
}
"""


def test_a_call_through_a_pointer_where_some_function_is_not_followed(tmp_path: Path) -> None:
    """What that function puts into the pointer is what nobody knows: without it the call leads to ``one``."""
    body = """    s += number(3);
    all();
    rows = malloc(4 * sizeof *rows);
    for (int i = 0; i < 4; i++)
        rows[i] = malloc(100 * sizeof **rows);
    if (rank == 0)
        for (int j = 1; j < 4; j++) {
            MPI_Recv(rows[j], 100, MPI_DOUBLE, j, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 100; i++)
                s += rows[j][i];
        }
"""
    text, site = kept(POINTER, body, tmp_path)
    assert site["code"] == "OPI402"
    anywhere = f"the call through a pointer at line {line_of(text, 'number(3)')} may lead anywhere"
    assert f"could not show that `rows` stays as it is: {anywhere}, as `all` is not followed: OpenMP" in site["message"]
    assert [note["line"] for note in site["notes"]] == [line_of(text, "number(3)"), line_of(text, "static void all")]
