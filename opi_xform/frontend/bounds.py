"""Expressions in types: the sizes of variable length arrays, which are evaluated where the type is written."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.ir.ast import Binary, Cast, Expr, FloatLit, IntLit, MacroConst, SizeOf, Unary, VarRef
from opi_xform.ir.types import Type


def has_bounds(type_: Type) -> bool:
    """A variable length array is in the type: other expressions in it, of ``typeof``, are not evaluated."""
    at: Type | None = type_
    while at is not None:
        if at.vla:
            return True
        at = at.elem
    return False


def is_computed(e: Expr) -> bool:
    """Something is read through an address, called or changed for the value: more than variables by their names."""
    work = [e]
    while work:
        at = work.pop()
        match at:
            case IntLit() | FloatLit():
                pass
            case VarRef():
                if at.type.volatile or at.type.atomic or at.type.kind in ("array", "record", "unknown"):
                    return True
            case SizeOf(operand=operand):
                if at.value is None and operand is not None and not isinstance(operand, VarRef):
                    return True
            case MacroConst(operand=inner):
                work += [] if inner is None else [inner]
            case Cast(operand=inner) | Unary(operand=inner):
                work.append(inner)
            case Binary(left=left, right=right):
                work += (left, right)
            case _:
                return True
    return False


def lengths(type_: Type, bounds: Sequence[Expr], parameter: bool = False) -> tuple[Expr, ...]:
    """The elements of the arrays in a variable's type, or in what it points to, the outermost first.

    bounds: the sizes that the declaration writes, the innermost first.  Only of types with an array of variable length,
    and where all sizes are written there and can be told once more; else none.
    """
    at = type_.elem if type_.is_pointer else type_
    if at is None or not at.vla or not all(e.type.kind == "int" and not is_computed(e) for e in bounds):
        return ()
    arrays = 0
    inner: Type | None = at
    while inner is not None and inner.is_array:
        arrays, inner = arrays + 1, inner.elem
    found = tuple(reversed(bounds))
    if parameter and len(found) == arrays + 1:
        return found[1:]  # the outermost array of a parameter is a pointer
    if len(found) == arrays:
        return found
    return found if len(found) == 1 and at.elem is not None and at.elem.size else ()
