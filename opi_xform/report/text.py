"""The report for people: the table of sites with their reasons, and one line that sums it up.

On a pipe it is plain text of at most ``width`` columns where words allow; on a terminal rich adds colour, nothing else,
so that both can be read, searched and clicked alike.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opi_xform.ownership.plan import Decision, Plan
from opi_xform.report.json import SIDES, summary

Shown = Callable[[str], str]
HEADER = ("site", "call", "side", "buffer", "decision", "reason")
_GAP = "  "
_LEAST_REASON = 30  # columns; a narrower reason goes to lines of its own below the site
_MOST_BUFFER = 24


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output and the decision it tells (``convert``, ``keep``, ``note``, ``head`` or ''), for colour."""

    text: str
    kind: str = ""


def table(plan: Plan, shown: Shown, width: int) -> list[Line]:
    """The table of sites, then the diagnostics that belong to no single site."""
    rows = [_cells(decision, shown) for decision in plan.decisions]
    lines: list[Line] = []
    if rows:
        widths = [max(len(row[i]) for row in [HEADER[:5], *rows]) for i in range(5)]
        reason_at = sum(widths) + len(_GAP) * 5
        inline = width - reason_at >= _LEAST_REASON
        lines.append(Line(_row(HEADER[:5], widths) + (_GAP + HEADER[5] if inline else ""), "head"))
        for decision, row in zip(plan.decisions, rows, strict=True):
            lines.extend(_site(decision, _row(row, widths), reason_at if inline else 4, width, shown, inline))
    for diagnostic in plan.diagnostics:
        place = f"{shown(diagnostic.span.file)}:{diagnostic.span.line}: " if diagnostic.span.file else ""
        lines.append(Line(f"{place}note: {diagnostic.code} {diagnostic.message}".rstrip(), "note"))
        lines.extend(_notes(diagnostic, shown))
    return lines


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
    buffer = " ".join(decision.buffer.split())
    if len(buffer) > _MOST_BUFFER:
        buffer = buffer[: _MOST_BUFFER - 1] + "…"
    place = f"{shown(decision.span.file)}:{decision.span.line}"
    return (place, decision.call, decision.side, buffer, decision.decision)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _site(decision: Decision, row: str, column: int, width: int, shown: Shown, inline: bool) -> list[Line]:
    """A site's row, its reason beside or below it, the path that decides it, and what it rests on."""
    reason = " ".join(part for part in (decision.code, " ".join(decision.message.split())) if part)
    if decision.assumptions:
        reason = f"{reason} [assumes {', '.join(decision.assumptions)}]".strip()
    wrapped = textwrap.wrap(reason, max(width - column, 20), break_long_words=False, break_on_hyphens=False)
    lines = []
    if inline and wrapped:
        lines.append(Line(row.ljust(column) + wrapped.pop(0), decision.decision))
    else:
        lines.append(Line(row, decision.decision))
    lines.extend(Line(" " * column + text, "") for text in wrapped)
    return lines + _notes(decision, shown)


def _notes(decision: Decision, shown: Shown) -> list[Line]:
    return [
        Line(f"    {shown(note.span.file)}:{note.span.line}: note: {' '.join(note.message.split())}", "note")
        for note in decision.notes
    ]
