"""Ways through the program from one node to another one, and what lies on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.ownership.model.buffers import Program, Use


def between(program: Program, start: int, end: int, wanted: Iterable[int], turns: Iterable[int] = ()) -> list[int]:
    """Those of some nodes that run on a way from a node to another one that comes to neither of both before.

    turns: loops in one turn of which the way is.
    """
    graph, ends = program.graph, {start, end}
    barred = {program.nest.loops[loop].header for loop in turns}
    behind = _walked(graph, start, ends, graph.succs, barred)
    ahead = _walked(graph, end, ends, graph.preds, barred)
    return [n for n in wanted if all(graph.nodes[n].block in blocks or n in part for blocks, part in (behind, ahead))]


def always_between(program: Program, start: int, n: int, end: int) -> bool:
    """Every way from a node to another one comes to a third one before."""
    graph, asked = program.graph, {n, end}
    found = {b: [m for m in graph.blocks[b] if m in asked] for b in {graph.nodes[m].block for m in asked}}
    block = graph.nodes[start].block
    work, seen = [(block, [m for m in found.get(block, ()) if m > start])], set[int]()
    for b, nodes in work:
        if nodes[:1] == [end] and end != n:
            return False
        fresh = [s for s in graph.succs[b] if s not in seen] if not nodes else []
        seen.update(fresh)
        work += [(s, found.get(s, [])) for s in fresh]
    return True


def _walked(
    graph: Graph, start: int, ends: set[int], onward: tuple[tuple[int, ...], ...], barred: set[int]
) -> tuple[set[int], set[int]]:
    """What is on ways from a node on, each up to one of the ends: blocks, and nodes of those in which a way ends."""
    first, stops = graph.nodes[start].block, {graph.nodes[n].block for n in ends}
    blocks, part, step = set[int](), set[int](), 1 if onward is graph.succs else -1
    work = [(first, [n for n in graph.blocks[first] if (n - start) * step > 0])]
    seen = set(barred)
    for b, nodes in work:
        ordered = nodes[::step]
        at = next((i for i, n in enumerate(ordered) if n in ends), None)
        part.update(ordered[:at])
        fresh = [s for s in onward[b] if s not in seen] if at is None else []
        seen.update(fresh)
        blocks.update(s for s in fresh if s not in stops)
        work += [(s, list(graph.blocks[s]) if s in stops else []) for s in fresh]
    return blocks, part


def in_turn(program: Program, start: int, n: int, loops: Collection[int]) -> bool:
    """A node can be reached from another one in the same turn of loops that are around both."""
    graph, nest = program.graph, program.nest
    first, last = graph.nodes[start].block, graph.nodes[n].block
    if first == last and start < n:
        return True
    seen = {nest.loops[loop].header for loop in loops}
    work = [first]
    while work:
        fresh = [b for b in graph.succs[work.pop()] if b not in seen]
        if last in fresh:
            return True
        seen.update(fresh)
        work.extend(fresh)
    return False


def each_turn(nest: LoopNest, block: int, outermost: int) -> bool:
    """Each turn of a loop comes to a block, if the loops in between have any."""
    for loop in nest.chain(block):
        if not all(nest.dominates(block, latch) for latch in nest.loops[loop].latches):
            return False
        if loop == outermost:
            break
        block = nest.loops[loop].header
    return True


def ahead(graph: Graph, start: int, wanted: set[int]) -> list[int]:
    """The wanted nodes that can be reached from a node, in an order in which a process may come to them."""
    found = {b: [n for n in graph.blocks[b] if n in wanted] for b in {graph.nodes[n].block for n in wanted}}
    first = graph.nodes[start].block
    here = found.get(first, [])
    out = [n for n in here if n > start]
    order, seen, again = list[int](), {first}, False
    work = [(first, iter(reversed(graph.succs[first])))]
    while work:  # depth first; both arms of an `if` go before what is behind it, a loop before what comes after that
        block, onward = work[-1]
        s = next(onward, None)
        if s is None:
            order.append(work.pop()[0])
            continue
        again = again or s == first
        if s not in seen:
            seen.add(s)
            work.append((s, iter(reversed(graph.succs[s]))))
    for block in reversed(order[:-1]):
        out.extend(found.get(block, ()))
    if again:
        out.extend(n for n in here if n <= start)
    return out


def reached(
    graph: Graph, start: int, wanted: Iterable[int], stops: Collection[int], barred: Collection[int] = ()
) -> set[int]:
    """Those of some nodes to which a way leads from another one, with none of ``stops`` on it.

    barred: blocks left out.
    """
    nodes, first = graph.nodes, graph.nodes[start].block
    ends = {nodes[n].block: n for n in sorted(stops, reverse=True)}  # by block: its first stop
    end = min((n for n in stops if n > start and nodes[n].block == first), default=None)  # of the part after the start
    entered, work = set(barred), [first] if end is None else []
    while work:
        for b in graph.succs[work.pop()]:
            if b not in entered:
                entered.add(b)
                if b not in ends:
                    work.append(b)
    entered.difference_update(barred)

    def comes(n: int) -> bool:
        block = nodes[n].block
        again = block in entered and n < ends.get(block, n + 1)
        return again or (block == first and n > start and (end is None or n < end))

    return set(filter(comes, wanted))


def read_first(program: Program, reads: Iterable[int], writes: Collection[int]) -> bool:
    """One of the reads of a loop comes before each of its writes: in the first turn it finds what was there before."""
    blocks = {n: program.graph.nodes[n].block for n in (*reads, *writes)}
    return any(
        all(r < w if blocks[r] == blocks[w] else program.nest.dominates(blocks[r], blocks[w]) for w in writes)
        for r in reads
    )


def sweeps(program: Program, use: Use, n: int) -> bool:
    """A node is in a loop that is not around a message."""
    nest, nodes = program.nest, program.graph.nodes
    return not set(nest.chain(nodes[n].block)) <= set(nest.chain(nodes[use.node].block))
