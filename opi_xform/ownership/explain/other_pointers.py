"""Pointers by which places are named; two that change places in a function of their addresses (``swap(&a, &b)``)."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.reasons import called_in, node_span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import spelling
from opi_xform.ownership.model.names import names_of

STEPS = 8  # names that are followed from a store to where its value is read


def changes_places(program: Program, table: int, n: int, name: str) -> tuple[str, Span] | None:
    """What a node that stores a pointer in the variable ``name`` does, where that changes places with another one."""
    objects = program.values.objects.table
    other = _copied(program, n)
    found = None if other in (None, table) else objects[other or 0]
    if found is None or found.type is None or not found.type.is_pointer:
        return None
    if not any(_copied(program, m) == table for m in _stores(program, found.number)):
        return None
    at = called_in(program, n, objects[table].frame)
    span = node_span(program, n if at is None else at)
    called = program.variables[found.variable or ""].name
    return f"`{name}` changes places with `{called}` at {line_of(span)}, so it may be either buffer", span


def _stores(program: Program, o: int) -> Iterator[int]:
    """Nodes that store a pointer in an object."""
    for n in sorted(program.values.accesses.nodes(o)):
        action = program.graph.nodes[n].action
        stores = isinstance(action, ins.Store) and action.type.is_pointer
        if stores and program.values.symbols.base(program.values.operands[n][0]) == o:
            yield n


def _copied(program: Program, n: int) -> int | None:
    """The object from which a store copies a pointer; None: it stores something else."""
    names = names_of(program)
    node = program.graph.nodes[n]
    assert isinstance(node.action, ins.Store)
    value, frame = node.action.value, node.frame
    for _ in range(STEPS):
        while isinstance(value, ins.Op) and value.op == "cast":
            value = value.args[0]
        name = names.name(frame, value)
        if name is None:
            return None
        found = [d for d in names.defs.get(name, ()) if not isinstance(program.graph.nodes[d].action, ins.Birth)]
        if len(found) != 1:
            return None
        action = program.graph.nodes[found[0]].action
        if isinstance(action, ins.Load):
            operands = program.values.operands.get(found[0], ())
            return program.values.symbols.base(operands[0]) if operands else None
        if not isinstance(action, ins.Define):
            return None
        value = action.value
    return None


def through(e: ast.Expr) -> str | None:
    """The pointer that an lvalue goes through, as written."""
    while isinstance(e, (ast.Member, ast.Index, ast.Cast)):
        if isinstance(e, ast.Index) and not e.base.type.is_array:
            return spelling(e.base)
        e = e.operand if isinstance(e, ast.Cast) else e.base
    return spelling(e.operand) if isinstance(e, ast.Deref) else None
