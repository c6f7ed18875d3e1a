"""The bytes of source files: identifiers in their places, comments left out, and directives that name symbols."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cached_property

from opi_xform.ir.link_guard import in_guard
from opi_xform.text.macros import TEXT, Macros

_TOKEN = re.compile(
    rb"[A-Za-z_]\w*|[()\[\]{};]|//(?:[^\n\\]|\\.)*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL
)
_TYPES = frozenset({b"typeof", b"typeof_unqual", b"__typeof", b"__typeof__", b"_Generic", b"__auto_type"})
_UNEVALUATED = (_TYPES - {b"__auto_type"}) | {
    *(b"sizeof", b"_Alignof", b"alignof", b"__alignof__", b"__alignof", b"__builtin_types_compatible_p"),
    *(b"__builtin_object_size", b"__builtin_dynamic_object_size"),
}
_DIRECTIVE = re.compile(
    rb"^[ \t]*#[ \t]*pragma(?:\\\r?\n|[^\n])*"
    rb"|\b(?:__)?alias(?:__)?[ \t]*\([ \t]*\"[^\"\n]*\""
    rb"|\b(?:__)?asm(?:__)?\b[^;{}]*",
    re.MULTILINE,
)
_SHARED = re.compile(rb"(?<=[\s,)])shared\s*\([^()]*\)")
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?![\w(])", re.MULTILINE)
_SLASH, _SEMICOLON, _SPACE, _DOT, _GREATER = b"/; .>"

Occurrence = tuple[int, bool, bool]  # offset, in an operand that is not evaluated, between square brackets


class Texts:
    """Files as they were when first read.  macros: name and body of those that may ask for a size or type."""

    def __init__(self, macros: Iterable[tuple[str, str]] = ()) -> None:
        self.macros = Macros(macros)
        self.files: dict[str, bytes] = {}
        self.found: dict[str, dict[bytes, list[Occurrence]]] = {}
        self.named: dict[tuple[str, bool], dict[bytes, int]] = {}

    def read(self, path: str) -> bytes:
        """A file's bytes; none when it cannot be read."""
        data = self.files.get(path)
        if data is None:
            try:
                with open(path, "rb") as f:
                    data = f.read()
            except OSError:
                data = b""
            self.files[path] = data
        return data

    def occurrences(self, path: str, name: str) -> list[Occurrence]:
        """Where an identifier stands in a file, comments and strings left out, directives not."""
        if path not in self.found:
            self.found[path] = _words(self.read(path), self.asking)
        return self.found[path].get(name.encode(), [])

    @cached_property
    def asking(self) -> frozenset[bytes]:
        """What does not evaluate what it is given in parentheses, or may not: macros that ask for sizes, too."""
        return _UNEVALUATED | self.macros.naming(_UNEVALUATED)

    @cached_property
    def typed(self) -> frozenset[bytes]:
        """Words that tell what is meant by the type of what they are given, or may: pasted names stand in no text."""
        some = _TYPES | self.macros.pasting
        return some | self.macros.naming(some)

    def looks_at_types(self, text: str) -> bool:
        """What stands in a text may mean something else where a name has another type."""
        return not self.typed.isdisjoint(re.findall(rb"[\w$\x80-\xff]+", os.fsencode(text)))

    def shows(self, words: Iterable[bytes]) -> bool:
        """A macro of these, or one that they are made of, turns what it is given into text, or pastes it."""
        named = [word for word in words if word in self.macros.bodies]
        return b"#" in TEXT.sub(b" ", self.macros.written(b" ".join(named)))

    def given_to(self, path: str, at: int) -> list[bytes]:
        """The words before each of the parentheses around a place: what the text there is given to."""
        opened: list[bytes] = []
        previous = b""
        for match in _TOKEN.finditer(self.read(path), 0, at):
            token = match.group()
            if token in (b"(", b"[", b"{"):
                opened.append(previous if token == b"(" else b"")
            elif token in (b")", b"]", b"}") and opened:
                opened.pop()
            previous = token
        return [word for word in opened if word[:1].isalpha() or word[:1] == b"_"]

    def in_directive(self, path: str, name: str, shared: bool = False) -> int | None:
        """The place of a pragma, an alias attribute or an asm statement that names a symbol, or of a macro that has its
        name; None: nowhere.

        shared: a ``shared`` clause of OpenMP counts; it leaves a variable as it is, whatever its type.
        """
        if (path, shared) not in self.named:
            self.named[path, shared] = _directives(self.read(path), shared)
        return self.named[path, shared].get(name.encode())

    def kind_of(self, path: str, at: int) -> str:
        """What such a place is, in words for a reason."""
        data = self.read(path)
        begin = data.rfind(b"\n", 0, at) + 1
        while begin > 1 and data[:begin].endswith(b"\\\n"):  # the line before goes on
            begin = data.rfind(b"\n", 0, begin - 1) + 1
        words = data[begin:].partition(b"\n")[0].replace(b"#", b" # ").split()
        if words[:2] == [b"#", b"define"]:
            return "a macro"
        if words[:2] == [b"#", b"pragma"]:
            return "a pragma"
        return "an alias or assembly code" if words[:1] != [b"#"] else "a directive"


def _words(data: bytes, asking: frozenset[bytes]) -> dict[bytes, list[Occurrence]]:
    out: dict[bytes, list[Occurrence]] = {}
    opened: list[tuple[bool, bool]] = []  # a square bracket, one after a word that asks
    square = asked = 0
    previous = b""
    for match in _TOKEN.finditer(data):
        token = match[0]
        first = token[0]  # bytes are compared as numbers here: that is quicker, and there are many
        if first in b"([{":
            opened.append((token == b"[", token == b"(" and previous in asking))
            square += opened[-1][0]
            asked += opened[-1][1]
        elif first in b")]}":
            if opened:
                bracket, asks = opened.pop()
                square -= bracket
                asked -= asks
        elif first in b"/\"'":
            if first != _SLASH:
                previous = b""
            continue
        elif first != _SEMICOLON:
            start = match.start()
            before = data[start - 1] if start else _SPACE
            if before in b" \t\r\n\v\f":
                member = data[max(start - 8, 0) : start].rstrip().endswith((b".", b"->"))
            else:
                member = before == _DOT or (before == _GREATER and data[start - 2 : start] == b"->")
            if not member:
                unevaluated = asked > 0 or previous in asking
                places = out.get(token)
                if places is None:
                    places = out[token] = []
                places.append((start, unevaluated, square > 0))
        previous = token
    return out


def _directives(data: bytes, shared: bool) -> dict[bytes, int]:
    def blank(match: re.Match[bytes]) -> bytes:
        token = match.group()
        return re.sub(rb"[^\n]", b" ", token) if token.startswith((b"//", b"/*")) else token

    out: dict[bytes, int] = {}
    if not any(word in data for word in (b"pragma", b"alias", b"asm", b"define")):
        return out
    code = _TOKEN.sub(blank, data)
    for macro in _MACRO.finditer(code):
        out.setdefault(macro[1], macro.start(1))
    for found in _DIRECTIVE.finditer(code):
        if in_guard(code, found.start()):
            continue
        said = found.group() if shared else _SHARED.sub(b"", found.group())
        for word in re.finditer(rb"[A-Za-z_]\w*", said):
            out.setdefault(word.group(), found.start())
    return out
