"""The sources of --report, before and after: the rows of each file, and what of a long one is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opi_xform.record import dataclass

NEAR = 8
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class Mark:
    """Beside a line: a link to a site.  kind: ``convert``, ``keep`` or ``step``; title: all that is to say."""

    kind: str
    target: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A line before and after (None where there is none).  ``anchor``: the old line's; ``skipped``: lines left out.

    kind: ``edit``, ``add``, ``gone`` or '' (the same on both sides).  buffers: ids of those to which something happens.
    """

    old: tuple[int, str] | None
    new: tuple[int, str] | None
    anchor: str = ""
    kind: str = ""
    marks: tuple[Mark, ...] = ()
    buffers: str = ""
    skipped: int = 0
    seen: bool = False


@dataclass(frozen=True, slots=True)
class FileView:
    """One file, changed or with something to see."""

    id: str
    name: str
    changed: bool
    rows: tuple[Row, ...]


def kind_of(before: tuple[int, str] | None, after: tuple[int, str] | None) -> str:
    """What became of a line."""
    if before is None:
        return "add"
    if after is None:
        return "gone"
    return "" if before[1] == after[1] else "edit"


def plain(line: tuple[int, str] | None) -> tuple[int, str] | None:
    """A line with every character to be seen: one that is none, or turns the text around, by its number."""
    if line is None or not _UNSEEN.search(line[1]):
        return line
    return line[0], _UNSEEN.sub(
        lambda found: f"\N{LEFT-POINTING ANGLE BRACKET}U+{ord(found[0]):04X}\N{RIGHT-POINTING ANGLE BRACKET}", line[1]
    )


def near(rows: Sequence[Row], lines: int) -> list[Row]:
    """The rows near those with something to see; in place of the others, how many they are."""
    keep = [False] * len(rows)
    for index, row in enumerate(rows):
        if row.kind or row.marks or row.seen:
            for i in range(max(0, index - lines), min(len(rows), index + lines + 1)):
                keep[i] = True
    out: list[Row] = []
    left = 0
    for row, wanted in zip(rows, keep, strict=True):
        if wanted and left:
            out.append(Row(None, None, skipped=left))
            left = 0
        if wanted:
            out.append(row)
        else:
            left += 1
    return [*out, Row(None, None, skipped=left)] if left else out
