"""Functions that free and do something besides: ``void release(void *p) { frees++; free(p); }``.

They print and count, and that must go on.  So the call stays as it is, behind ``OPI_Free(&b)``, which leaves NULL in
the buffer's pointer.  What the function frees is NULL then.

That is the same where the function does nothing with what it is given but to free it, whenever it is called, and where
nothing in it touches the buffer: then the buffer may as well be gone before it begins.
"""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.graph.graph import Bind, Lost
from opi_xform.graph.statements import Flow
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.walk import parts, within, within_statement
from opi_xform.ownership.allocation.busy import frames_inside, read_in
from opi_xform.ownership.allocation.deallocations import Deallocation, direct
from opi_xform.ownership.model.buffers import Buffer, Program
from opi_xform.ownership.spelling.mentions import is_null, plain


def still_freed(program: Program, flow: Flow, buffer: Buffer, n: int, argument: int) -> Deallocation | None:
    """The outermost call that only frees its argument with the call of ``free`` at node ``n``, and does more besides.

    None: there is none, or something in it may notice that the buffer is gone before it begins.
    """
    graph = program.graph
    at, wrappers = n, list[int]()
    while True:
        frame = graph.nodes[at].frame
        action = graph.nodes[at].action
        outer = graph.frames[frame].call
        function = program.functions.get(graph.frames[frame].function)
        if function is None or outer < 0 or not direct(program, outer) or frame in graph.out_parameters:
            break
        assert isinstance(action, ins.CallInstr)
        given = plain(action.call.args[argument]) if argument < len(action.call.args) else None
        if not isinstance(given, ast.VarRef) or given.var not in function.params:
            break
        called = graph.nodes[outer].action
        assert isinstance(called, ins.CallInstr)
        place = function.params.index(given.var)
        if not _frees_always(program, function, action.call, given.var):
            break
        if not _others_plain(called.call, place) or not _others_apart(program, buffer, outer, place):
            break
        wrappers.append(frame)
        at, argument = outer, place
    if not wrappers or not _unnoticed(program, flow, buffer, wrappers[-1], n):
        return None
    return Deallocation(n, at, argument, tuple(wrappers), stays=True)


def _frees_always(program: Program, function: ast.Function, call: ast.Call, key: str) -> bool:
    """A statement of the function's own block frees what the parameter has, perhaps if that is not NULL; it runs
    whenever the function is called, once; and nothing else in the function names the parameter.
    """
    variable = program.variables[key]
    if variable.kind != "param" or variable.type.volatile or variable.type.atomic:
        return False
    named = [e for e in within_statement(function.body, function.variables) if _is(e, key)]
    for s in function.body.body if isinstance(function.body, ast.Block) else ():
        freeing = _freeing(s, call, key)
        if freeing:
            return len(freeing) == len(named)
        if any(isinstance(x, (ast.Return, ast.Goto, ast.Label)) for x in _inside(s)):
            return False
    return False


def _others_plain(call: ast.Call, place: int) -> bool:
    """No other argument of a call may tell whether the buffer is there."""
    others = [plain(e) for i, e in enumerate(call.args) if i != place]
    return place < len(call.args) and all(
        isinstance(e, (ast.IntLit, ast.FloatLit, ast.StringLit, ast.MacroConst, ast.SizeOf))
        or (isinstance(e, ast.VarRef) and e.type.kind in ("int", "float", "pointer"))
        or (isinstance(e, ast.Member) and e.type.kind == "pointer" and isinstance(plain(e.base), ast.VarRef))
        for e in others
    )


def _others_apart(program: Program, buffer: Buffer, n: int, place: int) -> bool:
    """No other argument of the call at node ``n`` is the buffer's pointer, or may lead to it or to the buffer."""
    node, key = program.graph.nodes[n], buffer.carrier.variable
    assert isinstance(node.action, ins.CallInstr)
    mine = _own(program, buffer)
    for i, (given, e) in enumerate(zip(node.action.args, node.action.call.args, strict=False)):
        pointer = i != place and e.type.kind == "pointer" and not isinstance(plain(e), ast.StringLit)
        if pointer and (given == ins.Var(key) or not mine.isdisjoint(program.points_to.operand(node.frame, given))):
            return False
    return True


def _own(program: Program, buffer: Buffer) -> set[int]:
    """The memory of a buffer, and of the variable that is its pointer."""
    table, key = program.values.objects.table, buffer.carrier.variable
    return {o.number for o in table if o.variable == key and o.kind == "variable"}.union(buffer.objects)


def _freeing(s: ast.Stmt, call: ast.Call, key: str) -> list[ast.Expr]:
    """The mentions of the parameter in a statement that frees it: ``free(p);`` or ``if (p) free(p);``."""
    tests: list[ast.Expr] = []
    if isinstance(s, ast.If) and s.other is None:
        test = plain(s.cond)
        if isinstance(test, ast.Binary) and test.op == "!=" and (is_null(test.left) or is_null(test.right)):
            test = plain(test.right if is_null(test.left) else test.left)
        if not _is(test, key):
            return []
        tests, s = [test], s.then
        while isinstance(s, ast.Block) and len(s.body) == 1:
            s = s.body[0]
    if not isinstance(s, ast.ExprStmt) or plain(s.expr) is not call:
        return []
    return [*tests, *(e for e in within(call) if _is(e, key))]


def _is(e: ast.Expr, key: str) -> bool:
    return isinstance(e, ast.VarRef) and e.var == key


def _inside(root: ast.Stmt) -> Iterator[ast.Stmt]:
    work = [root]
    while work:
        s = work.pop()
        yield s
        work.extend(parts(s))


_STRIKING = ("MPI_", "PMPI_", "OPI_", "raise", "kill", "pause", "sleep", "usleep", "nanosleep", "alarm", "exec", "fork")
"""Functions that may send or change memory, or run handlers and callbacks, by how their names begin."""


def _unnoticed(program: Program, flow: Flow, buffer: Buffer, outermost: int, freeing: int) -> bool:
    """Nothing in a frame, or one entered from it, but ``free`` reads, writes or names what is the buffer's.

    Every call in them is followed, or is one of a known library function that returns and is no call of the MPI's.
    """
    frames = frames_inside(flow, outermost)
    graph, values, key = program.graph, program.values, buffer.carrier.variable
    entering = {graph.frames[f].call for f in frames}
    mine = _own(program, buffer)
    member = program.members.get(key)
    for n in (n for frame in frames for n in flow.by_frame[frame]):
        node = graph.nodes[n]
        action = node.action
        if n == freeing:
            continue
        if isinstance(action, (Lost, ins.Escape)):
            return False
        if isinstance(action, ins.CallInstr) and n not in entering:
            effect = program.effects.get(called_key(action))
            if effect is None and n not in graph.followed:
                return False
            if effect is not None and (effect.noreturn or effect.calls or effect.name.startswith(_STRIKING)):
                return False
        if values.accesses.touches(n, mine) or (member is not None and n in member.nodes):
            return False
        if isinstance(action, ins.Define) and action.target == ins.Var(key):
            return False
        given = isinstance(action, Bind) and node.frame == outermost
        if not given and any(getattr(part, "key", "") == key for _, part in read_in(action, node.frame)):
            return False
    return True
