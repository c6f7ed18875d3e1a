"""Objects in other hands: what they hold may change at any time, with no visible write.

A thread, a handler of signals, a callback that a library keeps, a window of one-sided communication, a mapping that
other processes have, memory that a persistent request fills: once an address is there, nobody sees the writes.  Where
and when is not tracked.  What such an object holds is a new unknown at every read, as if it were volatile; so a loop
needs no write in it to have it changed, and two reads of it are never known to be equal.

Only the *keeping* counts.  A function of the program that is not followed, and a call that does its work before it
returns, change what they reach there and then (``Calls.lost``); they make nothing foreign unless something in them does
(``hidden``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from opi_xform.calls.calls import Calls, calls_back, handed_over, region_args, unknown
from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.graph import NOT_FOLLOWED, Lost, Node
from opi_xform.ir import instr as ins
from opi_xform.memory.extent import ADDRESSES

COUNTED = re.compile(
    r"P?MPI_(?:Type_(?:vector|indexed|create_indexed_block)|I?(?:[Gg]ather|[Ss]catter|[Aa]llgather|[Aa]lltoall)[vw])\w*"
)
"""Calls with strides or displacements in elements, as numbers that are narrower than an address."""
VARIADIC = "argument of a function with `...`"
"""Why such an argument is outside: the function reads it through a va_list.  It may be kept only by what that calls."""


def foreign(calls: Calls) -> Mapping[int, tuple[int, str]]:
    """The objects, each with the node that gives it away and what happens there.

    What is no object of the program belongs to others anyway, and so do variables that files not given can name.
    """
    out: dict[int, tuple[int, str]] = dict.fromkeys(sorted(calls.objects.exposed), (0, "other code knows it"))
    seen: set[int] = set()
    for node in calls.graph.nodes:
        for objects, reason in _given(calls, node):
            reached = calls.pts.reachable(objects)
            if id(reached) not in seen:  # what is outside is one large set, and comes again and again
                seen.add(id(reached))
                for o in sorted(reached):
                    out.setdefault(o, (node.number, reason))
    return out


def _given(calls: Calls, node: Node) -> Iterator[tuple[frozenset[int], str]]:
    """What a node gives into other hands for longer than it takes."""
    match node.action:
        case ins.Escape(values=values, reason=reason, brief=False) if reason != VARIADIC:
            for operand in values:
                yield calls.pts.operand(node.frame, operand), reason
        case Lost(functions=functions, reason=reason):
            if not calls.objects.hidden.isdisjoint(functions):
                yield calls.lost(node), f"{reason}: a function that is not followed gives addresses away"
        case ins.CallInstr() as call if not calls.is_followed(node, call):
            effect = calls.effect(call)
            if effect is None:
                yield calls.lost(node), unknown(call)
            else:
                yield from _library(calls, node, call, effect)
        case _:
            pass


def _counts_places(calls: Calls) -> bool:
    """A call of the program counts elements from a buffer on in whole numbers, which may be a distance of addresses."""
    found = (node.action for node in (*calls.graph.nodes, *calls.graph.background.nodes))
    return any(
        (isinstance(a, Lost) and a.reason == NOT_FOLLOWED)
        or (isinstance(a, ins.CallInstr) and isinstance(a.callee, ins.AddrFunc) and COUNTED.fullmatch(a.callee.key))
        for a in found
    )


def _library(
    calls: Calls, node: Node, call: ins.CallInstr, effect: FunctionEffect
) -> Iterator[tuple[frozenset[int], str]]:
    if calls_back(effect, call) and node.number not in calls.graph.followed:
        later = any(callback.when in ("later", "concurrent") for callback in effect.calls)
        if later or (calls.objects.hidden and any(callback.when == "now" for callback in effect.calls)):
            yield calls.lost(node), f"used by a function that {effect.name} is given"
    if effect.mpi is None or effect.mpi.request is None:
        for i in effect.retains:
            if i < len(call.args) and i not in effect.retains_unwritten:
                yield calls.pts.operand(node.frame, call.args[i]), f"address kept by {effect.name}"
    if effect.name in ADDRESSES and call.args and _counts_places(calls):
        yield (
            calls.pts.operand(node.frame, call.args[0]),
            f"{effect.name} tells where it is",
        )
    for i in handed_over(effect, call):
        yield calls.pts.operand(node.frame, call.args[i]), f"used by the operation that {effect.name} is given"
    for i in effect.retains_stored if node.number not in calls.objects.relative else ():
        if i < len(call.args):
            given = calls.pts.operand(node.frame, call.args[i])
            yield calls.pts.reachable(given) - given, f"address kept by {effect.name}"
    if effect.mpi is not None and effect.mpi.persistent:
        for region in effect.all_writes:
            for i in region_args(region.arg, region.rest, call):
                if i != effect.mpi.request:
                    yield calls.pts.operand(node.frame, call.args[i]), f"a persistent request of {effect.name} fills it"
    if effect.allocates is not None and effect.allocates.shared:
        yield frozenset({calls.objects.heap(node.number)}), f"memory of {effect.name}, which others have too"
