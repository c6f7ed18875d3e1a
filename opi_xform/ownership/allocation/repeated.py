"""What the text of an allocation is worth where it stands once more: after the call, or after the declaration."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from opi_xform.graph.graph import Action, Lost
from opi_xform.graph.statements import Flow
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.walk import expressions
from opi_xform.memory.objects import UNKNOWN
from opi_xform.once import once
from opi_xform.ownership.allocation.busy import frames_inside, read_in
from opi_xform.ownership.allocation.others import at_any_time, may_set
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.spelling.mentions import walk

_REPEATED = (
    *(ast.VarRef, ast.IntLit, ast.FloatLit, ast.MacroConst, ast.SizeOf, ast.Binary, ast.Cast, ast.Unary, ast.Logical),
    *(ast.Conditional, ast.Member, ast.Index, ast.Deref, ast.AddrOf),
)
"""What may be evaluated once more, as far as it does nothing."""
_MEMORY = (ast.Member, ast.Index, ast.Deref)


def has_effect(e: ast.Expr) -> bool:
    return any(isinstance(x, (ast.Call, ast.Assign, ast.IncDec, ast.Opaque)) for x in walk(e))


def repeatable(e: ast.Expr) -> bool:
    """It may be evaluated more than once: it does nothing, and nobody else changes what it reads."""
    return not has_effect(e) and not any(x.type.volatile or x.type.atomic for x in walk(e))


def steady(program: Program, frame: int, e: ast.Expr) -> bool:
    """It may be evaluated more than once, and no other thread, library or rank changes what it reads meanwhile."""
    if not repeatable(e):
        return False
    others, objects = at_any_time(program), program.values.objects
    read = [x for x in walk(e) if isinstance(x, ast.VarRef)]
    if not others.isdisjoint(objects.variable(frame, x.var) for x in read):
        return False
    if not any(isinstance(x, _MEMORY) for x in walk(e)):
        return True
    pointers = (program.points_to.operand(frame, ins.Var(x.var)) for x in read if x.type.is_pointer)
    return others <= {UNKNOWN} and not any(UNKNOWN in reached for reached in pointers)


def places(target: ast.Expr) -> Iterator[ast.Expr]:
    """What is evaluated to find the place that an assignment sets."""
    work = [target]
    while work:
        match work.pop():
            case ast.Member(base=base):
                work.append(base)
            case ast.Cast(operand=operand):
                work.append(operand)
            case ast.VarRef():
                pass
            case ast.Index(base=base, index=index):
                yield from evaluated_in(index)
                if base.type.is_array:
                    work.append(base)
                else:
                    yield from evaluated_in(base)
            case ast.Deref(operand=operand):
                yield from evaluated_in(operand)
            case other:
                yield from evaluated_in(other)


def same_behind(
    program: Program, flow: Flow, frames: Collection[int], setting: int, addressed: Collection[str], e: ast.Expr
) -> bool:
    """An argument of the call is worth the same after it: no part of it is what the call changes.

    frames: of the call.  setting: the node that keeps its result.  addressed: variables that may change by their
    address.
    """
    return _same(program, flow, frames, setting, addressed, list(evaluated_in(e)))


def same_place(
    program: Program, flow: Flow, frames: Collection[int], setting: int, addressed: Collection[str], target: ast.Expr
) -> bool:
    """What the call's result is kept in is the same place before the call, and after it."""
    return _same(program, flow, frames, setting, addressed, list(places(target)))


def _same(
    program: Program,
    flow: Flow,
    frames: Collection[int],
    setting: int,
    addressed: Collection[str],
    parts: Collection[ast.Expr],
) -> bool:
    for x in parts:
        if not isinstance(x, _REPEATED) or x.type.volatile or x.type.atomic:
            return False
        if isinstance(x, ast.SizeOf) and x.value is None:
            return False
    reads = any(isinstance(x, _MEMORY) for x in parts)
    variables = {x.var for x in parts if isinstance(x, ast.VarRef)}
    function = flow.lowered(program.graph.nodes[setting].frame).function.key
    outside = {
        key
        for key in variables
        if program.variables[key].function != function or program.variables[key].kind not in ("local", "param")
    } | (variables & set(addressed))
    inside = [n for frame in frames for n in flow.by_frame[frame]]
    if reads and not _read_from_own(program, flow, setting):
        return False
    return not (outside or reads) or _unchanged(program, inside, frozenset(frames), outside, reads)


def can_follow(program: Program, flow: Flow, setting: int, written: Collection[ast.Expr]) -> bool:
    """Memory may be given after the declaration that it stands in, and its size reckoned there: what comes there
    behind ``setting``, the node that keeps what was allocated, does not name that, changes nothing that the size is
    made of, and does not see what the size does.
    """
    later = _rest(program, flow, setting)
    actions = [program.graph.nodes[n].action for n in later]
    carrier = _set_by(program.graph.nodes[setting].action)
    read = (x for a in actions for _, x in read_in(a, -1))
    if any(isinstance(x, (ins.Var, ins.AddrVar)) and x.key == carrier for x in read):
        return False
    if all(isinstance(a, ins.Birth) or (isinstance(a, ins.Define) and isinstance(a.value, ins.Const)) for a in actions):
        return True
    parts = [x for e in written for x in evaluated_in(e)]
    if not all(isinstance(x, _REPEATED) and not (x.type.volatile or x.type.atomic) for x in parts):
        return False
    variables = {x.var for x in parts if isinstance(x, ast.VarRef)}
    own = {program.graph.nodes[n].frame for n in later} - {program.graph.nodes[setting].frame}
    reads = any(isinstance(x, _MEMORY) for x in parts)
    if reads and not _read_from_own(program, flow, setting):
        return False
    return _unchanged(program, later, own, variables, reads)


