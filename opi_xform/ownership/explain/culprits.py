"""Which accesses decide that a use stays: each candidate is tried as if it were the only reader."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from islpy import Set

from opi_xform.graph.graph import Graph
from opi_xform.ownership.liveness.buffer_events import PADDING, SIGNS
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Use
from opi_xform.regions.sets import BudgetExceeded

TRIES = 8  # candidates tried for one message, each by itself
_Asked = Callable[[Mapping[int, Set], Set], bool]
"""Whether bytes that are not there are needed: of the live regions after the sites and births, and at the start."""


def readers_after(judge: Judge, use: Use) -> tuple[int, ...]:
    """Nodes whose reads need bytes that are gone after the use; the nearest few, the first one surely.

    After a send, what reads the data goes before what sends it again: packing anew would not be enough there.
    """
    candidates = ahead(judge.program.graph, use.node, readers_of(judge))
    found = _deciding(judge, candidates, lambda live, _: judge.needed(use, live))
    return tuple(sorted(found, key=judge.use_nodes.__contains__)) if use.side == "send" else found


def readers_of_first_contents(judge: Judge) -> tuple[int, ...]:
    """Nodes whose reads need what the buffer held before it was first written."""
    return _deciding(judge, sorted(readers_of(judge)), judge.reads_initial)


def readers_of_no_contents(judge: Judge) -> tuple[int, ...]:
    """Nodes that read the buffer where nobody may have written to it."""
    return _deciding(judge, sorted(readers_of(judge)), lambda live, _: judge.reads_unwritten(live))


def unwritten(judge: Judge, without: Collection[int]) -> bool:
    """The buffer is read where nobody may have written to it.  without: nodes that do not count."""
    if not judge.unwritten or not without:
        return judge.unwritten
    others = sorted(readers_of(judge) - set(without))
    return _needs(judge, others, lambda live, _: judge.reads_unwritten(live))


def touches_after(judge: Judge, use: Use) -> tuple[int, ...]:
    """Nodes that touch the buffer after the use, nearest first."""
    nodes = {*judge.accesses, *judge.use_nodes}
    return tuple(ahead(judge.program.graph, use.node, nodes)[:3])


def readers_of(judge: Judge) -> set[int]:
    """Nodes that read the object, sends of it included."""
    reads = {n for n, found in judge.accesses.items() if any(a.kind == "R" for a in found)}
    return reads | {u.node for u in judge.uses if u.side == "send"}


def _deciding(judge: Judge, candidates: Iterable[int], asked: _Asked) -> tuple[int, ...]:
    """The nearest few of the candidates that decide, two at most; where none is found, the nearest."""
    every = list(candidates)
    out: list[int] = []
    for n in every[:TRIES]:
        if _needs(judge, [n], asked):
            out.append(n)
        if len(out) == 2:
            break
    if not out and len(every) > TRIES:
        out.extend(_first(judge, every, asked))
    return tuple(out or every[:1])


def _first(judge: Judge, candidates: list[int], asked: _Asked) -> list[int]:
    """The first that decides, where the nearest do not: what several read is needed as soon as one of them reads it."""
    few, many = TRIES, len(candidates)
    if not _needs(judge, candidates, asked):
        return []
    while many - few > 1:
        middle = (few + many) // 2
        if _needs(judge, candidates[:middle], asked):
            many = middle
        else:
            few = middle
    found = candidates[many - 1 : many]
    return found if _needs(judge, found, asked) else []


def _needs(judge: Judge, nodes: list[int], asked: _Asked) -> bool:
    """Bytes that are gone are needed if these nodes are all that reads; False where that takes too long to tell."""
    assumed: frozenset[str] = frozenset() if judge.strict else frozenset({PADDING, SIGNS})
    try:
        with judge.regions.budget():
            found, at_entry = judge.live(None, frozenset(nodes), assumed)
            return asked(found, at_entry)
    except BudgetExceeded:
        judge.regions.context.reset_operations()
        return False


def meets(judge: Judge, use: Use, n: int) -> bool:
    """What a node reads and the message have bytes in common for all numbers with which both have any.

    It is what words are chosen by: where this is not shown, the node may as well read what lies beside the message.
    """
    if use.lo is None or use.length is None:
        return False
    try:
        with judge.regions.budget():
            sent = judge.region(use.node, use.lo, use.length, True)
            for a in judge.accesses.get(n, ()):
                known = a.kind == "R" and a.lo is not None and a.length is not None
                read = judge.region(n, a.lo, a.length, False) if known else None
                if sent is None or read is None:
                    continue
                if read.params().intersect(sent.params()).is_subset(read.intersect(sent).params()):
                    return True
    except BudgetExceeded:
        judge.regions.context.reset_operations()
    return False


def ahead(graph: Graph, start: int, wanted: set[int]) -> list[int]:
    """The wanted nodes that can be reached from a node, in the order of a walk."""
    block = graph.nodes[start].block
    out = [n for n in graph.blocks[block] if n > start and n in wanted]
    seen = {block}
    stack = list(reversed(graph.succs[block]))
    again = False
    while stack:
        b = stack.pop()
        again = again or b == block
        if b in seen:
            continue
        seen.add(b)
        out.extend(n for n in graph.blocks[b] if n in wanted)
        stack.extend(reversed(graph.succs[b]))
    if again:
        out.extend(n for n in graph.blocks[block] if n <= start and n in wanted)
    return out
