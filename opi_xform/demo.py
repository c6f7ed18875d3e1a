"""``make demo``: three MPI programs become ownership passing programs, and run before and after.

Each of testdata/halo2d, fft2d and particles is transformed by opi-xform, built as it was (mpicc) and as it became
(opicc), and run on 2 and 4 ranks. The results must agree bit for bit; the programs time their own pack + exchange +
unpack. Then `--check`, and a variant of halo2d in which somebody reads a buffer after sending it: that site stays as it
was, and the tool says why.

What it makes stays in build/demo/ for a look.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opi_xform.bench.result import format_table
from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi
from opi_xform.launch.tools import OPICC, XFORM, c_sources, captured, checked, compile_with
from opi_xform.record import dataclass
from opi_xform.resources import IncompleteInstallError, resource

PROGRAMS = ("halo2d", "fft2d", "particles")
RANKS = (2, 4)
REPEATS = 3
FLAGS = ("-O3",)
WORK = Path("build") / "demo"
_TIME = re.compile(r"^time pack\+exchange\+unpack: ([0-9.]+) s$", re.MULTILINE)

BROKEN_FILE = "exchange.c"
BROKEN_AFTER = "    MPI_Waitall(2 * NDIR, rq, MPI_STATUSES_IGNORE);\n"
BROKEN_INSERT = "    u[0] += 0.0 * sbuf[0][0];\n"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program printed, apart from its time, and that time in seconds."""

    lines: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Converted:
    """A program before and after."""

    name: str
    sites: tuple[dict[str, Any], ...]
    before: Path
    after: Path

    def count(self, decision: str) -> int:
        return sum(site["decision"] == decision for site in self.sites)


def transform(sources: Sequence[str], out: Path, mpi: Mpi) -> tuple[dict[str, Any], ...]:
    """Runs opi-xform; returns the sites of its JSON report. Raises LaunchError."""
    text = checked([*XFORM, *sources, "-o", str(out), "--output-format", "json"], mpi)
    return tuple(json.loads(text)["sites"])


def convert(name: str, mpi: Mpi) -> Converted:
    """Transforms and builds one program of testdata/. Raises LaunchError."""
    source, work = resource("testdata", name), WORK / name
    sites = transform(c_sources(source), work / "converted", mpi)
    before = compile_with((str(mpi.mpicc),), c_sources(source), work / "before", mpi, FLAGS)
    after = compile_with(OPICC, c_sources(work / "converted"), work / "after", mpi, FLAGS)
    return Converted(name, sites, before, after)


def run(program: Path, ranks: int, mpi: Mpi) -> Outcome:
    """One run. Raises LaunchError when the program fails or prints no time."""
    text = checked([*mpi.run_command(ranks), str(program.absolute())], mpi, timeout_s=120)
    found = _TIME.findall(text)
    if len(found) != 1:
        raise LaunchError(f"{program}: printed no time line:\n{text}", 1)
    return Outcome(_TIME.sub("", text), float(found[0]))


def compare(program: Converted, ranks: int, mpi: Mpi) -> tuple[float, float]:
    """Median seconds before and after, in alternating runs. Raises LaunchError when any result differs."""
    before, after = [], []
    for _ in range(REPEATS):
        before.append(run(program.before, ranks, mpi))
        after.append(run(program.after, ranks, mpi))
    for outcome in (*before, *after):
        if outcome.lines != before[0].lines:
            both = f"--- before\n{before[0].lines}\n--- after\n{outcome.lines}"
            raise LaunchError(f"{program.name} on {ranks} ranks: results differ\n{both}", 1)
    return statistics.median(o.seconds for o in before), statistics.median(o.seconds for o in after)


def site_line(site: dict[str, Any]) -> str:
    """A site and its reason, with the path through the source that decides it."""
    where = f"{site['file']}:{site['line']}: {site['call']}({site['buffer']})"
    head = f"  {where}: {site['decision']} {site['code']} {site['message']}"
    return "\n".join([head, *(f"    {n['file']}:{n['line']}: {n['message']}" for n in site["notes"])])


