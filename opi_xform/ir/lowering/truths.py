"""Conditions.  Joined by ``&`` and ``|``, each 0 or 1, they are as with ``&&`` and ``||``, but all are evaluated.

One that is negated, or compared with 0, is a comparison again: ``!(a == b)`` and ``(a == b) == 0`` are ``a != b``.
"""

from __future__ import annotations

from dataclasses import replace

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import COMPARISONS, NEGATED
from opi_xform.ir.walk import within


def negated(operand: ins.Operand) -> ins.Op | None:
    """What is 1 where a comparison is 0; None: the operand is no comparison (floating ones are none: NaN)."""
    if not isinstance(operand, ins.Op) or operand.op not in COMPARISONS:
        return None
    return ins.Op(NEGATED[operand.op], operand.args, operand.type, operand.unsigned)


def compared_with_zero(op: str, left: ins.Operand, right: ins.Operand) -> ins.Op | None:
    """A comparison that is compared with 0: itself, or what it is not."""
    if not isinstance(left, ins.Op) or left.op not in COMPARISONS or right != ins.Const(0):
        return None
    return left if op == "!=" else negated(left) if op == "==" else None


def plainer(e: ast.Expr) -> ast.Expr:
    """The same condition without ``!`` before a comparison of no floating numbers, and without ``!= 0`` after a truth.

    Then the test of a loop says when the loop goes on, as it does where it is written plainly.
    """
    while True:
        match e:
            case ast.Binary(op="!=", left=left, right=ast.IntLit(value=0)) if _is_truth(left):
                e = left
            case ast.Binary(op="==", left=left, right=ast.IntLit(value=0)) if _is_truth(left):
                e = ast.Unary(type=e.type, span=e.span, op="!", operand=left)
            case ast.Unary(op="!", operand=ast.Unary(op="!", operand=inner)):
                e = inner
            case ast.Unary(op="!", operand=ast.Binary(op=op) as inner) if op in COMPARISONS and not _of_floats(inner):
                e = replace(inner, op=NEGATED[op])
            case _:
                return e


def _is_truth(e: ast.Expr) -> bool:
    """It is 0 or 1."""
    return isinstance(e, ast.Logical) or (isinstance(e, ast.Unary) and e.op == "!") or _is_comparison(e)


def _is_comparison(e: ast.Expr) -> bool:
    return isinstance(e, ast.Binary) and e.op in COMPARISONS


def _of_floats(e: ast.Binary) -> bool:
    return "float" in (e.left.type.kind, e.right.type.kind)


def truths_of(e: ast.Expr) -> list[ast.Expr] | None:
    """The comparisons that a condition joins, in their order; None when something else, or a call, is among them."""
    out: list[ast.Expr] = []
    work = [e]
    while work:
        part = work.pop()
        match part:
            case ast.Binary(op="&" | "|"):
                work += [part.right, part.left]
            case ast.Binary(op=op) if op in COMPARISONS:
                out.append(part)
            case ast.Unary(op="!"):
                out.append(part)
            case _:
                return None
    if any(isinstance(x, ast.Call | ast.Opaque) for truth in out for x in within(truth)):
        return None  # a call may change what another comparison has read
    return out
