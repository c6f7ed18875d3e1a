"""Strongly connected components (Tarjan 1972), iterative; and what is reached.

Not by networkx, whose components are in another order, and which takes several times as long with the building of its
graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

N = TypeVar("N")


def components(nodes: Iterable[int], nexts: Callable[[int], Iterable[int]]) -> list[list[int]]:
    """The components of the graph that ``nodes`` reach, each after every component it has an edge to.

    Members of a component are sorted; the whole result depends on the order of ``nodes`` and of ``nexts`` alone.
    """
    # A finished node's number is above every other, so that edges to it change no minimum.
    finished = 1 << 62
    low: dict[int, int] = {}
    path: list[int] = []
    found: list[list[int]] = []
    for root in nodes:
        if root in low:
            continue
        stack: list[tuple[int, int, Iterator[int]]] = []
        node = root
        while True:
            # Enter `node`.
            low[node] = number = len(low)
            path.append(node)
            rest = iter(nexts(node))
            while True:
                lowest = low[node]
                for to in rest:
                    seen = low.get(to)
                    if seen is None:
                        break
                    if seen < lowest:
                        lowest = seen
                else:
                    # Leave `node`: a component ends with the node from which nothing earlier is reached.
                    low[node] = lowest
                    if lowest == number:
                        members: list[int] = []
                        while not members or members[-1] != node:
                            members.append(path.pop())
                        for member in members:
                            low[member] = finished
                        members.sort()
                        found.append(members)
                    if not stack:
                        break
                    child = low[node]
                    node, number, rest = stack.pop()
                    low[node] = min(low[node], child)
                    continue
                low[node] = lowest
                stack.append((node, number, rest))
                node = to
                break
            else:
                continue
            if node in low:
                break
    return found


def reached(starts: Iterable[N], nexts: Callable[[N], Iterable[N]]) -> dict[N, int]:
    """The starts and all that they lead to, each with how many steps away it is: nearest first."""
    out = dict.fromkeys(starts, 0)
    for node in (work := list(out)):
        for to in nexts(node):
            if to not in out:
                out[to] = out[node] + 1
                work.append(to)
    return out
