"""Which assignments give a name what it has at a node: those that a way leads from, past no other assignment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from opi_xform.graph.graph import Bind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.names import names_of


def in_force(program: Program, nodes: Iterable[int], n: int) -> list[int]:
    """Of nodes that set one name: those whose value it may have where another node begins.

    A way through a node that no process runs beside that one is none.
    """
    graph, excluded = program.graph, branches_of(program).excluded
    by_block: dict[int, list[int]] = {}
    for m in sorted(set(nodes)):
        by_block.setdefault(graph.nodes[m].block, []).append(m)
    start = graph.nodes[n].block
    out, seen = set[int](), set[int]()
    work = [(start, [m for m in by_block.get(start, ()) if m < n])]
    for block, found in work:
        out.update(found[-1:])
        fresh = [p for p in graph.preds[block] if p not in seen] if not found else []
        seen.update(fresh)
        work += [(p, by_block.get(p, [])) for p in fresh]
    return sorted(m for m in out if not excluded(n, m))


def of_the_site(program: Program, nodes: Sequence[int], sites: Iterable[int]) -> list[int]:
    """Of nodes that set one name those that a site can come from; else those it can come to; all, where there are none.

    sites: the copies of one call.
    """
    before = {m for n in sites for m in in_force(program, nodes, n)}
    if before:
        return [n for n in nodes if n in before]
    excluded, names = branches_of(program).excluded, names_of(program)
    after = {m for n in sites for m in nodes if names.follows(n, m) and not excluded(n, m)}
    return [n for n in nodes if n in after] or list(nodes)


def calls_for(program: Program, calls: Sequence[ast.Call], use: Use, one: bool) -> list[ast.Call]:
    """Of calls that set something which a message's call names: those that it can come from; all, where none is known.

    one: all set the same variable, so that one of them hides those before it.
    """
    nodes: dict[int, ast.Call] = {}
    by_span = {call.span: call for call in calls}
    for node in program.graph.nodes:
        if isinstance(node.action, ins.CallInstr) and node.action.call.span in by_span:
            nodes[node.number] = by_span[node.action.call.span]
    if one:
        before = in_force(program, nodes, use.node)
    else:
        names, excluded = names_of(program), branches_of(program).excluded
        before = [n for n in nodes if names.follows(n, use.node) and not excluded(use.node, n)]
    spans = {nodes[n].span for n in before}
    return [call for call in calls if call.span in spans] or list(calls)


def at_the_site(program: Program, refusal: Refusal, key: str, uses: Sequence[Use]) -> Refusal:
    """A refusal for a variable that is set in the line of its note: with a line that sets it for the site, instead."""
    names, graph = names_of(program), program.graph
    function = program.variables[key].function
    frames = {use.node: graph.nodes[use.node].frame for use in uses}
    for n, frame in frames.items():
        while frame >= 0 and graph.frames[frame].function != function:
            frame = graph.frames[frame].parent
        frames[n] = frame
    objects = {frame: program.values.objects.variable(frame, key) for frame in frames.values() if frame >= 0}
    found = [d for o in objects.values() for d in names.defs.get(("v", o, 0), ())]
    found = [d for d in found if not isinstance(graph.nodes[d].action, Bind)]
    span = refusal.notes[0][0] if refusal.notes else None
    if span is None or not any(_covers(names.span(d), span) for d in found):
        return refusal
    told = {names.span(d) for n in frames for d in of_the_site(program, found, [n])}
    if any(_covers(one, span) for one in told):
        return refusal
    first = min(told, key=lambda one: (one.file, one.begin))
    return replace(refusal, notes=((first, refusal.notes[0][1]), *refusal.notes[1:]))


def _covers(whole: Span, part: Span) -> bool:
    return whole.file == part.file and whole.begin <= part.begin < whole.end
