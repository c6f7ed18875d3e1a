"""The buffer's address goes nowhere that the analysis cannot follow.

Points-to analysis is inclusion-based (Andersen 1994): an address that is given to a call which is not followed may be
kept there, and used at any time, through a name of which nothing is known.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.graph.graph import POINTER, RECURSION, Lost
from opi_xform.ir import ast
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.explain.called import called_pointer, node_span, of_callee
from opi_xform.ownership.explain.pointers.outside import stored_outside
from opi_xform.ownership.model.buffers import Program, Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.roots import base_of


def check(facts: BufferFacts) -> Refusal | None:
    """The first call that is not followed and has the address."""
    program, buffer = facts.program, facts.found
    for o in buffer.objects:
        lost = program.values.given_away.get(o)
        if lost is not None:
            node, why = lost
            given = _given_on(program, o, buffer.name)
            key, stored = buffer.carrier.variable, None
            if given is None:
                stored = stored_outside(program, o, buffer.name, node, why, key)
            if stored is not None:
                return stored
            if why == RECURSION:
                node = _given_again(program, node, buffer.name)
            if given is not None:
                node, why = given[0], _through_pointer(program, *given)
            else:
                why = _called_again(program, node) if why == RECURSION else of_callee(program, node, why)
            reason = Reason.UNKNOWN_FUNCTION if why.startswith("unknown function") else Reason.ESCAPE
            return Refusal(reason, f"`{buffer.name}`: {why}", ((node_span(program, node), why),))
    return None


def _given_again(program: Program, node: int, name: str) -> int:
    """The call, of the same function from inside itself, that is given a buffer by its name; else the given one."""
    lost = program.graph.nodes[node].action
    for other in program.graph.nodes if isinstance(lost, Lost) else ():
        again = other.action
        same = isinstance(again, Lost) and isinstance(lost, Lost) and again.functions == lost.functions
        if same and isinstance(again, Lost) and any(spelling(base_of(e)) == name for e in again.call.call.args):
            return other.number
    return node


def _called_again(program: Program, node: int) -> str:
    """What a call does that is made from inside the function which it calls."""
    action = program.graph.nodes[node].action
    names = action.functions if isinstance(action, Lost) else ()
    if not names:
        return RECURSION
    line = line_of(node_span(program, node))
    return f"could not show that `{names[0].rpartition(':')[2]}`, called from inside itself at {line}, leaves it alone"


def _through_pointer(program: Program, node: int, given: ast.Expr | None) -> str:
    """What a call does that is made through a pointer.  given: its argument that may be anything; None: it is known."""
    named = called_pointer(program, node)
    if not named:
        return POINTER
    if given is not None and spelling(given) != UNSPELLED:
        return f"could not show that `{spelling(given)}`, which is given to what `{named}` points to, is other memory"
    return f"it is given to what `{named}` points to, and could not show which function that is"


def _given_on(program: Program, o: int, name: str) -> tuple[int, ast.Expr | None] | None:
    """A call through a pointer that is not followed, and has the buffer's address as an argument, or the surest: one
    that names the buffer, or one that can be given the fewest others.  With the argument, where that may be anything.
    """
    found: list[tuple[bool, int, int, int]] = []
    for node in program.graph.nodes:
        lost = node.action
        if not isinstance(lost, Lost) or lost.reason != POINTER:
            continue
        for i, (argument, e) in enumerate(zip(lost.call.args, lost.call.call.args, strict=False)):
            targets = program.points_to.operand(node.frame, argument)
            found += [(spelling(e) != name, len(targets), node.number, i)] if o in targets else []
    if not found:
        return None
    _, _, n, i = min(found)
    lost = program.graph.nodes[n].action
    assert isinstance(lost, Lost)
    unsure = UNKNOWN in program.points_to.operand(program.graph.nodes[n].frame, lost.call.args[i])
    e = lost.call.call.args[i]
    return n, e if unsure and spelling(e) != name else None


CONDITION = Condition(
    "escape",
    "The buffer's address goes nowhere that the analysis cannot follow.",
    codes=(Reason.ESCAPE.send, Reason.ESCAPE.recv, Reason.UNKNOWN_FUNCTION.send),
    enforced=("ownership.model.addresses:AddressFlow", "pointsto.constraints:GraphPointsTo"),
    buffer=check,
)
