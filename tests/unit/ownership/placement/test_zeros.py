"""Where the zeros of calloc are read, OPI_Calloc stands in its place; where nobody reads them, nothing changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tools import run_tool

FRAME = """#include <mpi.h>
#include <stdlib.h>
#define N 2000
static double v[N];
%s
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    %s
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            if (step >= %d)
                for (int i = 0; i < N; i++)
                    b[i] = step + i;
            MPI_Send(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(b);
    MPI_Finalize();
    return v[0] > 1;
}
"""


def transformed(tmp_path: Path, allocation: str, first: int, above: str = "") -> str:
    """The program that packs from turn ``first`` on."""
    source = tmp_path / "case.c"
    source.write_text(FRAME % (above, allocation, first))
    code, out, err = run_tool([str(source), "-o", str(tmp_path / "out"), "-j", "1"])
    assert code == 0, out + err
    (after,) = (tmp_path / "out").rglob("case.c")
    return after.read_text()


@pytest.mark.parametrize(
    ("allocation", "written", "above"),
    [
        ("double *b = (double *)calloc(N, 8);", "double *b = (double *)OPI_Calloc(N, 8);", ""),
        ("double *b; b = calloc(N, sizeof *b);", "b = OPI_Calloc(N, sizeof *b);", ""),
        (
            "double *b; if (!(b = calloc(N, 8))) MPI_Abort(MPI_COMM_WORLD, 1);",
            "if (!(b = OPI_Calloc(N, 8))) MPI_Abort(MPI_COMM_WORLD, 1);",
            "",
        ),
        (
            "double *b = zeros(N + 1);",
            "b = OPI_Calloc((N + 1), sizeof(double));",
            "static double *zeros(int n) { return calloc(n, sizeof(double)); }",
        ),
        ("double *b = rank < 2 ? calloc(N, 8) : NULL;", "double *b = rank < 2 ? OPI_Calloc(N, 8) : NULL;", ""),
    ],
)
def test_zeros_that_are_sent(tmp_path: Path, allocation: str, written: str, above: str) -> None:
    after = transformed(tmp_path, allocation, 1, above)
    assert written in after
    assert after.count("OPI_Calloc(") == 1
    assert "OPI_Give(" in after
    assert " calloc(" not in after


def test_zeros_that_nobody_reads(tmp_path: Path) -> None:
    after = transformed(tmp_path, "double *b = calloc(N, 8);", 0)
    assert "OPI_Calloc" not in after
    assert "OPI_Alloc(" in after
    assert "OPI_Give(" in after


def test_zeros_that_are_sent_again(tmp_path: Path) -> None:
    after = transformed(tmp_path, "double *b = calloc(N, 8);", 2)
    assert "OPI_Calloc" not in after
    assert "MPI_Send(b" in after


def test_its_own_output_stays_as_it_is(tmp_path: Path) -> None:
    """The effects of OPI_Calloc are known: the tool has nothing more to do."""
    once = transformed(tmp_path, "double *b = calloc(N, 8);", 1)
    again = tmp_path / "again.c"
    again.write_text(once)
    code, out, err = run_tool([str(again), "-o", str(tmp_path / "twice"), "-j", "1"])
    assert code == 0, out + err
    (after,) = (tmp_path / "twice").rglob("again.c")
    lines = [line for line in after.read_text().splitlines() if "OPI_Calloc" in line or "OPI_Give" in line]
    assert lines == [line for line in once.splitlines() if "OPI_Calloc" in line or "OPI_Give" in line]
