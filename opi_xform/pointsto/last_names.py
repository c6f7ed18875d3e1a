"""Allocations that leave nothing behind: where one of them allocates, no name leads to older memory of theirs any more.

``b = malloc(n);`` is one, when ``b`` is the only pointer that ever leads there: whether the older memory was freed or
not, nobody can use it.  So at any moment there is one object at most that the program can reach, and they count as one
(``successive.py``).  It takes no proof that they free what they replace: ``if (i > 1) free(b);`` may stand before it.

The names that may hold an address of the memory are known (``holding``).  Each of them is a pointer variable that only
its own name sets and reads, or a temporary; what another one would keep, an object or the bytes of an address, could
come back.  After each allocation all these names are dead, but for the one that it sets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from opi_xform.graph.graph import Bind, Graph, Lost, Node, Unbind, evaluated
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import parts_of
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.pointsto.constraints import GraphPointsTo
from opi_xform.pointsto.inclusions import Name, twin

Holder = tuple[str, int, str | int]
"""A variable ("v", frame, key), -1 for globals; a temporary ("t", frame, number)."""


def leave_nothing_behind(
    graph: Graph,
    objects: Objects,
    points_to: GraphPointsTo,
    groups: Collection[frozenset[int]],
    is_plain: Callable[[int, str], bool],
    is_known: Callable[[ins.CallInstr], bool],
) -> set[frozenset[int]]:
    """Those of the groups of allocations that do.  The graph is gone through once for all of them.

    is_plain: only a variable's name sets it.  is_known: a table says what is called.
    """
    named: dict[frozenset[int], set[Holder]] = {}
    for nodes in groups:
        holders = holding(points_to.sets, objects, frozenset(objects.by_node[n] for n in nodes))
        if holders is None or not all(kind == "t" or is_plain(frame, str(key)) for kind, frame, key in holders):
            continue
        frames = {graph.nodes[n].frame for n in nodes} | {frame for _, frame, _ in holders if frame >= 0}
        if any(frame >= len(graph.frames) or graph.frames[frame].function in graph.levels for frame in frames):
            continue  # one name there stands for those of several activations
        named[nodes] = holders
    if not named:
        return set()
    uses, sets = _events(graph, objects, set().union(*named.values()), is_known)
    return {
        nodes
        for nodes, holders in named.items()
        if not any(_live_behind(graph, nodes, uses[holder], sets.get(holder, {})) for holder in holders & uses.keys())
    }


def holding(sets: Mapping[Name, frozenset[int]], objects: Objects, group: frozenset[int]) -> set[Holder] | None:
    """All that may hold an address of these objects; None: more than variables and temporaries do."""
    wanted = group | {twin(o) for o in group}
    meets = {id(held): not held.isdisjoint(wanted) for held in sets.values()}
    out: set[Holder] = set()
    for name, held in sets.items():
        if not meets[id(held)]:
            continue
        match name:
            case ("c", int() as o) if o != UNKNOWN:
                info = objects.table[o]
                if info.kind != "variable" or info.variable is None or info.type is None or not info.type.is_pointer:
                    return None
                out.add(("v", info.frame, info.variable))
            case ("t", int() as frame, int() as number):
                out.add(("t", frame, number))
            case ("p" | "v", _):
                pass  # what an operand is worth where it stands, made of the others
            case _:
                return None
    return out


Events = dict[Holder, dict[int, list[int]]]
"""By name and block: nodes, ascending."""


def _events(
    graph: Graph, objects: Objects, holders: Collection[Holder], is_known: Callable[[ins.CallInstr], bool]
) -> tuple[Events, Events]:
    """Where the names are read, and where they get another value.  What is not known reads all that are global."""
    uses: Events = {}
    sets: Events = {}
    everywhere = [holder for holder in holders if holder[1] < 0]

    def holder(frame: int, operand: ins.Operand) -> Holder | None:
        match operand:
            case ins.Temp(number=number):
                found: Holder = ("t", frame, number)
            case ins.Var(key=key):
                found = ("v", -1 if objects.variables[key].is_global else frame, key)
            case _:
                return None
        return found if found in holders else None

    for node in graph.nodes:
        for frame, operand in _evaluated(node):
            for part in parts_of(operand):
                found = holder(frame, part)
                if found is not None:
                    uses.setdefault(found, {}).setdefault(node.block, []).append(node.number)
        action = node.action
        unknown = isinstance(action, Lost) or (
            isinstance(action, ins.CallInstr) and node.number not in graph.followed and not is_known(action)
        )
        for found in everywhere if unknown else ():
            uses.setdefault(found, {}).setdefault(node.block, []).append(node.number)
        for frame, target in _targets(node):
            found = holder(frame, target)
            if found is not None:
                sets.setdefault(found, {}).setdefault(node.block, []).append(node.number)
    return uses, sets


def _evaluated(node: Node) -> Iterator[tuple[int, ins.Operand]]:
    match node.action:
        case Bind(caller=caller, args=args):
            yield from ((caller, arg) for arg in args)
        case Unbind(callee=callee, value=value) if value is not None:
            yield callee, value
        case action:
            yield from ((node.frame, operand) for operand in evaluated(action))


def _targets(node: Node) -> Iterator[tuple[int, ins.Operand]]:
    match node.action:
        case ins.Define(target=target) | ins.Load(target=target):
            yield node.frame, target
        case ins.Birth(var=key):
            yield node.frame, ins.Var(key)
        case Bind(params=params):
            yield from ((node.frame, ins.Var(key)) for key in params)
        case Unbind(target=target) | ins.CallInstr(target=target) | Lost(call=ins.CallInstr(target=target)):
            if target is not None:
                yield node.frame, target


def _live_behind(
    graph: Graph, nodes: Collection[int], uses: Mapping[int, list[int]], sets: Mapping[int, list[int]]
) -> bool:
    """A name that is read where ``uses`` says may be read after one of the nodes, before it is set.

    What such a node itself sets is new: that is read, of course.
    """
    live: set[int] = set()  # blocks at whose beginning it is
    work = [block for block, found in uses.items() if block not in sets or found[0] <= sets[block][0]]
    while work:
        block = work.pop()
        if block not in live:
            live.add(block)
            work += [p for p in graph.preds[block] if p not in live and p not in sets]
    for n in nodes:
        block = graph.nodes[n].block
        if n in sets.get(block, ()):
            continue
        use = next((u for u in uses.get(block, ()) if u > n), None)
        new = next((s for s in sets.get(block, ()) if s > n), None)
        if use is not None and (new is None or use <= new):
            return True
        if new is None and any(s in live for s in graph.succs[block]):
            return True
    return False
