"""The bytes of source files: identifiers in their places, and how a declaration spells a type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_TOKEN = re.compile(
    rb"//(?:[^\n\\]|\\.)*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|[()\[\]{};]", re.DOTALL
)
_UNEVALUATED = frozenset({b"sizeof", b"typeof", b"__typeof__", b"__typeof", b"_Alignof", b"__alignof__", b"_Generic"})


@lru_cache(maxsize=64)
def read(path: str) -> bytes:
    """A file's bytes; none when it cannot be read."""
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


@lru_cache(maxsize=64)
def without_comments(path: str) -> bytes:
    """The file with spaces for comments; offsets stay."""

    def blank(match: re.Match[bytes]) -> bytes:
        token = match.group()
        return re.sub(rb"[^\n]", b" ", token) if token.startswith((b"//", b"/*")) else token

    return _TOKEN.sub(blank, read(path))


@lru_cache(maxsize=64)
def words(path: str) -> dict[bytes, list[tuple[int, bool, bool]]]:
    """Identifiers of a file: (offset, in an operand that is not evaluated, between square brackets).

    Comments and strings are left out; preprocessor directives are not.
    """
    data = read(path)
    out: dict[bytes, list[tuple[int, bool, bool]]] = {}
    opened: list[tuple[bytes, bytes]] = []  # bracket, the word before it
    previous = b""
    for match in _TOKEN.finditer(data):
        token = match.group()
        first = token[:1]
        if first in b"\"'" or token.startswith((b"//", b"/*")):
            previous = b"" if first in b"\"'" else previous
            continue
        if token in (b"(", b"[", b"{"):
            opened.append((token, previous))
        elif token in (b")", b"]", b"}"):
            if opened:
                opened.pop()
        elif token != b";" and not data[max(match.start() - 8, 0) : match.start()].rstrip().endswith((b".", b"->")):
            around = opened[-1] if opened else (b"", b"")
            unevaluated = previous in _UNEVALUATED or (around[0] == b"(" and around[1] in _UNEVALUATED)
            out.setdefault(token, []).append((match.start(), unevaluated, any(b == b"[" for b, _ in opened)))
        if token != b"(" or previous not in _UNEVALUATED:
            previous = token
    return out


def occurrences(path: str, name: str) -> Iterator[tuple[int, bool, bool]]:
    """Where an identifier stands in a file (see ``words``)."""
    yield from words(path).get(name.encode(), ())


def mentions_in_directives(path: str, name: str) -> int | None:
    """The offset of a pragma, an alias attribute or an asm statement that names a symbol; None when there is none."""
    word = re.escape(name.encode())
    pattern = (
        rb"^[ \t]*#[ \t]*pragma[^\n]*\b" + word + rb"\b"
        rb"|\b(?:__)?alias(?:__)?[ \t]*\([ \t]*\"" + word + rb"\""
        rb"|\b(?:__)?asm(?:__)?\b[^;{}]*\b" + word + rb"\b"
    )
    found = re.search(pattern, without_comments(path), re.MULTILINE)
    return found.start() if found else None
