"""--advise: the sites that stay, ranked by the bytes that they could save, each with what to change.

Without a run, a site counts by the bytes of its message, as far as they are known, and by the loops around it; with
OPI_PROFILE files by what its line sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opi_xform.changes.find import NOTHING_TO_GAIN
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.explain.unreached import never_comes
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Decision, Plan, SiteKey
from opi_xform.record import dataclass
from opi_xform.report.formats.text import Line, Shown, note_lines, wrapped
from opi_xform.report.profile import Run
from opi_xform.report.sidebyside import lines_of_run
from opi_xform.report.sizes import size

COPIES = {"inline": 1, "give": 0, "heap": 2, "pipelined": 2, "reference": 1, "kernel": 1, "mpi": 2}
"""How often a way copies a message; giving the buffer copies nothing."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What is known of a site's messages without a run.

    length: bytes of one (None: not known).  most: no message exceeds it: it is what a receive has room for, of several
    copies of the call the largest, or the whole buffer.  loops: how many are around the call.
    """

    length: int | None
    most: bool
    loops: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What a line sent in the runs: messages, their bytes, and the bytes that were copied for them."""

    messages: int
    bytes: int
    copied: int


def weights(program: Program) -> dict[SiteKey, Weight]:
    """Of every site that is reached."""
    found: dict[SiteKey, Weight] = {}
    for use in collect(program):
        length = None if use.length is None else use.length.constant
        whole = None
        if length is None and use.object >= 0:
            of = program.values.objects.table[use.object].type
            whole = of.size if of is not None and of.size else None
        loops = len(program.nest.chain(program.graph.nodes[use.node].block))
        here = Weight(whole if length is None else length, length is None or use.side == "recv", loops)
        before = found.get(use.place[:3])
        found[use.place[:3]] = here if before is None else _larger(before, here)
    return found


def _larger(a: Weight, b: Weight) -> Weight:
    lengths = [length for length in (a.length, b.length) if length is not None]
    most = a.most or b.most or a.length != b.length
    return Weight(max(lengths) if lengths else None, most, max(a.loops, b.loops))


def measure(
    plan: Plan, runs: Sequence[Run], old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]
) -> dict[int, Measured]:
    """What the sends of a plan, by index, sent.  old, new: the lines of the sources, and of those that change."""
    at: dict[tuple[str, int], int] = {}
    for index, d in enumerate(plan.decisions):
        if d.side == "send":
            at.setdefault((d.span.file, d.span.line), index)
    found: dict[int, Measured] = {}
    for run in runs:
        find = lines_of_run(old, new, run)
        for sender in run.senders:
            place = find(sender.file, sender.line) if sender.file else None
            if place is not None and place in at:
                was, all_ = found.get(at[place], Measured(0, 0, 0)), sender.all
                copied = sum(COPIES[way] * count.bytes for way, count in sender.ways.items())
                found[at[place]] = Measured(was.messages + all_.messages, was.bytes + all_.bytes, was.copied + copied)
    return found


def advice(
    plan: Plan,
    known: Mapping[SiteKey, Weight],
    measured: Mapping[int, Measured],
    runs: Sequence[Run],
    fixes: Mapping[SiteKey, str],
    shown: Shown,
    width: int,
) -> list[Line]:
    """The list, most bytes first; what would gain nothing is counted after it.

    fixes: what --fix would do, for the sites that convert with it.
    """
    kept = [(i, d) for i, d in enumerate(plan.decisions) if d.decision == "keep"]
    worth = [(i, d) for i, d in kept if d.code not in NOTHING_TO_GAIN]
    ranked = sorted(worth, key=lambda pair: (*_rank(pair[1], known, measured.get(pair[0])), pair[0]))
    lines: list[Line] = []
    for number, (index, d) in enumerate(ranked, 1):
        place = f"{shown(d.span.file)}:{d.span.line}"
        what = " ".join(f"{d.call} of {d.buffer} in {d.function}".split())
        lines.append(Line(f"{number}. {place}: {what}", "head"))
        lines += wrapped(f"gain: {_gain(d, known, measured.get(index))}", width, 4)
        lines += wrapped(f"{d.code}: {' '.join(d.message.split())}", width, 4, "keep")
        lines += note_lines(d.notes, shown)
        hint, fix = change(d), fixes.get((d.span.file, d.span.begin, d.side))
        if hint:
            lines += wrapped(f"change: {hint}", width, 4)
        if fix is not None:
            lines += wrapped(f"fix: {fix} would let it convert: --fix {place}", width, 4)
        if not hint and fix is None:
            lines += wrapped(f"change: none was found; opi-xform --explain {d.code} tells what is asked for", width, 4)
    few = len(kept) - len(worth)
    if few:
        lines.append(
            Line(f"{few} more {'stays' if few == 1 else 'stay'} and would gain nothing, or on request", "note")
        )
    if runs and not measured:
        told = any(sender.file for run in runs for sender in run.senders)
        changed = "no run sent from these lines: it may be of sources that have changed since"
        lines.append(
            Line(changed if told else "no run tells the lines that sent: build with `opicc -g` and run again", "note")
        )
    if not ranked:
        lines.append(Line("nothing to change: every site that could gain converts", "head"))
    return lines


def _rank(d: Decision, known: Mapping[SiteKey, Weight], run: Measured | None) -> tuple[int, float, int, int]:
    if run is not None:
        return (0, -run.copied, -run.bytes, 0)
    weight = known.get((d.span.file, d.span.begin, d.side), Weight(None, True, 0))
    # Of a length that is not known no more can be said than that it is worth a look: after those that are.
    return (1, -weight.loops if weight.length is not None else 0.5 - weight.loops, -(weight.length or 0), 0)


def _gain(d: Decision, known: Mapping[SiteKey, Weight], run: Measured | None) -> str:
    if run is not None:
        return f"measured: {sent(run)}; {size(run.copied)} would not be copied"
    weight = known.get((d.span.file, d.span.begin, d.side))
    if weight is None:
        return f"not known: {'nothing reaches the call' if never_comes(d.message) else 'the call is not followed'}"
    if weight.length is None:
        return f"a message whose size is not known{around(weight)}"
    return f"{'up to ' if weight.most else ''}{size(weight.length)} a message{around(weight)}"


def sent(run: Measured) -> str:
    """What a line sent, in words."""
    return f"{run.messages} {'message' if run.messages == 1 else 'messages'}, {size(run.bytes)}"


def around(weight: Weight) -> str:
    """The loops around a site, in words: ``, in a loop``."""
    return f", in {weight.loops} nested loops" if weight.loops > 1 else ", in a loop" if weight.loops else ""


def change(d: Decision) -> str:
    """What the reason itself advises, which was tried on the analysis; '' where it advises nothing."""
    return "" if d.advice is None else f"{' '.join(d.advice.words.split())} would let it convert"
