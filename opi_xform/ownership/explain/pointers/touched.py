"""An access that may be of a pointer in a struct, though not surely: which line that is, and by what name."""

from __future__ import annotations

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.memory.accesses import Access
from opi_xform.ownership.buffers.members import Finder
from opi_xform.ownership.explain.other_pointers import does_to, member_of
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import POINTER_BYTES, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import member_key

Words = tuple[str, tuple[tuple[Span, str], ...]]
WHICH = "it could not be shown which of the pointers in"  # how what is said of a table begins


def may_be_touched(program: Program, finder: Finder, o: int, at: int, name: str) -> Words | None:
    """What is said of the pointer at a place in an object; first of lines that name a member as that is called."""
    names, nodes, accesses = names_of(program), program.graph.nodes, program.values.accesses
    found: list[tuple[bool, Access, str]] = []
    for a in (a for n in sorted(accesses.nodes(o)) for a in accesses.at_object(n, o)):
        action = nodes[a.node].action
        lo = None if a.lo is None else a.lo.constant
        length = None if a.length is None else a.length.constant
        exact = isinstance(action, (ins.Load, ins.Store)) and finder.exact(a.node, o)
        if exact and lo is not None and length == POINTER_BYTES and finder.plain(action.type):  # type: ignore[union-attr]
            continue
        if lo is not None and length is not None and a.kind == "W" and finder.clears(a.node):
            continue
        start, size = finder.stretches.stretch(a, lo, length)
        if start >= at + POINTER_BYTES or (size is not None and start + size <= at):
            continue
        if exact and lo is None and name.endswith("]"):  # any of the pointers of a table
            where = f"{WHICH} `{name[: name.rindex('[')]}`"
            note = (names.span(a.node), f"one of them is {'set' if a.kind == 'W' else 'read'} here")
            return f"{where} the call and other lines mean", (note,)
        e = finder.written.of(program.graph.frames[nodes[a.node].frame].function, action)
        same = isinstance(e, ast.Member) and e.field == member_of(name)
        found.append((same, a, spelling(e) if same and e is not None else name))
    if not found:
        return None
    same, a, called = max(found, key=lambda one: one[0])
    span = names.span(a.node)
    if same and called != name:
        does = "sets" if a.kind == "W" else "reads"
        message = f"{line_of(span)} {does} `{called}`, which may be `{name}` or that of another struct"
        return f"{message}, as it cannot be told which one", ((span, "here"),)
    known = not finder.exact(a.node, o) or (a.lo is not None and a.lo.constant is not None)
    return f"{line_of(span)} {does_to(program, a.node, a.kind, known, f'`{name}`')}", ((span, "here"),)


def of_other_members(one: ast.Expr, other: ast.Expr) -> bool:
    """Two pointers in memory are of two members, by their words: ``s->out[i]``, ``s->next`` and ``s->part.out``."""
    mine, its = _member(one), _member(other)
    return mine is not None and its is not None and member_key(mine) != member_key(its)


def _member(e: ast.Expr) -> ast.Member | None:
    while isinstance(e, (ast.Index, ast.Cast)):
        e = e.base if isinstance(e, ast.Index) else e.operand
    return e if isinstance(e, ast.Member) else None
