"""The buffer's address goes nowhere that the analysis cannot follow.

Points-to analysis is inclusion-based (Andersen 1994): an address that is given to a call which is not followed may be
kept there, and used at any time, through a name of which nothing is known.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.graph.graph import POINTER, RECURSION, Lost
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.explain.called import called_pointer, node_span, of_callee
from opi_xform.ownership.explain.pointers.outside import stored_outside
from opi_xform.ownership.model.buffers import Program, Refusal
from opi_xform.ownership.model.lines import line_of


def check(facts: BufferFacts) -> Refusal | None:
    """The first call that is not followed and has the address."""
    program, buffer = facts.program, facts.found
    for o in buffer.objects:
        lost = program.values.given_away.get(o)
        if lost is not None:
            node, why = lost
            given = _given_on(program, o)
            stored = stored_outside(program, o, buffer.name, node, why) if given is None else None
            if stored is not None:
                return stored
            if given is not None:
                node, why = given, _through_pointer(program, given)
            else:
                why = _called_again(program, node) if why == RECURSION else of_callee(program, node, why)
            reason = Reason.UNKNOWN_FUNCTION if why.startswith("unknown function") else Reason.ESCAPE
            return Refusal(reason, f"`{buffer.name}`: {why}", ((node_span(program, node), why),))
    return None


def _called_again(program: Program, node: int) -> str:
    """What a call does that is made from inside the function which it calls."""
    action = program.graph.nodes[node].action
    names = action.functions if isinstance(action, Lost) else ()
    if not names:
        return RECURSION
    line = line_of(node_span(program, node))
    return f"could not show that `{names[0].rpartition(':')[2]}`, called from inside itself at {line}, leaves it alone"


def _through_pointer(program: Program, node: int) -> str:
    """What a call does that is made through a pointer."""
    named = called_pointer(program, node)
    return f"it is given to what `{named}` points to, and could not show which function that is" if named else POINTER


def _given_on(program: Program, o: int) -> int | None:
    """A call through a pointer that is not followed, and has the buffer's address as an argument, or the surest."""
    found: list[tuple[int, int]] = []
    for node in program.graph.nodes:
        lost = node.action
        for argument in lost.call.args if isinstance(lost, Lost) and lost.reason == POINTER else ():
            targets = program.points_to.operand(node.frame, argument)
            found += [(len(targets), node.number)] if o in targets else []
    return min(found)[1] if found else None


CONDITION = Condition(
    "escape",
    "The buffer's address goes nowhere that the analysis cannot follow.",
    codes=(Reason.ESCAPE.send, Reason.ESCAPE.recv, Reason.UNKNOWN_FUNCTION.send),
    enforced=("ownership.model.addresses:AddressFlow", "pointsto.constraints:GraphPointsTo"),
    buffer=check,
)
