"""Places in a text that was rewritten, and the same places in the text before."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from opi_xform.ir.span import Span
from opi_xform.text.edit import ByteEdit


class Offsets:
    """Offsets before and after edits of one file, whose bytes were ``before``."""

    def __init__(self, before: bytes, edits: Iterable[ByteEdit]) -> None:
        self.edits = sorted(set(edits))
        self.lines = [0, *(i + 1 for i, byte in enumerate(before) if byte == 10)]

    def after(self, offset: int, ends: bool) -> int:
        """Where a place of the old text is in the new one; what is put in there lies in front of it, or (``ends``)
        behind.
        """
        shift = 0
        for edit in self.edits:
            if edit.begin > offset or (edit.begin == offset and (ends or edit.end > offset)):
                break
            if edit.end > offset:
                return edit.begin + shift
            shift += len(edit.text) - (edit.end - edit.begin)
        return offset + shift

    def before(self, offset: int) -> int:
        """Where a place of the new text was in the old one; for one in new text, where that was put."""
        shift = 0
        for edit in self.edits:
            begin = edit.begin + shift
            if offset < begin:
                break
            if offset < begin + len(edit.text):
                return edit.begin
            shift += len(edit.text) - (edit.end - edit.begin)
        return offset - shift

    def span(self, span: Span, file: str) -> Span:
        """A span of the new text as one of the old."""
        begin = self.before(span.begin)
        end = max(begin, self.before(span.end))
        line = bisect_right(self.lines, begin)
        return Span(file, begin, end, line, begin - self.lines[line - 1] + 1, span.editable, span.macro)
