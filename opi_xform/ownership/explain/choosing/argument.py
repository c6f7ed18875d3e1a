"""What the words of a call's argument say of where its message lies."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.roots import leftmost

BEGINS_INSIDE = "the call begins inside"


def pointers_themselves(argument: ast.Expr) -> Refusal | None:
    """The argument is the address of a pointer, `&p[k]`, where what that points to may have been meant."""
    e = without_casts(argument)
    place = without_casts(e.operand) if isinstance(e, ast.AddrOf) else e
    if not isinstance(e, ast.AddrOf) or not place.type.is_pointer or (name := spelling(place)) == UNSPELLED:
        return None
    message = f"the message begins at the pointer `{name}` itself, not in the memory that it points to"
    return Refusal(Reason.CARRIER, message)


def begins_inside(argument: ast.Expr) -> Refusal | None:
    """It names a place after the one that a pointer points to: `&p[k]`, `p + k`."""
    match without_casts(argument):
        case ast.AddrOf(operand=ast.Index(base=base, index=step)) | ast.Binary(op="+", left=base, right=step):
            pass
        case _:
            return None
    step, base = without_casts(step), without_casts(base)
    elem = base.type.elem
    name = spelling(base) if not isinstance(base, ast.Binary) else spelling(leftmost(argument))
    if elem is None or elem.kind in ("pointer", "array") or step.type.kind != "int":
        return None
    where = "at a place that the program computes"
    if isinstance(step, (ast.IntLit, ast.SizeOf)) and step.value is not None and not isinstance(base, ast.Binary):
        if step.value == 0 or elem.size is None:
            return None
        where = f"at its byte {step.value * elem.size}"
    if name == UNSPELLED:
        return None
    return Refusal(Reason.CARRIER, f"{BEGINS_INSIDE} `{name}`, {where}; a message needs a buffer of its own")


def is_text(argument: ast.Expr) -> bool:
    e = argument
    while isinstance(e, (ast.Cast, ast.AddrOf)):
        e = e.operand
    return isinstance(e, ast.StringLit)


def without_casts(e: ast.Expr) -> ast.Expr:
    while isinstance(e, ast.Cast):
        e = e.operand
    return e
