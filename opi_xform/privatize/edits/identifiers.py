"""Where each identifier of a file stands: in code, and in the bodies of macros."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from opi_xform.text.lex import DIRECTIVE, SourceText

_WORD = re.compile(rb"(?<![\w$])[A-Za-z_$][\w$]*")
_DEFINE = re.compile(rb"[ \t]*#[ \t]*define[ \t]+([A-Za-z_$][\w$]*)(\(([^)]*)\))?")
_INSIDE = re.compile(rb'//[^\n]*|/\*[\s\S]*?\*/|"(?:[^"\\\n]|\\[\s\S])*"|\'(?:[^\'\\\n]|\\.)+\'')


@dataclass(slots=True)
class Words:
    """code: offsets by identifier, comments, literals and directives left out.

    defined: (offset, whether it is a parameter there) by identifier, in the bodies of ``#define``.
    """

    code: dict[str, list[int]] = field(default_factory=dict)
    defined: dict[str, list[tuple[int, bool]]] = field(default_factory=dict)


def words_of(text: SourceText) -> Words:
    found = Words()
    at = 0
    data = text.data
    for region in text.regions:
        _code(data, at, region.begin, found)
        if region.kind == DIRECTIVE:
            _directive(data, region.begin, region.end, found)
        at = region.end
    _code(data, at, len(data), found)
    return found


def _code(data: bytes, begin: int, end: int, found: Words) -> None:
    for match in _WORD.finditer(data, begin, end):
        found.code.setdefault(match.group().decode("utf-8", "surrogateescape"), []).append(match.start())


def _directive(data: bytes, begin: int, end: int, found: Words) -> None:
    define = _DEFINE.match(data, begin, end)
    if define is None:
        return
    parameters = {word.strip() for word in (define.group(3) or b"").split(b",")}
    at = define.end()
    pieces = [(m.start(), m.end()) for m in _INSIDE.finditer(data, at, end)]
    for first, last in [*pieces, (end, end)]:
        for match in _WORD.finditer(data, at, first):
            word = match.group()
            place = (match.start(), word in parameters)
            found.defined.setdefault(word.decode("utf-8", "surrogateescape"), []).append(place)
        at = last
