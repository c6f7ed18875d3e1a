"""``assert(buf != NULL)``: what a macro of the system writes more than once, and is edited where it is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from opi_xform.divide.mentions import Mention, Place
from opi_xform.ir import ast
from opi_xform.ir.walk import children, expressions

_DEFINED = re.compile(rb"^[ \t]*#[ \t]*(?:define|undef)[ \t]+assert\b", re.MULTILINE)
_CALLED = re.compile(rb"\bassert\s*\([^;{}]*\Z")
_FAILS = "__assert_fail"  # what glibc and musl call where an assertion does not hold


def asserted(mentions: Sequence[Mention], files: Collection[str], read: Callable[[str], bytes]) -> list[Mention]:
    """The mentions, those in one assertion as one that can be edited.

    Besides testing it, the macro only asks what type its argument has, and tells its text where the program ends.
    """
    out: list[Mention] = []
    groups: dict[Place, list[Mention]] = {}
    for m in mentions:
        groups.setdefault(m.place, []).append(m)
    for group in groups.values():
        one = _test(group, files, read) if not any(m.ref.span.editable for m in group) else None
        if one is None:
            out += group
        else:
            out.append(replace(one, ref=replace(one.ref, span=replace(one.ref.span, editable=True))))
    return out


def _test(group: Sequence[Mention], files: Collection[str], read: Callable[[str], bytes]) -> Mention | None:
    """The mention that tests the buffer; None where they are not those of an assertion."""
    tests = [m for m in group if m.kind == "tested" and m.stmt is not None and _fails(m.stmt)]
    if len(tests) != 1 or any(m.kind != "size" for m in group if m is not tests[0]):
        return None
    file, begin = tests[0].place
    if not _CALLED.search(read(file)[:begin][-200:]) or any(_DEFINED.search(read(f)) for f in files):
        return None
    return tests[0]


def _fails(stmt: ast.Stmt) -> bool:
    work = list(expressions(stmt))
    while work:
        e = work.pop()
        if isinstance(e, ast.FuncRef) and e.name == _FAILS:
            return True
        work.extend(children(e))
    return False
