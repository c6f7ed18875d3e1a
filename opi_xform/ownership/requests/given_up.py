"""Requests that are cancelled or freed, or that go where that cannot be excluded: nobody waits for these to the end."""

from __future__ import annotations

from opi_xform.effects.model import MpiOp
from opi_xform.graph.graph import Lost
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import calls_of
from opi_xform.ir.span import Span
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.names import Names
from opi_xform.ownership.requests.slots import slots_of

ESCAPES = "the request escapes here"
GIVEN_UP = "a request is cancelled or freed here"


def abandoned(names: Names, use: Use) -> tuple[tuple[Span, str], ...]:
    """``given_up`` of the request that a use makes."""
    return given_up(names, use.node, use.op)


def given_up(names: Names, node: int, op: MpiOp) -> tuple[tuple[Span, str], ...]:
    """Where a request may be cancelled or freed, or goes where that cannot be excluded; () where it is not."""
    values = names.program.values
    slot = slots_of(names, node, op.request)
    ends = _ends(names)
    if slot is None:
        here = tuple((names.span(n), GIVEN_UP) for n, _ in ends[:1])
        return here or _given_up_unseen(names.program)
    escaped = values.escaped.get(slot.object)
    if escaped is not None:
        return ((names.span(escaped[0]), f"{ESCAPES} ({escaped[1]})"),)
    for n, op in ends:
        other = slots_of(names, n, op.request)
        if other is None or other.object == slot.object:
            return ((names.span(n), "it may be cancelled or freed here"),)
        copied = None if only_posted(names, other.object) else _copied(names, slot.object)
        if copied is not None:
            freed = (names.span(n), "a request that may be a copy is cancelled or freed here")
            return ((names.span(copied), "the request is copied here"), freed)
    seen = frozenset(names.span(n) for n, _ in ends)
    return () if _copied(names, slot.object) is None else _given_up_unseen(names.program, seen)


def only_posted(names: Names, o: int) -> bool:
    """What a request variable holds comes from calls that put their own request there: it is no copy of another."""
    graph = names.graph
    if o in names.program.values.escaped:
        return False
    for n in names.defs.get(("v", o, 0), ()):
        match graph.nodes[n].action:
            case ins.Birth() | ins.Define(value=ins.Const()):  # MPI_REQUEST_NULL
                pass
            case _:
                return False
    calls = (names.operations.get(access.node) for access in names.writes(o))
    return all(op is not None and op.request is not None for op in calls)


def _ends(names: Names) -> list[tuple[int, MpiOp]]:
    """Calls that cancel or free a request."""
    return [(n, op) for n, op in names.operations.items() if op.kind in ("cancel", "free_request")]


def _given_up_unseen(program: Program, seen: frozenset[Span] | None = None) -> tuple[tuple[Span, str], ...]:
    """A call of the text that cancels or frees a request, where not all that runs is in the graph.

    seen: those that are, of which none is of the request; one that MPI calls back may be of a copy.
    """
    if seen is None and not any(isinstance(node.action, Lost) for node in program.graph.nodes):
        return ()
    calls = [c for f in program.functions.values() for c in calls_of(f) if seen is None or c.span not in seen]
    spans = {c.callee.name: c.span for c in calls if isinstance(c.callee, ast.FuncRef)}
    for name in sorted((spans.keys() | program.taken) - program.functions.keys()):
        effect = program.effects.get(name)
        if effect is not None and effect.mpi is not None and effect.mpi.kind in ("cancel", "free_request"):
            return ((spans.get(name, calls[0].span), GIVEN_UP),)
    return ()


def _copied(names: Names, o: int) -> int | None:
    """A node that reads the request, other than an MPI call of it."""
    for n in names.uses.get(("v", o, 0), ()):
        return n
    accesses = names.program.values.accesses
    for n in sorted(accesses.nodes(o)):
        if accesses.touches(n, (o,), "R") and not _of_request(names, n, o):
            return n
    return None


def _of_request(names: Names, n: int, o: int) -> bool:
    """An MPI call, and not one that sends the request's bytes as data."""
    op = names.operations.get(n)
    if op is None:
        return False
    given = (op.request, op.completes.requests if op.completes is not None else None)
    slots = [slots_of(names, n, position) for position in given if position is not None]
    return not op.send or any(slot is None or slot.object == o for slot in slots)
