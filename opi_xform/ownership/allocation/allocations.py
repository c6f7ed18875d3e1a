"""Where the program allocates a pointer carrier's memory, and what has to go."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from opi_xform.graph.graph import Unbind, evaluated
from opi_xform.graph.statements import Flow
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.lowering.shapes import or_null
from opi_xform.ir.operands import parts_of, zero_constant
from opi_xform.ir.walk import addressed
from opi_xform.ownership.allocation.allocating import (
    asked,
    frames_between,
    may_be_null,
    null_without_memory,
    only_allocates,
    passed_on,
)
from opi_xform.ownership.allocation.also_run import run_unwatched
from opi_xform.ownership.allocation.busy import still_called
from opi_xform.ownership.allocation.repeated import can_follow, has_effect, repeatable, same_behind, same_place
from opi_xform.ownership.model.buffers import Buffer, Carrier, Program
from opi_xform.ownership.model.lvalues import hole
from opi_xform.ownership.spelling.mentions import Definitions, is_null, plain, walk
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Allocation:
    """One place in the source where the carrier is given fresh memory.

    stmt: the declaration or assignment, in ``function``.  call: malloc or calloc.  value: the expression that goes,
    with its casts.  declared: it initialises the carrier's declaration.  inside: the assignment, where it is part of
    the condition of an ``if`` (``if (!(v = malloc(n)))``).  out: the call that sets the carrier through its address
    (``init(n, &v)``).  local: the variable that is given the memory first (``t = malloc(n); …; *p = t;``), and is what
    ``stmt`` sets then.  stores: the nodes that set the carrier.
    index: of the row, as written (None: nobody tells it by words that mean the same there).
    wrapper: the frame of a function that does nothing but allocate (-1: none), called with ``arguments`` (parameter,
    argument).  passed: parameters and local variables of functions in between, each with what it is in words of these
    functions (``return get(n * sizeof(double))``).
    condition: of `v = c ? malloc(n) : NULL`; negated: `c ? NULL : malloc(n)`.  kept: the frames of a call that does
    more than to allocate, and stays (``busy``).
    """

    function: str
    stmt: int
    call: ast.Call
    value: ast.Expr
    declared: bool
    stores: tuple[int, ...]
    index: ast.Expr | None = None
    wrapper: int = -1
    wrappers: tuple[int, ...] = ()
    arguments: tuple[tuple[str, ast.Expr], ...] = ()
    passed: tuple[tuple[str, ast.Expr], ...] = ()
    inside: ast.Assign | None = None
    out: bool = False
    local: str = ""
    condition: ast.Expr | None = None
    negated: bool = False
    kept: tuple[int, ...] = ()


def find_allocations(program: Program, flow: Flow, defs: Definitions, buffer: Buffer) -> list[Allocation] | None:
    """The carrier's allocations by source place; None when one is not written as `v = malloc(n)` or in the declaration.

    A call of a function that only allocates and returns the memory counts as well.
    """
    if not buffer.carrier.allocations:
        return []
    stores = _stores(program, defs, buffer)
    found: dict[tuple[str, int], Allocation] = {}
    placed: set[int] = set()
    for n in buffer.carrier.allocations:
        o = program.values.objects.by_node.get(n, -1)
        made = ((m, _allocation(program, flow, defs, buffer, n, m)) for m in stores.get(o, ()))
        setting = [(m, one) for m, one in made if one is not None]
        if not setting:
            return None
        placed.update(m for m, _ in setting)
        for m, one in setting:
            key = (one.function, one.stmt)
            known = found.get(key)
            if known is None:
                found[key] = one
            elif (known.value is not one.value or known.call is not one.call) or (
                known.index != one.index or bool(known.kept) != bool(one.kept)
            ):
                return None
            else:
                wrappers, kept = (*known.wrappers, *one.wrappers), (*known.kept, *one.kept)
                found[key] = replace(known, stores=(*known.stores, m), wrappers=wrappers, kept=kept)
    mine = set(buffer.carrier.allocations)
    if not all(_of_one_buffer(program, flow, one, mine) for one in found.values() if one.local):
        return None
    return list(found.values()) if all(placed.issuperset(nodes) for nodes in stores.values()) else None


def _of_one_buffer(program: Program, flow: Flow, one: Allocation, mine: Collection[int]) -> bool:
    """The text of an allocation that does not name the carrier: wherever its function runs it is the carrier's."""
    if not program.complete or one.function in run_unwatched(program):
        return False
    graph, written = program.graph, _written(one)
    outer = set(flow.frames_of[one.function])
    for node in graph.nodes:
        if not isinstance(node.action, ins.CallInstr) or node.action.call is not one.call or node.number in mine:
            continue
        at = node
        while at.frame not in outer and graph.frames[at.frame].call >= 0:
            at = graph.nodes[graph.frames[at.frame].call]
        if at.frame in outer and isinstance(at.action, ins.CallInstr) and at.action.call is written:
            return False
    return True


