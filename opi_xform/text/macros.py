"""What macros may write, by the text of their definitions: no condition of the preprocessor is looked at.

A program may write ``__attribute__((destructor))`` as ``ATTR(destructor)``, ``ATTRIBUTE((destructor))`` or ``LAST``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from opi_xform.record import dataclass

TEXT = re.compile(rb"//(?:[^\n\\]|\\.)*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([\w$\x80-\xff]+)(?:\(([^)]*)\))?((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL
)
_WORD = re.compile(rb"[\w$\x80-\xff]+")
_PARENTHESES = re.compile(rb"[()]|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
BRACKETS = re.compile(rb"\[\s*\[(?:[^\]]|\](?!\s*\]))*\]\s*\]")  # attributes of C23


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


@dataclass(frozen=True, slots=True)
class Group:
    """What stands in parentheses after a word, from ``begin`` of the word on; ``text`` has what macros write in it."""

    begin: int
    text: bytes


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

    def around(self, words: Iterable[bytes]) -> set[bytes]:
        """Words, and the macros that write one of them around what they are given, or right before what comes next."""
        found, size = set[bytes](words), 0
        while size != len(found):
            size = len(found)
            found.update(m.name for m in self.all if m.name not in found and self._wraps(m, found))
        return found

    def _wraps(self, m: Macro, words: set[bytes]) -> bool:
        if words.isdisjoint(m.said) and b"[" not in m.body:
            return False
        last = _WORD.findall(m.body)[-1:]
        if m.body.rstrip()[-1:] != b")" and not words.isdisjoint(last):
            return True
        given = set(m.parameters or ()) | ({b"__VA_ARGS__"} if m.parameters is not None else set())
        texts = [text for _, text in _after(m.body, words)] + BRACKETS.findall(m.body)
        return any(not given.isdisjoint(_WORD.findall(text)) for text in texts)

    def groups(self, code: bytes, words: Iterable[bytes]) -> Iterator[Group]:
        """Each place of a word, and what comes after it in parentheses, with all that macros write there."""
        for begin, text in _after(code, words):
            yield Group(begin, self.written(text))


def _after(code: bytes, words: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Where each of some words stands, and what comes in parentheses after it, or the word that does."""
    names = sorted(words)
    if not names:
        return
    for found in re.finditer(rb"\b(?:" + b"|".join(map(re.escape, names)) + rb")\b\s*", code):
        at = found.end()
        end = closing(code, at) if code[at : at + 1] == b"(" else None
        if end is None:
            word = _WORD.match(code, at)
            end = at if word is None else word.end()
        yield found.start(), code[at:end]


def closing(code: bytes, at: int) -> int | None:
    """The offset after the parenthesis that closes the one at an offset; None: there is none."""
    depth = 0
    for found in _PARENTHESES.finditer(code, at):
        depth += {b"(": 1, b")": -1}.get(found.group(), 0)
        if depth == 0 and found.group() == b")":
            return found.end()
    return None


def opening(code: bytes, end: int) -> int:
    """The offset of the parenthesis that the one before an offset closes; 0: there is none."""
    depth = 0
    for at in range(end - 1, -1, -1):
        depth += {b")": 1, b"(": -1}.get(code[at : at + 1], 0)
        if depth == 0:
            return at
    return 0
