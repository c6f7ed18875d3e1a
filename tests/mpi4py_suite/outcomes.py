"""What became of the tests: read from what the ranks wrote, kept between runs, compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

WORST_FIRST = ("hang", "died", "error", "failure", "unexpected success", "expected failure", "skipped", "ok")

Outcomes = dict[tuple[str, int], tuple[str, str]]
"""What became of a test on a rank: a word of WORST_FIRST, and the reason."""


@dataclass(slots=True)
class Result:
    """The outcomes of a suite or a part of it, and what the profiles of its jobs say."""

    outcomes: Outcomes = field(default_factory=dict)
    jobs: int = 0
    ended: bool = False
    """It came to its end, rather than to its time limit."""
    left: Counter[str] = field(default_factory=Counter)
    carried: int = 0
    off_node: int = 0

    def add(self, other: Result) -> None:
        self.outcomes.update(other.outcomes)
        self.jobs += other.jobs
        self.ended = self.ended and other.ended
        self.left.update(other.left)
        self.carried += other.carried
        self.off_node += other.off_node

    def add_profile(self, path: Path) -> None:
        if path.exists():
            text = json.loads(path.read_text(encoding="utf-8"))
            self.carried += text["on_node"]["all"]["messages"]
            self.off_node += text["off_node"]["messages"]
            for kind, count in text["left_to_mpi"].items():
                if kind != "all":
                    self.left[kind] += count["messages"]


def save(result: Result, key: str, file: Path) -> None:
    """`key` tells what the result is of; whoever wants it of something else does not get it."""
    rows = [[*test, *outcome] for test, outcome in sorted(result.outcomes.items())]
    told = {
        "key": key,
        "ended": result.ended,
        "jobs": result.jobs,
        "left": dict(sorted(result.left.items())),
        "carried": result.carried,
        "off_node": result.off_node,
        "outcomes": rows,
    }
    new = file.with_suffix(".new")
    new.write_text(json.dumps(told), encoding="utf-8")
    new.replace(file)


def load(key: str, file: Path) -> Result | None:
    if not file.exists():
        return None
    told = json.loads(file.read_text(encoding="utf-8"))
    if told["key"] != key:
        return None
    outcomes = {(test, rank): (word, why) for test, rank, word, why in told["outcomes"]}
    left = Counter({str(kind): int(count) for kind, count in told["left"].items()})
    return Result(outcomes, told["jobs"], told["ended"], left, told["carried"], told["off_node"])


def lines(prefix: Path, ranks: int) -> Iterator[tuple[int, str, str, str]]:
    """(rank, word, test, reason) of what the ranks wrote."""
    for rank in range(ranks):
        path = Path(f"{prefix}.{rank}")
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                parts = line.split("\t")
                if len(parts) == 4:
                    yield rank, parts[0], parts[1], parts[2]


def size(prefix: Path, ranks: int) -> int:
    files = (Path(f"{prefix}.{rank}") for rank in range(ranks))
    return sum(path.stat().st_size for path in files if path.exists())


def complete(prefix: Path, ranks: int) -> bool:
    """Did every rank come to the end of its tests?"""
    text = Path(f"{prefix}.log").read_text(encoding="utf-8", errors="replace")
    return text.count("\nRan ") + text.startswith("Ran ") >= ranks


def read_job(outcomes: Outcomes, prefix: Path, ranks: int, stuck: str | None) -> set[str]:
    """Adds what one job's ranks wrote; the tests it started, on whatever rank.

    A test that was running at the end is `stuck`; None: it was interrupted, counts as not started on any rank, and is
    for another job."""
    running: dict[tuple[str, int], bool] = {}
    told: Outcomes = {}
    for rank, word, test, why in lines(prefix, ranks):
        key = (test, rank)
        if word == "start":
            running[key] = True
            continue
        running[key] = False
        before = told.get(key)
        if before is None or WORST_FIRST.index(word) < WORST_FIRST.index(before[0]):
            told[key] = (word, why)
    started = {test for test, _ in running}
    if stuck is None:
        finished = Counter(test for (test, _), still in running.items() if not still)
        started = {test for test in started if finished[test] == ranks}
        outcomes.update({key: outcome for key, outcome in told.items() if key[0] in started})
        return started
    outcomes.update(told)
    outcomes.update({key: (stuck, "") for key, still in running.items() if still})
    return started


def summary(outcomes: Outcomes) -> str:
    counts = Counter(word for word, _ in outcomes.values())
    tests = len({test for test, _ in outcomes})
    return f"{tests} tests: " + ", ".join(f"{counts[word]} {word}" for word in reversed(WORST_FIRST) if counts[word])


def on_both(plain: Result, preloaded: Result) -> tuple[Outcomes, Outcomes]:
    """What is to be compared: all, but where one side was interrupted only what both came to."""
    tests = [{test for test, _ in result.outcomes} for result in (plain, preloaded)]
    wanted = tests[0] | tests[1]
    if not plain.ended:
        wanted &= tests[0]
    if not preloaded.ended:
        wanted &= tests[1]

    def chosen(outcomes: Outcomes) -> Outcomes:
        return {key: outcome for key, outcome in outcomes.items() if key[0] in wanted}

    return chosen(plain.outcomes), chosen(preloaded.outcomes)


def differences(plain: Outcomes, preloaded: Outcomes) -> list[str]:
    """Where the two suites differ, as text."""
    found = [] if plain and preloaded else ["  no test ran: nothing was compared"]
    for key in sorted(plain.keys() | preloaded.keys()):
        before, after = plain.get(key, ("not run", "")), preloaded.get(key, ("not run", ""))
        if before[0] != after[0]:
            text = f"  {key[0]} on rank {key[1]}: {before[0]} without, {after[0]} with libopi"
            found.append(text + "".join(f"\n      {why[-600:]}" for why in (before[1], after[1]) if len(why) > 2))
    return found


def stuck_tests(outcomes: Outcomes) -> frozenset[str]:
    """Tests that ended or held up their job."""
    return frozenset(test for (test, _), (word, _) in outcomes.items() if word in ("died", "hang"))


def merged(results: Iterable[Result]) -> Result:
    whole = Result(ended=True)
    for result in results:
        whole.add(result)
    return whole
