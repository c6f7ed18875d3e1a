"""``opi_xform.graph.loops.without_two_entries``: functions with a loop that is entered in two places."""

from __future__ import annotations

from pathlib import Path

from case_tools import run_tool

from opi_xform.frontend import parse_unit
from opi_xform.graph.loops import without_two_entries

TEXT = """#include <mpi.h>
#include <stdlib.h>
static int odd(int k)
{
    if (k > 3)
        goto inside;
    while (k < 10) {
        k += 2;
    inside:
        k++;
    }
    return k;
}
static int even(int k)
{
again:
    k++;
    if (k < 10)
        goto again;
    switch (k) {
    case 3:
        k++;
    default:
        k += 2;
    }
    return k;
}
static int copied(int k, int n)
{
    switch (n % 2) {
    case 0:
        do {
            k++;
    case 1:
            k++;
        } while (n-- > 0);
    }
    return k;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int n = odd(argc) + even(argc) + copied(argc, 3);
    double *b = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        b[i] = i;
    MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    free(b);
    MPI_Finalize();
}
"""


def test_only_such_functions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    (unit,) = without_two_entries([parse_unit(str(path), ())])
    refused = {f.name: f.refused for f in unit.functions.values()}
    assert refused == {
        "odd": "a loop with two entries (goto into a loop) in line 7",
        "even": "",
        "copied": "a loop with two entries (goto into a loop) in line 35",
        "main": "",
    }


def test_files_without_labels_are_the_same_units(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("int f(int k) { while (k < 3) k++; return k; }\n")
    units = [parse_unit(str(path), ())]
    assert without_two_entries(units) is units


def test_the_rest_of_the_program_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    code, out, err = run_tool([str(path)])
    assert code == 0, err
    assert "OPI_Give(&b, n" in out
