"""The benchmark `opbench`: pack, exchange and unpack between two ranks (Friedley et al., ownership passing, 5.1).

One program, testdata/opbench, in every series: as plain MPI by each MPI found, linked with libopi, and transformed by
opi-xform. The limit is bare.c. All are compiled with the same flags and run pinned to the same two cores.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.bench.machine import cores_apart
from opi_xform.bench.result import Result
from opi_xform.bench.rounds import FLAGS, Series, machine_line, pinned, rows, run_rounds
from opi_xform.launch.mpi import Mpi
from opi_xform.launch.tools import OPICC, XFORM, c_sources, checked, compile_with
from opi_xform.resources import resource

RANKS = 2


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is run."""

    rounds: int
    iterations: int
    max_bytes: int


FULL = Effort(rounds=9, iterations=500, max_bytes=4 << 20)
QUICK = Effort(rounds=1, iterations=200, max_bytes=1 << 18)


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
            series.append(Series(name, mpi, pinned(mpi, RANKS, program, cpus, arguments)))
    limit = compile_with(
        (str(mpis[0].mpicc),), [str(Path(__file__).with_name("bare.c"))], work / "bare", mpis[0], FLAGS
    )
    bare = Series("bare", None, (str(limit), *arguments, *map(str, cpus)))
    return [*plain, bare, *libopi, *opi]


def run(mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """Builds and runs the benchmark in the directory ``work``. Raises LaunchError."""
    effort = QUICK if quick else FULL
    series = build(mpis, effort, work, say)
    times = run_rounds("opbench", series, effort.rounds, mpis[0], say)
    return Result("opbench", "pack + exchange + unpack", machine_line(mpis), tuple(rows(series, times, RANKS)))
