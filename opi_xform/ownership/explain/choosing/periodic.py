"""Sources that ``MPI_Cart_shift`` gives where the text makes every topology periodic: none is MPI_PROC_NULL then.

The analysis follows no contents of ``periods``.  Which sites convert does not depend on it: where something else keeps
such a receive as well, a person names that.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ownership.model.buffers import Program, Refusal
from opi_xform.ownership.model.lvalues import function_expressions

SHIFT, CREATE, PERIODS = "MPI_Cart_shift", "MPI_Cart_create", 3


def never_null(program: Program, refusal: Refusal) -> bool:
    """A receive stays for a source that ``MPI_Cart_shift`` gives, and every dimension is periodic by the text."""
    if refusal.reason is not Reason.NULL_SOURCE or f"`{SHIFT}`" not in refusal.message:
        return False
    every = [e for function in program.functions.values() for e in function_expressions(function)]
    made = [e for e in every if isinstance(e, ast.Call) and called_name(e) == CREATE and len(e.args) > PERIODS]
    return bool(made) and all(_periodic(program, every, e.args[PERIODS]) for e in made)


def _periodic(program: Program, every: list[ast.Expr], periods: ast.Expr) -> bool:
    """All that an array is set to are numbers other than 0, and no call but that of the topology gets it."""
    place = _plain(periods)
    if not isinstance(place, ast.VarRef):
        return False
    key, values = place.var, list[ast.Expr]()
    for e in every:
        match e:
            case ast.Assign(target=ast.Index(base=base), value=value) if _is(base, key):
                values.append(value if not e.op else e)
            case ast.Call(args=args) if any(_is(a, key) for a in args) and called_name(e) != CREATE:
                return False
    variable = program.variables[key]
    if isinstance(variable.init, ast.InitList):
        if len(variable.init.items) != variable.type.count:  # the rest is 0
            return False
        values += variable.init.items
    return bool(values) and all(isinstance(n := _plain(v), ast.IntLit) and n.value != 0 for v in values)


def _is(e: ast.Expr, key: str) -> bool:
    return isinstance(e := _plain(e), ast.VarRef) and e.var == key


def _plain(e: ast.Expr) -> ast.Expr:
    while isinstance(e, (ast.Cast, ast.AddrOf)):
        e = e.operand
    return e
