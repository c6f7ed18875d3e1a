"""The benchmark `fibers`: what a switch, a message, a barrier, and the life of very many fibers take.

Times are processor time of the process, so that other programs of the machine count as little as possible; the last
series is wall-clock time from the start of the process to its end, and its memory.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from opi_xform.bench.result import Result, Row
from opi_xform.bench.rounds import machine_line
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.ranks import Carrier, ensure_ranks, link_flags
from opi_xform.launch.tools import compile_with, environment
from opi_xform.resources import runtime_include_dir

SOURCE = Path(__file__).parents[1] / "sources" / "ranks" / "fibers.c"
REPEATS = 7
"""As in fibers.c, whose figures are medians."""
LIVES = (1_000, 100_000, 1_000_000)


def _run(program: Path, mpi: Mpi, ranks: int, what: str) -> tuple[str, float, int]:
    """Stdout, seconds, and KiB of memory at the most. Raises LaunchError."""
    told = {**environment(mpi), **Carrier("fibers").environment(ranks)}
    begun = time.monotonic()
    with subprocess.Popen([str(program), what], env=told, stdout=subprocess.PIPE, text=True) as process:
        out = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise LaunchError(f"fibers: {program} {what} on {ranks}: exit code {process.returncode}", 1)
    return out, time.monotonic() - begun, used.ru_maxrss


def run(mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """Builds and runs the benchmark with the first MPI: it has no part in what is measured. Raises LaunchError."""
    mpi = mpis[0]
    flags = [f"-I{runtime_include_dir()}", "-O2", *link_flags(ensure_ranks(mpi))]
    program = compile_with([str(mpi.mpicc)], [str(SOURCE)], work / "fibers", mpi, flags)
    rows: list[Row] = []

    def row(point: str, ranks: int, size: int, ns: float, limit: float | None = None, repeats: int = REPEATS) -> None:
        over = None if limit is None or limit <= 0 else ns / limit
        rows.append(Row("fibers", mpi.kind, ranks, size, ns / 1000, repeats, None, over, point))

    for ranks in (2, 256):
        say(f"fibers: switch, {ranks} ranks")
        for line in _run(program, mpi, ranks, "switch")[0].splitlines():
            row(f"switch, {ranks} ranks", ranks, 0, float(line.split()[2]))
    say("fibers: message")
    for line in _run(program, mpi, 2, "message")[0].splitlines():
        _, size, whole, over = line.split()
        row("message", 2, int(size), float(whole))
        row("message less memcpy", 2, int(size), float(over))
    for ranks in (16, 256):
        say(f"fibers: barrier, {ranks} ranks")
        for line in _run(program, mpi, ranks, "barrier")[0].splitlines():
            row(f"barrier, {ranks} ranks", ranks, 0, float(line.split()[2]))
    for ranks in LIVES[: 1 if quick else None]:
        _, seconds, kib = _run(program, mpi, ranks, "life")
        say(f"fibers: {ranks:,} ranks start, Bcast, Reduce, Barrier, Finalize: {seconds:.1f} s, {kib / 1024:.0f} MiB")
        row(f"life of {ranks:,} ranks", ranks, 0, seconds * 1e9, repeats=1)
    return Result("fibers", "switch, message, barrier and life of fibers", machine_line(mpis), tuple(rows))
