"""A text that is made of another one, and where each of its places was in that."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from opi_xform.ir.span import Span
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Stretch:
    """So many bytes, which stood at ``[begin, end)``: one for one (exact), or in whose place they are."""

    length: int
    begin: int
    end: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Put:
    """``text``, or the bytes ``[begin, end)`` of the text it is put into (begin is -1 for the former)."""

    text: bytes
    begin: int = -1
    end: int = -1


class Mapped:
    """Immutable; ``replaced`` makes another one."""

    def __init__(self, data: bytes, stretches: Sequence[Stretch] | None = None, before: bytes | None = None) -> None:
        self.data = data
        self.original = data if before is None else before
        self.stretches = [Stretch(len(data), 0, len(data), True)] if stretches is None else list(stretches)
        self._begins = [0]
        for one in self.stretches:
            self._begins.append(self._begins[-1] + one.length)
        self._lines = [0, *(i + 1 for i, byte in enumerate(self.original) if byte == 10)]

    def replaced(self, changes: Iterable[tuple[int, int, Sequence[Put]]]) -> Mapped:
        """The text with each range, which do not touch one another, made of what is put there."""
        data, stretches, done = b"", [], 0
        for begin, end, puts in sorted(changes, key=lambda change: change[0]):
            data += self.data[done:begin]
            stretches += self._cut(done, begin)
            place = self.before(begin, False), self.before(end, True)
            for put in puts:
                if put.begin < 0:
                    data += put.text
                    stretches.append(Stretch(len(put.text), *place, False))
                else:
                    data += self.data[put.begin : put.end]
                    stretches += self._cut(put.begin, put.end)
            done = end
        data += self.data[done:]
        stretches += self._cut(done, len(self.data))
        return Mapped(data, stretches, self.original)

    def _cut(self, begin: int, end: int) -> list[Stretch]:
        """The stretches of ``[begin, end)``."""
        out: list[Stretch] = []
        at = max(bisect_right(self._begins, begin) - 1, 0)
        while at < len(self.stretches) and self._begins[at] < end:
            one, first = self.stretches[at], self._begins[at]
            low, high = max(begin, first), min(end, first + one.length)
            if low < high and one.exact:
                out.append(Stretch(high - low, one.begin + low - first, one.begin + high - first, True))
            elif low < high:
                out.append(replace(one, length=high - low))
            at += 1
        return out

    def before(self, offset: int, ends: bool) -> int:
        """Where a place was; ``ends``: it is the end of what stands before it."""
        at = min(bisect_right(self._begins, offset - ends) - 1, len(self.stretches) - 1)
        one = self.stretches[max(at, 0)]
        if one.exact:
            return one.begin + offset - self._begins[max(at, 0)]
        return one.end if ends else one.begin

    def after(self, offset: int, ends: bool) -> int:
        """Where a place of the old text is now: the first, and of what is gone, that of what stands for it."""
        best = None
        for at, one in enumerate(self.stretches):
            inside = one.begin < offset <= one.end if ends else one.begin <= offset < one.end
            if inside and one.exact:
                return self._begins[at] + offset - one.begin
            if inside:
                best = self._begins[at + 1] if ends else (self._begins[at] if best is None else best)
        return (len(self.data) if offset else 0) if best is None else best

    def span(self, span: Span, file: str) -> Span:
        """A span of this text as one of the old."""
        begin = self.before(span.begin, False)
        end = max(begin, self.before(span.end, True))
        line = bisect_right(self._lines, begin)
        return replace(span, file=file, begin=begin, end=end, line=line, column=begin - self._lines[line - 1] + 1)
