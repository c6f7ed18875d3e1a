"""The report for people: the table of sites with their reasons, and one line that sums it up.

On a pipe it is plain text of at most ``width`` columns where words allow; on a terminal rich adds colour, nothing else,
so that both can be read, searched and clicked alike.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence

from opi_xform.ownership.model.plan import Decision, Note, Plan
from opi_xform.record import dataclass
from opi_xform.report.formats.json import SIDES, summary
from opi_xform.report.globals import GlobalDecision

Shown = Callable[[str], str]
HEADER = ("site", "call", "side", "buffer", "decision", "reason")
ASSUMPTIONS = {
    "A1": "nothing of a receive buffer is read beyond the message that came",
    "A2": "sources and destinations are real ranks, not MPI_PROC_NULL",
    "A3": "sizes that are multiplied with one another, or are parts of one allocation, are not negative",
    "A4": "padding between and after the members of a struct carries nothing",
    "A5": "a receive whose error nobody looks at does not fail, though an error handler that returns may be set",
    "A6": "text that the preprocessor leaves out stays left out; an #error there sees to it",
    "A7": "nothing but speed depends on an alignment of more than 64 bytes, and one that is asked for is valid",
    "U1": "what `opi: assume packed(...)` says: all that is sent was written since the last hand-over",
    "U2": "what opi.toml says of external functions",
    "U3": "what `opi: assume disjoint(...)` says: the two never stand for the same memory",
}
_GAP = "  "
_INDENT = 4
_LEAST_REASON = 40  # columns; a longer reason that has fewer goes to lines of its own below the site
_MOST_BUFFER = 24


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output; ``kind``, for colour: ``convert``, ``keep``, ``note``, ``head``, ``finding`` or ''."""

    text: str
    kind: str = ""


def table(plan: Plan, shown: Shown, width: int) -> list[Line]:
    """The table of sites, what the assumptions in it mean, then the diagnostics that belong to no single site."""
    rows = [_cells(decision, shown) for decision in plan.decisions]
    lines: list[Line] = []
    if rows:
        widths = [max(len(row[i]) for row in [HEADER[:5], *rows]) for i in range(5)]
        lines.append(Line(_row(HEADER[:5], widths) + _GAP + HEADER[5], "head"))
        for decision, row in zip(plan.decisions, rows, strict=True):
            column = sum(widths) + len(_GAP) * len(widths)
            lines.extend(_site(decision, _row(row, widths), column, width, shown))
    used = sorted({name for decision in plan.decisions for name in decision.assumptions})
    lines.extend(Line(f"{name} assumed: {ASSUMPTIONS[name]}", "note") for name in used if name in ASSUMPTIONS)
    for diagnostic in plan.diagnostics:
        place = f"{shown(diagnostic.span.file)}:{diagnostic.span.line}: " if diagnostic.span.file else ""
        lines.append(Line(f"{place}note: {diagnostic.code} {_one_line(diagnostic.message)}".rstrip(), "note"))
        lines.extend(note_lines(diagnostic.notes, shown))
    return lines


def global_lines(variables: Iterable[GlobalDecision], shown: Shown) -> list[Line]:
    """A line for each variable that is made private or cannot be; those that stay shared are no news."""
    return [
        Line(
            " ".join(f"{shown(v.span.file)}:{v.span.line}: {v.name}: {v.decision} {v.code} {v.message}".split()),
            "keep" if v.decision == "refused" else "note",
        )
        for v in variables
        if v.decision != "shared"
    ]


def summary_line(plan: Plan) -> str:
    """``12 sites: 10 converted, 2 kept (send 5/6, recv 5/6)``."""
    counts = summary(plan)
    converted = sum(counts[side]["convert"] for side in SIDES)
    total = len(plan.decisions)
    if total == 0:
        return "0 sites: no send or receive in the files given; nothing to do"
    sides = ", ".join(f"{side} {counts[side]['convert']}/{sum(counts[side].values())}" for side in SIDES)
    return f"{total} {'site' if total == 1 else 'sites'}: {converted} converted, {total - converted} kept ({sides})"


def _cells(decision: Decision, shown: Shown) -> tuple[str, ...]:
    buffer = _one_line(decision.buffer)
    if len(buffer) > _MOST_BUFFER:
        buffer = buffer[: _MOST_BUFFER - 1] + "…"
    place = f"{shown(decision.span.file)}:{decision.span.line}"
    return (place, decision.call, decision.side, buffer, decision.decision)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))


def _site(decision: Decision, row: str, column: int, width: int, shown: Shown) -> list[Line]:
    """A site's row, its reason beside or below it, and the path that decides it.

    Of a conversion only what it rests on is told; the message of its decision says no more than ``convert``.
    """
    said = [decision.code, _one_line(decision.message)] if decision.decision != "convert" or decision.code else []
    reason = " ".join(part for part in (*said, *decision.assumptions) if part)
    beside = len(reason) <= width - column or width - column >= _LEAST_REASON
    start = column if beside else _INDENT
    wrapped = textwrap.wrap(reason, max(width - start, 20), break_long_words=False, break_on_hyphens=False)
    first = row + _GAP + wrapped.pop(0) if beside and wrapped else row.rstrip()
    below = [Line(" " * start + text) for text in wrapped]
    return [Line(first, decision.decision), *below, *note_lines(decision.notes, shown)]


def note_lines(notes: Iterable[Note], shown: Shown) -> list[Line]:
    """The steps of a path, one a line."""
    return [
        Line(f"{' ' * _INDENT}{shown(note.span.file)}:{note.span.line}: note: {_one_line(note.message)}", "note")
        for note in notes
    ]


def wrapped(text: str, width: int, indent: int, kind: str = "", hang: int = 2) -> list[Line]:
    """A paragraph in lines of at most ``width`` columns where words allow; all but the first further in by ``hang``."""
    space = " " * indent
    found = textwrap.wrap(
        text,
        max(width, 40),
        initial_indent=space,
        subsequent_indent=space + " " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [Line(line, kind) for line in found]


def _one_line(text: str) -> str:
    return " ".join(text.split())
