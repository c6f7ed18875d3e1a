"""Calls that no call in the source shows: attributes that have a function run by itself, or under another name.

``constructor`` and ``destructor`` functions run before and after main, ``cleanup`` functions when a variable's scope
ends, entries of the sections ``.init_array`` and ``.fini_array`` like the first two.  An ``ifunc`` or an ``alias`` of
a function gives it a second name, and so does ``double g(void) __asm__("f")``.  The program graph has no such calls,
so no site of a program with one converts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ownership.source import index_of

_WORDS = rb"(?:__)?(constructor|destructor|cleanup|ifunc|alias|weakref)(?:__)?"
_ATTRIBUTE = re.compile(
    rb"\b__attribute(?:__)?\s*\(\s*\((?:[^;{}]*?[\s,(])??" + _WORDS + rb"\s*[,()]"
    rb"|\[\[[^\];]*\b(?:__)?gnu(?:__)?::\s*" + _WORDS + rb"\b"
    rb"|\"\.((?:init|fini|preinit)_array|[cd]tors)[.\"0-9]"
    rb"|^[ \t]*#[ \t]*pragma[ \t]+(init|fini)\b",
    re.MULTILINE,
)
_LABEL = re.compile(rb"\b(?:__)?asm(?:__)?\s*\(\s*\"_?(\w+)\"\s*\)")
_TARGET = re.compile(rb"\(\s*\"(\w+)\"\s*\)")
_TEXT = re.compile(rb"//(?:[^\n\\]|\\.)*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)


def unseen_call(units: Sequence[ast.Unit]) -> tuple[Span, str] | None:
    """The first place that makes such calls, and its word; None when there is none."""
    texts = index_of(units).texts
    paths = sorted({path for unit in units for path in unit.files})
    objects = {v.name for unit in units for v in unit.globals.values()}  # see source.py for these
    for path in paths:
        data = texts.read(path)
        for label in _LABEL.finditer(data):
            name = label.group(1)
            if any(re.search(rb"(?<![\w\"])" + name + rb"(?![\w\"])", texts.read(other)) for other in paths):
                return _span(path, data, label.start()), "asm"
        if not _ATTRIBUTE.search(data):
            continue
        code = _TEXT.sub(_blank, data)
        for found in _ATTRIBUTE.finditer(code):
            word = next(group for group in found.groups() if group is not None)
            target = _TARGET.match(code, found.end() - 1)
            if word != b"alias" or target is None or target.group(1).decode("ascii") not in objects:
                return _span(path, data, found.start()), word.decode("ascii")
    return None


def _span(path: str, data: bytes, at: int) -> Span:
    return Span(path, at, at, data.count(b"\n", 0, at) + 1, at - data.rfind(b"\n", 0, at), editable=False)


def _blank(match: re.Match[bytes]) -> bytes:
    """Comments become blanks of the same length; strings stay, for the names of sections."""
    text = match.group()
    return re.sub(rb"[^\n]", b" ", text) if text.startswith(b"/") else text
