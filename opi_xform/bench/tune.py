"""`opi-bench tune`: measures on this machine from which size on each path of libopi wins, and keeps it for libopi.

Each threshold has a question: is this path faster than the one a message takes otherwise? The same program runs with
the path switched on and off, in rounds that alternate, at sizes around the threshold, one way and both ways at once.
The answer is a file of lines `NAME bytes`, which libopi reads when a job starts.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.bench.machine import cores_apart
from opi_xform.bench.programs import HEAP, LIBOPI, SOURCES, Build
from opi_xform.bench.result import format_table
from opi_xform.bench.rounds import FLAGS, Key, Series, machine_line, pinned, run_once
from opi_xform.launch.mpi import Mpi
from opi_xform.launch.tools import OPICC, compile_with

KiB, MiB = 1 << 10, 1 << 20
RANKS = 2
NEVER = 1 << 40
"""A threshold that no message reaches."""
GAIN = 0.97
"""A path must take at most this part of the other's time; less than that is noise."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """One number of runtime/process/base/tune.c."""

    name: str
    about: str
    build: Build
    """Of tune.c: the memory that the messages lie in."""
    smallest: int
    largest: int
    on: Mapping[str, int]
    """Settings under which messages of these sizes take the path..."""
    off: Mapping[str, int]
    """...and under which they do not."""
    up_to: bool = False
    """The path serves messages up to the threshold, not from it on."""
    otherwise: int = NEVER
    """Kept when the path wins nowhere."""


THRESHOLDS = (
    Threshold(
        "OPI_INLINE_LIMIT", "up to here: in the ring's slots; else through a heap block", LIBOPI, 64, 256,
        on={"OPI_INLINE_LIMIT": 256}, off={"OPI_INLINE_LIMIT": 48}, up_to=True, otherwise=48,
    ),
    Threshold(
        "OPI_EAGER_LIMIT", "reachable, up to here: two copies; else the receiver's one", HEAP, 4 * KiB, 2 * MiB,
        on={"OPI_EAGER_LIMIT": NEVER, "OPI_CO_MIN": NEVER}, off={"OPI_EAGER_LIMIT": 1, "OPI_CO_MIN": NEVER}, up_to=True,
        otherwise=2 * KiB,
    ),
    Threshold(
        "OPI_CO_MIN", "reachable, from here on: both sides copy; else the receiver", HEAP, 128 * KiB, 8 * MiB,
        on={"OPI_CO_MIN": 1, "OPI_EAGER_LIMIT": 1}, off={"OPI_CO_MIN": NEVER, "OPI_EAGER_LIMIT": 1},
    ),
    Threshold(
        "OPI_PIPE_MIN", "private, from here on: the two copies overlap; else they do not", LIBOPI, 16 * KiB, 4 * MiB,
        on={"OPI_PIPE_MIN": 1, "OPI_KERNEL_MIN": NEVER}, off={"OPI_PIPE_MIN": NEVER, "OPI_KERNEL_MIN": NEVER},
    ),
    Threshold(
        "OPI_KERNEL_MIN", "private, from here on: the kernel's one copy; else two", LIBOPI, 16 * KiB, 16 * MiB,
        on={"OPI_KERNEL_MIN": 1}, off={"OPI_KERNEL_MIN": NEVER},
    ),
)  # fmt: skip


Ratios = Mapping[int, float]
"""Time with the path on / time with it off, by size."""


def choose(threshold: Threshold, ratios: Ratios) -> int:
    """The number to keep: where the path begins to win, or ceases to, so that what is lost at all sizes is least."""

    def cost(taken: Callable[[int], bool]) -> float:
        return sum(ratio if taken(size) else GAIN for size, ratio in ratios.items())

    sizes = sorted(ratios)
    if threshold.up_to:
        limits = [threshold.otherwise, *sizes]
        return min(limits, key=lambda limit: cost(lambda size: size <= limit))
    if statistics.mean(ratios[size] for size in sizes[-2:]) > 1:
        return threshold.otherwise  # larger messages than were measured would lose
    starts = [*sizes, threshold.otherwise]
    return min(reversed(starts), key=lambda start: cost(lambda size: size >= start))


def measure(threshold: Threshold, mpi: Mpi, work: Path, samples: int, rounds: int, largest: int) -> dict[int, float]:
    """On / off by size: the median over the rounds, the geometric mean of both patterns. Raises LaunchError."""
    program = compile_with(
        OPICC,
        [str(SOURCES / "tune.c")],
        work / f"tune{threshold.build.series}",
        mpi,
        (*FLAGS, *threshold.build.defines),
    )
    top = min(threshold.largest, largest)
    arguments = (str(samples), str(top), str(min(threshold.smallest, top)))
    series = Series("libopi", mpi, pinned(mpi, RANKS, program, cores_apart(RANKS), arguments))
    found: dict[Key, list[float]] = {}
    for number in range(rounds):
        at_once = {}
        for on in (True, False) if number % 2 else (False, True):
            settings = threshold.on if on else threshold.off
            environment = {"OPI_TUNE_FILE": os.devnull, **{name: str(value) for name, value in settings.items()}}
            at_once[on] = run_once("tune", series, mpi, environment)
        for key, value in at_once[True].items():
            found.setdefault(key, []).append(value.us / at_once[False][key].us)
    by_size: dict[int, list[float]] = {}
    for key, one in found.items():
        by_size.setdefault(key.bytes, []).append(statistics.median(one))
    return {size: statistics.geometric_mean(both) for size, both in sorted(by_size.items())}


def tune_file() -> Path:
    """Where libopi looks: $OPI_TUNE_FILE, else opi-xform/tune in $XDG_CONFIG_HOME, else in ~/.config."""
    named = os.environ.get("OPI_TUNE_FILE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "opi-xform" / "tune"


def file_text(machine: str, chosen: Mapping[str, int]) -> str:
    """The file's contents."""
    lines = [f"# Thresholds of libopi in bytes, by `opi-bench tune`: {machine}"]
    return "\n".join([*lines, *(f"{name} {value}" for name, value in chosen.items())]) + "\n"


def _bytes(value: int) -> str:
    return "never" if value >= NEVER else f"{value:,}"


def run(mpis: Sequence[Mpi], quick: bool, work: Path, target: Path | None, say: Callable[[str], None]) -> str:
    """Measures every threshold with the first MPI, writes the file unless ``target`` is None, and returns the report.

    Raises LaunchError, and OSError when the file cannot be written.
    """
    mpi = mpis[0]
    if len(set(cores_apart(RANKS))) < RANKS:
        say("tune: only one CPU: the ranks cannot be pinned apart, the thresholds say little")
    chosen: dict[str, int] = {}
    parts = [f"tune: time with a path / without it; {machine_line([mpi])}"]
    for threshold in THRESHOLDS:
        say(f"tune: {threshold.name}")
        ratios = measure(threshold, mpi, work, 20 if quick else 200, 1 if quick else 7, 64 * KiB if quick else NEVER)
        chosen[threshold.name] = choose(threshold, ratios)
        parts += ["", f"{threshold.name} = {_bytes(chosen[threshold.name])}   {threshold.about}"]
        parts.append(format_table([f"{size:,}" for size in ratios], [[f"{ratio:.2f}" for ratio in ratios.values()]]))
    if target is not None:
        target.write_text(file_text(machine_line([mpi]), chosen), encoding="utf-8")
        parts += ["", f"kept in {target}, where libopi finds it from now on"]
    return "\n".join(parts)
