"""Reads that are only supposed, of deeper levels of a function that calls itself: none that is followed reads."""

from __future__ import annotations

from opi_xform.graph.graph import Lost
from opi_xform.ownership.model.buffers import Program


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
