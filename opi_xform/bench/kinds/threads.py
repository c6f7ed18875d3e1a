"""The benchmark `threads`: messages between two ranks that are threads of one process, against two processes.

One program (sources/ranks/threads.c) is linked with libopi_ranks and with libopi. Each rank binds itself to the same
processor in both. Every round runs both, and ratios are taken within a round.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from opi_xform.bench.machine import cores_apart
from opi_xform.bench.result import Result, Row, format_table
from opi_xform.bench.rounds import FLAGS, Rounds, Series, machine_line, run_rounds
from opi_xform.launch.mpi import Mpi
from opi_xform.launch.ranks import Carrier
from opi_xform.launch.tools import OPICC, compile_with

SOURCE = Path(__file__).parents[1] / "sources" / "ranks" / "threads.c"
RANKS = 2
PROCESSES, THREADS = "processes", "threads"
ROUNDS = 11
FULL, QUICK = ("300", str(1 << 20)), ("20", "4096")
"""Samples and largest size."""
TITLES = {
    "give": "OPI_Give and OPI_Take",
    "exchange": "OPI_Itake, OPI_Igive, MPI_Waitall",
    "message": "MPI_Send and MPI_Recv",
    "stream": "OPI_Give, all one way, and OPI_Take",
}
"""What the points are."""


def build(mpi: Mpi, quick: bool, work: Path) -> tuple[Series, Series]:
    """Processes and threads of one MPI. Raises LaunchError."""
    arguments = (*(QUICK if quick else FULL), *map(str, cores_apart(RANKS)))
    processes = compile_with(OPICC, [str(SOURCE)], work / f"{mpi.kind}-processes", mpi, FLAGS)
    threads = compile_with([*OPICC, "--ranks"], [str(SOURCE)], work / f"{mpi.kind}-threads", mpi, FLAGS)
    told = [f"{name}={value}" for name, value in Carrier("threads").environment(RANKS).items()]
    return (
        Series(PROCESSES, mpi, (*mpi.run_command(RANKS), str(processes), *arguments)),
        Series(THREADS, mpi, ("env", *told, str(threads), *arguments)),
    )


def rows(mpi: Mpi, processes: Rounds, threads: Rounds) -> list[Row]:
    """Medians over the rounds; of threads `ratio_limit` is the median of their times over those of the processes."""
    found: list[Row] = []
    for series, times in ((PROCESSES, processes), (THREADS, threads)):
        for key, us in times.items():
            ratio = None
            if series == THREADS:
                ratio = statistics.median(t / p for p, t in zip(processes[key], us, strict=True))
            middle = statistics.median(us)
            found.append(Row(series, mpi.kind, RANKS, key.bytes, middle, len(us), None, ratio, key.point))
    return found


def text_of(result: Result) -> str:
    """For each way of a message a table: microseconds by size, and the ratio of threads to processes."""
    mpis = list(dict.fromkeys(row.mpi or "" for row in result.rows))
    parts = [f"threads: microseconds per {result.what}, medians; ratio: threads/processes; {result.machine}"]
    for point in result.points():
        by_key = {(row.mpi, row.series, row.bytes): row for row in result.rows if row.point == point}
        lines = []
        for size in sorted({size for _, _, size in by_key}):
            line = [f"{size:,}"]
            for mpi in mpis:
                one, other = by_key[mpi, PROCESSES, size], by_key[mpi, THREADS, size]
                line += [f"{one.median_us:.3f}", f"{other.median_us:.3f}", f"{other.ratio_limit or 0:.2f}"]
            lines.append(line)
        header = [title for mpi in mpis for title in (f"{PROCESSES}/{mpi}", f"{THREADS}/{mpi}", "ratio")]
        parts += ["", TITLES.get(point, point), format_table(["bytes", *header], lines)]
    return "\n".join(parts)


def run(mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """Builds and runs the benchmark. Raises LaunchError."""
    if len(set(cores_apart(RANKS))) < RANKS:
        say("threads: only one CPU: the ranks cannot be bound apart, the times say little")
    pairs = [build(mpi, quick, work) for mpi in mpis]
    series = [one for pair in pairs for one in pair]
    times = run_rounds("threads", series, 1 if quick else ROUNDS, mpis[0], say)
    found = [row for i, mpi in enumerate(mpis) for row in rows(mpi, times[2 * i], times[2 * i + 1])]
    return Result("threads", "write + send + receive + read", machine_line(mpis), tuple(found))
