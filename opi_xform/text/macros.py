"""What macros may write, by the bodies that the preprocessor has of them.

What a program's text means the parser says.  Here it is only asked whether a macro may see that a text was edited.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

TEXT = re.compile(rb"//(?:[^\n\\]|\\.)*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_WORD = re.compile(rb"[\w$\x80-\xff]+")


def blanked(match: re.Match[bytes]) -> bytes:
    """Blanks of the same length and lines."""
    return re.sub(rb"[^\n]", b" ", match.group())


def without_comments(data: bytes) -> bytes:
    """Comments become blanks of the same length; strings stay."""
    return TEXT.sub(lambda m: blanked(m) if m.group().startswith(b"/") else m.group(), data)


class Macros:
    """The bodies of macros by name; ``each``: name and body of each definition."""

    def __init__(self, each: Iterable[tuple[str, str]]) -> None:
        self.bodies: dict[bytes, list[bytes]] = {}
        for name, body in each:
            self.bodies.setdefault(os.fsencode(name), []).append(os.fsencode(body))
        self.said = {name: frozenset(_WORD.findall(b" ".join(found))) for name, found in self.bodies.items()}

    @property
    def pasting(self) -> set[bytes]:
        """The macros that paste names together, which stand in no text."""
        return {name for name, found in self.bodies.items() if any(b"##" in body for body in found)}

    def naming(self, words: Iterable[bytes]) -> set[bytes]:
        """The macros in whose text one of the words stands, or the name of such a macro."""
        found, new = set[bytes](words), set[bytes]()
        first = frozenset(found)
        while True:
            new = {name for name, said in self.said.items() if name not in found and not found.isdisjoint(said)}
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
