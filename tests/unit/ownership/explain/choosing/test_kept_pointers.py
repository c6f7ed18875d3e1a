"""Pointers into a buffer that lie in memory without a name, and what a library's function returns.

That is told by ``opi_xform.ownership.conditions.addresses.values`` and ``opi_xform.ownership.explain.pointers``.
"""

from __future__ import annotations

from pathlib import Path

from tests.unit.ownership.explain.pointers.told_programs import first_site, kept, line_of

ROWS = """static void make(double ***rows, double **all, int n)
{
    *all = malloc(n * n * sizeof(double));
    *rows = malloc(n * sizeof(double *));
    double **at = *rows, *row = *all;
    for (int i = 0; i < n; i++) {
        *(at++) = row; // STORED
        row += n;
    }
}
"""


def test_rows_that_are_set_by_a_pointer_that_moves(tmp_path: Path) -> None:
    inside = """
    double **rows, *all;
    make(&rows, &all, n);
    MPI_Recv(all, n * n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += rows[i][j];
"""
    text, site = kept(ROWS, inside, tmp_path)
    message = f"line {line_of(text, '// STORED')} stores a pointer into the memory of `all`"
    assert (site["code"], site["message"]) == ("OPI205", f"{message}, which would go on pointing there")


SORT = """#include <mpi.h>
#include <stdlib.h>
static double s;
static void sort(int *a, int from, int to, int rank, int p, int q)
{
    if (q - p <= 1) return;
    int h = (p + q) / 2, k = (from + to) / 2;
    int *half = NULL;
    if (rank == h) {
        half = malloc((to - k) * sizeof(int));
        MPI_Recv(half, to - k, MPI_INT, p, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank < h)
        sort(a, from, k, rank, p, h);
    else
        sort(half, 0, to - k, rank, h, q); // GIVEN
    if (rank == p) {
        half = malloc((to - k) * sizeof(int));
        MPI_Recv(half, to - k, MPI_INT, h, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < to - k; i++) s += half[i] + a[i];
        free(half);
    } else if (rank == h) {
        MPI_Send(half, to - k, MPI_INT, p, 0, MPI_COMM_WORLD);
        free(half);
    }
}
int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *a = calloc(n, sizeof(int));
    sort(a, 0, n, rank, 0, size);
    MPI_Finalize();
    return s > 0;
}
"""


def test_the_call_from_inside_itself_that_is_given_the_buffer(tmp_path: Path) -> None:
    site = first_site(SORT, tmp_path)
    at = line_of(SORT, "// GIVEN")
    assert (
        site["message"]
        == f"`half`: could not show that `sort`, called from inside itself at line {at}, leaves it alone"
    )


def test_what_a_function_returns_that_no_header_declares(tmp_path: Path) -> None:
    before = "static void ship(char *name, int n) { MPI_Send(name, n, MPI_CHAR, 1, 0, MPI_COMM_WORLD); }\n"
    inside = "    char *last;\n    last = basename(argv[1]); // RETURNED\n    ship(last, n);\n    ship(last, n);\n"
    text, site = kept("char *basename();\n" + before, inside, tmp_path)
    assert "`basename` returned, which is not known to be fresh memory" in site["message"], site["message"]
    assert line_of(text, "// RETURNED") in [note["line"] for note in site["notes"]]


TABLE = """static void table(double ***t, int n, int m)
{
    *t = malloc(n * sizeof(double *));
    for (int i = 0; i < n; i++) (*t)[i] = malloc(m * sizeof(double)); // ALLOCATED
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) (*t)[i][j] = i;
}
"""
BLOCK = """
    double **a, **b;
    int low = rank * n, high = low + n, m = 3 * n;
    table(&a, 9 * n, m);
    table(&b, 9 * n, m);
    MPI_Recv(&a[low][0], COUNT, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = low; i < high; i++) s += a[i][0] + b[i][0];
"""


def test_a_message_of_several_rows_that_are_allocated_one_by_one(tmp_path: Path) -> None:
    text, site = kept(TABLE, BLOCK.replace("COUNT", "(high - low) * m"), tmp_path)
    row = f"one row, which line {line_of(text, '// ALLOCATED')} allocates by itself, has that many elements"
    words = "its count is a product, as that of several rows is, and could not show that"
    assert site["message"].endswith(f"; {words} {row}")
    _, site = kept(TABLE, BLOCK.replace("COUNT", "3 * n"), tmp_path)
    assert "as that of several rows is" not in site["message"]


SHARED = """#include <mpi.h>
struct job { double *a; } jobs[4];
double *memory(int);
void start(void);
void work(int rank, int n)
{
    double *part = memory(n), *all = part;
    if (rank == 0) {
        jobs[0].a = all; // FIRST
        start();
    } else {
        MPI_Recv(all, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        start();
    }
    if (n > 3)
        jobs[0].a = all; // SECOND
}
""".replace("memory(n)", "malloc(n * sizeof(double))").replace("double *memory(int);\n", "#include <stdlib.h>\n")


def test_each_line_that_stores_the_address_is_noted(tmp_path: Path) -> None:
    site = first_site(SHARED, tmp_path)
    lines = [line_of(SHARED, mark) for mark in ("// FIRST", "// SECOND")]
    assert [note["line"] for note in site["notes"]] == lines, site
