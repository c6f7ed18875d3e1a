"""Strongly connected components (Tarjan 1972), iterative."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator


def components(nodes: Iterable[int], nexts: Callable[[int], Iterable[int]]) -> list[list[int]]:
    """The components of the graph that ``nodes`` reach, each after every component it has an edge to.

    Members of a component are sorted; the whole result depends on the order of ``nodes`` and of ``nexts`` alone.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    found: list[list[int]] = []
    for root in nodes:
        if root in index:
            continue
        stack: list[tuple[int, Iterator[int]]] = []

        def enter(node: int, stack: list[tuple[int, Iterator[int]]] = stack) -> None:
            index[node] = low[node] = len(index)
            path.append(node)
            on_path.add(node)
            stack.append((node, iter(nexts(node))))

        enter(root)
        while stack:
            node, rest = stack[-1]
            for to in rest:
                if to not in index:
                    enter(to)
                    break
                if to in on_path:
                    low[node] = min(low[node], index[to])
            else:
                stack.pop()
                if stack:
                    parent = stack[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    members: list[int] = []
                    while not members or members[-1] != node:
                        members.append(path.pop())
                    on_path.difference_update(members)
                    found.append(sorted(members))
    return found
