"""Whole statements inserted around a statement, laid out as the file is.

An anchor that begins its line gets lines of its own before and after it; one that shares its line gets the text on that
line.  The body of an if or loop without braces gets braces.  Where only one-line layout is possible it is used: it is
always right, and the other forms are for the reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from opi_xform.ir.span import Span
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit
from opi_xform.text.errors import PlanError
from opi_xform.text.layout import Layout
from opi_xform.text.lex import SourceText, on_one_line

# Phases of a ByteEdit's rank: what ends at an offset stands before what begins there.
_AFTER, _BEFORE, _END = 0, 1, 2
_CONTROL = frozenset((b"if", b"for", b"while", b"switch"))


@dataclass(frozen=True, slots=True)
class Group:
    """All insertions at one anchor: the texts before and after it, in plan order.

    ``deleted``: the anchor itself is deleted, and the texts take its place.
    """

    anchor: Span
    before: tuple[str, ...]
    after: tuple[str, ...]
    wrap: bool
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class _Header:
    """The token before a body without braces: it ends at ``end`` and belongs to the keyword at ``keyword``."""

    keyword: int
    word: bytes
    end: int


def around(text: SourceText, layout: Layout, group: Group) -> Iterator[ByteEdit]:
    """The byte edits of one group.  Raises PlanError where no statement can be inserted."""
    anchor = _with_semicolon(text, group.anchor)
    group = replace(group, anchor=anchor)
    if not anchor.editable or text.in_directive(anchor.begin):
        raise PlanError(anchor, "the statement is written by a macro: nothing can be inserted beside it")
    if text.split(anchor.begin, anchor.end):
        raise PlanError(anchor, "an #if splits the statement: what is inserted would be in one of its branches only")
    place = _Place(text, layout, anchor)
    header = place.header()
    if header is None and not group.wrap:
        place.require_statement()
    if group.deleted:
        yield from place.replace(group, header)
    elif header is not None:
        yield from place.wrapped(group, header)
    elif group.wrap:
        yield from place.wrapped_inline(group)
    else:
        yield from place.beside(group)


def inside(
    text: SourceText, layout: Layout, anchor: Span, begin: Iterable[str], end: Iterable[str]
) -> Iterator[ByteEdit]:
    """Statements at the beginning and the end of the block at ``anchor``.  Raises PlanError when it is no block."""
    data = text.data
    braces = data[anchor.begin : anchor.begin + 1] + data[anchor.end - 1 : anchor.end]
    if not anchor.editable or braces != b"{}":
        raise PlanError(anchor, "no block is written here")
    indent = _block_indent(text, layout, anchor)
    begin_lines, end_lines = _lines(begin, layout), _lines(end, layout)
    if begin_lines:
        tail = text.tail_end(anchor.begin + 1)
        rank = (_BEFORE, -(1 << 60))  # outside all that begins at the same offset
        if tail is not None and tail < anchor.end:
            yield ByteEdit(tail, tail, rank, b"".join(text.eol + indent + line for line in begin_lines))
        else:
            yield ByteEdit(anchor.begin + 1, anchor.begin + 1, rank, b" " + _joined(begin_lines))
    if end_lines:
        if text.first_on_line(anchor.end - 1):
            at = text.line_start(anchor.end - 1)
            yield ByteEdit(at, at, (_END,), b"".join(indent + line + text.eol for line in end_lines))
        else:
            last = text.before(anchor.end - 1).end
            closing = b" " if last == anchor.end - 1 and data[last - 1 : last] == b"{" else b""
            yield ByteEdit(last, last, (_END,), b" " + _joined(end_lines) + closing)


def _with_semicolon(text: SourceText, anchor: Span) -> Span:
    """The anchor with the ``;`` after it: where a macro writes a statement (``CHECK(x);``) it is outside its span."""
    following = text.after(anchor.end)
    if text.data[anchor.end - 1 : anchor.end] in (b";", b"}") or text.data[following : following + 1] != b";":
        return anchor
    return replace(anchor, end=following + 1)


def _block_indent(text: SourceText, layout: Layout, anchor: Span) -> bytes:
    """The indentation of the first statement of a block, else one step more than its closing brace."""
    outer = text.indent(anchor.end - 1)
    first = text.after(anchor.begin + 1)
    if first < anchor.end - 1 and text.first_on_line(first):
        indent = text.indent(first)
        if len(indent) > len(outer) and text.word_at(first) not in (b"case", b"default"):
            return indent
    return outer + layout.step


class _Place:
    """An anchor in its file."""

    def __init__(self, text: SourceText, layout: Layout, anchor: Span) -> None:
        self.text = text
        self.layout = layout
        self.anchor = anchor
        self.previous = text.before(anchor.begin)
        self.first = text.first_on_line(anchor.begin)
        self.indent = text.indent(anchor.begin)
        self.tail = text.tail_end(anchor.end)

    # --- what surrounds the anchor ---------------------------------------------------------------------------------

    def header(self) -> _Header | None:
        """The control header whose body, without braces, the anchor is."""
        text, end = self.text, self.previous.end
        if end == 0:
            return None
        if text.data[end - 1] == 0x29:
            opened = text.open_paren(end)
            word_end = text.before(opened).end if opened >= 0 else 0
            word = text.word_before(word_end)
            if word == b"_Pragma":
                raise PlanError(self.anchor, "a _Pragma stands before the statement")
            return _Header(word_end - len(word), word, end) if word in _CONTROL else None
        word = text.word_before(end)
        return _Header(end - len(word), word, end) if word in (b"else", b"do") else None

    def require_statement(self) -> None:
        """Raises PlanError when the anchor cannot be where a statement begins (inside a ``for`` header, say)."""
        end = self.previous.end
        if end == 0 or self.text.data[end - 1] in b";{}:)":
            return
        raise PlanError(self.anchor, "no statement begins here")

    def _line_order(self) -> tuple[int, int]:
        length = self.anchor.end - self.anchor.begin
        return (_AFTER, length)

    def _edit_before(self, at: int, text: bytes) -> ByteEdit:
        return ByteEdit(at, at, (_BEFORE, self.anchor.begin - self.anchor.end), text)

    def _edit_after(self, at: int, text: bytes) -> ByteEdit:
        return ByteEdit(at, at, self._line_order(), text)

    # --- a statement of a block ------------------------------------------------------------------------------------

    def beside(self, group: Group) -> Iterator[ByteEdit]:
        eol = self.text.eol
        before, after = _lines(group.before, self.layout), _lines(group.after, self.layout)
        if before:
            if self.first or self.text.pragma_above(self.anchor.begin, self.previous.end) < self.anchor.begin:
                at = self.text.comment_block_above(self.anchor.begin, self.previous.end)
                if self.text.split(at, self.anchor.begin):
                    raise PlanError(self.anchor, "an #if stands between the statement and its #pragma")
                yield self._edit_before(at, b"".join(self.indent + line + eol for line in before))
            else:
                yield self._edit_before(self.anchor.begin, _joined(before) + b" ")
        if after:
            if self.tail is not None and (self.first or self._spans_lines()):
                indent = self._after_indent()
                yield self._edit_after(self.tail, b"".join(eol + indent + line for line in after))
            else:
                yield self._edit_after(self.anchor.end, b" " + _joined(after))

    def _spans_lines(self) -> bool:
        """Such an anchor gets what follows it on a new line even if it does not begin its own.

        A statement inside it that ends where it ends may have lines of its own there, after a trailing comment.
        """
        return self.text.line_start(self.anchor.end - 1) > self.anchor.begin

    def _after_indent(self) -> bytes:
        """The indentation of lines after the anchor."""
        if not self.first and self.text.first_on_line(self.anchor.end - 1):
            return self.text.indent(self.anchor.end - 1)  # `case 1: {` … `}`
        return self.indent

    # --- the body of an if or loop without braces ------------------------------------------------------------------

    def wrapped(self, group: Group, header: _Header) -> Iterator[ByteEdit]:
        if self.text.pragma_above(self.anchor.begin, header.end) < self.anchor.begin:
            raise PlanError(self.anchor, "a #pragma stands before the statement")
        if self.previous.directive or self.tail is None or group.anchor.end <= group.anchor.begin:
            yield from self.wrapped_inline(group)
        elif self.first:
            yield from self._wrapped_lines(group, header)
        elif self._expandable(header):
            yield from self._expanded(group, header)
        else:
            yield from self.wrapped_inline(group)

    def wrapped_inline(self, group: Group) -> Iterator[ByteEdit]:
        """``{ before; body; after; }`` on the body's own line: right wherever a statement is."""
        if self.text.pragma_above(self.anchor.begin, self.previous.end) < self.anchor.begin:
            raise PlanError(self.anchor, "a #pragma stands before the statement")
        before, after = _lines(group.before, self.layout), _lines(group.after, self.layout)
        yield self._edit_before(self.anchor.begin, b"{ " + (_joined(before) + b" " if before else b""))
        closing = b" ".join([*(line.strip() for line in after), b"}"])
        if self.tail is not None and self._spans_lines():
            yield self._edit_after(self.tail, self.text.eol + self._after_indent() + closing)
        else:
            yield self._edit_after(self.anchor.end, b" " + closing)

    def _wrapped_lines(self, group: Group, header: _Header) -> Iterator[ByteEdit]:
        """The body stands on lines of its own below its header."""
        eol, outer = self.text.eol, self.text.indent(header.keyword)
        before, after = _lines(group.before, self.layout), _lines(group.after, self.layout)
        start = self.text.comment_block_above(self.anchor.begin, header.end)
        yield from self._opening(header, outer)
        if before:
            yield self._edit_before(start, b"".join(self.indent + line + eol for line in before))
        assert self.tail is not None
        yield from self._closing(self.tail, b"".join(eol + self.indent + line for line in after), outer, header)

    def _expandable(self, header: _Header) -> bool:
        """``if (x) foo();`` alone on one line can become three."""
        text = self.text
        if b"\n" in text.data[header.keyword : self.anchor.end] or self.previous.comment:
            return False
        lead = text.data[text.line_start(header.keyword) : header.keyword].strip(b" \t")
        return lead in (b"", b"}")

    def _expanded(self, group: Group, header: _Header) -> Iterator[ByteEdit]:
        eol, outer = self.text.eol, self.text.indent(header.keyword)
        indent = outer + self.layout.step
        before, after = _lines(group.before, self.layout), _lines(group.after, self.layout)
        brace = eol + outer + b"{" if self.layout.brace_on_own_line else b" {"
        opening = brace + b"".join(eol + indent + line for line in before) + eol + indent
        yield ByteEdit(header.end, self.anchor.begin, (_BEFORE, 0), opening)
        assert self.tail is not None
        yield from self._closing(self.tail, b"".join(eol + indent + line for line in after), outer, header)

    def _opening(self, header: _Header, outer: bytes) -> Iterator[ByteEdit]:
        if self.layout.brace_on_own_line:
            tail = self.text.tail_end(header.end)
            at = header.end if tail is None else tail
            yield ByteEdit(at, at, (_BEFORE, 0), self.text.eol + outer + b"{")
        else:
            yield ByteEdit(header.end, header.end, (_BEFORE, 0), b" {")

    def _closing(self, at: int, lines: bytes, outer: bytes, header: _Header) -> Iterator[ByteEdit]:
        """The statements after the body, and its closing brace, joined to an ``else`` or the ``while`` of a ``do``."""
        text = self.text
        closing = lines + text.eol + outer + b"}"
        following = text.after(at)
        joins = (header.word in (b"if", b"else") and text.word_at(following) == b"else") or header.word == b"do"
        gap = text.data[at:following]
        if joins and not gap.strip() and self.layout.cuddled_else and not self.layout.brace_on_own_line:
            yield ByteEdit(at, following, self._line_order(), closing + b" ")
        else:
            yield self._edit_after(at, closing)

    # --- the anchor goes, the texts take its place -----------------------------------------------------------------

    def replace(self, group: Group, header: _Header | None) -> Iterator[ByteEdit]:
        lines = _lines(group.before + group.after, self.layout)
        needs_braces = len(lines) > 1 and (header is not None or group.wrap)
        if needs_braces:
            joined = b"{ " + _joined(lines) + b" }"
        elif self.first and not needs_braces:
            joined = (self.text.eol + self.indent).join(lines)
        else:
            joined = _joined(lines)
        yield ByteEdit(self.anchor.begin, self.anchor.end, (_BEFORE, 0), joined)


def _lines(texts: Iterable[str], layout: Layout) -> list[bytes]:
    """The lines of the statements, their own indentation (four blanks or a tab a level) in the file's steps."""
    lines = []
    for text in texts:
        for line in on_one_line(text).encode("utf-8", "surrogateescape").splitlines():
            body = line.lstrip(b" \t")
            if body:
                levels = line[: len(line) - len(body)].replace(b"\t", b"    ").count(b"    ")
                lines.append(layout.step * levels + body.rstrip())
            else:
                lines.append(b"")
    return lines


def _joined(lines: list[bytes]) -> bytes:
    return b" ".join(line.strip() for line in lines)
