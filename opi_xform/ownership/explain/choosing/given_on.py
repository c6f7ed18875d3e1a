"""Where the function around a call gives the message's memory to others, as its text tells: to a function that nobody
names, or to a struct in which other functions find it.

It is told of a program that is too large to be looked at: either would keep the call in a smaller one, too.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import within_statement
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling


def given_on(function: ast.Function, call: ast.Call, e: ast.Expr) -> Refusal | None:
    """Why a call stays whose memory goes on from its function.  e: the argument, a variable of the function."""
    e = _bare(e)
    variable = function.variables.get(e.var) if isinstance(e, ast.VarRef) else None
    if not isinstance(e, ast.VarRef) or variable is None or not variable.type.is_pointer:
        return None
    name, at = variable.name, call.span.begin
    found: list[tuple[bool, Span, str, str]] = []
    for x in within_statement(function.body, function.variables):
        match x:
            case ast.Call(callee=callee, args=args) if not isinstance(callee, ast.FuncRef):
                if spelling(callee) != UNSPELLED and any(_is(given, e.var) for given in args):
                    what = f"`{name}` is given to what `{spelling(callee)}` points to at {line_of(x.span)}"
                    which = f"{what}, and could not show which function that is"
                    found.append((x.span.begin < at, x.span, which, "it is given to it here"))
            case ast.Assign(op="", target=ast.Member() as place, value=value) if _is(value, e.var):
                if spelling(place) != UNSPELLED:
                    what = (
                        f"{line_of(x.span)} keeps `{name}` in `{spelling(place)}`, and what other functions do with it"
                    )
                    why = "was not looked for: the program is beyond the analysis' budget"
                    found.append((x.span.begin < at, x.span, f"{what} {why}", "it is kept here"))
            case _:
                pass
    found.sort(key=lambda one: (one[0], abs(one[1].begin - at)))
    return next((Refusal(Reason.ESCAPE, words, ((span, note),)) for _, span, words, note in found), None)


def _is(e: ast.Expr, key: str) -> bool:
    e = _bare(e)
    return isinstance(e, ast.VarRef) and e.var == key


def _bare(e: ast.Expr) -> ast.Expr:
    while isinstance(e, ast.Cast):
        e = e.operand
    return e
