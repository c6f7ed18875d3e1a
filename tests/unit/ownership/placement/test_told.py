"""Where the program looks whether there is memory, and goes on without, OPI_Malloc stands for malloc, in any words."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tools import run_tool

FRAME = """#include <mpi.h>
#include <stdlib.h>
#define N 2000
static double v[N];
%s
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    %s
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = step + i;
            MPI_Send(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(b);
    MPI_Finalize();
    return v[0] > 1;
}
"""
LEAVE = "{ MPI_Finalize(); return 0; }"


def transformed(tmp_path: Path, allocation: str, above: str = "") -> str:
    source = tmp_path / "case.c"
    source.write_text(FRAME % (above, allocation))
    code, out, err = run_tool([str(source), "-o", str(tmp_path / "out"), "-j", "1"])
    assert code == 0, out + err
    (after,) = (tmp_path / "out").rglob("case.c")
    return after.read_text()


@pytest.mark.parametrize(
    ("allocation", "written", "above"),
    [
        (f"double *b = malloc(N * 8); if (!b) {LEAVE}", "double *b = OPI_Malloc(N * 8);", ""),
        (f"double *b; b = (double *)malloc(N * 8); if (b == NULL) {LEAVE}", "b = (double *)OPI_Malloc(N * 8);", ""),
        (f"double *b; if (!(b = malloc(N * 8))) {LEAVE}", "if (!(b = OPI_Malloc(N * 8)))", ""),
        (f"double *b = calloc(N, 8); if (!b) {LEAVE}", "b = OPI_Malloc(", ""),
        (
            f"double *b = room(N + 1); if (!b) {LEAVE}",
            "b = OPI_Malloc((N + 1) * sizeof(double));",
            "static double *room(int n) { return malloc(n * sizeof(double)); }",
        ),
    ],
)
def test_malloc_that_the_program_asks(tmp_path: Path, allocation: str, written: str, above: str) -> None:
    after = transformed(tmp_path, allocation, above)
    assert written in after
    assert after.count("OPI_Malloc(") == 1
    assert "OPI_Give(" in after


@pytest.mark.parametrize(
    "allocation",
    [
        f"double *b = NULL; if (posix_memalign((void **)&b, 64, N * 8) != 0) {LEAVE}",
        f"size_t n = N; n += argc > 9; double *b = calloc(n, 8); if (!b) {LEAVE}",
    ],
)
def test_what_fails_otherwise(tmp_path: Path, allocation: str) -> None:
    """posix_memalign leaves the pointer, and calloc asks for no less where the product is more than there is."""
    assert "OPI_Malloc" not in transformed(tmp_path, allocation)


@pytest.mark.parametrize("end", ["MPI_Abort(MPI_COMM_WORLD, 1);", "exit(1);"])
def test_a_program_that_ends_with_an_error(tmp_path: Path, end: str) -> None:
    after = transformed(tmp_path, f"double *b = malloc(N * 8); if (!b) {end}")
    assert "OPI_Give(" in after
    assert "OPI_Malloc" not in after


@pytest.mark.parametrize("way", ["rank = 5;", "{ jmp_buf back; longjmp(back, 1); }", 'execl("a", "b", NULL);'])
def test_a_program_that_comes_back(tmp_path: Path, way: str) -> None:
    """It goes on to the message, or to code that is not known."""
    above = "#include <setjmp.h>\n#include <unistd.h>"
    after = transformed(tmp_path, f"double *b = malloc(N * 8); if (!b) {way}", above)
    assert "OPI_Give(" not in after


def test_what_has_been_made_is_made_once(tmp_path: Path) -> None:
    """The effects of OPI_Malloc are known: the tool has nothing more to do."""
    once = transformed(tmp_path, f"double *b = malloc(N * 8); if (!b) {LEAVE}")
    folder = tmp_path / "again"
    folder.mkdir()
    (folder / "case.c").write_text(once)
    code, out, err = run_tool([str(folder / "case.c"), "-o", str(folder / "out"), "-j", "1"])
    assert code == 0, out + err
    (after,) = (folder / "out").rglob("case.c")
    assert after.read_text().count("OPI_") == once.count("OPI_")
