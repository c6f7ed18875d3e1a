"""What the words of a text mean where it is put: names that a function declares anew, names that are still free."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ownership.mentions import Texts, in_scope

_QUIET = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_TAG = re.compile(r"\b(?:struct|union|enum)\s+([A-Za-z_]\w*)")
_PART = re.compile(r"(?:\.|->)\s*[A-Za-z_]\w*")
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_END = 1 << 40  # behind the end of any file
_LOCAL = re.compile(r"\btypedef\b[^;]*;|\benum\b[^;{]*\{[^}]*\}")
_RECORD = re.compile(r"\b(?:struct|union|enum)\s+([A-Za-z_]\w*)\s*[{;]")


def words(text: str) -> set[str]:
    """The names that a text of C is made of: members of structs are left out, tags are ``struct x``."""
    text = _QUIET.sub(" ", text)
    tags = {f"struct {name}" for name in _TAG.findall(text)}
    return tags | set(_WORD.findall(_PART.sub(" ", _TAG.sub(" ", text))))


def hidden(
    lowered: ins.Lowered, stmt: int, texts: Texts, meant: Collection[str] = (), origin: Span | None = None
) -> Iterator[str]:
    """Names that mean something of the function's own at one of its statements.

    meant: variables (keys) that the text is about.  origin: where it was written; what the function declares before
    that is known there as well.
    """
    for variable in lowered.function.variables.values():
        if variable.key not in meant and in_scope(lowered, variable, stmt):
            yield variable.name
    span = lowered.function.span
    here = origin is not None and origin.file == span.file and span.begin <= origin.begin < span.end
    between = texts.of(span)
    if here and origin is not None and origin.end <= lowered.stmts[stmt].stmt.span.begin:
        between = texts.of(Span(span.file, origin.end, lowered.stmts[stmt].stmt.span.begin, 1, 1))
    if "typedef" in between or "enum" in between or "struct" in between or "union" in between:
        between = _QUIET.sub(" ", between)
        for declared in _LOCAL.findall(between):
            yield from _WORD.findall(declared)
        for tag in _RECORD.findall(between):
            yield f"struct {tag}"


def fresh(name: str, files: Iterable[str], texts: Texts) -> str:
    """The name, or one like it, that no file says anything of: no variable, type, constant or macro."""
    known = [texts.of(Span(path, 0, _END, 1, 1)) for path in files]
    while any(re.search(rf"\b{name}\b", text) for text in known):
        name = f"opi_{name}"
    return name


def pieces(written: str) -> int:
    """How many arguments ``(a, b)…`` would give a macro: only parentheses hold a comma together, and what macros make
    of an argument comes later."""
    depth, found = 0, 1
    for c in _QUIET.sub(" ", written):
        if c in "()":
            depth += 1 if c == "(" else -1
            if depth == 0:
                break
        found += c == "," and depth == 1
    return found
