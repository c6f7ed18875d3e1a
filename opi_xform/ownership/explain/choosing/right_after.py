"""What the text around a call does with its memory: it frees that while the operation may be pending, gives it to what
a pointer to a function names, puts the pointer away under another name, or goes on with a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.codes import Reason
from opi_xform.effects.model import MpiOp
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.walk import following, repeats, statements, uncast, within_statement
from opi_xform.ownership.explain.choosing.requests_told import request_of
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.roots import base_of, is_moved, variables_in


def freed_while_pending(program: Program, use: Use) -> Refusal | None:
    """A statement after a nonblocking call frees its memory by the call's words; nothing before it can complete that.

    The request is a variable that the statements between do not name.  They call nothing that completes operations; and
    functions of the program only where nobody else knows the request.
    """
    request, name = request_of(use.call, use.op), _words(use)
    if use.op.blocking or use.op.persistent or request is None or name == UNSPELLED:
        return None
    function = _around(program, use)
    hidden = request in function.variables and not _known_elsewhere(program, function, request)
    for s in _after(function, use.call):
        if _changes(s, function, set(variables_in(use.call.args[use.argument]))):
            return None
        for e in within_statement(s, function.variables):
            if isinstance(e, ast.VarRef) and e.var == request:
                return None
            if isinstance(s, ast.ExprStmt) and _frees(program, e, name):
                message = f"{line_of(e.span)} frees `{name}`, and nothing before that completes the operation"
                return Refusal(Reason.PENDING, message, ((e.span, "freed here"),))
            if isinstance(e, ast.Call) and (_completes(program, e) or not (hidden or _of_library(program, e))):
                return None
        if any(isinstance(x, (ast.Break, ast.Continue, ast.Return, ast.Goto)) for x, _ in statements(s)):
            return None
    return None


def _known_elsewhere(program: Program, function: ast.Function, request: str) -> bool:
    """A request of a function is named for more than the calls of the MPI: its address may be kept."""
    every = list(within_statement(function.body, function.variables))
    given = (a for e in every if isinstance(e, ast.Call) and _effect(program, e) is not None for a in e.args)
    named = sum(isinstance(e, ast.VarRef) and e.var == request for e in every)
    return function.variables[request].is_global or named != sum(v == request for a in given for v in variables_in(a))


def _completes(program: Program, call: ast.Call) -> bool:
    op = _effect(program, call)
    return op is not None and op.completes is not None


def _of_library(program: Program, call: ast.Call) -> bool:
    """The function that is called is none of the program's, which might complete an operation."""
    return called_name(call) in program.effects


def _effect(program: Program, call: ast.Call) -> MpiOp | None:
    effect = program.effects.get(called_name(call))
    return None if effect is None else effect.mpi


def given_to_a_pointer(program: Program, use: Use) -> Refusal | None:
    """The statements after a send give its memory, by the call's words, to a function that nobody names."""
    name, function = _words(use), _around(program, use)
    if use.side != "send" or name == UNSPELLED:
        return None
    for s in _after(function, use.call):
        if _changes(s, function, set(variables_in(use.call.args[use.argument]))):
            return None
        for e in within_statement(s, function.variables):
            if isinstance(e, ast.Call) and not isinstance(e.callee, ast.FuncRef) and _is_given(e, name):
                called = spelling(e.callee)
                message = f"`{name}` may be read at {line_of(e.span)} after the send: it is given to what"
                message += " a pointer names" if called == UNSPELLED else f" `{called}` points to"
                note = ((e.span, "given to it here"),)
                return Refusal(Reason.READ_LATER, f"{message}, and could not show which function that is", note)
    return None


