"""``make torture-faults``: is the judge of random traffic itself right? Each fault of `faults.py` is planted into a
libopi; traffic has to find it, and to find nothing in the controls, where nothing is broken.

Prints for each how it was found, and after how many seeds.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi
from opi_xform.launch.runtime import Runtime, compile_command, ensure_runtime, runtime_flags
from opi_xform.resources import runtime_dir
from tests.machines.torture.faults import CONTROLS, FAULTS, Fault, planted
from tests.machines.torture.run import SOURCE, Setting, run

BLOCK = 10
"""Seeds per job."""
PATIENCE_S = 5
"""After which traffic counts a message as lost."""
LIMIT_S = 30
"""For one job."""

CHECK = re.compile(r"^\S*?([^/\s]+:\d+): rank \d+: (.*?)(?: \[(.*)\])?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What traffic said about a fault."""

    fault: Fault
    seeds: int
    """Rounds until it was found, or all."""
    how: str
    """The check that failed, in words; empty where nothing was found."""

    @property
    def right(self) -> bool:
        return bool(self.how) == self.fault.breaks

    def __str__(self) -> str:
        found = f"found after {self.seeds:3} seeds: {self.how}" if self.how else f"nothing found in {self.seeds} seeds"
        return f"{'ok   ' if self.right else 'WRONG'} {self.fault.name:33} {found}"


def checked(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LaunchError(f"{' '.join(command)}\n{done.stderr.strip()}", done.returncode)


def compile_traffic(mpi: Mpi, runtime: Runtime, folder: Path) -> Path:
    obj = folder / "traffic.o"
    checked([str(mpi.mpicc), "-std=gnu11", "-O0", f"-I{runtime.include}", "-c", str(SOURCE), "-o", str(obj)])
    return obj


def plant(mpi: Mpi, runtime: Runtime, traffic: Path, fault: Fault, folder: Path) -> Path:
    """Traffic, linked with a libopi that has the fault: the changed sources take the place of the archive's."""
    objects = []
    for name, text in planted(fault, runtime_dir() / "process").items():
        source = folder / f"{fault.name}-{Path(name).name}"
        source.write_text(text, encoding="utf-8")
        objects.append(source.with_suffix(".o"))
        checked(compile_command(mpi, source, objects[-1], runtime_flags()))
    program = folder / fault.name
    checked([str(mpi.mpicc), *map(str, (traffic, *objects, runtime.archive)), "-pthread", "-lm", "-o", str(program)])
    return program


def in_words(problem: str) -> str:
    """The first check that failed; else how the job ended."""
    found = CHECK.search(problem)
    if found:
        return f"{found[1]}: {found[2]}"
    return problem.splitlines()[0]


def judge(mpi: Mpi, program: Path, fault: Fault, seeds: int, first: int = 1) -> Verdict:
    """Runs blocks of seeds until something is found."""
    environment = (("TRAFFIC_PATIENCE", str(PATIENCE_S)), *fault.environment)
    done = 0
    while done < seeds:
        block = min(BLOCK, seeds - done)
        problem = run(mpi, program, Setting(fault.ranks, environment), first + done, block, LIMIT_S)
        done += block
        if problem:
            return Verdict(fault, done, in_words(problem))
    return Verdict(fault, done, "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200, help="rounds of traffic after which a fault counts as unseen")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--only", action="append", help="only these faults")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ.setdefault("OPI_CACHE", ".opi-cache")
    mpi = find_mpi()
    runtime = ensure_runtime(mpi)
    wrong, begin = 0, time.monotonic()
    chosen = [fault for fault in (*CONTROLS, *FAULTS) if not arguments.only or fault.name in arguments.only]
    with tempfile.TemporaryDirectory() as scratch:
        traffic = compile_traffic(mpi, runtime, Path(scratch))
        for fault in chosen:
            program = plant(mpi, runtime, traffic, fault, Path(scratch))
            seeds = arguments.seeds if fault.breaks else min(arguments.seeds, 5 * BLOCK)
            verdict = judge(mpi, program, fault, seeds, arguments.first)
            wrong += not verdict.right
            print(verdict, flush=True)
    broken = sum(fault.breaks for fault in chosen)
    print(f"{broken} faults, {len(chosen) - broken} controls, {wrong} judged wrongly, {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LaunchError as problem:
        sys.exit(f"torture-faults: {problem}")
