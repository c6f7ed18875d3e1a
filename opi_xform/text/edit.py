"""Byte edits: an edit set applies whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class EditConflict(Exception):
    """Two different edits want the same bytes; ``offset`` is where they meet."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"conflicting edits at byte {offset}")
        self.offset = offset


@dataclass(frozen=True, slots=True, order=True)
class ByteEdit:
    """The bytes ``[begin, end)`` become ``text``; ``begin == end`` inserts.

    Insertions at one offset are applied by ascending ``rank``, and stand before a replacement that begins there.
    """

    begin: int
    end: int
    rank: tuple[int, ...] = ()
    text: bytes = b""


def apply_edits(source: bytes, edits: Iterable[ByteEdit]) -> bytes:
    """``source`` with all of ``edits`` applied; equal edits count once.

    Raises EditConflict when two replacements overlap or an insertion lies strictly inside a replacement.
    """
    pieces: list[bytes] = []
    done = 0
    for edit in sorted(set(edits)):
        if edit.begin < done or edit.end < edit.begin or edit.end > len(source):
            raise EditConflict(edit.begin)
        pieces.append(source[done : edit.begin])
        pieces.append(edit.text)
        done = edit.end
    pieces.append(source[done:])
    return b"".join(pieces)
