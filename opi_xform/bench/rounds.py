"""Runs the series of a benchmark in rounds, and what comes out of them.

A round runs each series once, beginning with another one each time. A shared machine has moods that last for seconds
(the limit itself was seen to differ four times between two runs), so ratios are taken within a round: what is reported
is the median of the rounds' ratios.
"""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.bench.machine import describe
from opi_xform.bench.result import Row
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.tools import captured

FLAGS = ("-O3", "-march=native")
"""Of every program that is measured."""
PIN = (sys.executable, "-I", "-S", str(Path(__file__).with_name("pin.py")))
"""Binds a rank; by its file and isolated, so that nothing in the working directory or the environment is imported."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What one line of a program's output is about."""

    bytes: int
    point: str = ""
    """Tells rows of one size apart, e.g. `posted-512`."""


@dataclass(frozen=True, slots=True)
class Value:
    """What one line of a program's output says."""

    us: float
    misses: float | None = None
    """Cache misses per line of the data, where the program counted them."""


Measured = Mapping[Key, Value]
Rounds = dict[Key, list[float]]
"""Microseconds by size and point, one per round."""


@dataclass(frozen=True, slots=True)
class Series:
    """One column: a program ready to run."""

    name: str
    mpi: Mpi | None
    command: tuple[str, ...]


def pinned(mpi: Mpi, ranks: int, program: Path, cpus: Sequence[int], arguments: Sequence[str]) -> tuple[str, ...]:
    """The command that runs a program, each rank on a CPU of its own as far as there are enough."""
    return (*mpi.run_command(ranks), *PIN, ",".join(map(str, cpus)), str(program), *arguments)


def parse(name: str, text: str) -> dict[Key, Value]:
    """One run's output. Raises LaunchError when the data came out wrong or the run was cut short."""
    if f"{name} wrong=0\n" not in text:
        raise LaunchError(f"{name}: the data that arrived is wrong or the run was cut short:\n{text[-2000:]}", 1)
    found: dict[Key, Value] = {}
    misses: dict[Key, float] = {}
    for line in re.findall(rf"^{re.escape(name)} (bytes=.*)$", text, re.MULTILINE):
        fields = dict(part.partition("=")[::2] for part in line.split())
        key = Key(int(fields["bytes"]), fields.get("point", ""))
        if "misses" in fields:
            misses[key] = float(fields["misses"])
        if "median_us" in fields:
            found[key] = Value(float(fields["median_us"]), misses.get(key))
    return found


def run_once(bench: str, one: Series, default: Mpi, environment: Mapping[str, str] | None = None) -> dict[Key, Value]:
    """One run of one series. Raises LaunchError."""
    done = captured(one.command, one.mpi or default, timeout_s=300, extra=environment)
    if done.returncode != 0:
        raise LaunchError(f"{bench}: {' '.join(one.command)}: exit code {done.returncode}\n{done.stderr[-2000:]}", 1)
    return parse(bench, done.stdout)


def run_rounds(
    bench: str, series: Sequence[Series], rounds: int, default: Mpi, say: Callable[[str], None]
) -> list[Rounds]:
    """Runs every series ``rounds`` times; one result per series. Raises LaunchError."""
    times: list[Rounds] = [{} for _ in series]
    for number in range(rounds):
        say(f"{bench}: round {number + 1} of {rounds}")
        for turn in range(len(series)):
            index = (number + turn) % len(series)
            for key, value in run_once(bench, series[index], default).items():
                times[index].setdefault(key, []).append(value.us)
    return times


def rows(series: Sequence[Series], times: Sequence[Rounds], ranks: int, same_mpi: bool = False) -> list[Row]:
    """Medians over the rounds, and the medians of the ratios within each round: to the better MPI, or with ``same_mpi``
    to the one the series runs over."""
    pairs = list(zip(series, times, strict=True))
    plain = [(one.mpi, found) for one, found in pairs if one.mpi is not None and one.name == one.mpi.kind]
    limit = next((found for one, found in pairs if one.name == "bare"), None)

    def row(one: Series, key: Key, us: Sequence[float]) -> Row:
        against = [found[key] for mpi, found in plain if key in found and (not same_mpi or mpi == one.mpi)]
        best = [min(at_once) for at_once in zip(*against, strict=True)]
        at_limit = limit.get(key) if limit is not None else None
        return Row(
            series=one.name,
            mpi=one.mpi.kind if one.mpi else None,
            ranks=ranks,
            bytes=key.bytes,
            median_us=statistics.median(us),
            repeats=len(us),
            ratio_best_mpi=statistics.median(b / t for b, t in zip(best, us, strict=True)) if best else None,
            ratio_limit=statistics.median(t / b for t, b in zip(us, at_limit, strict=True)) if at_limit else None,
            point=key.point,
        )

    return [row(one, key, us) for one, found in pairs for key, us in found.items()]


def machine_line(mpis: Sequence[Mpi], flags: Sequence[str] = FLAGS) -> str:
    """The machine, the MPIs and the flags: the header of a report."""
    versions = ", ".join(f"{mpi.kind} {mpi.version}" for mpi in mpis)
    return f"{describe()}, {versions}, {' '.join(flags)}"
