"""Messages in functions that are given the place where they begin: ``transfer(&in[s], n, peer)``.

The place is an argument of a call then, and so is the number of elements, by itself or in a struct that is set up for
the call (``struct envelope with = { n, peer }; transfer(&in[s], &with);``).  The parameter is named once, by the
message: nothing else is done with the address.  The passage is the caller's.  That the message has so many elements,
the proof tells.
"""

from __future__ import annotations

from opi_xform.divide.mentions import mentions_of
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.record import dataclass

DEEPEST = 4  # functions from the message to the call that names the place


@dataclass(frozen=True, slots=True)
class Named:
    """Where a message's buffer is named: in the call ``call``, of node ``node``, by its message or on its behalf.

    ref: the variable; start: the element; address: the argument without casts; count: as it is written there.
    through: the functions that stand between, with the message's own, of which none is the caller.
    """

    node: int
    call: ast.Call
    ref: ast.VarRef
    start: ast.Expr
    address: ast.Expr
    count: ast.Expr
    through: tuple[str, ...] = ()


def place_of(program: Program, use: Use) -> Named | None:
    """None where the message begins in another way, or what is given is not followed."""
    graph = program.graph
    if use.buffer.count is None:
        return None
    at, call, through = use.node, use.call, list[str]()
    e, count = call.args[use.argument], call.args[use.buffer.count]
    while True:
        begun = begins(e)
        if begun is not None:
            return Named(at, call, *begun, count, tuple(through))
        frame = graph.frames[graph.nodes[at].frame]
        body = program.functions[frame.function]
        given = uncast(e.operand if isinstance(e, ast.Cast) and e.type.is_pointer else e)
        if len(through) == DEEPEST or not use.op.blocking or frame.call < 0 or not isinstance(given, ast.VarRef):
            return None
        action = graph.nodes[frame.call].action
        if given.var not in body.params or not isinstance(action, ins.CallInstr):
            return None
        if len(action.call.args) != len(body.params) or len(mentions_of(program).of(given.var)) != 1:
            return None
        number = uncast(count)
        if isinstance(number, ast.Member):
            said = _in_struct(program, body, action.call, number)
            if said is None:
                return None
            count = said
        elif isinstance(number, ast.VarRef):
            if number.var not in body.params or _set(program, number.var):
                return None
            count = action.call.args[body.params.index(number.var)]
        elif not isinstance(number, ast.IntLit):
            return None
        through.append(frame.function)
        at, call = frame.call, action.call
        e = call.args[body.params.index(given.var)]


def _in_struct(program: Program, body: ast.Function, call: ast.Call, number: ast.Member) -> ast.Expr | None:
    """What a member is declared with of a local struct whose address a call is given, and which nobody else names."""
    given = uncast(number.base.operand) if isinstance(number.base, ast.Deref) else None
    if not isinstance(given, ast.VarRef) or given.var not in body.params or _set(program, given.var):
        return None
    address = uncast(call.args[body.params.index(given.var)])
    struct = address.operand if isinstance(address, ast.AddrOf) else None
    if not isinstance(struct, ast.VarRef) or len(mentions_of(program).of(struct.var)) != 1:
        return None
    variable = program.variables[struct.var]
    if variable.kind != "local" or not isinstance(variable.init, ast.InitList):
        return None
    pairs = zip(variable.init.items, variable.init.offsets, strict=True)
    return next((e for e, offset in pairs if offset == number.offset and e.span.editable), None)


def begins(e: ast.Expr) -> tuple[ast.VarRef, ast.Expr, ast.Expr] | None:
    """The variable in a message's address, the element that it begins with, and the address without casts."""
    while isinstance(e, ast.Cast):
        e = e.operand
    if isinstance(e, ast.AddrOf) and isinstance(e.operand, ast.Index):
        base, start = e.operand.base, e.operand.index
    elif isinstance(e, ast.Binary) and e.op == "+" and e.type.is_pointer:
        base, start = (e.left, e.right) if _address(e.left) else (e.right, e.left)
    else:
        return None
    ref = uncast(base)
    return (ref, start, e) if isinstance(ref, ast.VarRef) and e.span.editable else None


def _address(e: ast.Expr) -> bool:
    return e.type.is_pointer or e.type.is_array


def uncast(e: ast.Expr) -> ast.Expr:
    """Without conversions that nobody wrote."""
    while isinstance(e, ast.Cast) and not e.explicit:
        e = e.operand
    return e


def _set(program: Program, key: str) -> bool:
    """A function sets a parameter, or takes its address."""
    for m in mentions_of(program).of(key):
        above = m.parents[0] if m.parents else None
        target = above.target if isinstance(above, ast.Assign) else None
        if m.kind == "set" or target is m.ref or isinstance(above, (ast.AddrOf, ast.IncDec, ast.Opaque)):
            return True
    return False
