"""``--strict``: what converts rests on no assumption, and lists none."""

import json
from pathlib import Path

from case_tools import run_tool

GROWN = """#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, room = 20;
    double sum = 0, *b = malloc(20 * sizeof *b);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 5; k++) {
        int n = k % 2 ? 100 : 10;
        if (n > room) {
            free(b);
            b = malloc(n * sizeof *b);
            room = n;
        }
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                b[i] = i + k;
            MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += n;
        }
    }
    free(b);
    MPI_Finalize();
    return sum < 0;
}
"""


def decided(path: Path, *options: str) -> dict[str, tuple[str, list[str]]]:
    _, out, err = run_tool([str(path), "--output-format", "json", *options])
    assert out, err
    return {site["side"]: (site["decision"], site["assumptions"]) for site in json.loads(out)["sites"]}


def test_a_send_beside_a_receive_lists_what_is_assumed_of_it_only_where_it_is(tmp_path: Path) -> None:
    source = tmp_path / "grown.c"
    source.write_text(GROWN, encoding="utf-8")
    assert decided(source)["send"] == ("convert", ["A1"])
    assert decided(source, "--strict")["send"] == ("convert", [])
