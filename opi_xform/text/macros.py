"""What macros may write, by the text of their definitions: no condition of the preprocessor is looked at.

What a program's text means the parser says.  Here it is only asked whether a macro may see that a text was edited.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from opi_xform.record import dataclass

TEXT = re.compile(rb"//(?:[^\n\\]|\\.)*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([\w$\x80-\xff]+)(?:\(([^)]*)\))?((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL
)
_WORD = re.compile(rb"[\w$\x80-\xff]+")


def blanked(match: re.Match[bytes]) -> bytes:
    """Blanks of the same length and lines."""
    return re.sub(rb"[^\n]", b" ", match.group())


def without_comments(data: bytes) -> bytes:
    """Comments become blanks of the same length; strings stay."""
    return TEXT.sub(lambda m: blanked(m) if m.group().startswith(b"/") else m.group(), data)


@dataclass(frozen=True, slots=True)
class Macro:
    """One definition of a macro; parameters None: it has none, and no parentheses.  said: the words of its body."""

    name: bytes
    parameters: tuple[bytes, ...] | None
    body: bytes
    said: frozenset[bytes]


class Macros:
    """All definitions in some texts, without comments."""

    def __init__(self, codes: Iterable[bytes]) -> None:
        self.all: list[Macro] = []
        self.bodies: dict[bytes, list[bytes]] = {}
        for code in codes:
            for name, given, body in _DEFINE.findall(code):
                rest = body.lstrip()
                parameters = tuple(_WORD.findall(given)) if given or body.startswith(b"()") else None
                self.all.append(Macro(name, parameters, rest, frozenset(_WORD.findall(rest))))
                self.bodies.setdefault(name, []).append(rest)

    def naming(self, words: Iterable[bytes]) -> set[bytes]:
        """The macros in whose text one of the words stands, or the name of such a macro."""
        found, new = set[bytes](words), set[bytes]()
        first = frozenset(found)
        while True:
            new = {m.name for m in self.all if m.name not in found and not found.isdisjoint(m.said)}
            if not new:
                return found - first
            found |= new

    def written(self, text: bytes) -> bytes:
        """A text, and in parentheses each the texts of the macros that are named in it."""
        out, seen, work = [text], set[bytes](), _WORD.findall(text)
        while work:
            name = work.pop()
            if name not in seen:
                seen.add(name)
                for body in self.bodies.get(name, ()):
                    out.append(b"(" + body + b")")
                    work.extend(_WORD.findall(body))
        return b" ".join(out)
