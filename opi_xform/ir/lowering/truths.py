"""Conditions.  Joined by ``&`` and ``|``, each 0 or 1, they are as with ``&&`` and ``||``, but all are evaluated.

One that is negated, or compared with 0, is a comparison again: ``!(a == b)`` and ``(a == b) == 0`` are ``a != b``.
"""

from __future__ import annotations

from dataclasses import replace

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import COMPARISONS, NEGATED
from opi_xform.ir.operands import zero_constant
from opi_xform.ir.walk import uncast, within


def negated(operand: ins.Operand) -> ins.Op | None:
    """What is 1 where a comparison is 0; None: the operand is no comparison (floating ones are none: NaN)."""
    if not isinstance(operand, ins.Op) or operand.op not in COMPARISONS:
        return None
    return ins.Op(NEGATED[operand.op], operand.args, operand.type, operand.unsigned)


def compared_with_zero(op: str, left: ins.Operand, right: ins.Operand) -> ins.Op | None:
    """A comparison that is compared with 0: itself, or what it is not."""
    if not isinstance(left, ins.Op) or left.op not in COMPARISONS or not zero_constant(right):
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


def as_choice(e: ast.Expr) -> ast.Expr:
    """A test of a pointer against NULL that is kept as a number, as a choice: ``p == NULL ? 1 : 0``.

    What was found is known afterwards by the way that was taken, as it is where the test stands in an ``if``.
    """
    inner = e
    while isinstance(inner, ast.Cast) and inner.type.kind == "int" and inner.operand.type.kind == "int":
        inner = inner.operand
    test = plainer(inner)
    match test:
        case ast.Unary(op="!", operand=operand) if operand.type.is_pointer:
            pass
        case ast.Binary(op="==" | "!=", left=left, right=right) if is_null(left) != is_null(right):
            if not (right if is_null(left) else left).type.is_pointer:
                return e
        case _:
            return e
    yes, no = (ast.IntLit(type=test.type, span=test.span, value=value) for value in (1, 0))
    return ast.Conditional(type=e.type, span=e.span, cond=test, then=yes, other=no)


def is_null(e: ast.Expr) -> bool:
    e = uncast(e)
    return isinstance(e, ast.IntLit) and e.value == 0


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
