"""Graphs as an analysis walks them.  Direction is a view: the same solver runs along the edges or against them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from opi_xform.dataflow.scc import components
from opi_xform.record import dataclass


class Graph(Protocol):
    """A control-flow graph over the nodes ``0 .. len(succs) - 1``.

    ``preds`` mirrors ``succs``.  ``exits``: the nodes after which the program (or function) is left: returns and calls
    that do not return.
    """

    @property
    def succs(self) -> Sequence[Sequence[int]]: ...

    @property
    def preds(self) -> Sequence[Sequence[int]]: ...

    @property
    def entry(self) -> int: ...

    @property
    def exits(self) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class ListGraph:
    """A graph given by its successor lists; made by ``of``."""

    succs: tuple[tuple[int, ...], ...]
    preds: tuple[tuple[int, ...], ...]
    entry: int
    exits: tuple[int, ...]

    @staticmethod
    def of(succs: Sequence[Sequence[int]], entry: int = 0, exits: Sequence[int] | None = None) -> ListGraph:
        """``exits`` None: the nodes without successors.  Parallel edges are kept once."""
        unique = tuple(tuple(dict.fromkeys(s)) for s in succs)
        preds: list[list[int]] = [[] for _ in unique]
        for node, out in enumerate(unique):
            for to in out:
                preds[to].append(node)
        if exits is None:
            exits = [n for n, out in enumerate(unique) if not out]
        return ListGraph(unique, tuple(map(tuple, preds)), entry, tuple(sorted(set(exits))))


@dataclass(frozen=True, slots=True)
class View:
    """A graph in the direction of an analysis.

    nexts/prevs: edges in that direction.  starts: where the boundary state enters.  order: every node that a start
    reaches, in reverse postorder; the others stay unvisited.
    """

    forward: bool
    nexts: Sequence[Sequence[int]]
    prevs: Sequence[Sequence[int]]
    starts: tuple[int, ...]
    order: tuple[int, ...]


def reverse_postorder(nexts: Sequence[Sequence[int]], starts: Sequence[int]) -> tuple[int, ...]:
    """The nodes reachable from ``starts``: each before its successors, cycles aside.  Deterministic; iterative."""
    seen: set[int] = set()
    post: list[int] = []
    # The starts are walked last to first, so that the first one comes first in the reversed order.
    for start in reversed(starts):
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(nexts[start]))]
        while stack:
            node, rest = stack[-1]
            for to in rest:
                if to not in seen:
                    seen.add(to)
                    stack.append((to, iter(nexts[to])))
                    break
            else:
                post.append(node)
                stack.pop()
    return tuple(reversed(post))


def forward(graph: Graph) -> View:
    """Along the edges, from the entry."""
    starts = (graph.entry,)
    return View(True, graph.succs, graph.preds, starts, reverse_postorder(graph.succs, starts))


def numbered(succs: Sequence[Sequence[int]], preds: Sequence[Sequence[int]]) -> View:
    """Along the edges, from node 0, of a graph whose nodes have numbers in the order of the flow, cycles aside.

    Nodes that nothing leads to are looked at, too: with top.
    """
    return View(True, succs, preds, (0,), tuple(range(len(succs))))


def backward(graph: Graph) -> View:
    """Against the edges, from the exits and from one node of each cycle that no exit ends (``for (;;)``)."""
    starts = tuple(graph.exits) + _endless(graph)
    return View(False, graph.preds, graph.succs, starts, reverse_postorder(graph.preds, starts))


def _endless(graph: Graph) -> tuple[int, ...]:
    """Of each cycle that the entry reaches and that nothing leaves, the node that comes first in reverse postorder."""
    order = reverse_postorder(graph.succs, (graph.entry,))
    ending = set(reverse_postorder(graph.preds, tuple(graph.exits)))
    rank = {node: i for i, node in enumerate(order) if node not in ending}
    chosen = []
    for component in components(rank, lambda n: graph.succs[n]):
        members = set(component)
        if all(to in members for node in component for to in graph.succs[node]):
            chosen.append(min(component, key=rank.__getitem__))
    return tuple(sorted(chosen))
