"""Collective calls that give a process a whole block anew (``opi_xform.ownership.explain.other_memory``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import run_tool

TEXT = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static double halves(double *a, int from, int to)
{
    double s = 0;
    for (int i = from; i < to; i++)
        s += a[i]; // READ
    return s;
}
int main(int argc, char **argv)
{
    int n = 8 * atoi(argv[1]), rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int k = n / size, first = rank * k;
    double *a = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) a[i] = i;
    if (rank == 0)
        for (int i = 1; i < size; i++)
            MPI_Recv(a + i * k, k, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(a + first, k, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    @
    printf("%g\\n", halves(a, first, first + k));
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("between", "anew"),
    [
        ("MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);", True),
        ("MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);", False),  # it reads what was there
        ("MPI_Bcast(a, n - 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);", False),
        ("MPI_Bcast(a, n, MPI_DOUBLE, 1, MPI_COMM_WORLD);", False),  # the root may be the sender
        ("", False),
    ],
)
def test_what_all_of_a_block_comes_to(between: str, anew: bool, tmp_path: Path) -> None:
    """What is read afterwards is not the message: that begins inside a block, and stays for that."""
    (tmp_path / "a.c").write_text(TEXT.replace("@", between))
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    (sent,) = (site for site in json.loads(out)["sites"] if site["side"] == "send")
    assert sent["code"] == ("OPI104" if anew else "OPI101"), sent["message"]
    assert sent["message"].startswith("the call begins inside `a`") is anew
