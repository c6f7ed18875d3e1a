"""Windows: the programs of runtime/tests/onesided as processes, threads and fibers, under each MPI."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, in_turn, only_one

from opi_xform.launch.ranks import ensure_ranks, link_flags
from opi_xform.resources import runtime_include_dir

PROGRAMS = CHECKOUT / "runtime" / "tests" / "onesided"
WARNINGS = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror")

pytestmark = [pytest.mark.mpi, pytest.mark.skipif(not MPIS, reason="no mpicc: set OPI_MPICC")]


def built(user: MpiUser, folder: Path, name: str) -> Path:
    target = folder / f"onesided-{name}-{user.mpi.kind}"
    with only_one(target.with_suffix(".lock")):
        if not target.exists():
            user.opicc(*WARNINGS, PROGRAMS / f"{name}.c", "-o", target)
    return target


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_windows_of_processes_do_what_was_computed_directly(mpi_user: MpiUser, shared_tmp: Path, ranks: int) -> None:
    result = mpi_user.run(ranks, built(mpi_user, shared_tmp, "windows"))
    assert "windows: ok, 0 failures" in result.out


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_windows_of_processes_refuse(mpi_user: MpiUser, shared_tmp: Path, ranks: int) -> None:
    result = mpi_user.run(ranks, built(mpi_user, shared_tmp, "errors"))
    assert "errors: ok, 0 failures" in result.out


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_large_counts_of_processes(mpi_user: MpiUser, shared_tmp: Path, ranks: int) -> None:
    result = mpi_user.run(ranks, built(mpi_user, shared_tmp, "counts"))
    if "this MPI has no such calls" in result.out:
        pytest.skip("calls with MPI_Count came with MPI 4")
    assert "counts: ok, 0 failures" in result.out


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_type_that_libopi_cannot_describe(mpi_user: MpiUser, shared_tmp: Path, ranks: int) -> None:
    result = mpi_user.run(ranks, built(mpi_user, shared_tmp, "nested"))
    assert "nested: ok, 0 failures" in result.out


def test_where_the_memory_of_allocated_windows_lies(mpi_user: MpiUser, shared_tmp: Path) -> None:
    result = mpi_user.run(2, built(mpi_user, shared_tmp, "place"), OPI_HEAP_LIMIT="64M")
    assert "place: ok, 0 failures" in result.out


@pytest.mark.parametrize("check", ["0", "1"])
def test_windows_over_owned_and_taken_buffers(mpi_user: MpiUser, shared_tmp: Path, check: str) -> None:
    """Without a copy by the kernel; and the checking mode has nothing to say."""
    result = mpi_user.run(3, built(mpi_user, shared_tmp, "owned"), OPI_CHECK=check)
    assert "owned: ok, 0 failures" in result.out
    assert "libopi" not in result.err


def test_the_target_takes_no_part(mpi_user: MpiUser, shared_tmp: Path) -> None:
    """MPICH's own window of MPI_Win_create waits for its target: so this shows whose the windows are."""
    result = mpi_user.run(2, built(mpi_user, shared_tmp, "late"))
    assert "late: ok, 0 failures" in result.out


@pytest.mark.parametrize("ranks", [2, 3])
def test_puts_that_are_left_to_their_target(mpi_user: MpiUser, shared_tmp: Path, ranks: int) -> None:
    """Whoever comes after the epoch finds them, and none needs the kernel."""
    result = mpi_user.run(ranks, built(mpi_user, shared_tmp, "left"))
    assert "left: ok, 0 failures" in result.out


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_target_that_waits_makes_small_copies(mpi_user: MpiUser, shared_tmp: Path, ranks: int) -> None:
    """In calls of libopi and of the MPI. One that computes is not needed for them."""
    result = mpi_user.run(ranks, built(mpi_user, shared_tmp, "ask"))
    assert "ask: ok, 0 failures" in result.out
    if "the target did not answer" in result.out or "no rank has a processor" in result.out:
        pytest.skip("all was as computed; but on this machine, with its other work, no target answered")


def test_windows_of_all_kinds_on_several_nodes(mpi_user: MpiUser, shared_tmp: Path) -> None:
    if mpi_user.mpi.kind != "mpich":
        pytest.skip("Open MPI's own MPI_Rget_accumulate with MPI_NO_OP returns other values than those in the window")
    result = mpi_user.run(4, built(mpi_user, shared_tmp, "windows"), "nodes", OPI_NODE_RANKS="2")
    assert "windows: ok, 0 failures" in result.out


@pytest.mark.parametrize(("ranks", "nodes", "together"), [(4, "2", 2), (5, "2", 2), (4, "2,cyclic", 1), (3, "3", 3)])
def test_members_of_a_node_and_of_others_agree(
    mpi_user: MpiUser, shared_tmp: Path, ranks: int, nodes: str, together: int
) -> None:
    """A target that computes is reached from its own node, which MPICH's own window of MPI_Win_create does not do. With
    5 ranks one is alone on its node, and all of its operations are the MPI's. Where the MPI waits, processes let others
    run."""
    program = built(mpi_user, shared_tmp, "span")
    result = mpi_user.run(ranks, program, str(together), OPI_NODE_RANKS=nodes)
    assert "span: ok, 0 failures" in result.out


def test_private_memory_without_copies_by_the_kernel_is_the_mpis(mpi_user: MpiUser, shared_tmp: Path) -> None:
    if mpi_user.mpi.kind != "mpich":
        pytest.skip("Open MPI's own MPI_Rget_accumulate with MPI_NO_OP returns other values than those in the window")
    result = mpi_user.run(2, built(mpi_user, shared_tmp, "windows"), OPI_KERNEL_COPY="0")
    assert "windows: ok, 0 failures" in result.out