def show_table(rows: Sequence[Sequence[str]]) -> None:
    """The one table; drawn by rich on a terminal."""
    header = ("program", "ranks", "converted", "kept", "before s", "after s", "before/after")
    if not sys.stdout.isatty():
        print(format_table(header, rows))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, title="pack + exchange + unpack")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def check_and_break(halo: Converted, mpi: Mpi) -> None:
    """`--check` on an unchanged and on a broken program. Raises LaunchError when either does not do what it should."""
    source, out = resource("testdata", "halo2d"), WORK / "halo2d" / "converted"
    print(f"\n$ opi-xform --check {os.path.relpath(source)}/*.c -o {out}")
    done = captured([*XFORM, "--check", *c_sources(source), "-o", str(out)], mpi)
    if done.returncode != 0:
        raise LaunchError(
            f"--check on an unchanged program: exit code {done.returncode}\n{done.stdout}{done.stderr}", 1
        )
    print("exit code 0: the result is up to date")

    broken = WORK / "broken" / "source"
    shutil.copytree(source, broken)
    text = (broken / BROKEN_FILE).read_text(encoding="utf-8")
    if text.count(BROKEN_AFTER) != 1:
        raise LaunchError(f"{source / BROKEN_FILE}: the line to insert after is not there", 1)
    (broken / BROKEN_FILE).write_text(text.replace(BROKEN_AFTER, BROKEN_AFTER + BROKEN_INSERT), encoding="utf-8")
    line = text[: text.index(BROKEN_AFTER)].count("\n") + 2
    print(f"\nA variant reads a buffer after the send ({broken / BROKEN_FILE}:{line}): {BROKEN_INSERT.strip()}")
    print(f"$ opi-xform --check {broken}/*.c -o {out}")
    done = captured([*XFORM, "--check", *c_sources(broken), "-o", str(out)], mpi)
    if done.returncode != 1:
        raise LaunchError(f"--check on a changed program: exit code {done.returncode}\n{done.stdout}{done.stderr}", 1)
    print("exit code 1: something got worse")

    print(f"$ opi-xform {broken}/*.c -o {WORK / 'broken' / 'converted'}")
    sites = transform(c_sources(broken), WORK / "broken" / "converted", mpi)
    kept = [site for site in sites if site["side"] == "send" and site["decision"] == "keep"]
    if len(kept) <= sum(site["side"] == "send" and site["decision"] == "keep" for site in halo.sites):
        raise LaunchError("the broken variant's send was converted", 1)
    print("\n".join(site_line(site) for site in kept))
    after = compile_with(OPICC, c_sources(WORK / "broken" / "converted"), WORK / "broken" / "after", mpi, FLAGS)
    if run(after, 2, mpi).lines != run(halo.before, 2, mpi).lines:
        raise LaunchError("the broken variant's results differ", 1)
    print("and its results on 2 ranks are those of the original")


def demo() -> None:
    """Everything. Raises LaunchError."""
    mpi = find_mpi()
    shutil.rmtree(WORK, ignore_errors=True)
    print(f"{mpi.kind} {mpi.version} ({mpi.mpicc}), {' '.join(FLAGS)}, medians of {REPEATS} runs; files in {WORK}/")
    rows: list[tuple[str, ...]] = []
    programs: list[Converted] = []
    for name in PROGRAMS:
        (WORK / name).mkdir(parents=True)
        program = convert(name, mpi)
        programs.append(program)
        for ranks in RANKS:
            before, after = compare(program, ranks, mpi)
            counts = (str(program.count("convert")), str(program.count("keep")))
            rows.append((name, str(ranks), *counts, f"{before:.4f}", f"{after:.4f}", f"{before / after:.2f}"))
    print("Results agree bit for bit. Time in pack + exchange + unpack, as each program measures it:")
    show_table(rows)
    kept = [site for program in programs for site in program.sites if site["decision"] == "keep"]
    if kept:
        print("Kept, and why:")
        print("\n".join(site_line(site) for site in kept))
    check_and_break(programs[0], mpi)


def main() -> int:
    """Exit code 0 when everything came out as it should."""
    try:
        demo()
    except (LaunchError, IncompleteInstallError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return error.code if isinstance(error, LaunchError) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
