"""Buffers of functions that may be entered from inside themselves, and of all that run below such ones.

The program graph has one level of such a function, with the numbers and the memory of the first.  What is known of a
buffer there need not hold at the others, and an edit would run at all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.ownership.elsewhere import written_at
from opi_xform.ownership.model import Buffer, Program, Refusal, Use
from opi_xform.ownership.plan import Edit
from opi_xform.ownership.reasons import node_span


def levels_refusal(program: Program, buffer: Buffer) -> Refusal | None:
    """A function with several levels, or one that it calls there, does more with the buffer than to read and write it.

    What the first level reads and writes is in the graph, and a call of it from inside may read and write all that
    deeper ones do (``memory/deeper.py``).
    """
    for n in (*(use.node for use in buffer.uses), *buffer.touches):
        outermost, name = _recursion(program, n)
        if outermost >= 0 and not program.values.beyond[outermost].isdisjoint(buffer.objects):
            return _refusal(program, buffer, name, n)
    return None


def levels_site(program: Program, buffer: Buffer, uses: Iterable[Use]) -> Refusal | None:
    """A call that is made at several levels: what is right at the first need not be at the others."""
    for use in uses:
        outermost, name = _recursion(program, use.node)
        if outermost >= 0:
            return _refusal(program, buffer, name, use.node)
    return None


def _recursion(program: Program, n: int) -> tuple[int, str]:
    """The copy of a function around a node that is the outermost with several levels (-1: none), and the innermost."""
    graph = program.graph
    frame = graph.nodes[n].frame
    outermost, name = -1, ""
    while frame >= 0:
        if graph.frames[frame].function in graph.cyclic:
            outermost, name = frame, name or graph.frames[frame].function
        frame = graph.frames[frame].parent
    return outermost, name


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