@pytest.fixture(scope="session")
def of_ranks(mpi_user: MpiUser, opi_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs linked with libopi_ranks."""
    folder = tmp_path_factory.mktemp("onesided")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPI_CACHE", str(opi_cache))
        flags = link_flags(ensure_ranks(mpi_user.mpi))
    for source in sorted(PROGRAMS.glob("*.c")):
        mpi_user.mpicc("-O1", f"-I{runtime_include_dir()}", source, *flags, "-o", folder / source.stem)
    return folder


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("windows", "threads"),
        ("windows", "fibers"),
        ("errors", "threads"),
        ("errors", "fibers"),
        ("late", "threads"),
        ("owned", "threads"),
        ("owned", "fibers"),
        ("counts", "threads"),
        ("counts", "fibers"),
    ],
)
@pytest.mark.parametrize("ranks", [2, 5])
def test_windows_of_ranks_that_share_a_process(
    mpi_user: MpiUser, of_ranks: Path, name: str, kind: str, ranks: int
) -> None:
    in_turn(mpi_user, len(name) + len(kind) + ranks)
    told = {**os.environ, **mpi_user.environment, "OPI_RANKS": str(ranks), "OPI_RANKS_CARRIER": kind}
    done = subprocess.run([of_ranks / name], env=told, capture_output=True, text=True, check=False, timeout=120)
    if "this MPI has no such calls" in done.stdout:
        pytest.skip("calls with MPI_Count came with MPI 4")
    assert (done.returncode, done.stdout) == (0, f"{name}: ok, 0 failures\n"), done.stderr


def test_a_reader_does_not_wait_for_ever_for_a_writer(mpi_user: MpiUser, of_ranks: Path, shared_tmp: Path) -> None:
    """Of threads and fibers in one process, and of processes; those in several processes are below."""
    for kind in ("threads", "fibers"):
        told = {**os.environ, **mpi_user.environment, "OPI_RANKS": "4", "OPI_RANKS_CARRIER": kind}
        done = subprocess.run([of_ranks / "queue"], env=told, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (0, "queue: ok, 0 failures\n"), done.stderr
    assert "queue: ok, 0 failures" in mpi_user.run(4, built(mpi_user, shared_tmp, "queue")).out


@pytest.mark.parametrize("per_process", ["2,2", "3,1,1"])
@pytest.mark.parametrize("kind", ["threads", "fibers"])
@pytest.mark.parametrize("name", ["windows", "errors", "counts", "queue", "divided"])
def test_windows_of_ranks_in_several_processes(
    mpi_user: MpiUser, of_ranks: Path, name: str, kind: str, per_process: str
) -> None:
    in_turn(mpi_user, len(name) + len(kind) + len(per_process))
    told = {"OPI_RANKS_PER_PROCESS": per_process, "OPI_RANKS_CARRIER": kind}
    result = mpi_user.run(per_process.count(",") + 1, of_ranks / name, **told)
    if "this MPI has no such calls" in result.out:
        pytest.skip("calls with MPI_Count came with MPI 4")
    assert result.out == f"{name}: ok, 0 failures\n", result.err


@pytest.mark.parametrize("kind", ["threads", "fibers"])
def test_a_target_in_another_process_takes_no_part(mpi_user: MpiUser, of_ranks: Path, kind: str) -> None:
    """Fibers, too, since the target computes in a process of its own."""
    result = mpi_user.run(2, of_ranks / "late", OPI_RANKS="2", OPI_RANKS_CARRIER=kind)
    assert result.out == "late: ok, 0 failures\n", result.err


@pytest.mark.parametrize("kind", ["threads", "fibers"])
def test_what_the_user_forbids_the_kernel(mpi_user: MpiUser, of_ranks: Path, kind: str) -> None:
    """Ranks of several processes have no window of the MPI to fall back on; those of one need no such copy."""
    told = {"OPI_RANKS": "3", "OPI_RANKS_CARRIER": kind, "OPI_KERNEL_COPY": "0"}
    result = mpi_user.run(2, of_ranks / "divided", check=False, **told)
    assert result.code != 0
    assert "MPI_Win_create: windows of memory of other processes need copies by the kernel" in result.err
    assert "OPI_KERNEL_COPY=0" in result.err
    assert mpi_user.run(2, of_ranks / "divided", "allocated", **told).out == "divided: ok, 0 failures\n"
    assert mpi_user.run(1, of_ranks / "divided", **told).out == "divided: ok, 0 failures\n"


def test_windows_of_ranks_on_several_nodes_are_refused_by_name(mpi_user: MpiUser, of_ranks: Path) -> None:
    told = {"OPI_RANKS": "4", "OPI_RANKS_CARRIER": "threads", "OPI_NODE_RANKS": "1"}
    result = mpi_user.run(2, of_ranks / "windows", check=False, **told)
    assert result.code != 0
    assert "MPI_Win_create: windows of ranks that are on several nodes are not available" in result.err


def test_no_shared_window_of_ranks_on_several_nodes(mpi_user: MpiUser, of_ranks: Path) -> None:
    told = {"OPI_RANKS": "4", "OPI_RANKS_CARRIER": "threads", "OPI_NODE_RANKS": "1"}
    result = mpi_user.run(2, of_ranks / "divided", "nodes", **told)
    assert result.out == "divided: ok, 0 failures\n", result.err
