"""A read of no more than a status says has come does not need what a receive from MPI_PROC_NULL leaves there.

``opi_xform.ownership.procnull.counted`` tells which read that is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int came(double *in, int most, int from)
{
    int bytes;
    MPI_Status status, other;
    double one = most;
    MPI_Sendrecv(&one, 1, MPI_DOUBLE, 1, 0, in, most, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status);
    STATUS
    COUNT // TOLD
    return bytes;
}
static double sum(double *in, int bytes)
{
    double s = 0;
    int k = bytes / sizeof(double);
    for (int i = 0; i < k; i++)
        s += in[i]; // COUNTED
    return s;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), from = argc > 2 ? MPI_PROC_NULL : 1; // NULL
    double *b = malloc(n * 8), s = 0;
    MPI_Init(&argc, &argv);
    int got = came(b, n, from);
    s += sum(b, got);
"""
TAIL = """
    printf("%g\\n", s);
    MPI_Finalize();
    return 0;
}
"""
GET = "MPI_Get_count(&status, MPI_BYTE, &bytes);"


def told(folder: Path, more: str = "", status: str = "", count: str = GET) -> tuple[str, dict[str, Any]]:
    text = HEAD.replace("STATUS", status).replace("COUNT //", count + " //") + more + TAIL
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    site = json.loads(out)["sites"][1]
    site["message"] = site["message"].partition("; ")[0]  # what follows is advice
    return text, site


def line_of(text: str, what: str = "HERE") -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if what in line)


def null(text: str) -> str:
    return f"the source may be MPI_PROC_NULL (line {line_of(text, 'NULL')} sets it so)"


def counted(text: str) -> str:
    much = f"could not show that line {line_of(text, 'COUNTED')} reads nothing of `b` then: how much comes is told at"
    return f"{null(text)}, and {much} line {line_of(text, 'TOLD')}"


def test_the_read_that_does_not_ask_how_much_came_is_told(tmp_path: Path) -> None:
    """The counted one is nearer."""
    text, site = told(tmp_path, "for (int i = 0; i < n; i++) s += b[i]; // HERE")
    assert (site["code"], site["message"]) == ("OPI203", f"{null(text)}, and line {line_of(text)} reads `b` then too")
    assert line_of(text, "COUNTED") not in {note["line"] for note in site["notes"]}


def test_a_counted_read_alone_could_not_be_shown_to_read_nothing(tmp_path: Path) -> None:
    text, site = told(tmp_path)
    assert (site["code"], site["message"]) == ("OPI203", counted(text))
    assert (site["notes"][-1]["line"], site["notes"][-1]["message"]) == (
        line_of(text, "TOLD"),
        "how much has come is told here",
    )


@pytest.mark.parametrize(
    ("status", "count"),
    [
        ("MPI_Probe(1, 1, MPI_COMM_WORLD, &other);", "MPI_Get_count(&other, MPI_BYTE, &bytes);"),
        ("if (most < 0) return 8;", GET),
        ("bytes = most; if (most < 9) return bytes;", GET),
    ],
)
def test_what_another_number_may_be_is_no_count_of_the_message(tmp_path: Path, status: str, count: str) -> None:
    text, site = told(tmp_path, "", status, count)
    assert site["message"] == f"{null(text)}, and line {line_of(text, 'COUNTED')} reads `b` then too"
