"""Pointers that code may change which is not followed: of the variables from which a call's pointer comes."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.graph.graph import COUNT_DIFFERS, POINTER, RECURSION, Lost
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.called import comes_there, of_callee
from opi_xform.ownership.explain.pointers.outside import calls_itself
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import line_of, marked
from opi_xform.ownership.model.names import names_of

STEPS = 8  # names that are followed from what moves a pointer to the pointer
Words = tuple[str, tuple[tuple[Span, str], ...]]
KEPT = "address kept by "  # what is said of a library's function that keeps what it is given


def may_change(program: Program, name: str, n: int, why: str) -> Words:
    """A node from which on something that is not followed may change a pointer."""
    reason, span = of_callee(program, n, why), names_of(program).span(n)
    if reason.startswith(KEPT):
        keeps = f"`{reason.removeprefix(KEPT)}` at {line_of(span)} keeps an address, from which others may find it"
        return f"could not show that `{name}` stays as it is: {keeps}", ((span, "an address is kept here"),)
    message = f"`{name}` may change behind the program's back: {reason}"
    if reason == POINTER and (refused := next((f for f in program.functions.values() if f.refused), None)) is not None:
        anything = f"the {reason} at {line_of(span)} may lead anywhere, as `{refused.name}` is not followed"
        why_not = marked(refused.refused, refused.span.file)
        message = f"could not show that `{name}` stays as it is: {anything}: {why_not}"
        return message, ((span, reason), (refused.span, "this is not followed"))
    called = _called(program, n, reason)
    if called and reason != RECURSION:
        return f"could not show that `{name}` stays as it is: {called}", ((span, "this call is not followed"),)
    if (lost := ", which is not followed") in reason:
        message = f"could not show that `{name}` stays as it is, as {reason.replace(lost, ' is not followed', 1)}"
    message += "" if " line " in reason else f" at {line_of(span)}"
    if reason == RECURSION:
        return calls_itself(program, n, name)
    return message, ((span, reason),)


def _called(program: Program, n: int, reason: str) -> str:
    """The one function that a node calls and is not followed, with why, in words; '' where there is none."""
    lost = program.graph.nodes[n].action
    if not isinstance(lost, Lost) or len(lost.functions) != 1 or lost.functions[0] not in program.functions:
        return ""
    function, span = program.functions[lost.functions[0]], lost.call.span
    if reason == COUNT_DIFFERS:
        reason = f"it is called with {len(lost.call.args)} arguments, and has {len(function.params)} parameters"
    why = reason.removeprefix(f"`{function.name}`, which is not followed: ")
    return f"`{function.name}`, called at {line_of(span)}, is not followed: {why}"


def changed(program: Program, passed: Iterable[int]) -> Words | None:
    """One of the variables that a pointer comes from, the first of those that unknown code may change."""
    table = program.values.objects.table
    for o in passed:
        found = program.values.escaped.get(o)
        if table[o].kind == "variable" and found is not None and comes_there(program, found[0], o):
            return may_change(program, table[o].name, *found)
    return None


def moves(program: Program, n: int, operand: ins.Operand) -> bool:
    """A node only moves a pointer: `p += k`."""
    names, frame = names_of(program), program.graph.nodes[n].frame
    value = _set_to(program, n)
    for _ in range(STEPS):
        while isinstance(value, ins.PtrAdd) or (isinstance(value, ins.Op) and value.op == "cast"):
            value = value.base if isinstance(value, ins.PtrAdd) else value.args[0]
        name = names.name(frame, value) if isinstance(value, ins.Temp) else None
        defs = names.defs.get(name, ()) if name is not None else ()
        if len(defs) != 1:
            break
        value = _set_to(program, next(iter(defs)))
    return isinstance(operand, ins.Var) and isinstance(value, ins.Var) and value.key == operand.key


def _set_to(program: Program, n: int) -> ins.Operand | None:
    return a.value if isinstance(a := program.graph.nodes[n].action, ins.Define) else None
