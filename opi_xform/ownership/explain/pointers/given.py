"""Calls whose buffer is a parameter, in a program that is too large to be looked at: what callers of the function name.

``void pass(double *b, int n) { MPI_Send(b, …); }`` with ``pass(x, 5)`` and ``pass(y, 5)``: a person names these two.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.calls import Callers
from opi_xform.ir.span import Span
from opi_xform.ir.walk import within_statement
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.roots import leftmost

LEVELS = 4  # of functions that hand a parameter on


def several_given(function: ast.Function, argument: ast.Expr, callers: Callers) -> Refusal | None:
    """Why a call stays whose buffer may be one of several that callers name; None where nobody names two.

    argument: of the message's call, in ``function``.
    """
    for _ in range(LEVELS):
        parameter = _parameter(function, argument)
        if parameter is None:
            return None
        at = function.params.index(parameter)
        given = [(caller, call, call.args[at]) for caller, call in callers.get(function.key, ()) if at < len(call.args)]
        names: dict[str, tuple[str, Span]] = {}
        for _, call, e in given:
            root, name = leftmost(e), spelling(leftmost(e))
            key = root.var if isinstance(root, ast.VarRef) else name
            if name != UNSPELLED:
                names.setdefault(key, (name, call.span))
        if len(names) > 1:
            variable, ((one, first), (other, second)) = function.variables[parameter].name, list(names.values())[:2]
            apart = f"with `{one}` at {line_of(first)} and with `{other}` at {line_of(second)}"
            message = f"`{variable}` may be one of several buffers: `{function.name}` is called {apart}"
            return Refusal(
                Reason.SEVERAL_BUFFERS,
                message,
                ((first, f"`{one}` is given here"), (second, f"`{other}` is given here")),
            )
        if len(given) != 1:
            return None
        function, _, argument = given[0]
    return None


def _parameter(function: ast.Function, argument: ast.Expr) -> str | None:
    """The parameter that an argument goes out from, if the function leaves it as it was given."""
    root = leftmost(argument)
    if not isinstance(root, ast.VarRef) or root.var not in function.params:
        return None
    for e in within_statement(function.body, function.variables):
        place = (
            e.target if isinstance(e, ast.Assign) else e.operand if isinstance(e, (ast.IncDec, ast.AddrOf)) else None
        )
        if isinstance(place, ast.VarRef) and place.var == root.var:
            return None
    return root.var
