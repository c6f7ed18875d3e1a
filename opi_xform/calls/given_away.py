"""Which call gives an object away, for reasons: the one that gets its address, not those that reach it afterwards."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.calls.calls import Calls, unknown
from opi_xform.graph.graph import POINTER, RECURSION, SUMMARY, Lost, Node
from opi_xform.ir import instr as ins
from opi_xform.memory.objects import UNKNOWN
from opi_xform.memory.values import Values


def name_givers(calls: Calls, values: Values) -> None:
    """What is known outside, every function that is not followed can reach: the first of these tells nobody why."""
    givers: dict[int, dict[int, str]] = {}  # of an object: nodes, with what happens there
    for node in calls.graph.nodes:
        for reason, operand in _given(calls, node):
            found = calls.pts.operand(node.frame, operand)
            for o in sorted(found) if UNKNOWN not in found else ():
                givers.setdefault(o, {}).setdefault(node.number, reason)
    for table in (values.escaped, values.given_away):
        for o, (n, why) in table.items():
            if o in givers:
                first = n if n in givers[o] else min(givers[o])
                table[o] = (first, givers[o][first])
            else:
                table[o] = (n, _named(calls.graph.nodes[n], why))


def _given(calls: Calls, node: Node) -> Iterator[tuple[str, ins.Operand]]:
    match node.action:
        case ins.Escape(values=found, reason=reason):
            yield from ((reason, operand) for operand in found)
        case Lost(call=call, reason=reason) if reason not in (RECURSION, SUMMARY):
            yield from ((_named(node, reason), operand) for operand in call.args)
        case ins.CallInstr() as call if not calls.is_followed(node, call) and calls.effect(call) is None:
            yield from ((unknown(call), operand) for operand in call.args)


def _named(node: Node, reason: str) -> str:
    """Why a call is not followed, with the one function that it is of."""
    match node.action:
        case Lost(reason=why, functions=(name,)) if reason == why and why not in (RECURSION, SUMMARY, POINTER):
            return f"`{name.rpartition(':')[2]}`, which is not followed: {reason}"
        case _:
            return reason
