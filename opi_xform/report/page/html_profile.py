"""What --report shows of runs: the counts that OPI_PROFILE files tell, beside the sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opi_xform.record import dataclass
from opi_xform.report.profile import Count, Run
from opi_xform.report.sizes import size

MOST_RANKS = 64
_MEANING = {
    "inline": "in the envelope",
    "give": "the buffer itself: nothing is copied",
    "heap": "copied to the shared heap, and from there",
    "pipelined": "the same, both copies overlapping",
    "reference": "copied once, from the sender's memory",
    "kernel": "copied once, by the kernel",
}


@dataclass(frozen=True, slots=True)
class WayView:
    """One way of messages; ``percent`` of all bytes."""

    name: str
    meaning: str
    count: Count
    percent: int


@dataclass(frozen=True, slots=True)
class SenderView:
    """A call that sent, by its line; ``ways``: as words."""

    place: str
    link: str
    count: Count
    ways: str


@dataclass(frozen=True, slots=True)
class RunView:
    """A run.  cells: for each pair of ranks (bytes, messages, how dark from 0 to 9); None when there are too many."""

    name: str
    run: Run
    ways: tuple[WayView, ...]
    others: tuple[tuple[str, Count], ...]
    all: Count
    saved: str
    cells: tuple[tuple[tuple[str, int, int], ...], ...] | None
    senders: tuple[SenderView, ...]


def run_view(run: Run, linked: Callable[[str, int], tuple[str, str]]) -> RunView:
    """``linked``: the place and the anchor of a line that the debug information names."""
    total = sum(c.bytes for c in run.ways.values()) + sum(c.bytes for c in run.others.values())
    ways = tuple(
        WayView(way, _MEANING[way], c, round(100 * c.bytes / total) if total else 0)
        for way, c in run.ways.items()
        if c.messages
    )
    senders = []
    for sender in sorted(run.senders, key=lambda s: (-s.all.bytes, s.text)):
        place, link = linked(sender.file, sender.line) if sender.file else (sender.text, "")
        words = ", ".join(f"{c.messages} {way}" for way, c in sender.ways.items() if c.messages)
        senders.append(SenderView(place, link, sender.all, words))
    messages = sum(c.messages for c in (*run.ways.values(), *run.others.values()))
    return RunView(
        run.name,
        run,
        ways,
        tuple(run.others.items()),
        Count(messages, total),
        size(run.saved_bytes),
        _cells(run) if run.ranks <= MOST_RANKS else None,
        tuple(senders),
    )


def _cells(run: Run) -> tuple[tuple[tuple[str, int, int], ...], ...]:
    both = {pair: Count(a.messages + b.messages, a.bytes + b.bytes) for pair, (a, b) in run.matrix.items()}
    most = max((c.bytes for c in both.values()), default=0)
    return tuple(tuple(_cell(both, (i, j), most) for j in range(run.ranks)) for i in range(run.ranks))


def _cell(both: Mapping[tuple[int, int], Count], pair: tuple[int, int], most: int) -> tuple[str, int, int]:
    count = both.get(pair)
    if count is None:
        return "", 0, 0
    return size(count.bytes), count.messages, max(1, round(9 * count.bytes / most)) if most else 1
