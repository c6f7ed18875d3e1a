"""A send that the next turn of its loop makes once more, as the text of its function tells: nothing else in the loop
names the memory.
"""

from __future__ import annotations

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
    while s is not None and not repeats(s):
        parent = around.get(id(s))
        if isinstance(parent, ast.Switch):
            return None
        tests += [parent.cond] if isinstance(parent, ast.If) else []
        s = parent
    if not repeats(s) or any(
        isinstance(x, (ast.Break, ast.Return, ast.Goto, ast.Label)) for x, _ in statements(s.body)
    ):
        return None
    if any(not isinstance(test, ast.Binary) or test.op != "!=" for test in tests):  # it may be made in one turn alone
        return None
    declared = {key for x, _ in statements(s.body) if isinstance(x, ast.DeclStmt) for key in x.variables}
    mine = {id(x) for argument in call.args for x in within(argument)}
    for x in within_statement(s, function.variables):
        if isinstance(x, ast.VarRef) and x.var in base and id(x) not in mine:
            return None
        target = (
            x.target if isinstance(x, ast.Assign) else x.operand if isinstance(x, (ast.IncDec, ast.AddrOf)) else None
        )
        if isinstance(target, ast.VarRef) and target.var in used:
            return None
    if not used.isdisjoint(declared):
        return None
    message = f"the message lies in `{name}`, and this call sends it again in the next turn of the loop in"
    message += f" {line_of(s.span)}, in which nothing is written to it"
    return Refusal(Reason.OLD_BYTES, message, ((call.span, f"`{name}` is sent again here"),))


def _inner(function: ast.Function, call: ast.Call) -> list[ast.Stmt]:
    """The statements around a call, the innermost first."""
    found = (s for s, _ in statements(function.body))
    return [s for s in found if any(x is call for x in within_statement(s, function.variables))][::-1]
