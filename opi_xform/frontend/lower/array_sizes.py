"""Expressions in types: the sizes of variable length arrays, which are evaluated where the type is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opi_xform.ir.ast import (
    Binary,
    Cast,
    Comma,
    Deref,
    Expr,
    FloatLit,
    Index,
    IntLit,
    MacroConst,
    Member,
    SizeOf,
    Unary,
    VarRef,
)
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ir.walk import within


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


def read_first(type_: Type, bounds: Iterable[Expr]) -> tuple[Expr, ...] | None:
    """The computed sizes in a cast's type, which are evaluated with it; None: one does more than read."""
    found = tuple(e for e in bounds if is_computed(e)) if has_bounds(type_) else ()
    return found if all(isinstance(part, _READING) for e in found for part in within(e)) else None


_READING = (IntLit, FloatLit, VarRef, Member, Index, Deref, Cast, Unary, Binary)


def after(bounds: tuple[Expr, ...], value: Expr) -> Expr:
    """The value, once the sizes have been read."""
    for e in reversed(bounds):
        value = Comma(value.type, value.span, e, value)
    return value


def lengths(type_: Type, bounds: Sequence[Expr], name: Span, parameter: bool = False) -> tuple[Expr, ...]:
    """The elements of the arrays in a variable's type, or in what it points to, the outermost first.

    bounds: the sizes that the declaration writes, the innermost first.  name: where the declared name stands.
    parameter: one that is written as an array with a size, which is not in the type.  None are told but of
    types with an array of variable length, all of whose arrays are written behind the name, and where they can be told
    once more.
    """
    at = type_.elem if type_.is_pointer else type_
    if at is None or not at.vla:
        return ()
    for e in bounds:
        behind = e.span.file == name.file and e.span.begin >= name.end  # not the operand of a typeof
        if e.type.kind != "int" or not behind or is_computed(e):
            return ()
    counts: list[int | None] = []
    inner: Type | None = at
    while inner is not None and inner.is_array:
        counts.append(inner.count)
        inner = inner.elem
    if inner is None or not inner.size or _has_arrays(inner.elem if inner.is_pointer else None):
        return ()
    found = tuple(reversed(bounds))
    found = found[1:] if parameter else found
    if len(found) == 1 and None not in counts[1:]:
        counts = counts[:1]  # the others are those of a type with a name of its own
    if len(found) != len(counts):
        return ()
    return found if all(c in (None, _number(e)) for c, e in zip(counts, found, strict=True)) else ()


def _number(e: Expr) -> int | None:
    return e.value if isinstance(e, IntLit) else None


def _has_arrays(type_: Type | None) -> bool:
    at = type_
    while at is not None:
        if at.is_array:
            return True
        at = at.elem
    return False
