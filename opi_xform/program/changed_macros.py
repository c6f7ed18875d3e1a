"""Words whose meaning depends on where they stand: macros that the files themselves change on the way.

``#define N 100`` … ``#undef N`` … ``#define N 10``: a text with ``N`` in it says something else further down.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from opi_xform.ir import ast

MOVING = frozenset({"__LINE__", "__COUNTER__", "__FILE__", "__func__", "__INCLUDE_LEVEL__"})
_DIRECTIVE = re.compile(
    rb"^[ \t]*#[ \t]*(define|undef)[ \t]+([A-Za-z_]\w*)((?:/\*.*?\*/|\\\r?\n|[^\n])*)", re.MULTILINE | re.DOTALL
)
_BLANK = re.compile(rb"/\*.*?\*/|//(?:\\\r?\n|[^\n])*|\\\r?\n", re.DOTALL)
_WORD = re.compile(rb"[A-Za-z_]\w*")


def unsteady_macros(units: Sequence[ast.Unit]) -> frozenset[str]:
    """Names of macros that some unit defines in two ways or undefines, and of all that are made of such a one."""
    found: set[bytes] = {name.encode() for name in MOVING}
    bodies: dict[bytes, set[bytes]] = {}  # macro -> words of its definitions
    texts: dict[str, list[tuple[int, bytes, bytes, bytes]]] = {}
    for unit in units:
        known: dict[bytes, bytes] = {}
        left_out: dict[str, list[tuple[int, int]]] = {}
        for one in unit.skipped:
            left_out.setdefault(one.span.file, []).append((one.span.begin, one.span.end))
        for path in sorted({unit.path, *unit.files}):
            if path not in texts:
                texts[path] = _directives(path)
            ranges = sorted(left_out.get(path, ()))
            for at, kind, name, body in texts[path]:
                i = bisect_right(ranges, (at, 1 << 62)) - 1
                if i >= 0 and ranges[i][0] <= at < ranges[i][1]:
                    continue
                if kind == b"undef" or known.setdefault(name, body) != body:
                    found.add(name)
                bodies.setdefault(name, set()).update(_WORD.findall(body))
    work = list(found)
    users: dict[bytes, list[bytes]] = {}
    for name, words in bodies.items():
        for word in words:
            users.setdefault(word, []).append(name)
    while work:
        for name in users.get(work.pop(), ()):
            if name not in found:
                found.add(name)
                work.append(name)
    return frozenset(name.decode("ascii", "replace") for name in found)


def _directives(path: str) -> list[tuple[int, bytes, bytes, bytes]]:
    """(offset, ``define`` or ``undef``, name, the rest without comments) of each such line of a file."""
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError:
        return []
    found = []
    for match in _DIRECTIVE.finditer(data):
        body = b" ".join(_BLANK.sub(b" ", match.group(3)).split())
        found.append((match.start(), match.group(1), match.group(2), body))
    return found
