"""Functions that fill the memory that they hand out: ``p = malloc(n); memset(p, 0, n); return p;``.

What they write there are its first contents, as calloc's zeros are: nobody may read them where the memory is a taken
buffer's, and then nobody has to write them.
"""

from __future__ import annotations

from opi_xform.graph.graph import Bind, Unbind
from opi_xform.ir import instr as ins
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.object_index import index_of


def filling(program: Program, o: int) -> frozenset[int]:
    """The nodes that write an object's first contents, where the call that hands it out does nothing else with it.

    That call is the outermost one which gives the address to nobody but its caller, and only writes numbers through it.
    Functions that it calls for this belong to it.
    """
    info = program.values.objects.table[o]
    if info.kind != "heap" or len(info.nodes) != 1:
        return frozenset()
    graph, allocation = program.graph, info.nodes[0]
    frame, found = graph.nodes[allocation].frame, frozenset[int]()
    while graph.frames[frame].call >= 0:
        written = _written_in(program, o, frame)
        if written is None or not written.isdisjoint(_older(program, frame, allocation)):
            break
        frame, found = graph.frames[frame].parent, written
    return found


def _written_in(program: Program, o: int, outer: int) -> frozenset[int] | None:
    """What writes the object in a frame and those entered from it; None where anything else is done with it there."""
    graph, values, index = program.graph, program.values, index_of(program)
    known = {outer: True}

    def belongs(frame: int) -> bool:
        way = []
        while frame >= 0 and frame not in known:
            way.append(frame)
            frame = graph.frames[frame].parent
        inside = known[frame] if frame >= 0 else False
        known.update(dict.fromkeys(way, inside))
        return inside

    written = set()
    for n, found in index.accesses.of(o).items():
        if belongs(graph.nodes[n].frame):
            elsewhere = values.accesses.touches_other(n, o)
            if elsewhere or any(a.kind == "R" for a in found) or not _writes(program, n):
                return None
            written.add(n)
    for n in index.addressed.get(o, ()):
        action = graph.nodes[n].action
        if not belongs(graph.nodes[n].frame) or isinstance(action, Unbind):
            continue
        match action:
            case ins.Define(target=ins.Var(key=key)) if program.variables[key].is_global:
                return None
            case ins.Store() if values.symbols.base(values.operands[n][1]) == o:
                place = values.symbols.base(values.operands[n][0])
                if place is None or not belongs(values.objects.table[place].frame):
                    return None
            case _:
                pass
    return frozenset(written)


def _older(program: Program, frame: int, allocation: int) -> set[int]:
    """The nodes of a frame that may run before the allocation does: what they write may be older memory."""
    graph = program.graph
    seen: set[int] = set()
    entering = (n for n in graph.nodes if n.frame == frame and isinstance(n.action, Bind))
    work = [(n.block, graph.blocks[n.block].index(n.number)) for n in entering]
    entered: set[int] = set()
    while work:
        block, at = work.pop()
        for n in graph.blocks[block][at:]:
            action = graph.nodes[n].action
            if n == allocation or (isinstance(action, Unbind) and action.callee == frame):
                break
            seen.add(n)
        else:
            fresh = [s for s in graph.succs[block] if s not in entered]
            entered.update(fresh)
            work.extend((s, 0) for s in fresh)
    return seen


def _writes(program: Program, n: int) -> bool:
    """The node stores a number, or fills memory with one."""
    match program.graph.nodes[n].action:
        case ins.Store(type=type_):
            return type_.kind in ("int", "float") and not (type_.volatile or type_.atomic)
        case ins.CallInstr(callee=ins.AddrFunc(key=key)):
            return key not in program.graph.lowered and key in program.effects and bool(program.effects[key].fills)
        case _:
            return False
