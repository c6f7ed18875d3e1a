"""Reads that are only supposed, of deeper levels of a function that calls itself: none that is followed reads."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.graph.graph import Lost
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of


def supposed(program: Program, n: int, o: int) -> bool:
    """A node is a call of a function from inside itself, and what is followed of that function does not read an object,
    nor is the call given it.
    """
    graph, values = program.graph, program.values
    again = graph.entered_again(graph.nodes[n])
    if again < 0:
        return False
    bases = (values.symbols.base(v) for v in values.args.get(n, ()))
    if o in program.points_to.reachable(frozenset(base for base in bases if base is not None)):
        return False
    for m in values.accesses.nodes(o):
        frame = graph.nodes[m].frame
        while frame not in (again, -1):
            frame = graph.frames[frame].parent
        if frame == again and not isinstance(graph.nodes[m].action, Lost) and values.accesses.touches(m, (o,), "R"):
            return False
    return True


def supposed_refusal(program: Program, buffer: Buffer, use: Use, n: int) -> Refusal | None:
    """What is said where nothing but a deeper level may read what is needed after a message."""
    lost = program.graph.nodes[n].action
    if not isinstance(lost, Lost) or not lost.functions or not supposed(program, n, use.object):
        return None
    span, key = node_span(program, n), lost.functions[0]
    called = program.functions[key].name if key in program.functions else key
    message = f"could not show that `{called}`, called from inside itself at {line_of(span)}, reads nothing of"
    return Refusal(Reason.READ_LATER, f"{message} `{buffer.name}`", ((span, "called from inside itself here"),))
