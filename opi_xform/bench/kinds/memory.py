"""The benchmark `memory`: what the ranks of one job take, as processes of each MPI, as threads and as fibers.

The programs are plain MPI programs (sources/memory). For threads and fibers they go through opi-xform --privatize
first. Each holds still where all ranks have done their work, before MPI_Finalize; there the proportional set size (PSS)
of every process of the job is read: pages that several processes have mapped count in equal parts, so that the sum is
what the job takes. What belongs to the launcher (mpiexec, its proxies) is told apart.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.bench.processes import descendants, end
from opi_xform.bench.result import Result, Row
from opi_xform.bench.rounds import machine_line
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.tools import OPICC, XFORM, checked, compile_with, environment
from opi_xform.resources import runtime_include_dir

SOURCES = Path(__file__).parents[1] / "sources" / "memory"
OPIRUN = (sys.executable, "-m", "opi_xform.launch.opirun")
FLAGS = ("-O2",)
RANKS = (2, 4, 8, 16, 32, 64)
QUICK_RANKS = (2, 4)
TIMEOUT_S = 120
KINDS = ("threads", "fibers")


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the benchmark; ``flags`` are the compiler's."""

    name: str
    source: str
    flags: tuple[str, ...] = ()


PROGRAMS = (
    Program("ping-pong", "pingpong.c"),
    Program("allreduce", "allreduce.c"),
    Program("table of numbers", "table.c"),
    Program("table of addresses", "table.c", ("-DWITH_ADDRESSES",)),
)


@dataclass(frozen=True, slots=True)
class Taken:
    """What a job took, in KiB."""

    ranks: int
    """The processes that are ranks, or carry them."""
    helpers: int
    """The launcher's."""
    processes: int
    """How many carry ranks."""
    seconds: float
    """From the start of the job to the reading."""


def pss_kib(pid: int) -> int:
    """The proportional set size of a process; 0 when it has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)


def _runs(pid: int, program: Path) -> bool:
    try:
        return os.path.samefile(f"/proc/{pid}/exe", program)
    except OSError:
        return False


def _end(process: subprocess.Popen[str]) -> None:
    """The job and all its processes."""
    end(process.pid)
    process.communicate()


def measure(command: Sequence[str], program: Path, gate: Path, mpi: Mpi, ranks: int) -> Taken:
    """Runs a job of the program, whose first argument is ``gate``, and reads its memory. Raises LaunchError."""
    what = f"memory: {' '.join(command)}"
    begun = time.monotonic()
    process = subprocess.Popen(
        [*command, str(program), str(gate)],
        env=environment(mpi),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        while not gate.exists() and process.poll() is None and time.monotonic() < begun + TIMEOUT_S:
            time.sleep(0.005)
        seconds = time.monotonic() - begun
        if process.poll() is not None or not gate.exists():
            _end(process)
            raise LaunchError(f"{what}: did not come to its end with {ranks} ranks", 1)
        everything = [*descendants(process.pid)]
        carriers = [pid for pid in everything if _runs(pid, program)]
        taken = Taken(
            sum(map(pss_kib, carriers)), sum(pss_kib(pid) for pid in everything if pid not in carriers),
            len(carriers), seconds,
        )  # fmt: skip
        gate.unlink()
        out, _ = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise LaunchError(f"{what}: no end after {TIMEOUT_S} s", 1) from error
    finally:
        gate.unlink(missing_ok=True)
        if process.poll() is None:
            _end(process)
    if process.returncode != 0 or "memory wrong=0\n" not in out:
        raise LaunchError(f"{what}: the data that arrived is wrong or the run was cut short:\n{out[-2000:]}", 1)
    return taken


def private(program: Program, out: Path, mpi: Mpi) -> Path:
    """The program through opi-xform, its globals private in the form for both kinds; where its source is then."""
    source = str(SOURCES / program.source)
    checked([*XFORM, source, "--privatize=struct", "-o", str(out), "--", *program.flags], mpi)
    return out / program.source


def build_plain(program: Program, mpi: Mpi, target: Path) -> Path:
    """The program as it is. Raises LaunchError."""
    return compile_with([str(mpi.mpicc)], [str(SOURCES / program.source)], target, mpi, (*FLAGS, *program.flags))


def build_shared(program: Program, source: Path, mpi: Mpi, target: Path) -> Path:
    """The program for threads and fibers, from its private ``source``. Raises LaunchError."""
    flags = (*FLAGS, *program.flags, f"-I{runtime_include_dir()}")
    return compile_with([*OPICC, "--ranks"], [str(source)], target, mpi, flags)


def opirun(ranks: int, kind: str) -> tuple[str, ...]:
    """The command for ranks of one process."""
    return (*OPIRUN, "-n", str(ranks), "-p", "1", f"--{kind}")


def run(mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """Builds and runs the benchmark. Raises LaunchError."""
    rows: list[Row] = []
    for program in PROGRAMS[:2] if quick else PROGRAMS:
        say(f"memory: {program.name}")
        source = private(program, work / program.name.replace(" ", "-"), mpis[0])
        for mpi in mpis:
            plain = build_plain(program, mpi, work / "plain")
            shared = build_shared(program, source, mpi, work / "shared")
            for ranks in QUICK_RANKS if quick else RANKS:
                forms = [(mpi.kind, mpi.run_command(ranks), plain)]
                forms += [(kind, opirun(ranks, kind), shared) for kind in KINDS]
                for series, command, binary in forms:
                    taken = measure(command, binary, work / "gate", mpi, ranks)
                    if taken.processes != (ranks if binary == plain else 1):
                        raise LaunchError(f"memory: {taken.processes} processes instead of {ranks} {series}", 1)
                    rows.append(
                        Row(series, mpi.kind, ranks, 0, taken.seconds * 1e6, 1, None, None, program.name,
                            memory_kib=taken.ranks, helpers_kib=taken.helpers)
                    )  # fmt: skip
    return Result("memory", "start and work", machine_line(mpis, FLAGS), tuple(rows))
