"""Files as bytes: places in them, and a scanner that steps over comments, strings and directives.

Offsets count bytes.  The scanner is used only on text that was written where it stands, never on what macros produced.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from opi_xform.file_names import standing
from opi_xform.frontend.clang.libclang import MACRO_BIT, CXSourceLocation, TranslationUnit, text
from opi_xform.ir.span import Span

PRECOMPILED = 1 << 30
"""Raw locations from here to ``MACRO_BIT`` lie in precompiled headers (of the system): clang counts down from there,
and up from 0 for the text of the unit itself."""


class File:
    """One file of a translation unit: its absolute real path, its bytes, where its lines begin."""

    def __init__(self, path: str, data: bytes, system: bool) -> None:
        self.path = path
        self.data = data
        self.system = system
        self._line = (0, 0, 0)  # the line last asked for: begin, end, number

    @cached_property
    def lines(self) -> list[int]:
        starts = [0]
        starts += [m.end() for m in re.finditer(rb"\n", self.data)]
        return starts

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte, both from 1."""
        begin, end, line = self._line
        if not begin <= offset < end:
            line = bisect_right(self.lines, offset)
            begin = self.lines[line - 1]
            self._line = (begin, self.lines[line] if line < len(self.lines) else len(self.data) + 1, line)
        return line, offset - begin + 1

    def span(self, begin: int, end: int, editable: bool = True, macro: str | None = None) -> Span:
        line, column = self.line_column(begin)
        return Span(self.path, begin, end, line, column, editable, macro)


_SPACE = re.compile(rb"(?:[ \t\r\n\f\v]|\\\r?\n|//(?:[^\n\\]|\\(?:.|\n))*|/\*.*?\*/)+", re.DOTALL)
_TOKEN = re.compile(
    rb"""(?P<space>(?:[ \t\r\n\f\v]|\\\r?\n|//(?:[^\n\\]|\\(?:.|\n))*|/\*.*?\*/)+)
    |(?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\(?:.|\n))*"|[uUL]?'(?:[^'\\\n]|\\(?:.|\n))*')
    |(?P<word>[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)
    |(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
    |(?P<punct>\#\#|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|.)""",
    re.DOTALL | re.VERBOSE,
)
_OPEN, _CLOSE = b"([{", b")]}"


def skip_space(data: bytes, at: int) -> int:
    """The first offset from ``at`` on that is neither white space nor in a comment."""
    found = _SPACE.match(data, at)
    return found.end() if found else at


def trim_end(data: bytes, begin: int, end: int) -> int:
    """``end`` moved back over trailing white space and comments of ``[begin, end)``."""
    last = begin
    for token_begin, token_end, kind in tokens(data, begin, end):
        if kind != "space":
            last = token_end
        del token_begin
    return last


def tokens(data: bytes, begin: int, end: int) -> list[tuple[int, int, str]]:
    """(begin, end, kind) of each token in ``[begin, end)``; kind: space, string, word, number, punct."""
    return [(*found.span(), found.lastgroup or "") for found in _TOKEN.finditer(data, begin, end)]  # with no gaps


def find_top(data: bytes, begin: int, end: int, stops: bytes) -> int | None:
    """The offset of the first byte of ``stops`` in ``[begin, end)`` outside brackets, strings and comments."""
    depth = 0
    at = begin
    while at < end:
        found = _TOKEN.match(data, at, end)
        if found is None:
            return None
        if found.lastgroup == "punct" and found.end() == at + 1:
            byte = data[at]
            if depth == 0 and byte in stops:
                return at
            if byte in _OPEN:
                depth += 1
            elif byte in _CLOSE:
                depth -= 1
                if depth < 0:
                    return None
        at = found.end()
    return None


