"""A program whose sites --fix can change, and --fix of one of them."""

from __future__ import annotations

from pathlib import Path

from case_tools import run_tool

HALO = """#include <mpi.h>
#include <stdio.h>
#define N 1000
static double u[N];
static int n = 40;
int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int up = rank == 0 ? 1 : MPI_PROC_NULL, down = rank == 1 ? 0 : MPI_PROC_NULL;
    for (int i = 0; i < N; i++)
        u[i] = (rank + 1) * i;
    for (int t = 0; t < 4; t++) {
        if (n > 2)
            MPI_Send(&u[t], n, /* SEND */
                     MPI_DOUBLE, up, 0, MPI_COMM_WORLD);
        else
            n = 2;
        MPI_Recv(&u[t + 100], n + 60, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // RECV
        MPI_Sendrecv(u, n, MPI_DOUBLE, up, 1, u + 300, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, /* BOTH */
                     MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < N; i++)
        sum += u[i] * (i % 7);
    printf("%d %.17g\\n", rank, sum);
    MPI_Finalize();
    return 0;
}
"""


def line_of(text: str, mark: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if mark in line)


def fix(text: str, mark: str, *more: str) -> tuple[int, str, str]:
    """In the working directory."""
    Path("a.c").write_text(text, encoding="utf-8")
    return run_tool(["a.c", "-j", "1", "--fix", f"a.c:{line_of(text, mark)}", *more])
