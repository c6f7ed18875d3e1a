"""What a receive that is a statement changes beside its buffer, and what is read after it."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import uncast
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.allocation.repeated import evaluated_in, places
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.spelling.mentions import walk


def unchanged(
    program: Program, frame: int, arguments: list[ast.Expr], status: ast.Expr | None, target: ast.VarRef | None
) -> bool:
    """The arguments are worth the same after the call.

    status: the one that the call sets; None where it is ignored.  target: the variable that its result goes to.
    """
    changed: set[int] = set()
    if status is not None:
        if not is_object(status):
            return False
        arguments = [*arguments, status]
        changed |= _objects(program, frame, status)
    if target is not None:
        changed.add(program.values.objects.variable(frame, target.var))
        if any(isinstance(x, ast.VarRef) and x.var == target.var for e in arguments for x in walk(e)):
            return False
    if not changed:
        return True
    if UNKNOWN in changed:
        return False
    read = set[int]().union(*(_read(program, frame, e) for e in arguments))
    return changed.isdisjoint(read) and (UNKNOWN not in read or changed.isdisjoint(program.values.objects.exposed))


def is_object(status: ast.Expr) -> bool:
    """A status that is written as an object of its own: a pointer might be MPI_STATUS_IGNORE."""
    status = uncast(status)
    if isinstance(status, ast.Binary) and status.op == "+":
        return any(uncast(side).type.is_array for side in (status.left, status.right))
    return isinstance(status, ast.AddrOf) or status.type.is_array


def _objects(program: Program, frame: int, status: ast.Expr) -> frozenset[int]:
    """Objects that a status may lie in."""
    e = uncast(status)
    while True:
        match e:
            case ast.AddrOf(operand=inner) | ast.Member(base=inner) | ast.Deref(operand=inner) | ast.Index(base=inner):
                pass
            case ast.Binary(left=left, right=right):
                inner = left if uncast(left).type.is_array else right
            case ast.VarRef(var=key):
                if e.type.is_pointer:
                    return program.points_to.operand(frame, ins.Var(key))
                return frozenset((program.values.objects.variable(frame, key),))
            case _:
                return frozenset((UNKNOWN,))
        followed = isinstance(e, (ast.Deref, ast.Index))
        e = uncast(inner)
        if followed and e.type.is_pointer and not isinstance(e, ast.VarRef):
            return frozenset((UNKNOWN,))  # a pointer that is read from memory


def _read(program: Program, frame: int, argument: ast.Expr) -> set[int]:
    """Objects that are read where an argument is evaluated."""
    parts = list(_evaluated(argument))
    found = {program.values.objects.variable(frame, x.var) for x in parts if isinstance(x, ast.VarRef)}
    for x in parts:
        base = x.operand if isinstance(x, ast.Deref) else x.base if isinstance(x, ast.Index) else None
        base = None if base is None else uncast(base)
        if base is None or base.type.is_array:
            continue
        if isinstance(base, ast.VarRef):
            found |= program.points_to.operand(frame, ins.Var(base.var))
        else:
            found.add(UNKNOWN)
    return found


def _evaluated(e: ast.Expr) -> Iterator[ast.Expr]:
    """The parts of an address that are read to find it."""
    e = uncast(e)
    if isinstance(e, ast.AddrOf):
        yield from places(e.operand)
    elif isinstance(e, ast.Binary) and e.op in ("+", "-"):
        yield from _evaluated(e.left)
        yield from _evaluated(e.right)
    elif not e.type.is_array:
        yield from evaluated_in(e)
    elif not isinstance(e, ast.VarRef):
        yield from places(e)
