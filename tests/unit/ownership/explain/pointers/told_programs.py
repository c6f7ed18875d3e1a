"""Programs of which one site stays, for tests of what is told of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from case_tools import run_tool

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static double s;
"""
MAIN = """
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
"""
TAIL = """
    printf("%g\\n", s);
    MPI_Finalize();
    return 0;
}
"""


def kept(before: str, inside: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """The text, and the first site that stays."""
    text = HEAD + before + MAIN + inside + TAIL
    return text, first_site(text, folder)


def first_site(text: str, folder: Path) -> dict[str, Any]:
    """The first site of a whole file that stays."""
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "--output-format", "json"])
    assert code == 0, err
    return next(site for site in json.loads(out)["sites"] if site["decision"] == "keep")


def line_of(text: str, what: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if what in line)