def _stores(program: Program, defs: Definitions, buffer: Buffer) -> dict[int, list[int]]:
    """Per object of the heap the nodes that set the carrier to its memory."""
    values = program.values
    heaps = {values.objects.by_node[n] for n in buffer.carrier.allocations if n in values.objects.by_node}
    carriers = {
        o.number for o in values.objects.table if o.variable == buffer.carrier.variable and o.kind == "variable"
    }
    out: dict[int, list[int]] = {}
    for n in sorted({*defs.nodes.get(buffer.carrier.variable, ()), *defs.stores}):
        node = program.graph.nodes[n]
        operands = values.operands.get(node.number, ())
        value = None
        match node.action:
            case ins.Define(target=ins.Var(key=key)) if key == buffer.carrier.variable and operands:
                value = operands[0]
            case ins.Store() if len(operands) == 2 and values.symbols.base(operands[0]) in carriers:
                value = operands[1]
            case _:
                continue
        base = values.symbols.base(values.symbols.not_null(value))
        if base in heaps:
            out.setdefault(base, []).append(node.number)
    return out


def _allocation(program: Program, flow: Flow, defs: Definitions, buffer: Buffer, n: int, m: int) -> Allocation | None:
    graph = program.graph
    allocating, setting = graph.nodes[n], graph.nodes[m]
    call = allocating.action
    stmt = flow.stmt[m]
    if not isinstance(call, ins.CallInstr) or stmt < 0:
        return None
    function = flow.lowered(setting.frame).function
    within = flow.lowered(setting.frame).stmts[stmt].stmt
    inside = _tested(within)
    value, declared, index = _assigned(program, function, within, buffer)
    first = None if value is None else _given_first(program, flow, setting.frame, plain(value))
    if first is not None:
        return _of_local(program, flow, defs, buffer, n, m, *first)
    out = value is None and graph.out_parameters.get(allocating.frame) is not None and isinstance(within, ast.ExprStmt)
    if out and isinstance(within, ast.ExprStmt):
        value = within.expr
        member = program.members.get(buffer.carrier.variable)
        target = set_through(program, plain(value), buffer.carrier)
        if target is None and (member is not None or buffer.carrier.rows):
            return None
        if buffer.carrier.rows and member is not None and not member.stride:
            return None
        index = None if target is None else _row_number(target, None if member is None else member.stride)
        if index is not None and not repeatable(index):
            return None
    if value is None or not value.span.editable:
        return _in_callee(program, flow, defs, buffer, n, m)
    written, condition, negated = plain(value), None, False
    if (choice := or_null(value)) is not None:
        condition, negated = choice.cond, isinstance(plain(choice.then), ast.IntLit)
        written = plain(choice.other if negated else choice.then)
        alone = not isinstance(within, ast.DeclStmt) or len(within.variables) == 1
        if inside is not None or not alone or not condition.span.editable or not _steady(program, condition, buffer):
            return None
    found = Allocation(
        function.key, stmt, call.call, value, declared, (m,), index, inside=inside, condition=condition, negated=negated
    )
    found = replace(found, out=out)
    if allocating.frame == setting.frame:
        fits = written is call.call and (not declared or can_follow(program, flow, m, call.call.args))
        return found if fits else None
    replaced = _by_call(program, flow, defs, buffer, found, n, m, within)
    if replaced is not None or inside is not None or condition is not None:
        return replaced
    return _in_callee(program, flow, defs, buffer, n, m)


