"""Bodies of macros that no text uses: what stands there names nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:\\\r?\n|[^\n])*", re.MULTILINE)
_NAMED = re.compile(rb"^[ \t]*#[ \t]*(?:define|undef)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)


def in_unused_macro(file: str, at: int, files: Collection[str], read: Callable[[str], bytes]) -> bool:
    """A place in a file lies in the body of a macro that these files define, and name nowhere else."""
    body = next((m for m in _DEFINED.finditer(read(file)) if m.end(1) < at < m.end()), None)
    if body is None:
        return False
    name = body[1]
    word = re.compile(rb"\b" + re.escape(name) + rb"\b")
    return not any(_used(read(one), name, word) for one in files)


def _used(data: bytes, name: bytes, word: re.Pattern[bytes]) -> bool:
    """A text has the name, and not only where it defines it."""
    if name not in data:
        return False
    defined = {m.start(1) for m in _NAMED.finditer(data) if m[1] == name}
    return any(m.start() not in defined for m in word.finditer(data))