def closing(data: bytes, at: int) -> int | None:
    """The offset just after the bracket that closes the one at ``at``."""
    depth = 0
    end = len(data)
    while at < end:
        found = _TOKEN.match(data, at, end)
        if found is None:
            return None
        if found.lastgroup == "punct" and found.end() == at + 1:
            if data[at] in _OPEN:
                depth += 1
            elif data[at] in _CLOSE:
                depth -= 1
                if depth == 0:
                    return at + 1
        at = found.end()
    return None


def balanced(data: bytes, begin: int, end: int) -> bool:
    """Whether brackets in ``[begin, end)`` match."""
    stack = bytearray()
    for a, b, kind in tokens(data, begin, end):
        if kind != "punct" or b != a + 1:
            continue
        if data[a] in _OPEN:
            stack.append(_CLOSE[_OPEN.index(data[a])])
        elif data[a] in _CLOSE and (not stack or stack.pop() != data[a]):
            return False
    return not stack


def after_semicolon(data: bytes, at: int) -> int:
    """``at`` moved past a ``;`` that follows, with only space and comments between; else ``at``."""
    next_byte = skip_space(data, at)
    return next_byte + 1 if data[next_byte : next_byte + 1] == b";" else at


class Sources:
    """Maps libclang's locations to files and byte offsets.

    A location that is in no macro is an offset into one address space of all files.  The first location seen in a file
    tells where that file begins there (libclang is asked); later ones are a subtraction.
    """

    def __init__(self, unit: TranslationUnit, system_dirs: tuple[str, ...]) -> None:
        self._unit = unit
        self._system_dirs = tuple(d.rstrip("/") + "/" for d in system_dirs)
        self._by_handle: dict[int, File] = {}
        self._begins: list[int] = []
        self._ranges: list[tuple[int, int, File]] = []
        self._macro_cache: dict[int, tuple[File | None, int]] = {}
        self._p: tuple[int | None, int | None] = (None, None)

    def anchor(self, location: CXSourceLocation) -> None:
        """Remembers the opaque part that all locations of this unit share."""
        self._p = (location.p0, location.p1)

    def location(self, raw: int) -> CXSourceLocation:
        return CXSourceLocation(self._p[0], self._p[1], raw)

    def file(self, handle: int) -> File:
        found = self._by_handle.get(handle)
        if found is None:
            path = standing(text(self._unit.lib.clang_getFileName(handle)))
            start = self._unit.lib.clang_getLocationForOffset(self._unit.handle, handle, 0)
            system = bool(self._unit.lib.clang_Location_isInSystemHeader(start)) or path.startswith(self._system_dirs)
            found = self._by_handle[handle] = File(path, self._unit.contents(handle), system)
        return found

    def locate(self, raw: int) -> tuple[File | None, int]:
        """The file and byte offset at which a location is written (``clang_getFileLocation``)."""
        if raw & MACRO_BIT:
            found = self._macro_cache.get(raw)
            if found is None:
                found = self._macro_cache[raw] = self._ask(raw)
            return found
        i = bisect_right(self._begins, raw) - 1
        if i >= 0:
            begin, end, file = self._ranges[i]
            if raw <= end:
                return file, raw - begin
        if raw == 0:
            return None, 0
        file_or_none, offset = self._ask(raw)
        if file_or_none is not None:
            begin = raw - offset
            at = bisect_right(self._begins, begin)
            self._begins.insert(at, begin)
            self._ranges.insert(at, (begin, begin + len(file_or_none.data), file_or_none))
        return file_or_none, offset

    def range_of(self, raw: int) -> tuple[int, int, File | None]:
        """The raw locations that are offsets into the file of ``raw`` (an empty range for one in a macro)."""
        if not raw & MACRO_BIT and self.locate(raw)[0] is not None:
            return self._ranges[bisect_right(self._begins, raw) - 1]
        return 1, 0, None

    def _ask(self, raw: int) -> tuple[File | None, int]:
        handle, _, _, offset = self._unit.file_location(self.location(raw))
        return (self.file(handle), offset) if handle else (None, 0)