def _in_callee(program: Program, flow: Flow, defs: Definitions, buffer: Buffer, n: int, m: int) -> Allocation | None:
    """The allocation as the statement of a function that gives the memory to a local variable first, does more with
    it, and returns it: ``double *p = malloc(n); read_all(p); return p;``.
    """
    graph, values = program.graph, program.values
    o, mine = values.objects.by_node.get(n, -1), set(buffer.carrier.allocations)
    frames = frames_between(program, graph.nodes[n].frame, graph.nodes[m].frame)
    if buffer.carrier.rows or not frames or flow.stmt[graph.frames[frames[0]].call] != flow.stmt[m]:
        return None  # which row it is for is not told where it is allocated
    for frame in frames:
        for first in flow.by_frame[frame]:
            action, given = graph.nodes[first].action, values.operands.get(first, ())
            if not isinstance(action, ins.Define) or not isinstance(action.target, ins.Var) or not given:
                continue
            local, value = action.target.key, values.symbols.not_null(given[0])
            if program.variables[local].kind != "local" or values.symbols.base(value) != o:
                continue
            if _set_once(program, flow, frame, local) == first:
                found = _of_local(program, flow, defs, buffer, n, m, first, local)
                if found is not None and _of_one_buffer(program, flow, found, mine):
                    return found
    return None


def _by_call(
    program: Program,
    flow: Flow,
    defs: Definitions,
    buffer: Buffer,
    found: Allocation,
    n: int,
    m: int,
    within: ast.Stmt,
) -> Allocation | None:
    """The allocation at node ``n`` as that of a call of the program's functions, whose result a statement keeps at
    node ``m``; None where the call may not be replaced, nor its memory.
    """
    graph, declared = program.graph, found.declared
    allocating, setting, call = graph.nodes[n], graph.nodes[m], found.call
    written = _written(found)
    if not isinstance(written, ast.Call) or not isinstance(written.callee, ast.FuncRef):
        return None  # a pointer could mean another function as well
    frames = frames_between(program, allocating.frame, setting.frame)
    if not frames:
        return None
    outer = graph.nodes[graph.frames[frames[0]].call].action
    if not isinstance(outer, ins.CallInstr) or outer.call is not written:
        return None
    params = flow.lowered(frames[0]).function.params
    if len(params) != len(written.args):
        return None
    if len(frames) == 1 and not any(has_effect(a) for a in written.args):
        frame = allocating.frame
        pure = only_allocates(program, flow, frame, n) and (not declared or can_follow(program, flow, m, written.args))
        arguments = tuple(zip(params, written.args, strict=True))
        if pure and (not may_be_null(program, m) or null_without_memory(program, flow, frame, n)):
            return replace(found, wrapper=frame, wrappers=(frame,), arguments=arguments)
    kept = still_called(program, flow, buffer, frames[0], n)
    on_the_way = passed_on(program, flow, frames, written, asked(program, call)) if kept else None
    if on_the_way is None:
        return None
    given, passed = on_the_way
    if not all(same_behind(program, flow, kept, m, defs.addressed, e) for _, e in given):
        return None
    if declared and not can_follow(program, flow, m, [e for _, e in given]):
        return None
    target = set_through(program, written, buffer.carrier) if found.out else _target(within)
    if target is not None and not same_place(program, flow, kept, m, defs.addressed, target):
        return None
    return replace(found, wrapper=allocating.frame, wrappers=kept, arguments=given, passed=passed, kept=kept)


def _written(found: Allocation) -> ast.Expr:
    """The call that allocates, as it is written."""
    choice = or_null(found.value) if found.condition is not None else None
    return plain(found.value if choice is None else choice.other if found.negated else choice.then)


def _given_first(program: Program, flow: Flow, frame: int, e: ast.Expr) -> tuple[int, str] | None:
    """(the node that sets it, the local variable) where an expression names one that is set to one thing only."""
    if not isinstance(e, ast.VarRef) or program.variables[e.var].kind != "local":
        return None
    first = _set_once(program, flow, frame, e.var)
    return None if first is None else (first, e.var)


def _set_once(program: Program, flow: Flow, frame: int, local: str) -> int | None:
    """The one node that sets a local variable to something else than NULL, and nobody else can set it."""
    found = []
    for n in flow.by_frame[frame]:
        action = program.graph.nodes[n].action
        if isinstance(action, ins.Define) and action.target == ins.Var(local) and not zero_constant(action.value):
            found.append(n)
        elif any(isinstance(x, ins.AddrVar) and x.key == local for o in evaluated(action) for x in parts_of(o)):
            return None
    return found[0] if len(found) == 1 else None


