"""Buffers of functions that may be entered from inside themselves, and of all that run below such ones.

The program graph has one level of such a function, with the numbers and the memory of the first.  What is known of a
buffer there need not hold at the others, and an edit would run at all of them.  For a buffer that each activation has
for itself it does hold, and each may run the edit (``calls/own.py``).
"""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.codes import Reason
from opi_xform.graph.graph import RECURSION, Lost, Unbind
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name, calls_of
from opi_xform.ir.span import Span
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts, Placed, Site
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.deepest import in_its_words
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.lines import lines_of
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.plan import Edit, InsertStatement
from opi_xform.ownership.requests.pending import Asked, pending
from opi_xform.ownership.spelling.configurations import written_at


def levels_refusal(program: Program, buffer: Buffer) -> Refusal | None:
    """A function with several levels, or one that it calls there, does more with the buffer than to read and write it.

    What the first level reads and writes is in the graph, and a call of it from inside may read and write all that
    deeper ones do (``calls/deeper.py``).
    """
    owners = _owners(program, buffer)
    for n in (*(use.node for use in buffer.uses), *buffer.touches):
        outermost, name = _recursion(program, n, owners)
        if outermost >= 0 and not program.values.beyond[outermost].isdisjoint(buffer.objects):
            return _refusal(program, buffer, name, n)
    return None


def levels_site(program: Program, buffer: Buffer, uses: Iterable[Use]) -> Refusal | None:
    """A call that is made at several levels: what is right at the first need not be at the others."""
    owners = _owners(program, buffer)
    for use in uses:
        outermost, name = _recursion(program, use.node, owners)
        if outermost >= 0:
            return _refusal(program, buffer, name, use.node)
    return None


def _owners(program: Program, buffer: Buffer) -> frozenset[int]:
    """The copies with several levels each activation of which has a buffer of its own; none where a message goes on
    while another activation runs, since deeper levels may have such ones too.
    """
    owners = [program.values.owners.get(o, frozenset[int]()) for o in buffer.objects]
    found = frozenset[int]().union(*owners)
    return found if all(owners) and not _goes_on(program, buffer, found) else frozenset()


def _goes_on(program: Program, buffer: Buffer, owners: frozenset[int]) -> bool:
    """A message may be pending where a copy is entered once more, or where it is left."""
    begun = [use for use in buffer.uses if use.op.request is not None]
    if not begun:
        return False
    ends = []
    for node in program.graph.nodes:
        match node.action:
            case Lost(reason=reason) if reason == RECURSION:
                ends.append(Asked(node.number, ahead=True))
            case Unbind(callee=callee) if callee in owners:
                ends.append(Asked(node.number, ahead=True))
            case _:
                pass
    names = names_of(program)
    return any(use.op.persistent or pending(names, use.node, use.op, ends) for use in begun)


def _recursion(program: Program, n: int, owners: frozenset[int]) -> tuple[int, str]:
    """The copy of a function around a node that is the outermost with several levels (-1: none), and the innermost."""
    return _around(program, program.graph.nodes[n].frame, owners)


def _around(program: Program, frame: int, owners: frozenset[int]) -> tuple[int, str]:
    graph = program.graph
    outermost, name = -1, ""
    while frame >= 0:
        if graph.frames[frame].function in graph.cyclic and frame not in owners:
            outermost, name = frame, name or graph.frames[frame].function
        frame = graph.frames[frame].parent
    return outermost, name


