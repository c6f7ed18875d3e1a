"""Which macros of a program's own mean one thing, in all of its text and in each configuration."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

from opi_xform.frontend.lower.directives import all_lines
from opi_xform.record import dataclass

_OPENING = ("if", "ifdef", "ifndef")


@dataclass(frozen=True, slots=True)
class Steadiness:
    """single: macros with one definition, about which no condition decides.  changing: those with several, or that are
    taken away.
    """

    single: frozenset[str]
    changing: frozenset[str]


def steadiness(files: Mapping[str, bytes]) -> Steadiness:
    """Of the macros that these files define, by path.  What is included under a condition is all under that."""
    defined: Counter[str] = Counter()
    changing: set[str] = set()
    conditional: set[str] = set()
    found = {path: _of(data) for path, data in sorted(files.items())}
    under = _under_conditions(found)
    for path, directives in found.items():
        depth = -1 if _is_guarded(directives) else 0
        depth += len(files) if os.path.basename(path) in under else 0
        for kind, rest in directives:
            depth += (kind in _OPENING) - (kind == "endif")
            if kind == "define" and rest:
                defined[rest[0]] += 1
                if depth != 0:
                    conditional.add(rest[0])
            elif kind == "undef" and rest:
                changing.add(rest[0])
            elif kind == "pragma" and rest and rest[0] in ("push_macro", "pop_macro"):
                changing.update(word.strip('"') for word in rest)
    changing.update(name for name, count in defined.items() if count > 1)
    return Steadiness(frozenset(defined) - changing - conditional, frozenset(changing))


Directive = tuple[str, Sequence[str]]


def _of(data: bytes) -> list[Directive]:
    return [(words[1], words[2:]) for words, _, _ in all_lines(data) if len(words) > 1]


def _under_conditions(files: Mapping[str, Sequence[Directive]]) -> set[str]:
    """The names, without folders, of what is included under a condition, or by a file that is."""
    included: dict[str, set[str]] = {}
    out: set[str] = set()
    for path, directives in files.items():
        depth = -1 if _is_guarded(directives) else 0
        for kind, rest in directives:
            depth += (kind in _OPENING) - (kind == "endif")
            if kind in ("include", "include_next", "import"):
                name = "".join(rest).strip('"<>').rpartition("/")[2]
                included.setdefault(os.path.basename(path), set()).add(name)
                if depth != 0:
                    out.add(name)
    work = sorted(out)
    while work:
        for name in included.get(work.pop(), ()):
            if name not in out:
                out.add(name)
                work.append(name)
    return out


def _is_guarded(directives: Sequence[Directive]) -> bool:
    """A header that is read once: ``#ifndef X``, ``#define X``, and the ``#endif`` at its end."""
    if len(directives) < 3 or directives[0][0] != "ifndef" or directives[1][0] != "define":
        return False
    if directives[0][1][:1] != directives[1][1][:1] or len(directives[1][1]) != 1:
        return False
    depth = 0
    for place, (kind, _) in enumerate(directives):
        depth += (kind in _OPENING) - (kind == "endif")
        if depth == 1 and kind in ("else", "elif"):
            return False
        if depth == 0 and place < len(directives) - 1:
            return False
    return depth == 0
