"""Memory for parts that a function of the program's own hands out: ``in = get(2 * n); out = in + n;``.

Where an allocation becomes one for each part, such a function is called for each.  So it must not matter how often it
is called, and for how much: it looks at the environment, or checks that there is memory, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from opi_xform.calls.calls import calls_back
from opi_xform.graph.graph import Bind, Unbind, evaluated
from opi_xform.graph.statements import Flow
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.operands import parts_of
from opi_xform.ir.walk import expressions, uncast
from opi_xform.memory.objects import UNKNOWN
from opi_xform.once import once
from opi_xform.ownership.allocation.allocating import asked, passed_on
from opi_xform.ownership.allocation.busy import ALLOCATORS, Busy, frames_inside
from opi_xform.ownership.allocation.others import may_set
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.spelling.mentions import walk
from opi_xform.record import dataclass

_LOOKING = frozenset(
    {"getenv", "secure_getenv", "atoi", "atol", "atoll", "strtol", "strtoul", "strtoll", "strtoull"}
    | {"strcmp", "strncmp", "strlen", "getpagesize"}
)
"""Library functions that only look: what they return is the same each time."""
_SETTING = frozenset({"setenv", "putenv", "unsetenv", "clearenv", "environ", "_environ", "__environ"})
"""What sets the environment.  No other of the library's functions does."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an object of the heap comes from, as its program's text has it.

    call: the node of the call, of the allocator or of the function that hands out its memory.  left: the node by which
    the memory comes from there.  frames: of that function, and those inside.  reads: variables that last of which the
    function reads the value (None: also memory that others have).  environment: it reads that, too.
    """

    call: int
    left: int
    frames: frozenset[int] = frozenset()
    reads: frozenset[str] | None = frozenset()
    environment: bool = False


@once
def origins(program: Program) -> Mapping[int, Origin]:
    """By object of the heap, of those that one call allocates."""
    flow = Flow(program.graph)
    out: dict[int, Origin] = {}
    for info in program.values.objects.table:
        if info.kind != "heap" or len(info.nodes) != 1:
            continue
        n = info.nodes[0]
        out[info.number] = Origin(n, n)
        frame = program.graph.nodes[n].frame
        path: list[int] = []
        while frame >= 0 and program.graph.frames[frame].parent >= 0 and program.graph.frames[frame].call >= 0:
            path.insert(0, frame)
            left = flow.exits.get(frame, [])
            if len(left) != 1 or not _hands_out(program, flow, path, n, info.number):
                break
            frames = frozenset(frames_inside(flow, frame))
            reads, environment = _reads(program, flow, frames)
            out[info.number] = Origin(program.graph.frames[frame].call, left[0], frames, reads, environment)
            frame = program.graph.frames[frame].parent
    return out


def origin(program: Program, o: int) -> Origin:
    """The origin of an object; of one that is none of the heap's, or of several calls, its first node."""
    n = program.values.objects.table[o].node
    return origins(program).get(o, Origin(n, n))


def other_later(program: Program, o: int, n: int) -> int | None:
    """Something that runs between the function's call and node ``n`` after which it may do something else than before.

    What it reads has to be the same at its second call.  So only this may stand between the two: what sets other
    variables, and calls that are followed, or of the library's that do not write them.
    """
    origin_ = origin(program, o)
    if not origin_.frames or (origin_.reads == frozenset() and not origin_.environment):
        return None
    if origin_.reads is None or may_set(program, origin_.reads) or (origin_.environment and _sets_environment(program)):
        return origin_.left
    graph = program.graph
    flow = Flow(graph)
    ahead = _reached(flow.succs, origin_.left, n)
    entered = {frame.call for frame in graph.frames}
    for m in sorted(ahead & _reached(flow.preds, n, origin_.left)):
        match graph.nodes[m].action if m < len(graph.nodes) else None:
            case ins.Define(target=ins.Var(key=key)) if key in origin_.reads:
                return m
            case ins.Define() | ins.Load() | ins.Branch() | ins.SwitchOn() | ins.Birth() | ins.ReturnInstr():
                pass
            case Bind() | Unbind():
                pass
            case ins.CallInstr(callee=ins.AddrFunc(key=key)) if m in entered or key in _LOOKING | ALLOCATORS:
                pass
            case ins.Store() if _writes_others(program, m, origin_.reads):
                pass
            case ins.CallInstr(callee=ins.AddrFunc(key=key)) as call if (
                key in program.effects
                and key not in graph.lowered
                and not calls_back(program.effects[key], call)
                and _writes_others(program, m, origin_.reads)
            ):
                pass
            case _:
                return m
    return None


@once
def _sets_environment(program: Program) -> bool:
    """The program may set its environment, somewhere, or have it set while something else runs."""
    if program.taken or not _SETTING.isdisjoint(program.variables):
        return True
    roots = (e for f in program.functions.values() for e in expressions(f.body))
    return any(isinstance(x, ast.FuncRef) and x.name in _SETTING for e in roots for x in walk(e))


def _writes_others(program: Program, n: int, keys: Collection[str]) -> bool:
    """A node writes what is known, and none of these variables."""
    table = program.values.objects.table
    written = list(program.values.accesses.objects(n, "W"))
    stores = isinstance(program.graph.nodes[n].action, ins.Store)
    return bool(written or not stores) and all(o != UNKNOWN and table[o].variable not in keys for o in written)


