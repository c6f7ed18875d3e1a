"""A send that the next turn of its loop makes once more, as the text of its function tells: nothing else in the loop
names the memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.walk import repeats, statements, within, within_statement
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.roots import base_of, variables_in


def sent_in_turn(function: ast.Function, call: ast.Call, e: ast.Expr) -> Refusal | None:
    """Why a send in a loop stays: ``for (i = 1; i < p; i++) MPI_Send(b, n, …, i, …);``.  e: the argument that names it.

    None where the loop may be left after the call, or another statement in it has to do with the memory or its place.
    """
    name, used = spelling(base_of(e)), set(variables_in(e))
    base = set(variables_in(base_of(e)))
    if name == UNSPELLED or not base:
        return None
    around = {id(s): parent for s, parent in statements(function.body)}
    s: ast.Stmt | None = next((s for s in _inner(function, call)), None)
    tests: list[ast.Expr] = []
    heads: list[ast.For] = []  # of loops in which the place of the message moves, from its start on in each turn
    mine = {id(x) for argument in call.args for x in within(argument)}
    while s is not None:
        parent = around.get(id(s))
        if repeats(s):
            if any(isinstance(x, (ast.Break, ast.Return, ast.Goto, ast.Label)) for x, _ in statements(s.body)):
                return None
            if any(not isinstance(test, ast.Binary) or test.op != "!=" for test in tests):  # perhaps in one turn alone
                return None
            every = list(within_statement(s, function.variables))
            if any(isinstance(x, ast.VarRef) and x.var in base and id(x) not in mine for x in every):
                return None
            own = {id(x) for head in heads for x in _of_head(head)}
            moved = _set_in(every, own) & used
            declared = {key for x, _ in statements(s.body) if isinstance(x, ast.DeclStmt) for key in x.variables}
            begun = {key for head in heads for key in _begun(head, function.variables)}
            if not moved and used.isdisjoint(declared - begun):
                break
            if not isinstance(s, ast.For) or not used.isdisjoint(declared - begun):
                return None
            if not moved <= _begun(s, function.variables) or _set_in(every, own | {id(x) for x in _of_head(s)}) & used:
                return None
            heads.append(s)
        elif isinstance(parent, ast.Switch):
            return None
        tests += [parent.cond] if isinstance(parent, ast.If) else []
        s = parent
    if s is None:
        return None
    message = f"the message lies in `{name}`, and this call sends it again in the next turn of the loop in"
    message += f" {line_of(s.span)}, in which nothing is written to it"
    return Refusal(Reason.OLD_BYTES, message, ((call.span, f"`{name}` is sent again here"),))


def _set_in(every: Iterable[ast.Expr], but: Collection[int]) -> set[str]:
    """Variables that some expressions set, or may."""
    out: set[str] = set()
    for x in every:
        match x:
            case ast.Assign(target=ast.VarRef(var=key)) | ast.IncDec(operand=ast.VarRef(var=key)) if id(x) not in but:
                out.add(key)
            case ast.AddrOf(operand=ast.VarRef(var=key)):
                out.add(key)
            case _:
                pass
    return out


def _of_head(loop: ast.For) -> list[ast.Expr]:
    """What a loop does at its start and between its turns, comparisons aside."""
    first = [loop.init.expr] if isinstance(loop.init, ast.ExprStmt) else []
    return [x for e in (*first, loop.step) if e is not None for x in within(e)]


def _begun(loop: ast.For, variables: Mapping[str, ast.Variable]) -> set[str]:
    """Variables that a loop sets to a number at its start."""
    match loop.init:
        case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=key), value=ast.IntLit())):
            return {key}
        case ast.DeclStmt(variables=keys):
            return {key for key in keys if isinstance(variables[key].init, ast.IntLit)}
        case _:
            return set()


def _inner(function: ast.Function, call: ast.Call) -> list[ast.Stmt]:
    """The statements around a call, the innermost first."""
    found = (s for s, _ in statements(function.body))
    return [s for s in found if any(x is call for x in within_statement(s, function.variables))][::-1]
