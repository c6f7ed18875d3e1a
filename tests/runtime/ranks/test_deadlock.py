"""The question whether all wait for ever, put 5,000 times as often as usual: never is it answered wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser
from test_ranks import ENDS, PROGRAMS, run
from test_switch import with_member

from opi_xform.resources import runtime_include_dir
from tests.machines.onesided.run import SOURCE

pytestmark = pytest.mark.skipif(not MPIS, reason="no mpicc: set OPI_MPICC")


@pytest.fixture(scope="session")
def asking(mpi_user: MpiUser, opi_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """libopi_ranks in a hurry."""
    return with_member(mpi_user, opi_cache, tmp_path_factory.mktemp("asking"), "transport/dead.c", "-DASK_NS=20000u")


@pytest.mark.parametrize("kind", ["threads", "fibers"])
@pytest.mark.parametrize("name", ["apart", "comms", "messages", "ops"])
def test_no_rank_that_will_go_on_is_reported(
    mpi_user: MpiUser, asking: list[str], name: str, kind: str, tmp_path: Path
) -> None:
    program = tmp_path / name
    mpi_user.mpicc("-O1", f"-I{runtime_include_dir()}", PROGRAMS / f"{name}.c", *asking, "-o", program)
    for processes in (2, 3) if mpi_user.mpi.kind == "mpich" else (2,):
        result = run(mpi_user, program, 5, kind, processes=processes)
        assert (result.code, result.out) == (0, "ok 5\n"), result.err


@pytest.mark.parametrize("kind", ["threads", "fibers"])
def test_ranks_that_wait_for_ever_still_are(mpi_user: MpiUser, asking: list[str], kind: str, tmp_path: Path) -> None:
    (tmp_path / "ends.c").write_text(ENDS)
    mpi_user.mpicc("-O1", tmp_path / "ends.c", *asking, "-o", tmp_path / "ends")
    result = run(mpi_user, tmp_path / "ends", 4, kind, "a", "stuck", processes=2)
    assert (result.code, "deadlock: all 4 ranks" in result.err) == (1, True), result.err


WINDOWS = CHECKOUT / "runtime" / "tests" / "onesided"
STUCK_IN_A_WINDOW = """
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, token;
    long *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    if (rank == 0) { /* has the lock, and waits for what nobody sends */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1)
            MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        else
            MPI_Win_free(&win);
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("kind", ["threads", "fibers"])
def test_no_rank_that_waits_for_a_window_is_reported(
    mpi_user: MpiUser, asking: list[str], kind: str, tmp_path: Path
) -> None:
    """What such a rank waits for is written into memory by other processes, without a message."""
    for source in (WINDOWS / "windows.c", WINDOWS / "queue.c", SOURCE):
        program = tmp_path / source.stem
        mpi_user.mpicc("-O1", f"-I{runtime_include_dir()}", source, *asking, "-o", program)
        for processes in (2, 4) if mpi_user.mpi.kind == "mpich" else (2,):
            result = run(mpi_user, program, 5, kind, processes=processes)
            assert (result.code, "ok, 0 failures" in result.out) == (0, True), result.err


@pytest.mark.parametrize("kind", ["threads", "fibers"])
def test_ranks_that_wait_for_ever_for_a_window_still_are(
    mpi_user: MpiUser, asking: list[str], kind: str, tmp_path: Path
) -> None:
    (tmp_path / "stuck.c").write_text(STUCK_IN_A_WINDOW)
    mpi_user.mpicc("-O1", tmp_path / "stuck.c", *asking, "-o", tmp_path / "stuck")
    result = run(mpi_user, tmp_path / "stuck", 4, kind, processes=2)
    assert result.code == 1, result.err
    for line in (
        "deadlock: all 4 ranks",
        "rank 0 waits in MPI_Recv for a message from rank 3 with tag 7",
        "rank 1 waits in MPI_Win_free",
        "rank 3 waits in MPI_Win_lock",
    ):
        assert line in result.err, result.err
