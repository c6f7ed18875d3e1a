"""Arrays of pointers whose cells each own a heap buffer: ``double *sbuf[P]`` filled by malloc in a loop.

What cell e points to is one object, row e of a *family*, whatever allocation put it there.  That holds when only the
array ever keeps the pointers: every store to it is a fresh allocation (or NULL), and no other memory holds one of them.
"""

from __future__ import annotations

from collections.abc import Collection

from opi_xform.graph.graph import Graph
from opi_xform.ir import instr as ins
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.memory.queries import PointsTo


def find_families(
    graph: Graph, objects: Objects, points_to: PointsTo, foreign: Collection[int], touched: Collection[int]
) -> dict[int, int]:
    """Array object -> its family object, for every array of pointers that qualifies.

    foreign: objects that others may write at any time.  touched: those that summarised functions read or write.
    """
    stores: dict[int, list[tuple[int, frozenset[int]]]] = {}
    spoiled: set[int] = set(points_to.reachable(frozenset({UNKNOWN}))) | set(foreign) | set(touched)
    seen: set[frozenset[int]] = set()
    for node in graph.nodes:
        action = node.action
        if isinstance(action, ins.Store):
            targets = points_to.operand(node.frame, action.address)
            value = points_to.operand(node.frame, action.value)
            if len(targets) == 1:
                stores.setdefault(next(iter(targets)), []).append((node.number, value))
            else:
                spoiled |= targets
        elif isinstance(action, ins.CopyBytes):
            spoiled |= points_to.operand(node.frame, action.target)
        elif isinstance(action, ins.CallInstr) and node.number not in graph.followed:
            for operand in action.args:
                given = points_to.operand(node.frame, operand)
                if given not in seen:  # what is outside is one large set, and comes again and again
                    seen.add(given)
                    # a call that is given the array's own address might store into it
                    spoiled |= {o for o in given if _is_table(objects, o)}
    out: dict[int, int] = {}
    for o in sorted(stores):
        if o in spoiled or not _is_table(objects, o):
            continue
        written = [(n, value) for n, value in stores[o] if value]
        held = frozenset().union(*(value for _, value in written)) if written else frozenset()
        fresh = all(len(value) == 1 for _, value in written) and len(held) == len(written)
        if held and fresh and all(objects.table[h].kind == "heap" for h in held) and not points_to.kept(held) - {o}:
            out[o] = objects.family(o, tuple(sorted(held)))
    return out


def _is_table(objects: Objects, o: int) -> bool:
    type_ = objects.table[o].type
    return type_ is not None and type_.is_array and type_.elem is not None and type_.elem.is_pointer
