"""The benchmarks `onesided-origins`, `-pairs`, `-overlap` and `-misses`: windows as Lai and Panda measure them
(Designing Truly One-Sided MPI-2 RMA Intra-node Communication, sections 5.2, 5.3 and 5.5).

Each is a C program (sources/onesided) by each MPI, as the limit, with libopi, and where that tells something as fibers.
What is found out from its times, or by valgrind, is added here.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from opi_xform.bench import programs
from opi_xform.bench.programs import BARE, FIBERS, LIBOPI, PLAIN, Program
from opi_xform.bench.result import Result, Row
from opi_xform.bench.rounds import Key, Rounds, Series, machine_line, rows, run_once, run_rounds
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.tools import captured

RANKS = range(2, 9)
"""A target and 1 to 7 origins, as in the paper. A job for each: an MPI with more ranks than processors waits in other
ways."""
PAIRS_RANKS = (2, 3, 4, 6, 8)
QUICK_RANKS = (2, 3)
ORIGINS = Program(
    "onesided-origins",
    "onesided/origins",
    "epoch without an operation: at a target with 1 to 7 origins, of lock_all at the origins",
    (100, 8),
    (2, 8),
    ranks=RANKS[-1],
    rounds=3,
    builds=(PLAIN, BARE, LIBOPI, FIBERS),
)
PAIRS = Program(
    "onesided-pairs",
    "onesided/pairs",
    "epoch of all together, 16 puts by each of several origins",
    (40, 1 << 19),
    (2, 4096),
    ranks=RANKS[-1],
    rounds=3,
    builds=(PLAIN, BARE, LIBOPI),
)
OVERLAP = Program(
    "onesided-overlap",
    "onesided/overlap",
    "epoch with 16 puts, at the target, which waits (transfer) or computes and waits (both)",
    (60, 1 << 20),
    (4, 1 << 14),
    rounds=5,
    builds=(PLAIN, BARE, LIBOPI),
)
MISSES = Program(
    "onesided-misses",
    "onesided/misses",
    "put or get and flush, at the origin",
    (200, 1 << 16),
    (20, 1024),
    rounds=5,
    builds=(PLAIN, BARE, LIBOPI, FIBERS),
)
DEPTH = 16
"""Puts of an epoch of `pairs`, as in windows.h."""
COUNTED = 100
"""Operations of a point under valgrind."""
CACHES = ("--D1=32768,8,64", "--LL=1048576,16,64")
"""The simulated ones are the same on every machine."""
COUNTED_FLAGS = ("-O3",)
"""valgrind does not know every instruction of every processor, as -march=native would take them."""
PER_ORIGIN = re.compile(r"(.+)-(\d+)")

Counts = dict[Key, tuple[tuple[str, float], ...]]


def origins_of(row: Row) -> int:
    """The number at the end of a point of `origins` or `pairs`."""
    found = PER_ORIGIN.fullmatch(row.point)
    return int(found[2]) if found else 0


def _run(
    program: Program, mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]
) -> tuple[list[Series], list[Rounds], list[Row]]:
    series = programs.build(program, mpis, quick, work)
    times = run_rounds(program.name, series, 1 if quick else program.rounds, mpis[0], say)
    return series, times, rows(series, times, program.ranks)


def _by_ranks(
    program: Program,
    all_ranks: Sequence[int],
    mpis: Sequence[Mpi],
    quick: bool,
    work: Path,
    say: Callable[[str], None],
) -> Iterator[Row]:
    """With each number of ranks, one after the other; the series alternate."""
    for ranks in QUICK_RANKS if quick else all_ranks:
        say(f"{program.name}: {ranks} ranks{programs.crowded(ranks)}")
        yield from _run(dataclasses.replace(program, ranks=ranks), mpis, quick, work, say)[2]


def _result(program: Program, mpis: Sequence[Mpi], found: Sequence[Row], more: str = "") -> Result:
    return Result(program.name, program.what, machine_line(mpis) + more, tuple(found))


def run_origins(mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """Synchronisation alone. Raises LaunchError."""
    return _result(ORIGINS, mpis, [*_by_ranks(ORIGINS, RANKS, mpis, quick, work, say)])


def with_bandwidth(row: Row) -> Row:
    """A row of `pairs` with what all put together moved."""
    return dataclasses.replace(row, more=(("mb_per_s", origins_of(row) * DEPTH * row.bytes / row.median_us),))


def run_pairs(mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """Several origins that put at once. Raises LaunchError."""
    return _result(PAIRS, mpis, [with_bandwidth(row) for row in _by_ranks(PAIRS, PAIRS_RANKS, mpis, quick, work, say)])


def overlap(times: Rounds, key: Key) -> tuple[tuple[str, float], ...]:
    """What is hidden, what is lost, and what the target pays, medians over the rounds, for the key of an epoch with
    computation."""
    transfer, alone, both, meanwhile = (
        times[Key(key.bytes, key.point.removesuffix("both") + part)]
        for part in ("transfer", "alone", "both", "meanwhile")
    )
    hidden = [(t + a - b) / t for t, a, b in zip(transfer, alone, both, strict=True)]
    lost = [m / a - 1 for m, a in zip(meanwhile, alone, strict=True)]
    pays = [b - a for a, b in zip(alone, both, strict=True)]
    return (
        ("hidden", statistics.median(hidden)),
        ("lost", statistics.median(lost)),
        ("pays_us", statistics.median(pays)),
    )


def run_overlap(mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """A target that computes while others put. Raises LaunchError."""
    series, times, found = _run(OVERLAP, mpis, quick, work, say)
    by_series = {(one.name, one.mpi.kind if one.mpi else None): at for one, at in zip(series, times, strict=True)}

    def with_overlap(row: Row) -> Row:
        if not row.point.endswith("-both"):
            return row
        return dataclasses.replace(row, more=overlap(by_series[row.series, row.mpi], Key(row.bytes, row.point)))

    return _result(OVERLAP, mpis, [with_overlap(row) for row in found])


def counts_of(text: str) -> tuple[tuple[str, float], ...]:
    """Misses and instructions per operation, in a dump of callgrind; zeros at the end of its line are left out."""
    events = next(line.split()[1:] for line in text.splitlines() if line.startswith("events:"))
    line = next(line.split()[1:] for line in text.splitlines() if line.startswith("summary:"))
    counted = dict(zip(events, [*map(int, line), *[0] * len(events)], strict=False))
    misses = counted["D1mr"] + counted["D1mw"]
    return ("first_level_misses", misses / COUNTED), ("instructions", counted["Ir"] / COUNTED)


def count(one: Series, keys: Sequence[Key], work: Path, default: Mpi) -> Counts:
    """What valgrind counts in `measured` of misses.c, at the origin. Raises LaunchError.

    The tool is callgrind: its caches are cachegrind's, and it counts one function with all that it calls.
    """
    at = next(i for i, word in enumerate(one.command) if word.startswith(str(work)))
    tool = (shutil.which("valgrind") or "valgrind", "--tool=callgrind", "-q", "--cache-sim=yes", *CACHES)
    only = ("--toggle-collect=measured", "--dump-after=measured", f"--callgrind-out-file={work / 'callgrind.out.%p'}")
    command = (*one.command[:at], *tool, *only, one.command[at], str(COUNTED), *one.command[at + 2 :])
    for old in work.glob("callgrind.out.*"):
        old.unlink()
    done = captured(command, one.mpi or default, timeout_s=200)
    dumps: dict[str, dict[int, Path]] = {}
    for file in work.glob("callgrind.out.*.*"):
        _, _, process, number = file.name.split(".")
        dumps.setdefault(process, {})[int(number)] = file
    of_origin = max(dumps.values(), key=len, default={})
    if done.returncode != 0 or len(of_origin) != len(keys):
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise LaunchError(f"exit code {done.returncode}, {len(of_origin)} of {len(keys)} points: {last}", 1)
    texts = [of_origin[number].read_text(encoding="utf-8") for number in sorted(of_origin)]
    return {key: counts_of(text) for key, text in zip(keys, texts, strict=True)}


def run_misses(mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """One operation: its time, and what it does to the first-level cache. Raises LaunchError."""
    _, _, found = _run(MISSES, mpis, quick, work, say)
    if shutil.which("valgrind") is None:
        say(f"{MISSES.name}: no valgrind: times only")
        return _result(MISSES, mpis, found)
    counted: dict[tuple[str, str | None], Counts] = {}
    again = work / "counted"
    again.mkdir()
    for one in programs.build(MISSES, mpis, quick, again, COUNTED_FLAGS):
        kind = one.mpi.kind if one.mpi else None
        say(f"{MISSES.name}: {one.name} over {kind or 'no MPI'} under callgrind")
        try:
            counted[one.name, kind] = count(one, [*run_once(MISSES.name, one, mpis[0])], again, mpis[0])
        except LaunchError as error:
            say(f"{MISSES.name}: {one.name} over {kind or 'no MPI'}: times only: under valgrind {error}")

    def with_counts(row: Row) -> Row:
        more = counted.get((row.series, row.mpi), {}).get(Key(row.bytes, row.point), ())
        return dataclasses.replace(row, more=more)

    caches = f", counts by callgrind {' '.join(CACHES)} of programs with {' '.join(COUNTED_FLAGS)}"
    return _result(MISSES, mpis, [with_counts(row) for row in found], caches)


MEASURED = ((ORIGINS, run_origins), (PAIRS, run_pairs), (OVERLAP, run_overlap), (MISSES, run_misses))
