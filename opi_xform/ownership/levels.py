"""Buffers of functions that may be entered from inside themselves, and of all that run below such ones.

The program graph has one level of such a function, with the numbers and the memory of the first.  What is known of a
buffer there need not hold at the others, and an edit would run at all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.ownership.elsewhere import written_at
from opi_xform.ownership.model import Buffer, Program, Refusal
from opi_xform.ownership.plan import Edit
from opi_xform.ownership.reasons import node_span


def levels_refusal(program: Program, buffer: Buffer) -> Refusal | None:
    """A function with several levels, or one that it calls there, uses the buffer; None when none does."""
    graph = program.graph
    for n in (*(use.node for use in buffer.uses), *buffer.touches):
        frame = graph.nodes[n].frame
        while frame >= 0:
            name = graph.frames[frame].function
            if name in graph.cyclic:
                return _refusal(program, buffer, name, n)
            frame = graph.frames[frame].parent
    return None


def levels_written(program: Program, buffer: Buffer, edits: Iterable[Edit]) -> Refusal | None:
    """An edit lies in a function with several levels; None when none does."""
    functions = [program.functions[name] for name in sorted(program.graph.levels) if name in program.functions]
    for edit in edits:
        place = written_at(edit)
        for function in functions:
            span = function.span
            if span.file == place.file and span.begin <= place.begin < span.end:
                return _refusal(program, buffer, function.key, buffer.uses[0].node)
    return None


def _refusal(program: Program, buffer: Buffer, name: str, n: int) -> Refusal:
    function = program.functions[name]
    message = f"`{buffer.name}` is used in `{function.name}`, which a call may enter more than once at a time"
    return Refusal("escape", message, ((node_span(program, n), "used here"),))
