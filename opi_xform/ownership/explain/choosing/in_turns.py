"""A receive that each turn of a loop begins into the same memory, and a pointer that each turn sets, as the text tells.

``for (j = 0; j < window; j++) MPI_Irecv(b, …, &q[j]);``: whatever ``b`` points to, each message would need a buffer of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.codes import Reason
from opi_xform.effects.model import BEGINS, Effects
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.walk import repeats, statements, within_statement
from opi_xform.ownership.explain.choosing.text_names import words_of
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.roots import base_of, variables_in


def begun_in_each_turn(
    functions: Mapping[str, ast.Function], effects: Effects, key: str, call: ast.Call, e: ast.Expr
) -> Refusal | None:
    """Why a nonblocking receive stays which the innermost loop around it repeats and completes none of; None elsewhere.

    e: the argument that names the message, none of whose variables the loop changes.
    """
    function, name = functions[key], spelling(base_of(e))
    around = []
    for loop, _ in statements(function.body):
        if repeats(loop):
            inside = list(within_statement(loop, function.variables))
            if any(x is call for x in inside):
                around.append((loop, inside))
    if not around or UNSPELLED in name:
        return None
    loop, inside = around[-1]
    for x in inside:
        if isinstance(x, ast.Call):
            known = effects.get(called_name(x))
            op = None if known is None else known.mpi
            if op is None or op.completes is not None or op.kind not in BEGINS or op.blocking:
                return None
        elif isinstance(x, (ast.Assign, ast.IncDec)):
            place = x.target if isinstance(x, ast.Assign) else x.operand
            if set(variables_in(place)) & set(variables_in(e)):
                return None
    message = (
        f"each turn of the loop in {line_of(loop.span)} begins a receive into `{name}`, and none in it is completed"
    )
    return Refusal(Reason.PENDING, message, ((call.span, "this may be open in several turns at once"),))


def set_in_turn(function: ast.Function, call: ast.Call, e: ast.Expr) -> Refusal | None:
    """The pointer that a call names is another one in each turn of a loop: ``p = p->next``, ``p = q``, ``p += n``."""
    words = words_of(e)
    for loop, _ in statements(function.body):
        if words is None or not repeats(loop):
            continue
        inside = list(within_statement(loop, function.variables))
        for x in inside if any(x is call for x in inside) else ():
            match x:
                case ast.Assign(target=ast.VarRef(var=key) as place, value=value) if key in words[1]:
                    known = isinstance(value, (ast.VarRef, ast.Member, ast.Index)) or bool(x.op)
                case ast.IncDec(operand=ast.VarRef(var=key) as place) if key in words[1]:
                    known = True
                case _:
                    continue
            if known and place.type.is_pointer:
                message = f"`{words[0]}` may be one of several buffers, or places in one: {line_of(x.span)} sets"
                message += f" `{spelling(place)}` in the loop in {line_of(loop.span)}"
                return Refusal(Reason.SEVERAL_BUFFERS, message, ((x.span, "set here"),))
    return None
