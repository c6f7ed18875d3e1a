"""Spellings that C itself makes the same: one form of each is what the rest of the tool sees.

C 6.5.2.1: ``a[i]`` is identical to ``(*((a) + (i)))``.  What becomes of an expression keeps its whole span.
"""

from __future__ import annotations

from dataclasses import replace

from opi_xform.ir.ast import Binary, Deref, Expr, Index, IntLit, Logical, Member, Unary, VarRef
from opi_xform.ir.span import Span
from opi_xform.ir.types import INT, Type

_TRUTHS = frozenset({"<", ">", "<=", ">=", "==", "!="})


def deref(type_: Type, span: Span, operand: Expr) -> Expr:
    """``*(p + i)`` is ``p[i]``, and ``*a`` is ``a[0]``, where that is a row of an array of arrays.

    Not where ``p`` is a row of an array: programs run over all rows so, and a subscript stays in its row.
    """
    match operand:
        case VarRef() | Member() if operand.type.is_array and type_.is_array:
            return Index(type_, span, operand, IntLit(INT, replace(span, editable=False), 0))
        case Binary(op="+", left=base, right=index) if _is_whole(base) and index.type.kind == "int":
            return Index(type_, span, base, index)
        case Binary(op="+", left=index, right=base) if _is_whole(base) and index.type.kind == "int":
            return Index(type_, span, base, index)
        case _:
            return Deref(type_, span, operand)


def _is_whole(base: Expr) -> bool:
    """A pointer, or an array that is a variable or a member."""
    return base.type.is_pointer or (base.type.is_array and isinstance(base, (VarRef, Member)))


def compared(op: str, left: Expr, right: Expr, span: Span) -> Expr | None:
    """``(a < b) != 0`` is ``a < b``, with any other condition, too; None: it is something else."""
    if op != "!=" or not isinstance(right, IntLit) or right.value != 0 or right.name:
        return None
    match left:
        case Logical() | Unary(op="!"):
            return replace(left, span=span)
        case Binary(op=inner) if inner in _TRUTHS:
            return replace(left, span=span)
        case _:
            return None
