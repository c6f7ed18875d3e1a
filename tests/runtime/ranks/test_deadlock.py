"""The question whether all wait for ever, put 5,000 times as often as usual: never is it answered wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import MPIS, MpiUser
from test_ranks import ENDS, PROGRAMS, run
from test_switch import with_member

from opi_xform.resources import runtime_include_dir

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
