"""Loops that are written with their test at the end: ``if (c) do B while (c);`` is ``while (c) B``."""

from __future__ import annotations

from opi_xform.ir import ast
from opi_xform.ir.walk import children


def turned_loop(s: ast.Stmt) -> ast.While | None:
    """The loop that such an ``if`` is, both of whose tests say the same of plain numbers; None: it is no such loop.

    The inner statement is no place of its own: what is put before it would be done once, and not for each turn.
    """
    if not isinstance(s, ast.If) or s.other is not None:
        return None
    inner = s.then
    while isinstance(inner, ast.Block) and len(inner.body) == 1:
        inner = inner.body[0]
    if not isinstance(inner, ast.DoWhile) or not _alike(s.cond, inner.cond):
        return None
    return ast.While(s.span, s.cond, inner.body)


def _alike(left: ast.Expr, right: ast.Expr) -> bool:
    """Two expressions with the same operators on the same numbers, which nothing is done by."""
    work = [(left, right)]
    while work:
        a, b = work.pop()
        if a.type != b.type or a.type.kind != "int" or a.type.volatile or a.type.atomic:
            return False
        match a, b:
            case ast.IntLit(value=x, name=m), ast.IntLit(value=y, name=n) if (x, m) == (y, n):
                continue
            case ast.VarRef(var=x), ast.VarRef(var=y) if x == y:
                continue
            case ast.Binary(op=x), ast.Binary(op=y) if x == y:
                pass
            case ast.Logical(op=x), ast.Logical(op=y) if x == y:
                pass
            case ast.Unary(op=x), ast.Unary(op=y) if x == y:
                pass
            case ast.Cast(), ast.Cast():
                pass
            case _:
                return False
        work += zip(children(a), children(b), strict=True)
    return True
