"""Pointers into the block of a message, by which something there is read that may lie beside it."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.other_memory import elsewhere_of
from opi_xform.ownership.model.buffers import Program, Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import Expressions, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of


def set_inside(program: Program, objects: frozenset[int], name: str) -> Span | None:
    """Where pointers of a table, by its name, are set to places inside blocks."""
    written = Expressions(program)
    for n, (_, inside) in sorted(elsewhere_of(program).parts.items()):
        node = program.graph.nodes[n]
        if objects.isdisjoint(inside) or not isinstance(node.action, ins.Store):
            continue
        e = written.of(program.graph.frames[node.frame].function, node.action)
        if e is not None and spelling(base_of(e)) == name:
            return names_of(program).span(n)
    return None


def by_part(program: Program, objects: frozenset[int], name: str, called: str, read: Span) -> Refusal | None:
    """A send of what ``name`` names, in a block in which something is read by ``called``, and maybe beside it."""
    there = set_inside(program, objects, called)
    if there is None:
        return None
    points = f"{line_of(there)} makes `{called}` point into the block of `{name}`, which this call sends"
    shown = f"could not show that {line_of(read)}, which reads it after the send, reads beside the message"
    notes = ((there, f"`{called}` is set here"), (read, f"`{called}` is read here"))
    return Refusal(Reason.READ_LATER, f"{points}, and {shown}", notes)