def _reached(edges: Sequence[Sequence[int]], start: int, end: int) -> set[int]:
    """The nodes after one, as far as another."""
    seen: set[int] = set()
    work = [start]
    while work:
        for s in edges[work.pop()]:
            if s not in (start, end) and s not in seen:
                seen.add(s)
                work.append(s)
    return seen


def _reads(program: Program, flow: Flow, frames: Collection[int]) -> tuple[frozenset[str] | None, bool]:
    """What lasts and is read in these frames, on ways that come back; whether they look at the environment.

    Where no pointer that lasts is read, what looks at text looks at the environment's, or at the function's own.
    """
    graph, values = program.graph, program.values
    keys: set[str] = set()
    environment = False
    for n in (n for f in frames for n in flow.by_frame[f] if graph.succs[graph.nodes[n].block]):
        action = graph.nodes[n].action
        environment |= isinstance(action, ins.CallInstr) and getattr(action.callee, "key", "") in _LOOKING
        if isinstance(action, ins.Load):
            base = values.symbols.base(values.operands[n][0]) if values.operands.get(n) else None
            if base is None or values.objects.table[base].frame not in frames:
                return None, environment
        keys |= {x.key for e in evaluated(action) for x in parts_of(e) if isinstance(x, (ins.Var, ins.AddrVar))}
    lasting = frozenset(key for key in keys if program.variables[key].is_global)
    types = [program.variables[key].type for key in lasting]
    whole = all(t.kind in ("int", "float") and not (t.volatile or t.atomic) for t in types)
    return (lasting if whole else None), environment


def _hands_out(program: Program, flow: Flow, path: list[int], allocation: int, o: int) -> bool:
    """The call of the first frame returns as many bytes of fresh memory as its one argument says, and that is all."""
    graph = program.graph
    outer = graph.nodes[graph.frames[path[0]].call].action
    call = graph.nodes[allocation].action
    if not isinstance(outer, ins.CallInstr) or not isinstance(call, ins.CallInstr) or len(outer.call.args) != 1:
        return False
    if not isinstance(outer.call.callee, ast.FuncRef) or len(flow.lowered(path[0]).function.params) != 1:
        return False
    size = asked(program, call.call)
    name = called_key(call)
    if len(size) != 1 or name == "calloc" or not all(_is_name(e) for e in size):
        return False
    frames = tuple(frames_inside(flow, path[0]))
    busy = Busy(program, flow, frames, allocation)
    if not (busy.understood() and busy.alone() and busy.returned(path[0])):
        return False
    found = passed_on(program, flow, path, outer.call, size)
    if found is None or not all(_hands_on(program, key, e) for key, e in found[1]):
        return False
    return _only_looks(program, flow, frames, allocation, o, path[0])


def _hands_on(program: Program, key: str, e: ast.Expr) -> bool:
    """A variable has the number of another one, and no other."""
    e = uncast(e)
    if not isinstance(e, ast.VarRef):
        return False
    types = [program.variables[k].type for k in (key, e.var)]
    return types[0].size == types[1].size and types[0].signed == types[1].signed


def _is_name(e: ast.Expr) -> bool:
    e = uncast(e)
    return isinstance(e, ast.VarRef)


def _only_looks(program: Program, flow: Flow, frames: tuple[int, ...], allocation: int, o: int, outer: int) -> bool:
    """Nothing in these frames changes anything that lasts, or goes another way for another number of bytes."""
    graph, values = program.graph, program.values
    entered = {graph.frames[f].call for f in frames}
    nodes = [graph.nodes[n] for f in frames for n in flow.by_frame[f]]
    asks: set[tuple[int, str | int]] = {(outer, key) for key in flow.lowered(outer).function.params}
    known = -1

    def depends(frame: int, operand: ins.Operand) -> bool:
        names = (x for x in parts_of(operand) if isinstance(x, (ins.Temp, ins.Var, ins.AddrVar)))
        return any((frame, x.number if isinstance(x, ins.Temp) else x.key) in asks for x in names)

    while known != len(asks):
        known = len(asks)
        for node in nodes:
            frame, action = node.frame, node.action
            if values.accesses.touches(node.number, (o,)) and node.number != allocation:
                return False
            match action:
                case ins.Define(target=target, value=value):
                    if isinstance(target, ins.Var) and program.variables[target.key].is_global:
                        return False
                    if depends(frame, value):
                        asks.add((frame, target.number if isinstance(target, ins.Temp) else target.key))
                case ins.Load(target=target, address=address):
                    if depends(frame, address):
                        asks.add((frame, target.number))
                case ins.Store(address=ins.AddrVar(key=key), value=value):
                    if program.variables[key].is_global:
                        return False
                    if depends(frame, value):
                        asks.add((frame, key))
                case Bind(caller=caller, params=params, args=args):
                    if frame != outer:
                        asks.update((frame, key) for key, e in zip(params, args, strict=False) if depends(caller, e))
                case Unbind(callee=callee, target=target, value=value):
                    if value is not None and target is not None and depends(callee, value):
                        asks.add((frame, target.number))
                case ins.CallInstr(target=target) as call:
                    if node.number == allocation or node.number in entered:
                        continue
                    name = called_key(call)
                    effect = program.effects.get(name)
                    ending = effect is not None and effect.noreturn
                    if name not in _LOOKING and not ending and graph.succs[node.block]:
                        return False
                    if target is not None and any(depends(frame, e) for e in call.args):
                        asks.add((frame, target.number))
                case ins.Branch() | ins.SwitchOn():
                    if any(depends(frame, e) for e in evaluated(action)):
                        return False
                case ins.Birth() | ins.ReturnInstr():
                    pass
                case _:
                    return False
    return True