def _of_local(
    program: Program, flow: Flow, defs: Definitions, buffer: Buffer, n: int, m: int, first: int, local: str
) -> Allocation | None:
    """The allocation whose memory a local variable is given at node ``first``, and the carrier by it at ``m``."""
    frame = program.graph.nodes[first].frame
    call = program.graph.nodes[n].action
    if not isinstance(call, ins.CallInstr) or flow.stmt[first] < 0:
        return None
    lowered = flow.lowered(frame)
    within = lowered.stmts[flow.stmt[first]].stmt
    declared = isinstance(within, ast.DeclStmt)
    value = lowered.function.variables[local].init if declared else None
    if isinstance(within, ast.ExprStmt) and isinstance(within.expr, ast.Assign) and within.expr.op == "":
        target = within.expr.target
        value = within.expr.value if isinstance(target, ast.VarRef) and target.var == local else None
    if value is None or not value.span.editable or not _settable(program.variables[local]):
        return None
    here = program.graph.nodes[n].frame == frame
    outer = n if here else next(iter(_calls_between(program, n, frame)), -1)
    if outer < 0:
        return None
    once = len(flow.frames_of[lowered.function.key]) == 1 and not program.nest.chain(program.graph.nodes[outer].block)
    if not once and not _surely(program, flow, outer, m):
        return None
    row = _row(program, flow, defs, buffer, first, m)
    found = Allocation(lowered.function.key, flow.stmt[first], call.call, value, declared, (m,), row, local=local)
    if not here:
        return _by_call(program, flow, defs, buffer, found, n, first, within)
    if plain(value) is not call.call or (declared and not can_follow(program, flow, first, call.call.args)):
        return None
    return found


def _row(program: Program, flow: Flow, defs: Definitions, buffer: Buffer, first: int, m: int) -> ast.Expr | None:
    """The subscript by which node ``m`` tells the row that it sets, where it is the same row by these words at node
    ``first``: local numbers that nothing sets in between.
    """
    frame = program.graph.nodes[first].frame
    if not buffer.carrier.rows or program.graph.nodes[m].frame != frame or flow.stmt[m] < 0:
        return None
    lowered = flow.lowered(frame)
    begin = lowered.stmts[flow.stmt[first]].stmt.span
    _, _, index = _assigned(program, lowered.function, lowered.stmts[flow.stmt[m]].stmt, buffer)
    parts = [] if index is None else list(walk(index))
    named = {x.var for x in parts if isinstance(x, ast.VarRef)}
    for x in parts:
        if not isinstance(x, (ast.VarRef, ast.IntLit, ast.Binary, ast.Cast)):
            return None
    for key in named:
        variable = program.variables[key]
        before = all(d.statement.begin < begin.begin and d.statement.file == begin.file for d in variable.declarators)
        if variable.kind not in ("local", "param") or key in defs.addressed or not before:
            return None
    for n in _between(program, flow, first, m):
        action = program.graph.nodes[n].action
        if isinstance(action, ins.Define) and isinstance(action.target, ins.Var) and action.target.key in named:
            return None
    return index


def _between(program: Program, flow: Flow, n: int, m: int) -> set[int]:
    """The nodes that may run after node ``n``, up to ``m``."""
    seen: set[int] = set()
    work = [n]
    while work:
        for s in flow.succs[work.pop()]:
            if s not in seen and s != m and s < len(program.graph.nodes):
                seen.add(s)
                work.append(s)
    return seen


def _calls_between(program: Program, n: int, frame: int) -> list[int]:
    """The calls by which a frame leads to a node, outermost first."""
    return [program.graph.frames[f].call for f in frames_between(program, program.graph.nodes[n].frame, frame)]


def _settable(variable: ast.Variable) -> bool:
    """A variable whose address may be taken, and that may be set after its declaration."""
    t = variable.type
    words = {word for d in variable.declarators for word in (*d.specifiers.split(), d.storage)}
    plain_type = not (t.const or t.volatile or t.atomic or variable.thread_local or variable.attributes)
    return plain_type and words.isdisjoint({"register", "auto", "__auto_type", "static"}) and bool(variable.declarators)


def _surely(program: Program, flow: Flow, n: int, m: int) -> bool:
    """Whenever node ``n`` has run, ``m`` does so before it runs again, or the function of ``m`` is left: what was asked
    for is what is set.
    """
    frame = program.graph.nodes[m].frame
    seen = {n}
    work = [n]
    while work:
        for s in flow.succs[work.pop()]:
            action = program.graph.nodes[s].action if s < len(program.graph.nodes) else None
            if s == n or (isinstance(action, Unbind) and action.callee == frame):
                return False
            if s != m and s not in seen and action is not None:
                seen.add(s)
                work.append(s)
    return True


