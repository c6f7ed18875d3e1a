"""What the text tells of pointers to places in a block, and of sources in a topology that is periodic.

That is ``opi_xform.ownership.explain.choosing.places`` and ``opi_xform.ownership.explain.choosing.periodic``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool

HEAD = "#include <mpi.h>\n#include <omp.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
PLACES = """static void step(char *all, int n, int k, int rank, char *out)
{
    char *top = all;
    char *grid = all + n; // GRID
    char *end = grid + k; // END
    #pragma omp parallel
    {
        #pragma omp single copyprivate(rank)
        rank++;
        @
        #pragma omp for
        for (int i = 0; i < k; i++)
            out[i] = grid[i - n] + grid[i + n]; // READ
    }
    printf("%d\\n", top == end);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    char *all = calloc(n, 9), *out = calloc(n, 9);
    step(all, n, 7 * n, argc, out);
    MPI_Finalize();
    return 0;
}
"""
WHERE = "n, MPI_BYTE, 1, 0, MPI_COMM_WORLD"


def told(text: str, folder: Path, *flags: str) -> list[dict[str, Any]]:
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "-j", "1", "--output-format", "json", "--", *flags])
    assert code == 0, err
    sites: list[dict[str, Any]] = json.loads(out)["sites"]
    return sites


def line_of(text: str, what: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if what in line)


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        (f"MPI_Send(end - n, {WHERE});", "OPI101", "the message lies in `end`, and line READ may read there after the"),
        (f"MPI_Recv(end, {WHERE}, 0);", "OPI204", "line END sets `end` to a place in the block of `grid`; a message"),
        (f"MPI_Recv(top, {WHERE}, 0);", "OPI204", "line GRID sets `grid` to a place in the block that `top` names; a"),
    ],
)
def test_pointers_to_places_in_one_block(call: str, code: str, said: str, tmp_path: Path) -> None:
    text = HEAD + PLACES.replace("@", call)
    (site,) = told(text, tmp_path, "-fopenmp")
    for word in ("READ", "END", "GRID"):
        said = said.replace(word, str(line_of(text, f"// {word}")))
    assert site["code"] == code
    assert site["message"].startswith(said)


RING = """int main(int argc, char **argv)
{
    int n = atoi(argv[1]), dims[2] = {0, 0}, left, right;
    @
    MPI_Comm ring;
    MPI_Request q;
    MPI_Status s;
    MPI_Init(&argc, &argv);
    MPI_Dims_create(4, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &ring);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    double *a = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double)), *t, r = 0;
    for (int i = 0; i < n; i++) a[i] = b[i] = i;
    for (int k = 0; k < dims[0]; k++) {
        for (int i = 0; i < n; i++) r += a[i];
        MPI_Irecv(b, n, MPI_DOUBLE, left, 0, ring, &q);
        MPI_Send(a, n, MPI_DOUBLE, right, 0, ring);
        t = a; a = b; b = t;
    }
    MPI_Wait(&q, &s);
    printf("%g\\n", r);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("periods", "code"),
    [
        ("int periods[2] = {1, 1};", "OPI206"),
        ("int periods[2]; periods[0] = 1; periods[1] = 1;", "OPI206"),
        ("int periods[2] = {1};", "OPI203"),
        ("int periods[2] = {1, 0};", "OPI203"),
        ("int periods[2]; periods[0] = periods[1] = n;", "OPI203"),
    ],
)
def test_a_source_in_a_ring(periods: str, code: str, tmp_path: Path) -> None:
    """Where each dimension is periodic, what else keeps the receive is told: it is pending in the next turn."""
    receive = next(site for site in told(HEAD + RING.replace("@", periods), tmp_path) if site["side"] == "recv")
    assert receive["code"] == code, receive["message"]
    assert ("MPI_PROC_NULL" in receive["message"]) is (code == "OPI203")
