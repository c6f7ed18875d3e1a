"""Programs with grids around a few lines, and what is told of their sites."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from read_programs import sites_of

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define M 1000
struct grid { int nx, ny; double *u, *v, **rows; };
"""
MAIN = """
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), rank = 0, size = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
"""
TAIL = """
    MPI_Finalize();
    return 0;
}
"""
ROW = "m, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD"
TAKE = "MPI_STATUS_IGNORE);"
TWO = ["int m = n + 2;", "double *a = malloc(m * m * 8), *b = malloc(m * m * 8), *was;"]
FIRST = "for (int i = 0; i < m * m; i++) a[i] = b[i] = i;"


def sites(lines: list[str], folder: Path, before: str = "") -> tuple[str, list[dict[str, Any]]]:
    text = HEAD + before + MAIN + "\n".join(lines) + TAIL
    return text, sites_of(text, folder)


def told(site: dict[str, Any]) -> tuple[str, str]:
    return site["decision"], site["code"]
