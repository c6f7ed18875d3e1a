"""``python -m tests.machines.fuzz.run --seeds N``: random programs before and after the transformation.

Memory that OPI_Alloc gives is filled with garbage first, so that a byte which nothing wrote shows in the output; the
transformed programs run under OPI_CHECK=1 too; and the dynamic access oracle says of each site whether its bytes were
read afterwards, which no site that converts may have.  Prints how many of the sites that the oracle allows convert, and
each seed that fails; ``--keep`` names a folder for its text.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from opi_xform.launch.mpi import find_mpi
from tests.machines.fuzz.batch import Outcome, judged
from tests.machines.fuzz.families import NAMED
from tests.machines.fuzz.generate import program

Job = tuple[tuple[int, ...], bool, bool, tuple[str, ...]]


def work(job: Job) -> list[Outcome]:
    """A batch, in a process of its own: what the analysis keeps in memory ends with it."""
    seeds, check, traced, families = job
    with tempfile.TemporaryDirectory() as folder:
        return judged(seeds, Path(folder), find_mpi(), check, traced, [NAMED[name] for name in families])


class Totals:
    """The sums over all outcomes so far."""

    def __init__(self) -> None:
        self.programs = self.sites = self.convert = self.reached = self.free = self.both = 0
        self.failed: list[int] = []
        self.kept: Counter[str] = Counter()

    def add(self, outcome: Outcome) -> None:
        self.programs += 1
        self.sites += outcome.sites
        self.convert += outcome.convert
        self.reached += outcome.reached
        self.free += outcome.free
        self.both += outcome.both
        self.kept.update(outcome.kept)
        if outcome.problem:
            self.failed.append(outcome.seed)

    def __str__(self) -> str:
        text = f"{self.programs} programs, {self.sites} sites, {self.convert} converted"
        if self.reached:
            free, both = 100 * self.free / self.reached, 100 * self.both / max(self.free, 1)
            text += f"; of {self.reached} that ran the oracle allows {self.free} ({free:.0f} %)"
            text += f", of these {self.both} converted ({both:.0f} %)"
        return f"{text}; failed: {self.failed or 'none'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--batch", type=int, default=25, help="programs in one MPI job")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the files of seeds that fail")
    parser.add_argument("--no-check", action="store_true", help="not under OPI_CHECK=1")
    parser.add_argument("--no-oracle", action="store_true", help="outputs only")
    parser.add_argument("--families", nargs="+", choices=sorted(NAMED), default=[], help="scenarios of these only")
    arguments = parser.parse_args()
    end = arguments.first + arguments.seeds
    starts = range(arguments.first, end, arguments.batch)
    groups = [tuple(range(at, min(at + arguments.batch, end))) for at in starts]
    check, traced, families = not arguments.no_check, not arguments.no_oracle, tuple(arguments.families)
    jobs: list[Job] = [(group, check, traced, families) for group in groups]
    totals = Totals()
    with get_context("fork").Pool(arguments.jobs, maxtasksperchild=1) as pool:
        for outcomes in pool.imap(work, jobs, chunksize=1):
            for outcome in outcomes:
                totals.add(outcome)
                if outcome.problem:
                    print(f"seed {outcome.seed}: {outcome.problem}", flush=True)
                    if arguments.keep is not None:
                        arguments.keep.mkdir(parents=True, exist_ok=True)
                        file = f"seed{outcome.seed}.c"
                        text = program(outcome.seed, families=[NAMED[name] for name in families])
                        (arguments.keep / file).write_text(text, encoding="utf-8")
            print(totals, flush=True)
    if totals.kept:
        shares = ", ".join(f"{code} {number}" for code, number in totals.kept.most_common())
        print(f"kept although the oracle allows them, by code: {shares}")
    return 1 if totals.failed else 0


if __name__ == "__main__":
    sys.exit(main())
