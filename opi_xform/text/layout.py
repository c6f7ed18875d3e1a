"""How a file is laid out: indentation step, where opening braces and ``else`` go.  Guessed from the file itself."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from opi_xform.record import dataclass

_INDENTED = re.compile(rb"^([ \t]+)[^\s*/]", re.MULTILINE)
_BRACE_SAME_LINE = re.compile(rb"\)[ \t]*\{")
_BRACE_OWN_LINE = re.compile(rb"^[ \t]+\{[ \t]*\r?$", re.MULTILINE)
_CUDDLED = re.compile(rb"\}[ \t]*else\b")
_UNCUDDLED = re.compile(rb"\}[ \t]*\r?\n[ \t]*else\b")


@dataclass(frozen=True, slots=True)
class Layout:
    """``step``: white space per level.  ``brace_on_own_line``: Allman style.  ``cuddled_else``: ``} else``."""

    step: bytes
    brace_on_own_line: bool
    cuddled_else: bool


@lru_cache(maxsize=64)
def layout_of(data: bytes) -> Layout:
    indents = _INDENTED.findall(data)
    tabs = sum(1 for indent in indents if indent.startswith(b"\t"))
    if tabs * 2 > len(indents):
        step = b"\t"
    else:
        step = b" " * _space_step([len(indent) for indent in indents if b"\t" not in indent])
    own = len(_BRACE_OWN_LINE.findall(data))
    same = len(_BRACE_SAME_LINE.findall(data))
    return Layout(step, own > same, len(_UNCUDDLED.findall(data)) <= len(_CUDDLED.findall(data)))


def _space_step(widths: list[int]) -> int:
    """The commonest positive step between neighbouring lines; 4 when there is nothing to go by."""
    steps = Counter(b - a for a, b in zip([0, *widths], widths, strict=False) if 2 <= b - a <= 8)
    if not steps:
        return 4
    best = max(steps.values())
    return min(step for step, times in steps.items() if times == best)