def _read_from_own(program: Program, flow: Flow, setting: int) -> bool:
    """What the statement of a node reads from memory is the program's own: no thread, library or other rank changes it
    while the statement runs.
    """
    frame, stmt = program.graph.nodes[setting].frame, flow.stmt[setting]
    loads = (n for n in flow.by_frame[frame] if flow.stmt[n] == stmt)
    found = {
        o
        for n in loads
        if isinstance(program.graph.nodes[n].action, ins.Load)
        for o in program.values.accesses.objects(n)
    }
    return found.isdisjoint(at_any_time(program)) and UNKNOWN not in found


def _set_by(action: Action) -> str:
    """The variable that an action sets; '' where that is none."""
    match action:
        case ins.Define(target=ins.Var(key=key)) | ins.Store(address=ins.AddrVar(key=key)):
            return key
        case _:
            return ""


def _rest(program: Program, flow: Flow, setting: int) -> list[int]:
    """The nodes of a node's statement that come after it, and of all that the statement calls there."""
    graph = program.graph
    frame, stmt = graph.nodes[setting].frame, flow.stmt[setting]
    called = set(frames_inside(flow, frame)) - {frame}
    seen: set[int] = set()
    work = [setting]
    while work:
        for s in flow.succs[work.pop()]:
            if s in seen or s == setting or s >= len(graph.nodes):
                continue
            if graph.nodes[s].frame in called or (graph.nodes[s].frame == frame and flow.stmt[s] == stmt):
                seen.add(s)
                work.append(s)
    return sorted(seen)


def evaluated_in(root: ast.Expr) -> Iterator[ast.Expr]:
    """The parts of an expression that are evaluated, and the sizeofs."""
    work = [root]
    while work:
        item = work.pop()
        yield item
        if not isinstance(item, ast.SizeOf):
            for name in type(item).__slots__:
                value = getattr(item, name)
                if isinstance(value, ast.Expr):
                    work.append(value)
                elif isinstance(value, tuple):
                    work.extend(v for v in value if isinstance(v, ast.Expr))


def _unchanged(
    program: Program, nodes: Collection[int], own: Collection[int], keys: Collection[str], reads: bool
) -> bool:
    """None of these nodes, and nothing that they call unseen, sets one of the variables; ``reads``: or anything in
    memory but variables of the frames ``own``.
    """
    graph, values, table = program.graph, program.values, program.values.objects.table
    entered = {graph.frames[graph.nodes[n].frame].call for n in nodes}
    calls = [n for n in nodes if isinstance(graph.nodes[n].action, ins.CallInstr) and n not in entered]
    called = any(not _only_takes_memory(program, n) for n in calls)
    if may_set(program, keys, called) or (reads and called and program.taken):
        return False
    for n in nodes:
        action = graph.nodes[n].action
        if isinstance(action, (Lost, ins.Escape)):
            return False
        target = action.target if isinstance(action, ins.Define) else None
        if isinstance(target, ins.Var):
            frame, kind = graph.nodes[n].frame, program.variables[target.key].kind
            new = frame in own and kind in ("local", "param") and graph.frames[frame].function not in graph.levels
            if target.key in keys or (reads and not new and not _by_name_only(program, target.key)):
                return False
        written = [table[o] for o in values.accesses.objects(n, "W")]
        if any(o.variable in keys or (reads and o.frame not in own and o.kind != "heap") for o in written):
            return False
        if reads and any(o.kind == "heap" and n not in o.nodes for o in written):
            return False
        if isinstance(action, ins.CallInstr) and n not in entered:
            callee = called_key(action)
            effect = program.effects.get(callee)
            if n in graph.followed or effect is None or (reads and effect.frees):
                return False
        if isinstance(action, ins.Store) and values.symbols.base(values.operands[n][0]) is None:
            return False
    return True


def _only_takes_memory(program: Program, n: int) -> bool:
    """A call of malloc or its kin: it runs no code of the program's, and none that knows the program's variables."""
    call = program.graph.nodes[n].action
    name = call.callee.key if isinstance(call, ins.CallInstr) and isinstance(call.callee, ins.AddrFunc) else ""
    effect = program.effects.get(name)
    if effect is None or n in program.graph.followed or effect.allocates is None or effect.allocates.into is not None:
        return False
    touches = effect.reads or effect.all_writes or effect.frees or effect.retains or effect.calls
    return not (touches or effect.mpi or effect.user or effect.allocates.contents)


def _by_name_only(program: Program, key: str) -> bool:
    """A variable that no text reads through memory: none that stands for a member of a struct (``members``), nor one
    of which the address is taken.
    """
    known = bool(program.variables[key].declarators) and key not in program.graph.addressed
    return known and key not in _addressed(program)


@once
def _addressed(program: Program) -> frozenset[str]:
    """Variables of which the address is taken, in initialisers too."""
    roots = [e for f in program.functions.values() for e in expressions(f.body)]
    roots += [v.init for v in program.variables.values() if v.init is not None]
    taken = (_place(x.operand) for e in roots for x in walk(e) if isinstance(x, ast.AddrOf))
    return frozenset(x.var for e in taken if e is not None for x in walk(e) if isinstance(x, ast.VarRef))


def _place(e: ast.Expr) -> ast.Expr | None:
    """What has the variables in it in which an lvalue lies; None: it lies where a pointer points to (``p[0]``)."""
    while True:
        match e:
            case ast.Member(base=inner):
                e = inner
            case ast.Index(base=inner) if inner.type.is_array:
                e = inner
            case ast.Index(base=ast.VarRef(type=t)) | ast.Deref(operand=ast.VarRef(type=t)) if t.is_pointer:
                return None
            case _:
                return e
