"""Pairs of variables that change places, as the program's text has it: ``t = a; a = b; b = t;``.

``swaps.py`` finds those that the graph can do without.  These here are all others, too: tables of rows, say.  Nothing
that converts rests on this: it is for reasons that are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import parts, statements, uncast
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import spelling
from opi_xform.ownership.model.roots import STORED, base_of, roots_of

Move = tuple[str, str, Span]  # the variable that is set, the one that it is set from, where
Trades = Mapping[str, tuple[str, Span]]


@once
def trades_of(program: Program) -> Trades:
    """By each variable that changes places with one other: that one, and where the first of both is set."""
    found: dict[str, dict[str, Span]] = {}
    for function in program.functions.values():
        for s, _ in statements(function.body):
            moves = [_move(inner, function.variables) for inner in parts(s)]
            for kept, first, second in zip(moves, moves[1:], moves[2:], strict=False):
                if kept is None or first is None or second is None:
                    continue
                (t, a, _), (to, b, span), last = kept, first, second
                if to == a and last[:2] == (b, t) and a != b:
                    found.setdefault(a, {}).setdefault(b, span)
                    found.setdefault(b, {}).setdefault(a, span)
    return {key: next(iter(others.items())) for key, others in found.items() if len(others) == 1}


def row_of_either(program: Program, e: ast.Expr, frame: int) -> tuple[str, tuple[tuple[Span, str], ...]] | None:
    """What is said of a row of a table that changes places with another one.  e: the row, as written."""
    if not isinstance(e, (ast.Index, ast.Deref)):
        return None
    rows = e.base if isinstance(e, ast.Index) else e.operand
    found = roots_of(program).of(rows, frame)
    traded = None if found is None or found.root[0] == STORED else trades_of(program).get(found.root[1])
    if found is None or traded is None:
        return None
    name, table = spelling(e), spelling(base_of(rows))
    mine, other, span = program.variables[found.root[1]].name, program.variables[traded[0]].name, traded[1]
    passed = "" if mine == table else f", which is passed as `{table}`,"
    message = f"`{mine}`{passed} changes places with `{other}` at {line_of(span)}"
    return f"{message}, so `{name}` may be a row of either table", ((span, "here"),)


def _move(s: ast.Stmt, variables: Mapping[str, ast.Variable]) -> Move | None:
    """A statement that sets one pointer from another variable, and does nothing else."""
    for target, value in _settings(s, variables):
        source = uncast(value)
        if isinstance(source, ast.VarRef) and source.type.is_pointer:
            return target, source.var, s.span
    return None


def _settings(s: ast.Stmt, variables: Mapping[str, ast.Variable]) -> Iterator[tuple[str, ast.Expr]]:
    match s:
        case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=key), value=value)):
            yield key, value
        case ast.DeclStmt(variables=(key,)) if key in variables and (init := variables[key].init) is not None:
            yield key, init
