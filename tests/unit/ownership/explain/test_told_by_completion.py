"""What is said of rows that a completion tells, and of a table that its initialiser clears."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import run_tool

from opi_xform.ownership.explain import called

TEXT = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 3000
int main(int argc, char **argv)
{
    int size;
    double sum = 0.0;
    MPI_Request req[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *in[4] BEGIN;
    for (int m = 0; m < 4; m++)
        in[m] = malloc(N * sizeof(double));
    for (int m = 0; m < 2; m++)
        MPI_Irecv(in[m], N, MPI_DOUBLE, m, 3, MPI_COMM_WORLD, &req[m]);
    for (int m = 2; m < 4; m++) {
        for (int i = 0; i < N; i++)
            in[m][i] = i;
        MPI_Isend(in[m], N, MPI_DOUBLE, m - 2, 3, MPI_COMM_WORLD, &req[m]);
    }
    END
    for (int m = 0; m < 4; m++)
        free(in[m]);
    printf("%g\\n", sum);
    MPI_Finalize();
    return 0;
}
"""
ANY = "for (int k = 0, m; k < 4; k++) { MPI_Waitany(4, req, &m, MPI_STATUS_IGNORE); if (m < 2) SUM }"
ALL = "MPI_Waitall(4, req, MPI_STATUSES_IGNORE); for (int m = 0; m < 2; m++) { SUM }"
SUM = "for (int i = 0; i < N; i++) sum += in[m][i];"


def said(begin: str, end: str, tmp_path: Path) -> str:
    text = TEXT.replace("BEGIN", begin).replace("END", end.replace("SUM", SUM))
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    site = json.loads(out)["sites"][0]
    return f"{site['decision']} {site.get('message', '')}"


WHICH = "the row of line 22 is `m`, which `MPI_Waitany` at line 22 tells; a loop over the rows after `MPI_Waitall`"
SET = "; for (int m = 0; m < 4; m++) in[m] = NULL"
AT_ONCE = "line 12 sets all pointers of `in` to NULL at once"


@pytest.mark.parametrize(
    ("begin", "end", "told"),
    [("", ANY, WHICH), ("= {0}", ALL, AT_ONCE), ("", ALL, "convert"), (SET, ALL, "convert")],
)
def test_the_rows_that_waitany_tells(begin: str, end: str, told: str, tmp_path: Path) -> None:
    """Each that is told ends in what would help, and that does."""
    assert called.told_by_completion
    assert told in said(begin, end, tmp_path)
