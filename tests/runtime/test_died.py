"""A rank dies, or stops for a while, in the middle of what others wait for, and no launcher ends the job."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, only_one

FAULTS = CHECKOUT / "runtime" / "tests" / "faults"
WRAPPED = ("memcpy", "process_vm_readv", "process_vm_writev", "clock_gettime")
FLAGS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror")
STAYS = 'file=$1; shift; "$@"; for i in $(seq 80); do [ -s "$file" ] && break; sleep 0.1; done; exit 0'
"""A shell in the place of a rank outlives it until the file has something in it: its launcher hears of nothing."""

IN_COPIES = ("buffering", "pipe", "co-sender", "co-receiver", "kernel-sender", "kernel-receiver")
IN_WAITS = (
    "recv",
    "any",
    "ssend",
    "probe",
    "iprobe",
    "test",
    "waitall",
    "alltoall",
    "persistent",
    "flood",
    "left-behind",
)
TAKEN = ("taken-put", "taken-get", "taken-unlock")
"""Inside a small copy that a target makes while it waits: in a call of the MPI, of libopi, and of the MPI."""
OF_BOTH = ("buffering", "co-sender", "any", *TAKEN)
"""The others run under the first MPI only."""

pytestmark = pytest.mark.mpi


@dataclass(frozen=True, slots=True)
class Built:
    """The programs, for one MPI."""

    user: MpiUser
    folder: Path

    def run(self, ranks: int, *words: str, **settings: str) -> str:
        """What a job of these words prints."""
        command = [*self.user.mpi.run_command(ranks), *words]
        environment = {**self.user.environment, **settings}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr


@pytest.fixture
def built(mpi_user: MpiUser, shared_tmp: Path) -> Built:
    folder = shared_tmp / f"died-{mpi_user.mpi.kind}"
    wrap = [f"-Wl,--wrap={name}" for name in WRAPPED]
    with only_one(folder.with_suffix(".lock")):
        if not (folder / "ready").exists():
            folder.mkdir(exist_ok=True)
            mpi_user.opicc(*FLAGS, "-fno-builtin-memcpy", *wrap, FAULTS / "midway.c", "-o", folder / "midway")
            mpi_user.opicc(*FLAGS, FAULTS / "helped.c", "-o", folder / "helped")
            mpi_user.opicc(*FLAGS, FAULTS / "fences.c", "-o", folder / "fences")
            mpi_user.mpicc(*FLAGS, FAULTS / "deny.c", "-o", folder / "deny")
            (folder / "ready").touch()
    return Built(mpi_user, folder)


def settings(how: str) -> dict[str, str]:
    return {"OPI_KERNEL_COPY": "0"} if how == "pipe" else {}


@pytest.mark.parametrize("how", [*IN_COPIES, *IN_WAITS, *TAKEN])
def test_who_waits_for_a_dead_rank_is_told(built: Built, how: str, tmp_path: Path) -> None:
    """kill -9 inside a copy that both sides have begun, and while others wait in all kinds of calls."""
    if how not in OF_BOTH and built.user.mpi != MPIS[0]:
        pytest.skip("runs under the first MPI")
    told = tmp_path / "told"
    program = (str(built.folder / "midway"), how, str(told))
    said = built.run(2, "sh", "-c", STAYS, "sh", str(told), *program, **settings(how))
    text = told.read_text("utf-8")
    assert text.startswith(f"midway {how}: told"), text + said
    assert "NOT" not in text
    assert "a rank of this node has died" in said


def test_no_fence_is_over_without_the_rank_that_died(built: Built, tmp_path: Path) -> None:
    told = tmp_path / "told"
    said = built.run(3, "sh", "-c", STAYS, "sh", str(told), str(built.folder / "fences"), str(told))
    assert (tmp_path / "told.first").read_text("utf-8") == "told", said
    assert told.read_text("utf-8") == "told", said


@pytest.mark.parametrize("how", ["buffering", "pipe", "co-sender", "kernel-sender"])
def test_who_waits_for_a_rank_that_stops_goes_on_with_all_else(built: Built, how: str, tmp_path: Path) -> None:
    if how not in OF_BOTH and built.user.mpi != MPIS[0]:
        pytest.skip("runs under the first MPI")
    told = tmp_path / "told"
    said = built.run(3, str(built.folder / "midway"), how, str(told), "pause", **settings(how))
    assert told.read_text("utf-8") == f"midway {how}: went on, whole\n", said
    assert "died" not in said


@pytest.mark.parametrize("how", TAKEN)
def test_a_question_that_is_taken_up_is_waited_for(built: Built, how: str, tmp_path: Path) -> None:
    """A late store could come after a newer one: so who asked waits for a target that stops in the middle of a copy."""
    told = tmp_path / "told"
    said = built.run(2, str(built.folder / "midway"), how, str(told), "pause")
    assert told.read_text("utf-8") == f"midway {how}: waited, whole\n", said
    assert "died" not in said


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("denied", ["", "membarrier"])
def test_a_posted_receive_completes_its_send_without_membarrier(built: Built, denied: str, late: bool) -> None:
    """Refused when the job starts, or by a filter that the program installs later."""
    under = (str(built.folder / "deny"), denied) if denied else ()
    said = built.run(2, *under, str(built.folder / "helped"), *(("late",) if late else ()), OPI_VERBOSE="1")
    assert "helped: ok, 0 failures" in said, said
    assert ("each call of libopi takes a lock" in said) == bool(denied)
    assert "only inside MPI calls" not in said
