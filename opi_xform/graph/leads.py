"""From where to where the program graph leads, node by node: what happens between an allocation and its end."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from opi_xform.graph.graph import Graph

ENTRY = -1
"""Where the program begins: before its first node."""


def leads(graph: Graph, starts: Iterable[int], targets: Collection[int], avoiding: Collection[int]) -> int | None:
    """A target that can be reached after one of the nodes without passing one to avoid; None when there is none.

    A target that is to be avoided is reached, and not passed.
    """
    work: list[tuple[int, int]] = []  # a block, and where in it to begin
    for n in starts:
        if n == ENTRY:
            work.append((0, 0))
        else:
            block = graph.nodes[n].block
            work.append((block, graph.blocks[block].index(n) + 1))
    seen: set[int] = set()
    while work:
        block, first = work.pop()
        if first == 0:
            if block in seen:
                continue
            seen.add(block)
        for n in graph.blocks[block][first:]:
            if n in targets:
                return n
            if n in avoiding:
                break
        else:
            work.extend((s, 0) for s in graph.succs[block])
    return None
