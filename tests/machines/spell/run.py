"""``python -m tests.machines.spell.run``: cases that convert, in other words; the decisions have to stay.

A seed goes once through all cases: each gets one to four rewritings from the table, drawn by the seed, at one place
or more.  ``--first`` and ``--seeds`` say which seeds; ``--cases`` and ``--rules`` leave only cases and rewritings with
one of these words in their names; ``--every 6 --offset 2`` takes each sixth case from the third on; ``--each`` puts
every rewriting by itself into every case that has a place for it.
Prints what is lost, and a table by rewriting.  One of ``--run`` programs runs, as it is and transformed.  ``--keep``
names a folder for the texts of what is lost or wrong.  The exit code is 1 where at least 2 % of the sites are lost, or
something is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from opi_xform.launch.mpi import find_mpi
from tests.machines.spell.judge import Judge, Outcome, Spelled, cases, spelled, write
from tests.machines.spell.table import Rewriting, rewritings

LIMIT = 0.02
Task = tuple[int, int, str]
"""The number of a case, a seed, and the one rewriting that is applied ('': as the seed says)."""


def numbered(words: Sequence[str], every: int, offset: int) -> list[int]:
    """The numbers of the cases that are asked for."""
    found = [n for n, case in enumerate(cases()) if not words or any(word in case.name for word in words)]
    return found[offset::every]


def tasks(first: int, seeds: int, numbers: Sequence[int], rules: Sequence[Rewriting], each: bool) -> Iterator[Task]:
    for number in numbers:  # one case after the other: what is decided of it is asked once for all seeds of a batch
        for seed in range(first, first + seeds):
            for name in [rule.name for rule in rules] if each else [""]:
                yield number, seed, name


def work(group: Sequence[Task], rules: Sequence[str], one_of: int, keep: Path | None) -> list[Outcome]:
    """A batch, in a process of its own: what the analysis keeps in memory ends with it."""
    known = {rule.name: rule for rule in rewritings()}
    found = []
    with tempfile.TemporaryDirectory(prefix="spell") as folder:
        judge = Judge(Path(folder), find_mpi())
        for number, seed, name in group:
            case = cases()[number]
            only = [known[n] for n in ([name] if name else rules)]
            program = spelled(case, seed, only, 1 if name else 0)
            if program.steps:
                outcome = judge.outcome(program, one_of > 0 and (number + seed) % one_of == 0)
                found.append(outcome)
                if keep is not None and outcome.verdict != "same":
                    keep_texts(program, outcome, keep)
    return found


def keep_texts(program: Spelled, outcome: Outcome, keep: Path) -> None:
    """The texts of a program, and beside them what is wrong with it."""
    place = keep / outcome.verdict / f"{outcome.name}-{'-'.join(outcome.applied)}"[:200]
    write(program.texts, place)
    lines = [f"{site[0]} {site[1]} after {name}: {why}" for site, name, why in outcome.lost]
    (place / "why.txt").write_text("\n".join([*lines, outcome.problem, ""]), encoding="utf-8")


class Summary:
    """Counts by rewriting."""

    def __init__(self) -> None:
        self.programs: Counter[str] = Counter()
        self.sites: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self.gained: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.all_sites = self.all_lost = self.all_gained = self.ran = 0

    def add(self, outcome: Outcome) -> None:
        self.verdicts[outcome.verdict] += 1
        self.ran += outcome.ran
        if outcome.verdict == "invalid":
            return
        for name in outcome.applied:
            self.programs[name] += 1
            self.sites[name] += outcome.sites
        self.lost.update(name for _, name, _ in outcome.lost)
        self.gained.update(name for _, name in outcome.gained)
        self.all_sites += outcome.sites
        self.all_lost += len(outcome.lost)
        self.all_gained += len(outcome.gained)

    @property
    def share(self) -> float:
        return self.all_lost / max(1, self.all_sites)

    def __str__(self) -> str:
        rows = [f"{'rewriting':34} {'applied':>8} {'sites':>7} {'lost':>6} {'gained':>7} {'lost %':>7}"]
        for name in sorted(self.programs, key=lambda n: (-self.lost[n] / max(1, self.sites[n]), n)):
            share = 100 * self.lost[name] / max(1, self.sites[name])
            counts = f"{self.programs[name]:8} {self.sites[name]:7} {self.lost[name]:6} {self.gained[name]:7}"
            rows.append(f"{name:34} {counts} {share:7.2f}")
        counts = f"{self.verdicts.total():8} {self.all_sites:7} {self.all_lost:6} {self.all_gained:7}"
        rows.append(f"{'programs':34} {counts} {100 * self.share:7.2f}")
        verdicts = ", ".join(f"{name} {self.verdicts[name]}" for name in ("same", "lost", "wrong", "invalid"))
        applied = f"{self.programs.total()} rewritings in these programs"
        return "\n".join([*rows, f"{verdicts}; {self.ran} were run; {applied}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0] if __doc__ else "")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds, each once through all cases")
    parser.add_argument("--cases", default="", help="words, with commas: only cases whose name has one")
    parser.add_argument("--rules", default="", help="words, with commas: only rewritings whose name or kind has one")
    parser.add_argument("--every", type=int, default=1, help="one of so many cases")
    parser.add_argument("--offset", type=int, default=0, help="how many cases are passed over before the first")
    parser.add_argument("--each", action="store_true", help="every rewriting by itself in every case")
    parser.add_argument("--run", type=int, default=10, help="one of so many programs is run; 0: none")
    parser.add_argument("--batch", type=int, default=40, help="programs in one process")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the texts of programs that lose a site or are wrong")
    parser.add_argument("--list", action="store_true", help="only say what the rewritings are")
    arguments = parser.parse_args()
    words, kinds = ([word for word in text.split(",") if word] for text in (arguments.cases, arguments.rules))
    rules = [r for r in rewritings() if not kinds or any(word in r.name or word == r.kind for word in kinds)]
    if arguments.list:
        print("\n".join(f"{rule.kind:14} {rule.name:34} {rule.says}" for rule in rules))
        return 0
    numbers = numbered(words, arguments.every, arguments.offset)
    chosen = list(tasks(arguments.first, arguments.seeds, numbers, rules, arguments.each))
    groups = [chosen[at : at + arguments.batch] for at in range(0, len(chosen), arguments.batch)]
    print(f"{len(rules)} rewritings, {len(cases())} cases, {len(chosen)} programs at most", flush=True)
    summary = Summary()
    own = partial(work, rules=[rule.name for rule in rules], one_of=arguments.run, keep=arguments.keep)
    with get_context("fork").Pool(arguments.jobs, maxtasksperchild=1) as pool:
        for outcomes in pool.imap(own, groups, chunksize=1):
            for outcome in outcomes:
                summary.add(outcome)
                for site, name, why in outcome.lost:
                    print(f"lost: {outcome.name}: {name}: call {site[0]} {site[1]}: {why}", flush=True)
                if outcome.problem:
                    print(
                        f"{outcome.verdict}: {outcome.name}: {', '.join(outcome.applied)}: {outcome.problem}",
                        flush=True,
                    )
    print(summary)
    return 1 if summary.share >= LIMIT or summary.verdicts["wrong"] or summary.verdicts["invalid"] else 0


if __name__ == "__main__":
    sys.exit(main())
