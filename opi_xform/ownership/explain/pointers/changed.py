"""Pointers that code may change which is not followed: of the variables from which a call's pointer comes."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.graph.graph import POINTER, RECURSION
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.called import comes_there, of_callee
from opi_xform.ownership.explain.pointers.outside import calls_itself
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import line_of, marked
from opi_xform.ownership.model.names import names_of

Words = tuple[str, tuple[tuple[Span, str], ...]]


def may_change(program: Program, name: str, n: int, why: str) -> Words:
    """A node from which on something that is not followed may change a pointer."""
    reason, span = of_callee(program, n, why), names_of(program).span(n)
    message = f"`{name}` may change behind the program's back: {reason}"
    if reason == POINTER and (refused := next((f for f in program.functions.values() if f.refused), None)) is not None:
        anything = f"the {reason} at {line_of(span)} may lead anywhere, as `{refused.name}` is not followed"
        why_not = marked(refused.refused, refused.span.file)
        message = f"could not show that `{name}` stays as it is: {anything}: {why_not}"
        return message, ((span, reason), (refused.span, "this is not followed"))
    if (lost := ", which is not followed") in reason:
        message = f"could not show that `{name}` stays as it is, as {reason.replace(lost, ' is not followed', 1)}"
    message += "" if " line " in reason else f" at {line_of(span)}"
    if reason == RECURSION:
        return calls_itself(program, n, name)
    return message, ((span, reason),)


def changed(program: Program, passed: Iterable[int]) -> Words | None:
    """One of the variables that a pointer comes from, the first of those that unknown code may change."""
    table = program.values.objects.table
    for o in passed:
        found = program.values.escaped.get(o)
        if table[o].kind == "variable" and found is not None and comes_there(program, found[0], o):
            return may_change(program, table[o].name, *found)
    return None
