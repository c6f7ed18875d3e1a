"""Requests of operations that nothing completes, or that are given to another one before, as the text tells."""

from __future__ import annotations

from collections import Counter

from opi_xform.codes import Reason
from opi_xform.effects.model import BEGINS, Effects, MpiOp
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.span import Span
from opi_xform.ir.walk import following, repeats, statements, uncast, within, within_statement
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import function_expressions, spelling

NO_END = "is given to no call that completes it"
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Goto, ast.Label)
_LOOPS = (ast.For, ast.While, ast.DoWhile)


def never_completed(program: Program, use: Use) -> str:
    """What is said of a nonblocking call whose request, a variable, is given to calls that begin operations alone, or
    to one that comes right after; '' where that is not so.
    """
    request = request_of(use.call, use.op)
    if use.op.blocking or use.op.persistent or request is None:
        return ""
    variable = program.variables[request]
    if (variable.is_global and not program.complete) or not _its_own(program, use, variable):
        return ""
    if _unfinished(program)[request] >= 0:
        return f"; its request, `{variable.name}`, {NO_END}"
    key = program.graph.frames[program.graph.nodes[use.node].frame].function
    found = _given_anew(program.functions[key], program.effects, use.call, use.op)
    return "" if found is None else f"; {found[0]}"


def _its_own(program: Program, use: Use, variable: ast.Variable) -> bool:
    """The request is the variable, or in memory to which it points and that nothing else names when it is declared."""
    if variable.type.is_array or request_of(use.call, use.op, True) is not None:
        return True
    made = None if variable.init is None else uncast(variable.init)
    name = made.callee.name if isinstance(made, ast.Call) and isinstance(made.callee, ast.FuncRef) else ""
    effect = None if name in program.functions else program.effects.get(name)
    return variable.kind != "param" and effect is not None and effect.allocates is not None


def without_an_end(program: Program, use: Use, refusal: Refusal) -> Refusal:
    """What is told of a pending receive whose request is given to nothing but calls that begin operations."""
    found = never_completed(program, use)
    if use.side != "recv" or refusal.hint is not None or not found.endswith(NO_END):
        return refusal
    message = f"this receive is never complete: {found.removeprefix('; ')}"
    return Refusal(Reason.PENDING, message, ((use.call.span, "this receive is begun here"),), form=refusal.form)


@once
def _unfinished(program: Program) -> Counter[str]:
    """By variable: how often it begins an operation as its request, less how often it is named."""
    out = Counter[str]()
    for function in program.functions.values():
        for e in function_expressions(function):
            if isinstance(e, ast.VarRef):
                out[e.var] -= 1
            elif isinstance(e, ast.SizeOf) and e.operand is not None:
                out.update(inner.var for inner in within(e.operand) if isinstance(inner, ast.VarRef))
            elif isinstance(e, ast.Call) and (request := _begun(program.effects, e)) is not None:
                out[request] += 1
    return out


def given_anew(function: ast.Function, effects: Effects, call: ast.Call) -> Refusal | None:
    """Why a call stays whose request is another operation's before anything can have completed its own."""
    effect = effects.get(called_name(call))
    op = None if effect is None else effect.mpi
    found = None if op is None or op.blocking or op.persistent else _given_anew(function, effects, call, op)
    return None if found is None else Refusal(Reason.PENDING, found[0], ((found[1], "its request is given away here"),))


def _given_anew(function: ast.Function, effects: Effects, call: ast.Call, op: MpiOp) -> tuple[str, Span] | None:
    """What is said of a request that a statement after the call, to which each process comes next, gives to another
    one; or the next turn of a loop to this call, where no other statement in the loop names it.
    """
    request = request_of(call, op, True)
    around = {id(s): parent for s, parent in statements(function.body)}
    inside = (s for s, _ in statements(function.body) if not isinstance(s, ast.Block))
    here = [s for s in inside if any(e is call for e in within_statement(s, function.variables))]
    s: ast.Stmt | None = here[-1] if here and request is not None else None
    while s is not None and isinstance(parent := around.get(id(s)), (ast.Block, *_LOOPS)):
        for after in following(parent, s):
            mentions = [e for e in within_statement(after, function.variables) if _names(e, request)]
            begins = (e for e in within_statement(after, function.variables) if _begins_with(effects, e, request, True))
            given = next(begins, None)
            if given is not None and isinstance(after, ast.ExprStmt):
                name = f"`{spelling(mentions[0])}`"
                return (
                    f"{line_of(given.span)} gives its request, {name}, to another operation before it is complete",
                    given.span,
                )
            if mentions or any(isinstance(x, _LEAVES) for x, _ in statements(after)):
                return None
        if repeats(parent):
            mentions = [e for e in within_statement(parent, function.variables) if _names(e, request)]
            declared = {k for x, _ in statements(parent) if isinstance(x, ast.DeclStmt) for k in x.variables}
            if len(mentions) != 1 or request in declared:
                return None
            turn = f"the next turn of the loop in {line_of(parent.span)}"
            return f"{turn} gives its request, `{spelling(mentions[0])}`, to this call again", call.span
        s = parent
    return None


def _names(e: ast.Expr, variable: str | None) -> bool:
    return isinstance(e, ast.VarRef) and e.var == variable


def _begins_with(effects: Effects, e: ast.Expr, request: str | None, whole: bool = False) -> bool:
    """A call begins an operation that has a request."""
    return request is not None and isinstance(e, ast.Call) and _begun(effects, e, whole) == request


def _begun(effects: Effects, call: ast.Call, whole: bool = False) -> str | None:
    """The request of the operation that a call begins."""
    effect = effects.get(called_name(call))
    op = None if effect is None else effect.mpi
    return request_of(call, op, whole) if op is not None and op.kind in BEGINS else None


def request_of(call: ast.Call, op: MpiOp, whole: bool = False) -> str | None:
    """The variable whose address, or that of an element (whole: not of one), a call is given for its request; a pointer
    stands for the memory that it points to.
    """
    e = call.args[op.request] if op.request is not None and op.request < len(call.args) else None
    e = e.operand if isinstance(e, ast.AddrOf) else None
    e = e.base if isinstance(e, ast.Index) and not whole else e
    while isinstance(e, ast.Cast) and not whole:
        e = e.operand
    return e.var if isinstance(e, ast.VarRef) else None
