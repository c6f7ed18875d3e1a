"""What the rewriter must know of a C file without parsing it: comments, literals, directives, lines, tokens nearby.

One regular expression finds the regions that are not plain code; everything else is a query over their sorted list.
Offsets are bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from functools import cached_property

from opi_xform.record import dataclass

COMMENT = "comment"
LITERAL = "literal"
DIRECTIVE = "directive"

_REGION = re.compile(
    rb"""
      (?P<directive> (?:^|(?<=\A\xef\xbb\xbf))[ \t]*(?:/\*(?:[^*]|\*(?!/))*\*/[ \t]*)*\#
          (?: "(?:[^"\\\n]|\\.)*" | /\*(?:[^*]|\*(?!/))*\*/ | //(?:[^\\\n]|\\(?:\r?\n)?)* | \\\r?\n | [^\n] )* )
    | (?P<comment> //(?:[^\\\n]|\\(?:\r?\n)?)* | /\*[\s\S]*?(?:\*/|\Z) )
    | (?P<literal> "(?:[^"\\\n]|\\\r\n|\\[\s\S])*" | '(?:[^'\\\n]|\\.)+' )
    """,
    re.VERBOSE | re.MULTILINE,
)
_IDENTIFIER = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")
_DIRECTIVE = re.compile(rb"[ \t]*(?:/\*(?:[^*]|\*(?!/))*\*/[ \t]*)*#(?:[ \t]|/\*(?:[^*]|\*(?!/))*\*/)*([a-z_]+)")
_WORD_END = re.compile(rb"[A-Za-z0-9_$]+\Z")
_IFS = frozenset((b"if", b"ifdef", b"ifndef"))
_ELSES = frozenset((b"else", b"elif", b"elifdef", b"elifndef"))
_SPLICE = re.compile(rb"\\\r?\n")
_SPACE = b" \t\r\n\f\v"


@dataclass(frozen=True, slots=True)
class Region:
    """A comment, literal or preprocessor directive: the bytes ``[begin, end)``, without the end of its last line."""

    begin: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Before:
    """What stands before an offset: the last token ends at ``end`` (0: none); was a directive or comment between?"""

    end: int
    directive: bool
    comment: bool


class SourceText:
    """One file's bytes with their regions; immutable, regions are found on first use."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @property
    def begin(self) -> int:
        """Where the text begins: after the mark of its order of bytes, which some editors write."""
        return len(BOM_UTF8) if self.data.startswith(BOM_UTF8) else 0

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        found = []
        for match in _REGION.finditer(self.data):
            begin, end = match.span()
            kind = match.lastgroup or COMMENT
            if kind != LITERAL and self.data[end - 1 : end + 1] == b"\r\n":
                end -= 1  # `//` and directives end where the line does
            found.append(Region(begin, end, kind))
        return tuple(found)

    @cached_property
    def _begins(self) -> list[int]:
        return [region.begin for region in self.regions]

    @cached_property
    def eol(self) -> bytes:
        """The line end that most of the file uses."""
        crlf = self.data.count(b"\r\n")
        return b"\r\n" if 2 * crlf > self.data.count(b"\n") else b"\n"

    # --- regions ---------------------------------------------------------------------------------------------------

    def region_at(self, offset: int) -> Region | None:
        """The region that contains the byte at ``offset``."""
        index = bisect_right(self._begins, offset) - 1
        if index < 0:
            return None
        region = self.regions[index]
        return region if offset < region.end else None

    def in_directive(self, offset: int) -> bool:
        region = self.region_at(offset)
        return region is not None and region.kind == DIRECTIVE

    # --- lines -----------------------------------------------------------------------------------------------------

    def line_start(self, offset: int) -> int:
        """Where the line of ``offset`` begins."""
        return max(self.data.rfind(b"\n", 0, offset) + 1, self.begin)

    def line_end(self, offset: int) -> int:
        """Where the line of ``offset`` ends, its line end (LF or CRLF) not included."""
        end = self.data.find(b"\n", offset)
        if end < 0:
            return len(self.data)
        return end - 1 if end > offset and self.data[end - 1 : end] == b"\r" else end

    def next_line(self, offset: int) -> int:
        """Where the line after that of ``offset`` begins, or the end of the file."""
        end = self.data.find(b"\n", offset)
        return len(self.data) if end < 0 else end + 1

    def indent(self, offset: int) -> bytes:
        """The white space that begins the line of ``offset``."""
        start = self.line_start(offset)
        stop = start
        while stop < len(self.data) and self.data[stop] in b" \t":
            stop += 1
        return self.data[start:stop]

    def first_on_line(self, offset: int) -> bool:
        """Only white space stands before ``offset`` on its line."""
        return not self.data[self.line_start(offset) : offset].strip(b" \t")

    # --- tokens ----------------------------------------------------------------------------------------------------

    def before(self, offset: int) -> Before:
        """The token before ``offset``, white space, comments, directives and spliced lines skipped."""
        directive = comment = False
        while offset > 0:
            byte = self.data[offset - 1]
            if byte in _SPACE:
                offset -= 1
                continue
            region = self.region_at(offset - 1)
            if region is not None and region.kind != LITERAL:
                directive |= region.kind == DIRECTIVE
                comment |= region.kind == COMMENT
                offset = self._conditional(region).begin
                continue
            if byte == 0x5C and self.data[offset : offset + 1] in (b"\r", b"\n"):
                offset -= 1
                continue
            break
        return Before(offset, directive, comment)

    def _conditional(self, region: Region) -> Region:
        """For an ``#else`` or ``#elif`` its ``#if``: the branches before belong to another configuration."""
        if region.kind != DIRECTIVE or self._directive(region) not in _ELSES:
            return region
        depth = 0
        for other in reversed(self.regions[: bisect_right(self._begins, region.begin) - 1]):
            word = self._directive(other) if other.kind == DIRECTIVE else b""
            if word == b"endif":
                depth += 1
            elif word in _IFS:
                if depth == 0:
                    return other
                depth -= 1
        return region

    def split(self, begin: int, end: int) -> bool:
        """One of the ends of ``[begin, end)`` lies in a branch of an ``#if`` in which the other does not."""
        depth = 0
        for region in self.regions[bisect_right(self._begins, begin - 1) : bisect_right(self._begins, end - 1)]:
            word = self._directive(region) if region.kind == DIRECTIVE else b""
            if word in _IFS:
                depth += 1
            elif word == b"endif" or word in _ELSES:
                if depth == 0:
                    return True
                depth -= word == b"endif"
        return depth > 0

    def _directive(self, region: Region) -> bytes:
        """The name of a directive (``ifdef``)."""
        match = _DIRECTIVE.match(self.data, region.begin)
        return match.group(1) if match else b""

    def after(self, offset: int) -> int:
        """Where the next token at or after ``offset`` begins (the file's length when there is none)."""
        offset = max(offset, self.begin)
        while offset < len(self.data):
            if self.data[offset] in _SPACE:
                offset += 1
                continue
            region = self.region_at(offset)
            if region is None or region.kind == LITERAL:
                break
            offset = region.end
        return offset

    def word_before(self, offset: int) -> bytes:
        """The identifier or keyword that ends at ``offset``, else b''."""
        match = _WORD_END.search(self.data, max(0, offset - 64), offset)
        return match.group() if match else b""

    def word_at(self, offset: int) -> bytes:
        match = _IDENTIFIER.match(self.data, offset)
        return match.group() if match else b""

    def open_paren(self, offset: int) -> int:
        """The ``(`` that matches the ``)`` which ends at ``offset``; -1 when there is none."""
        depth = 0
        position = offset
        while position > 0:
            region = self.region_at(position - 1)
            if region is not None:
                position = region.begin
                continue
            byte = self.data[position - 1]
            if byte == 0x29:
                depth += 1
            elif byte == 0x28:
                depth -= 1
                if depth == 0:
                    return position - 1
            position -= 1
        return -1

    def close_paren(self, offset: int) -> int:
        """The offset after the ``)`` that closes the ``(`` at ``offset``; -1 when none does before a ``;``."""
        depth = 0
        while offset < len(self.data):
            region = self.region_at(offset)
            if region is not None:
                offset = region.end
                continue
            byte = self.data[offset]
            if byte == 0x3B and depth <= 1:
                return -1
            depth += (byte == 0x28) - (byte == 0x29)
            offset += 1
            if depth == 0:
                return offset
        return -1

    def tail_end(self, offset: int) -> int | None:
        """The end of the line of ``offset`` when only white space and comments follow on it, else None.

        A comment that runs over several lines is followed to its end, and must be the last thing there too.
        """
        while offset < len(self.data):
            byte = self.data[offset]
            if byte in b" \t\f\v":
                offset += 1
            elif byte in b"\r\n":
                return self.line_end(offset) if byte == 0x0A else self._before_newline(offset)
            else:
                region = self.region_at(offset)
                if region is None or region.kind != COMMENT:
                    return None
                offset = region.end
        return len(self.data)

    def _before_newline(self, offset: int) -> int | None:
        return offset if self.data[offset + 1 : offset + 2] == b"\n" else None

    def pragma_above(self, offset: int, limit: int) -> int:
        """Where the first ``#pragma`` between ``limit`` and ``offset`` begins, or its ``#if``; else offset."""
        opened: list[int] = []
        for region in self.regions[bisect_right(self._begins, limit - 1) : bisect_right(self._begins, offset - 1)]:
            word = self._directive(region) if region.kind == DIRECTIVE else b""
            if word in _IFS:
                opened.append(region.begin)
            elif word == b"endif" and opened:
                opened.pop()
            elif word == b"pragma":
                return opened[0] if opened else region.begin
        return offset

    def comment_block_above(self, offset: int, limit: int) -> int:
        """Where the comments and pragmas attached to the line of ``offset`` begin, not above ``limit``.

        Attached are whole lines directly above it, without a blank line between, that hold nothing but a comment; and
        a ``#pragma``, which belongs to the statement below it, wherever it stands, with the ``#if`` around it.
        """
        start = self.line_start(self.pragma_above(offset, limit))
        while start > 0:
            last = start - 2 if self.data[start - 2 : start] == b"\r\n" else start - 1
            text_end = last
            while text_end > 0 and self.data[text_end - 1] in b" \t":
                text_end -= 1
            region = self.region_at(text_end - 1) if text_end > 0 else None
            if region is None or region.end < text_end or region.begin < limit:
                break
            if region.kind != COMMENT or not self.first_on_line(region.begin):
                break
            start = self.line_start(region.begin)
        return start


def on_one_line(text: str) -> str:
    """The text without comments that end with their line, and without lines that a backslash goes on: it means the same
    when its lines are joined.
    """
    data = text.encode("utf-8", "surrogateescape")
    out, at = [], 0
    for region in SourceText(data).regions:
        if region.kind == COMMENT and data.startswith(b"//", region.begin):
            out.append(data[at : region.begin])
            at = region.end
    return _SPLICE.sub(b"", b"".join((*out, data[at:]))).decode("utf-8", "surrogateescape")
