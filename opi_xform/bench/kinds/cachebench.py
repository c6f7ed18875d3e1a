"""The benchmark `cache`: what communication does to the cache of the program (Friedley et al., Hybrid MPI, section 5).

Times come from ordinary runs. Misses come from the processor's counter where a program may use it, else from one run of
each combination under cachegrind, which simulates the first-level cache and reports by function.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from opi_xform.bench import programs
from opi_xform.bench.machine import cores_apart
from opi_xform.bench.programs import LIBOPI, PLAIN, Program
from opi_xform.bench.result import Result, Row
from opi_xform.bench.rounds import Key, Series, machine_line, rows, run_once, run_rounds
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.tools import captured

HEAP = programs.HEAP
PROGRAM = Program("cache", "cache", "reading the data again after a ping-pong", (200, 16384), (20, 4096), rounds=3,
                  builds=(PLAIN, LIBOPI, HEAP))  # fmt: skip
ORDERS = ("sequential", "random")
MODES = ("none", "common", "separate")
SIZES = (1024, 4096, 16384)
"""As in cache.c: a second read of ORDER, MODE and SIZE, by their places here, is the function read_again_O_M_S."""
LINE = 64
READS = 20
"""Samples of a run under cachegrind; the program adds its warm-up."""
WARM_UP = 5


def misses_of(text: str) -> dict[str, int]:
    """First-level read misses by function, in a cachegrind.out file."""
    column = 0
    function = ""
    found: Counter[str] = Counter()
    for line in text.splitlines():
        if line.startswith("events:"):
            column = line.split().index("D1mr")  # the lines of figures begin with a line number in the word's place
        elif line.startswith("fn="):
            function = line[3:]
        elif line[:1].isdigit():
            found[function] += int(line.split()[column])
    return dict(found)


def _under_cachegrind(one: Series, keys: Iterable[Key], work: Path, default: Mpi) -> dict[Key, float]:
    """Misses per line of the data in the second read, mean of the ranks. Raises LaunchError."""
    at = next(i for i, word in enumerate(one.command) if word.startswith(str(work)))
    valgrind = (shutil.which("valgrind") or "valgrind", "--tool=cachegrind", "--cache-sim=yes", "-q")
    out = f"--cachegrind-out-file={work / 'cachegrind.out.%p'}"
    command = (*one.command[:at], *valgrind, out, one.command[at], str(READS), *one.command[at + 2 :])
    for old in work.glob("cachegrind.out.*"):
        old.unlink()
    done = captured(command, one.mpi or default, timeout_s=200)
    files = sorted(work.glob("cachegrind.out.*"))
    if done.returncode != 0 or len(files) != PROGRAM.ranks:
        raise LaunchError(f"cache: {' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}", 1)
    by_function = [misses_of(file.read_text(encoding="utf-8")) for file in files]
    found: dict[Key, float] = {}
    for key in keys:
        order, _, mode = key.point.partition("-")
        function = f"read_again_{ORDERS.index(order)}_{MODES.index(mode)}_{SIZES.index(key.bytes)}"
        if not all(function in one for one in by_function):
            raise LaunchError(f"cache: cachegrind reported nothing for {function}", 1)
        reads = len(files) * (READS + WARM_UP) * key.bytes / LINE
        found[key] = sum(one[function] for one in by_function) / reads
    return found


def run(mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """Builds and runs the benchmark. Raises LaunchError."""
    series = programs.build(PROGRAM, mpis, quick, work)
    times = run_rounds("cache", series, 1 if quick else PROGRAM.rounds, mpis[0], say)
    found = rows(series, times, PROGRAM.ranks)
    counted: dict[tuple[str, str | None, Key], float] = {}
    tool = "the processor's counter"
    for one in series:
        probe = run_once("cache", one, mpis[0])
        kind = one.mpi.kind if one.mpi else None
        by_counter = {key: value.misses for key, value in probe.items() if value.misses is not None}
        if by_counter:
            counted.update({(one.name, kind, key): misses for key, misses in by_counter.items()})
            continue
        if shutil.which("valgrind") is None:
            say("cache: no hardware counter and no valgrind: times only")
            tool = "nothing"
            break
        tool = "cachegrind"
        say(f"cache: {one.name} over {kind} under cachegrind")
        by_simulation = _under_cachegrind(one, probe, work, mpis[0])
        counted.update({(one.name, kind, key): misses for key, misses in by_simulation.items()})

    def with_misses(row: Row) -> Row:
        return dataclasses.replace(row, misses=counted.get((row.series, row.mpi, Key(row.bytes, row.point))))

    machine = f"{machine_line(mpis)}, CPUs {cores_apart(2)}, misses by {tool}"
    return Result("cache", PROGRAM.what, machine, tuple(map(with_misses, found)))
