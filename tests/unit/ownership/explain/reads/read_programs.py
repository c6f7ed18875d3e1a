"""Programs around a few lines, and what is told of their sites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from case_tools import run_tool

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 1000
static double u[N], g[4][N];
"""
MAIN = """
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), rank = 0, size = 1;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
"""
TAIL = """
    printf("%g\\n", s);
    MPI_Finalize();
    return 0;
}
"""
TO = "1, 0, MPI_COMM_WORLD);"


def sites(lines: list[str], folder: Path, before: str = "") -> tuple[str, list[dict[str, Any]]]:
    """A program with these lines in main, and ``before`` before it; its sites, in their order."""
    text = HEAD + before + MAIN + "\n".join(lines) + TAIL
    return text, sites_of(text, folder)


def sites_of(text: str, folder: Path) -> list[dict[str, Any]]:
    """The sites of a program, in their order."""
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["sites"]
    return found


def line_of(text: str, what: str = "HERE") -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if what in line)
