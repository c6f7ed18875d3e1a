"""A text with uses of macros written out: which pieces of it are made of which use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opi_xform.frontend.macros.written_out import Piece
from opi_xform.record import dataclass
from opi_xform.text.mapped import Mapped, Put

Key = tuple[str, int, int, str, int]
"""A use: its file, where it stands in the old text (one in the text of another: where that does), its name, and which
of those that agree in this.
"""
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Region:
    """A use that is written out, at ``[begin, end)``.  free: arguments, which can be edited without that.

    parent: the use that is written out so that this one is there; None: it is in the old text.
    """

    key: Key
    begin: int
    end: int
    free: tuple[Range, ...]
    parent: Key | None

    def makes(self, begin: int, end: int) -> bool:
        """An edit of this range needs the use written out: some of it comes from the macro's body."""
        apart = end <= self.begin or self.end <= begin if begin < end else not self.begin <= begin <= self.end
        around = begin <= self.begin and self.end <= end and (begin, end) != (self.begin, self.end)
        return not apart and not around and not any(low <= begin and end <= high for low, high in self.free)


@dataclass(frozen=True, slots=True)
class Change:
    """A use at ``[begin, end)`` of a text, and what it becomes."""

    key: Key
    begin: int
    end: int
    pieces: tuple[Piece, ...]


class Text:
    """Immutable; ``written`` makes another one."""

    def __init__(self, mapped: Mapped, regions: Sequence[Region] = ()) -> None:
        self.mapped = mapped
        self.regions = tuple(regions)

    def written(self, changes: Sequence[Change]) -> Text:
        """The text with these uses, which do not touch one another, written out."""
        changes = sorted(changes, key=lambda change: change.begin)
        move = _Move(changes)
        regions = []
        for region in self.regions:
            place = move.of(region.begin, region.end)
            if place is not None:
                free = [now for now in (move.of(*one) for one in region.free) if now is not None]
                regions.append(replace(region, begin=place[0], end=place[1], free=tuple(free)))
        for number, change in enumerate(changes):
            begin, end = move.bounds[number]
            parent = self._innermost(change.begin, change.end)
            regions.append(Region(change.key, begin, end, move.free(number), parent))
        puts = [(c.begin, c.end, [Put(p.text, p.begin, p.end) for p in c.pieces]) for c in changes]
        return Text(self.mapped.replaced(puts), regions)

    def _innermost(self, begin: int, end: int) -> Key | None:
        """The use whose body makes this range."""
        found = [r for r in self.regions if r.begin <= begin and end <= r.end and r.makes(begin, end)]
        return min(found, key=lambda r: r.end - r.begin).key if found else None


class _Move:
    """Where places of a text are when changes were made."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self.changes = changes
        self.bounds: list[Range] = []
        shift = 0
        for change in changes:
            length = sum(_length(piece) for piece in change.pieces)
            self.bounds.append((change.begin + shift, change.begin + shift + length))
            shift += length - (change.end - change.begin)

    def of(self, begin: int, end: int) -> Range | None:
        """The range now; None where it is gone, or there more than once."""
        for number, change in enumerate(self.changes):
            if change.begin <= begin and end <= change.end and (begin, end) != (change.begin, change.end):
                found = [
                    (at + begin - piece.begin, at + end - piece.begin)
                    for at, piece in self._pieces(number)
                    if 0 <= piece.begin <= begin and end <= piece.end
                ]
                return found[0] if len(found) == 1 else None
            if begin < change.end and change.begin < end and not (begin <= change.begin and change.end <= end):
                return None
        return self._shifted(begin, False), self._shifted(end, True)

    def free(self, number: int) -> tuple[Range, ...]:
        return tuple((at, at + _length(piece)) for at, piece in self._pieces(number) if piece.free)

    def _pieces(self, number: int) -> list[tuple[int, Piece]]:
        at, out = self.bounds[number][0], []
        for piece in self.changes[number].pieces:
            out.append((at, piece))
            at += _length(piece)
        return out

    def _shifted(self, offset: int, ends: bool) -> int:
        shift = 0
        for change, (begin, end) in zip(self.changes, self.bounds, strict=True):
            if change.end <= offset if ends else change.end <= offset and change.begin < offset:
                shift = end - change.end
            elif change.begin < offset:
                return begin
        return offset + shift


def _length(piece: Piece) -> int:
    return len(piece.text) if piece.begin < 0 else piece.end - piece.begin