def moves(program: Program, n: int) -> bool:
    """The call also frees memory, or copies from it: realloc of something else than NULL."""
    call = program.graph.nodes[n].action
    if not isinstance(call, ins.CallInstr) or not isinstance(call.callee, ins.AddrFunc):
        return False
    effect = program.effects.get(call.callee.key)
    if effect is None or effect.frees is None:
        return False
    values = program.values.args.get(n, ())
    return effect.frees.arg >= len(values) or values[effect.frees.arg].constant != 0


def _steady(program: Program, condition: ast.Expr, buffer: Buffer) -> bool:
    """The condition does nothing, and is the same when the carrier has been set to NULL before; so it may be left out,
    or stand behind."""
    key = buffer.carrier.variable
    if has_effect(condition):
        return False
    if any(isinstance(x, ast.Deref) or x.type.volatile or x.type.atomic for x in walk(condition)):
        return False
    return not any(program.names(x, key) or (isinstance(x, ast.VarRef) and x.var == key) for x in walk(condition))


def _tested(stmt: ast.Stmt) -> ast.Assign | None:
    """The assignment that an ``if`` compares with NULL, and does nothing else."""
    if not isinstance(stmt, ast.If):
        return None
    e = plain(stmt.cond)
    while isinstance(e, (ast.Unary, ast.Binary)):
        if isinstance(e, ast.Unary) and e.op == "!":
            e = plain(e.operand)
        elif isinstance(e, ast.Binary) and e.op in ("==", "!=") and is_null(e.right):
            e = plain(e.left)
        elif isinstance(e, ast.Binary) and e.op in ("==", "!=") and is_null(e.left):
            e = plain(e.right)
        else:
            return None
    return e if isinstance(e, ast.Assign) and repeatable(e.target) else None


def set_through(program: Program, call: ast.Expr, carrier: Carrier) -> ast.Expr | None:
    """The carrier, or its row, as it is written in a call that is given its address; None: it is not written so."""
    targets = (addressed(e) for e in call.args) if isinstance(call, ast.Call) else ()
    named = (e for e in targets if e is not None and (program.names(e, carrier.variable) or _is_row(e, carrier)))
    return next(named, None)


def _is_row(e: ast.Expr, carrier: Carrier) -> bool:
    """``out[d]`` of an array of pointers by that name."""
    base = plain(e.base) if isinstance(e, ast.Index) else None
    return bool(carrier.rows) and isinstance(base, ast.VarRef) and base.var == carrier.variable


def _row_number(target: ast.Expr, stride: int | None) -> ast.Expr | None:
    """The subscript that tells which row is set.  stride: of a table's rows; None: it is no table."""
    if stride is not None:
        return _index(target, stride)
    return target.index if isinstance(target, ast.Index) else None


def _target(stmt: ast.Stmt) -> ast.Expr | None:
    """What a statement assigns to."""
    assignment = stmt.expr if isinstance(stmt, ast.ExprStmt) else _tested(stmt)
    return assignment.target if isinstance(assignment, ast.Assign) else None


def _index(target: ast.Expr, stride: int) -> ast.Expr | None:
    """The subscript that tells which row of a table an lvalue is."""
    found = hole(target, stride)
    return None if found is None else found.index


def _assigned(
    program: Program, function: ast.Function, stmt: ast.Stmt, buffer: Buffer
) -> tuple[ast.Expr | None, bool, ast.Expr | None]:
    """(value, in the declaration, index of the row) where a statement sets the carrier and does nothing else."""
    carrier = buffer.carrier.variable
    if isinstance(stmt, ast.DeclStmt) and carrier in stmt.variables and not buffer.carrier.rows:
        return function.variables[carrier].init, True, None
    assignment = stmt.expr if isinstance(stmt, ast.ExprStmt) else _tested(stmt)
    if isinstance(assignment, ast.Assign) and assignment.op == "":
        target = assignment.target
        index = None
        if program.members.get(carrier) is not None and program.names(target, carrier):
            index = _index(target, program.members[carrier].stride)
            if buffer.carrier.rows and index is not None and not repeatable(index):
                return None, False, None
            return assignment.value, False, index
        if buffer.carrier.rows and isinstance(target, ast.Index):
            index, target = target.index, plain(target.base)
            if not repeatable(index):
                return None, False, None
        if (
            isinstance(target, ast.VarRef)
            and target.var == carrier
            and (index is not None) == bool(buffer.carrier.rows)
        ):
            return assignment.value, False, index
    return None, False, None