def put_away(program: Program, use: Use) -> Refusal | None:
    """A statement after a call stores its pointer, a variable of the function, in memory; or a function that it calls
    does so with its parameter.
    """
    e, function = uncast(use.call.args[use.argument]), _around(program, use)
    if not isinstance(e, ast.VarRef) or e.var not in function.variables or not e.type.is_pointer:
        return None
    name = function.variables[e.var].name
    for s in _after(function, use.call):
        if _changes(s, function, {e.var}):
            return None
        if isinstance(s, ast.If):
            continue  # which ranks come there is not asked
        for x in within_statement(s, function.variables):
            if (place := _stored(x, e.var)) is not None:
                words = f"{line_of(x.span)} keeps `{name}` in `{spelling(place)}`, by which others may find it"
                return Refusal(Reason.ESCAPE, words, ((x.span, "it is kept here"),))
            callee = x.callee if isinstance(x, ast.Call) else None
            called = program.functions.get(callee.name) if isinstance(callee, ast.FuncRef) else None
            if not isinstance(x, ast.Call) or called is None:
                continue
            for param in (p for p, a in zip(called.params, x.args, strict=False) if _is(a, e.var)):
                for inner in within_statement(called.body, called.variables):
                    if (place := _stored(inner, param)) is not None:
                        words = f"`{called.name}`, called at {line_of(x.span)}, may keep `{name}` in"
                        words += f" `{spelling(place)}`, by which others may find it"
                        notes = ((x.span, "it is given here"), (inner.span, "it is kept here"))
                        return Refusal(Reason.ESCAPE, words, notes)
    return None


def part_of_its_own(program: Program, use: Use) -> Refusal | None:
    """The function of a call is given a block, and calls itself for a part of that: it may be one already."""
    e, function = uncast(use.call.args[use.argument]), _around(program, use)
    if not isinstance(e, ast.VarRef) or e.var not in function.params:
        return None
    index, name = function.params.index(e.var), function.variables[e.var].name
    for x in within_statement(function.body, function.variables):
        if not isinstance(x, ast.Call) or not isinstance(x.callee, ast.FuncRef) or x.callee.name != function.key:
            continue
        given = x.args[index] if index < len(x.args) else None
        base = None if given is None or not is_moved(given) else base_of(given)
        if isinstance(base, ast.VarRef) and base.var == e.var:
            message = (
                f"`{function.name}` calls itself at {line_of(x.span)} for a part of `{name}`, which may be a part of"
            )
            message += " another block itself; a message needs a buffer of its own"
            return Refusal(Reason.CARRIER, message, ((x.span, "called for a part here"),))
    return None


def _around(program: Program, use: Use) -> ast.Function:
    return program.functions[program.graph.frames[program.graph.nodes[use.node].frame].function]


def _words(use: Use) -> str:
    return spelling(uncast(use.call.args[use.argument]))


def _after(function: ast.Function, call: ast.Call) -> Iterator[ast.Stmt]:
    """The statements after a call in the blocks around it, as far as the loop around it goes."""
    around = {id(s): parent for s, parent in statements(function.body)}
    every = (s for s, _ in statements(function.body) if not isinstance(s, ast.Block))
    here = [s for s in every if any(e is call for e in within_statement(s, function.variables))]
    s: ast.Stmt | None = here[-1] if here else None
    while s is not None and (parent := around.get(id(s))) is not None and not isinstance(parent, ast.Switch):
        yield from following(parent, s)
        if repeats(parent):
            return
        s = parent


def _changes(s: ast.Stmt, function: ast.Function, variables: set[str]) -> bool:
    """A statement sets one of these variables, or may."""
    for e in within_statement(s, function.variables):
        match e:
            case ast.Assign(target=ast.VarRef(var=key)) | ast.IncDec(operand=ast.VarRef(var=key)) if key in variables:
                return True
            case ast.AddrOf(operand=ast.VarRef(var=key)) if key in variables:
                return True
            case _:
                pass
    return False


def _frees(program: Program, e: ast.Expr, name: str) -> bool:
    """A call of free, or of its like, with these words."""
    effect = (
        program.effects.get(e.callee.name) if isinstance(e, ast.Call) and isinstance(e.callee, ast.FuncRef) else None
    )
    if not isinstance(e, ast.Call) or effect is None or effect.frees is None or effect.allocates is not None:
        return False
    return effect.frees.arg < len(e.args) and spelling(uncast(e.args[effect.frees.arg])) == name


def _is_given(call: ast.Call, name: str) -> bool:
    return any(spelling(uncast(a)) == name for a in call.args if a.type.is_pointer)


def _is(e: ast.Expr, key: str) -> bool:
    e = uncast(e)
    return isinstance(e, ast.VarRef) and e.var == key


def _stored(e: ast.Expr, key: str) -> ast.Expr | None:
    """The place in memory in which an assignment puts the value of a pointer variable."""
    if isinstance(e, ast.Assign) and not e.op and _is(e.value, key):
        put = isinstance(e.target, (ast.Member, ast.Index, ast.Deref)) and spelling(e.target) != UNSPELLED
        return e.target if put else None
    return None
