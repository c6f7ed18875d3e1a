"""Rows that loops tell apart: ``for (j = n; …) send(a[j]);`` and ``for (i = 0; i < n; …) … a[i]``."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements
from opi_xform.ownership.model.lvalues import in_same_words
from opi_xform.ownership.model.roots import read_from_memory


def rows_below(function: ast.Function, sent: ast.Expr, place: ast.Expr) -> bool:
    """The loop that counts the row of a place ends where that of a sent row begins, as the text says."""
    begins = [begin for loop, key in _loops(function, sent) if (begin := _begin(function, loop, key)) is not None]
    ends = [end for loop, key in _loops(function, place) if (end := _end(loop.cond, key)) is not None]
    return any(in_same_words(begin, end) for begin in begins for end in ends)


def _loops(function: ast.Function, e: ast.Expr) -> Iterator[tuple[ast.For, str]]:
    """The loops around an expression that count the row which it names, with the variable."""
    row = read_from_memory(e)
    index = row.index if isinstance(row, ast.Index) else None
    if not isinstance(index, ast.VarRef):
        return
    for s, _ in statements(function.body):
        if isinstance(s, ast.For) and _inside(s.span, e.span) and _counts(s, index.var):
            yield s, index.var


def _inside(loop: Span, here: Span) -> bool:
    return loop.file == here.file and loop.begin <= here.begin < here.end <= loop.end


def _counts(loop: ast.For, key: str) -> bool:
    match loop.step:
        case ast.IncDec(op="++", operand=ast.VarRef(var=counted)):
            return counted == key
        case _:
            return False


def _begin(function: ast.Function, loop: ast.For, key: str) -> ast.Expr | None:
    """What a loop sets its variable to before its first turn."""
    match loop.init:
        case ast.DeclStmt(variables=keys) if key in keys:
            return function.variables[key].init
        case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=counted), value=value)) if counted == key:
            return value
        case _:
            return None


def _end(cond: ast.Expr | None, key: str) -> ast.Expr | None:
    """What a loop's variable stays below."""
    match cond:
        case ast.Binary(op="<", left=ast.VarRef(var=counted), right=end) if counted == key:
            return end
        case _:
            return None
