"""The benchmark `opbench`: pack, exchange and unpack between two ranks (Friedley et al., ownership passing, 5.1).

One program, testdata/opbench, in every series: as plain MPI by each MPI found, linked with libopi, and transformed by
opi-xform. The limit is bare.c. All are compiled with the same flags, run pinned to the same two cores, and alternate:
one round runs each once, starting with another one each time. A shared machine has moods that last for seconds (the
limit itself was seen to differ four times between two runs), so ratios are taken within a round: what is reported is
the median of the rounds' ratios.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.bench.machine import cores_apart, describe
from opi_xform.bench.result import Result, Row
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.tools import OPICC, XFORM, c_sources, captured, checked, compile_with
from opi_xform.resources import resource

FLAGS = ("-O3", "-march=native")
RANKS = 2
Rounds = dict[int, list[float]]
"""Microseconds by message size, one per round."""

_LINE = re.compile(r"^opbench bytes=(\d+) iterations=\d+ median_us=([0-9.]+) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is run."""

    rounds: int
    iterations: int
    max_bytes: int


FULL = Effort(rounds=9, iterations=500, max_bytes=4 << 20)
QUICK = Effort(rounds=1, iterations=200, max_bytes=1 << 18)


@dataclass(frozen=True, slots=True)
class Series:
    """One column: a program ready to run."""

    name: str
    mpi: Mpi | None
    command: tuple[str, ...]


def _pinned(mpi: Mpi, program: Path, cpus: Sequence[int], arguments: Sequence[str]) -> tuple[str, ...]:
    pin = (sys.executable, "-m", "opi_xform.bench.pin", ",".join(map(str, cpus)))
    return (*mpi.run_command(RANKS), *pin, str(program), *arguments)


def transform(source: Path, out: Path, mpi: Mpi, say: Callable[[str], None]) -> Path:
    """opbench through opi-xform; says so when a site was not converted. Returns the directory of the result."""
    text = checked([*XFORM, *c_sources(source), "-o", str(out), "--output-format", "json"], mpi)
    for site in json.loads(text)["sites"]:
        if site["decision"] != "convert":
            say(f"opbench: kept {site['file']}:{site['line']} {site['call']}: {site['code']} {site['message']}")
    return out


def build(mpis: Sequence[Mpi], effort: Effort, work: Path, say: Callable[[str], None]) -> list[Series]:
    """Compiles every series. Raises LaunchError."""
    source = resource("testdata", "opbench")
    cpus = cores_apart(RANKS)
    if len(set(cpus)) < RANKS:
        say("opbench: only one CPU: the ranks cannot be pinned apart, the times say little")
    arguments = (str(effort.iterations), str(effort.max_bytes))
    out = transform(source, work / "transformed", mpis[0], say)
    plain: list[Series] = []
    libopi: list[Series] = []
    opi: list[Series] = []
    for mpi in mpis:
        here = work / mpi.kind
        here.mkdir()
        for series, name, compiler, folder in (
            (plain, mpi.kind, (str(mpi.mpicc),), source),
            (libopi, "libopi", OPICC, source),
            (opi, "opi", OPICC, out),
        ):
            program = compile_with(compiler, c_sources(folder), here / name, mpi, FLAGS)
            series.append(Series(name, mpi, _pinned(mpi, program, cpus, arguments)))
    limit = compile_with(
        (str(mpis[0].mpicc),), [str(Path(__file__).with_name("bare.c"))], work / "bare", mpis[0], FLAGS
    )
    bare = Series("bare", None, (str(limit), *arguments, *map(str, cpus)))
    return [*plain, bare, *libopi, *opi]


def parse(text: str) -> dict[int, float]:
    """Microseconds by message size, from one run's output. Raises LaunchError when the data came out wrong."""
    if "opbench wrong=0\n" not in text:
        raise LaunchError(f"opbench: the exchanged data is wrong or the run was cut short:\n{text[-2000:]}", 1)
    return {int(size): float(median) for size, median in _LINE.findall(text)}


def run_once(one: Series, default: Mpi) -> dict[int, float]:
    """One run of one series. Raises LaunchError."""
    done = captured(one.command, one.mpi or default, timeout_s=300)
    if done.returncode != 0:
        raise LaunchError(f"opbench: {' '.join(one.command)}: exit code {done.returncode}\n{done.stderr[-2000:]}", 1)
    return parse(done.stdout)


def run(mpis: Sequence[Mpi], effort: Effort, work: Path, say: Callable[[str], None]) -> Result:
    """Builds and runs the benchmark in the directory ``work``. Raises LaunchError."""
    series = build(mpis, effort, work, say)
    times: list[Rounds] = [{} for _ in series]
    for number in range(effort.rounds):
        say(f"opbench: round {number + 1} of {effort.rounds}")
        for turn in range(len(series)):
            index = (number + turn) % len(series)
            for size, us in run_once(series[index], mpis[0]).items():
                times[index].setdefault(size, []).append(us)
    versions = ", ".join(f"{mpi.kind} {mpi.version}" for mpi in mpis)
    machine = f"{describe()}, {versions}, {' '.join(FLAGS)}"
    return Result("opbench", machine, tuple(rows(series, times)))


def rows(series: Sequence[Series], times: Sequence[Rounds]) -> list[Row]:
    """Medians over the rounds, and the medians of the ratios within each round."""
    plain = [
        found for one, found in zip(series, times, strict=True) if one.mpi is not None and one.name == one.mpi.kind
    ]
    limit = next(found for one, found in zip(series, times, strict=True) if one.name == "bare")

    def row(one: Series, size: int, us: Sequence[float]) -> Row:
        best = [min(at_once) for at_once in zip(*(found[size] for found in plain), strict=True)]
        return Row(
            series=one.name,
            mpi=one.mpi.kind if one.mpi else None,
            ranks=RANKS,
            bytes=size,
            median_us=statistics.median(us),
            repeats=len(us),
            ratio_best_mpi=statistics.median(b / t for b, t in zip(best, us, strict=True)),
            ratio_limit=statistics.median(t / b for t, b in zip(us, limit[size], strict=True)),
        )

    return [row(one, size, us) for one, found in zip(series, times, strict=True) for size, us in found.items()]
