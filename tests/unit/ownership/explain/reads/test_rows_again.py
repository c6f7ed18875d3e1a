"""``sent_twice`` of ``opi_xform.ownership.explain.later``: rows that nothing writes are sent once more."""

from __future__ import annotations

import json
from pathlib import Path

from case_tools import run_tool

PROGRAM = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), rank, to[4];
    double *out[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int g = 0; g < 4; g++) {
        out[g] = malloc(n * sizeof(double));
        to[g] = rank + g < 4 ? rank + g : -1;
    }
    for (int t = 0; t < 9; t++)
        for (int g = 0; g < 4; g++)
            if (to[g] != -1)
                MPI_Send(out[g], n, MPI_DOUBLE, to[g], 0, MPI_COMM_WORLD);
    for (int g = 0; g < 4; g++)
        free(out[g]);
    MPI_Finalize();
    return 0;
}
"""


def test_the_loop_that_sends_rows_again_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(PROGRAM)
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    line = next(i for i, text in enumerate(PROGRAM.splitlines(), 1) if "int t = 0" in text)
    again = f"`out` may be sent again in a later turn of the loop in line {line}"
    assert (site["code"], site["message"]) == ("OPI102", f"{again}, in which nothing is written to its rows")
