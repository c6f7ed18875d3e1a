"""Conditions joined by ``&`` and ``|``: where each is 0 or 1 it is as with ``&&`` and ``||``, but all are evaluated."""

from __future__ import annotations

from opi_xform.ir import ast

COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})


def truths_of(e: ast.Expr) -> list[ast.Expr] | None:
    """The comparisons that a condition joins, in their order; None when something else is among them."""
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
    return out
