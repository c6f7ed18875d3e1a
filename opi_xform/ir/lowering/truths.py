"""Conditions joined by ``&`` and ``|``: where each is 0 or 1 it is as with ``&&`` and ``||``, but all are evaluated."""

from __future__ import annotations

from opi_xform.ir import ast
from opi_xform.ir.walk import within

COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})


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
