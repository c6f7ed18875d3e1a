"""``python -m tests.machines.disturb.run``: cases that convert, each with one disturbance from the table.

The programs have numbers.  The first have one form of each kind, the next another, each in a case that has what it
needs; when all forms were there, they are put into other cases, until every form has been in every place.  ``--first``
and ``--seeds`` say which numbers; ``--kinds`` and ``--cases`` leave only the kinds and cases with one of these words in
their names (and number anew).  Prints what fails, and a table by kind.  ``--keep`` names a folder for the texts of what
fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from heapq import nsmallest
from multiprocessing import get_context
from pathlib import Path
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from opi_xform.launch.mpi import find_mpi
from tests.machines.disturb.batch import Outcome, judged, readable
from tests.machines.disturb.hosts import Host, hosts
from tests.machines.disturb.table import Variant, kinds, variants
from tests.machines.disturb.weave import Woven, fits, woven


class Programs:
    """All programs of some kinds and cases, by number."""

    def __init__(self, words: Sequence[str] = (), cases: Sequence[str] = ()) -> None:
        places = [host for host in hosts() if not cases or any(word in host.case.name for word in cases)]
        chosen = [k for k in kinds() if not words or any(word in k.name or word == k.group for word in words)]
        self.forms: list[tuple[Variant, _Places]] = []
        known: dict[tuple[object, ...], list[Host]] = {}
        for variant in _turns([list(variants(kind)) for kind in chosen]):
            kind, use = variant.kind, variant.use
            needs = (
                *(use.brings, use.name, kind.writes, kind.lasting, kind.beginning),
                "$bytes" in kind.get,
                kind.include,
            )
            if needs not in known:
                known[needs] = [host for host in places if fits(host, variant)]
            if known[needs]:
                self.forms.append((variant, _Places(known[needs], variant.name)))
        self.total = sum(len(where) for _, where in self.forms)

    def number(self, first: int, count: int) -> Iterator[Woven]:
        """Of ``count`` numbers from ``first`` on (from 1), those that are programs."""
        at, turn = 0, 0
        while at < first + count - 1 and any(turn < len(where) for _, where in self.forms):
            for variant, where in self.forms:
                if turn < len(where):
                    at += 1
                    if first <= at < first + count:
                        yield woven(where[turn], variant)
            turn += 1


class _Places:
    """Where a form is put, one after the other: in the order of a hash of both names, so that the cases differ.

    A new case moves no other place to another form: the programs of a kind stay those that they were.
    """

    def __init__(self, hosts: list[Host], form: str) -> None:
        self.hosts = hosts
        self.form = crc32(form.encode()) | 1

    def __len__(self) -> int:
        return len(self.hosts)

    def __getitem__(self, turn: int) -> Host:
        if turn >= len(self.hosts):
            raise IndexError(turn)
        return nsmallest(turn + 1, self.hosts, key=self._place)[turn]

    def _place(self, host: Host) -> tuple[int, str]:
        mixed = crc32(host.name.encode()) * self.form
        return (mixed >> 16) & 0xFFFFFFFF, host.name


def _turns(forms: list[list[Variant]]) -> Iterator[Variant]:
    """One form of each kind after the other, every kind beginning with another of its own, then the next."""
    for turn in range(max(map(len, forms), default=0)):
        for number, own in enumerate(forms):
            if turn < len(own):
                yield own[(turn + number) % len(own)]


def work(programs: list[Woven], ranks: int, keep: Path | None = None) -> list[Outcome]:
    """A batch, in a process of its own: what the analysis keeps in memory ends with it."""
    with tempfile.TemporaryDirectory(prefix="disturb") as folder:
        found = judged(programs, Path(folder), find_mpi(), ranks)
    if keep is not None:
        for program, outcome in zip(programs, found, strict=True):
            if outcome.verdict in ("wrong", "undefined"):
                write(program, outcome, keep)
    return found


def write(program: Woven, outcome: Outcome, keep: Path) -> None:
    """The texts of a program that fails, and in the first file what is wrong with it."""
    place = keep / outcome.verdict / readable(outcome.name)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in program.texts.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "why.txt").write_text(outcome.problem + "\n", encoding="utf-8")


class Summary:
    """Counts by kind."""

    def __init__(self) -> None:
        self.verdicts: dict[str, Counter[str]] = defaultdict(Counter)
        self.codes: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, outcome: Outcome) -> None:
        self.verdicts[outcome.kind][outcome.verdict] += 1
        self.codes[outcome.kind].update(outcome.codes)

    def total(self, verdict: str) -> int:
        return sum(counted[verdict] for counted in self.verdicts.values())

    def __str__(self) -> str:
        heads = " ".join(f"{head:>6}" for head in ("kept", "equal", "wrong", "undef"))
        rows = [f"{'kind':22} {'programs':>8} {heads}  codes of what has to stay"]
        for kind in (kind for kind in kinds() if kind.name in self.verdicts):
            counted, codes = self.verdicts[kind.name], self.codes[kind.name]
            numbers = " ".join(f"{counted[verdict]:6}" for verdict in ("kept", "equal", "wrong", "undefined"))
            shares = ", ".join(f"{code} {number}" for code, number in codes.most_common(4))
            rows.append(f"{kind.name:22} {sum(counted.values()):8} {numbers}  {shares}")
        return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0] if __doc__ else "")
    parser.add_argument("--first", type=int, default=1, help="number of the first program")
    parser.add_argument("--seeds", type=int, default=0, help="how many programs; 0: once through all forms")
    parser.add_argument("--kinds", default="", help="words, with commas: only kinds whose name has one")
    parser.add_argument("--cases", default="", help="words, with commas: only cases whose name has one")
    parser.add_argument("--batch", type=int, default=40, help="programs in one process and MPI job")
    parser.add_argument("--ranks", type=int, default=2, help="of each program; not all cases run on others than 2")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the texts of programs that fail")
    parser.add_argument("--count", action="store_true", help="only say how many kinds, forms and programs there are")
    arguments = parser.parse_args()
    programs = Programs(*([word for word in text.split(",") if word] for text in (arguments.kinds, arguments.cases)))
    names = {variant.kind.name for variant, _ in programs.forms}
    print(f"{len(names)} kinds, {len(programs.forms)} forms, {programs.total} programs", flush=True)
    if arguments.count:
        return 0
    chosen = list(programs.number(arguments.first, arguments.seeds or len(programs.forms)))
    groups = [chosen[at : at + arguments.batch] for at in range(0, len(chosen), arguments.batch)]
    summary = Summary()
    with get_context("fork").Pool(arguments.jobs, maxtasksperchild=1) as pool:
        for outcomes in pool.imap(partial(work, ranks=arguments.ranks, keep=arguments.keep), groups, chunksize=1):
            for outcome in outcomes:
                summary.add(outcome)
                if outcome.verdict in ("wrong", "undefined"):
                    print(f"{outcome.verdict}: {outcome.name}: {outcome.problem}", flush=True)
    print(summary)
    counts = ", ".join(f"{verdict} {summary.total(verdict)}" for verdict in ("kept", "equal", "wrong", "undefined"))
    print(f"{len(chosen)} programs from {arguments.first}: {counts}")
    return 1 if summary.total("wrong") or summary.total("undefined") else 0


if __name__ == "__main__":
    sys.exit(main())
