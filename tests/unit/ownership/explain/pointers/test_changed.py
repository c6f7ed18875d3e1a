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
    told = f"`g_in` may change behind the program's back: inline asm in line {line_of(text, '__asm__')}"
    assert site["message"] == told
    assert [note["line"] for note in site["notes"]] == [line_of(text, "if (odd(rank))")]