def levels_written(program: Program, buffer: Buffer, edits: Iterable[Edit]) -> Refusal | None:
    """An edit lies in a function with several levels, not all with a buffer of their own; None when none does."""
    graph, owners = program.graph, _owners(program, buffer)
    anew = owners.union(*program.values.owners.values() if owners else ())  # what is known in these holds at each level
    functions = [program.functions[name] for name in sorted(graph.levels) if name in program.functions]
    copies: dict[str, list[int]] = {}
    for frame in graph.frames if owners else ():
        copies.setdefault(frame.function, []).append(frame.number)
    for edit in edits:
        place = written_at(edit)
        if owners and isinstance(edit, InsertStatement) and not _in_a_function(program, place):
            here = node_span(program, buffer.uses[0].node)
            message = f"each call has a `{buffer.name}` of its own, with a size of its own: no one variable keeps it"
            return Refusal(Reason.ESCAPE, message, ((here, "used here"),))
        for function in functions:
            span = function.span
            if span.file != place.file or not span.begin <= place.begin < span.end:
                continue
            mine = copies.get(function.key, ())
            shown = mine and function.key not in graph.passed
            if not shown or any(_around(program, frame, anew)[0] >= 0 for frame in mine):
                return _refusal(program, buffer, function.key, buffer.uses[0].node)
    return None


def _in_a_function(program: Program, place: Span) -> bool:
    """Each activation has it for itself: not so what stands beside functions, as a variable for a size may."""
    spans = (function.span for function in program.functions.values())
    return any(s.file == place.file and s.begin < place.begin and place.end <= s.end for s in spans)


def _refusal(program: Program, buffer: Buffer, name: str, n: int) -> Refusal:
    function = program.functions[name]
    around = program.functions[program.graph.frames[program.graph.nodes[n].frame].function]
    used = f"`{function.name}`" if around is function else f"`{around.name}`, to which `{function.name}` leads"
    message = f"`{buffer.name}`: it is used in {used}"
    message += ", which" if around is function else f"; `{function.name}`"
    way = _back(program, name)
    if not way:
        message += " may be entered once more before it has returned"
        return Refusal(Reason.ENTERED_AGAIN, message, ((node_span(program, n), "used here"),))
    again = [call.span for call in calls_of(function) if called_name(call) == called_name(way[0])]
    notes = [(span, "calls itself here") for span in sorted(again, key=lambda span: span.begin)]
    message += " calls itself"
    if len(way) > 1:
        through = " and ".join(f"`{program.functions[called_name(call)].name}`" for call in way[:-1])
        message += f" through {through}"
        notes = [(call.span, f"`{program.functions[called_name(call)].name}` is called here") for call in way]
    else:
        message += f" at {lines_of(again)}"
    message += ": could not show that it is of one of these calls alone"
    return Refusal(Reason.ENTERED_AGAIN, message, tuple(notes[:_SHOWN]))


def _back(program: Program, name: str) -> list[ast.Call]:
    """The fewest calls by name that lead from a function to itself; none where that takes a pointer."""
    ways: dict[str, list[ast.Call]] = {name: []}
    for at in (work := [name]):
        for call in calls_of(program.functions[at]):
            key = called_name(call)
            if key == name:
                return [*ways[at], call]
            if key in program.functions and key not in ways and len(ways[at]) < _SHOWN:
                ways[key] = [*ways[at], call]
                work.append(key)
    return []


_SHOWN = 3


def check_buffer(facts: BufferFacts) -> Refusal | None:
    """See ``levels_refusal``."""
    return levels_refusal(facts.program, facts.found)


def check_site(site: Site) -> Refusal | None:
    """See ``levels_site``: the buffer by the name that the call has for it."""
    found = levels_site(site.program, site.buffer, site.uses)
    return found and in_its_words(found, site.buffer, site.uses[0])


def check_placed(placed: Placed) -> Refusal | None:
    """See ``levels_written``."""
    return levels_written(placed.program, placed.going.facts.buffer, placed.edits)


CONDITION = Condition(
    "buffers of one activation",
    "A buffer in a function that calls itself is one call's own, and what is known of it holds at each level.",
    cases=("activation_*", "levels_own", "levels_arm", "levels_callback", "lifted_recursive"),
    enforced=(
        "calls.own:own",
        "ownership.conditions.memory.levels:levels_refusal",
        "ownership.conditions.memory.levels:levels_site",
        "ownership.conditions.memory.levels:levels_written",
    ),
    buffer=check_buffer,
    site=check_site,
    placed=check_placed,
)
