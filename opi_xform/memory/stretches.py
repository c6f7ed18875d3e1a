"""Stretches of a region that one way in and one way out bound: what nothing of interest lies in can be passed over.

A region is a loop's body, or the whole program, with the loops in it collapsed to one item each; so it has no cycles.
Items stand in topological order.  A stretch goes from an item to one that every path from there passes.
"""

from __future__ import annotations

from collections.abc import Collection

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.ir import instr as ins
from opi_xform.memory.values import Values
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """``items``: (block, inner loop or -1).  ``at``: the place of an item by its block.  ``last``: the loop's latch.

    ``parent[i]``: the nearest item that every path from item i passes; beyond ``last`` where paths part for good.
    ``jump[i]``: one of those farther on, so that a way along them takes few steps (Myers 1983).
    """

    items: tuple[tuple[int, int], ...]
    at: dict[int, int]
    last: int
    parent: tuple[int, ...]
    jump: tuple[int, ...]

    def farthest(self, i: int, limit: int) -> int:
        """The last item, up to ``limit``, that every path from item i passes."""
        while True:
            if self.jump[i] <= limit:
                i = self.jump[i]
            elif self.parent[i] <= limit:
                i = self.parent[i]
            else:
                return i


def tails(graph: Graph, nest: LoopNest) -> frozenset[int]:
    """Blocks from which only calls that never return can be reached, and no loop."""
    stack = [loop.header for loop in nest.loops]
    for block, following in enumerate(graph.succs):
        last = graph.nodes[graph.blocks[block][-1]].action if graph.blocks[block] else None
        if not following and not isinstance(last, ins.CallInstr):
            stack.append(block)
    seen = set(stack)
    while stack:
        for p in graph.preds[stack.pop()]:
            if p not in seen:
                seen.add(p)
                stack.append(p)
    return frozenset(range(len(graph.succs))) - seen


class Stretches:
    """The regions of one program, each made on first use.

    ``tails``: error exits.
    """

    def __init__(self, graph: Graph, nest: LoopNest, values: Values) -> None:
        self.graph = graph
        self.nest = nest
        self.conditions, self.symbols = values.conditions, values.symbols  # not what these are kept with
        self.tails = tails(graph, nest)
        self.items: dict[int, list[tuple[int, int]]] = {}  # by loop, -1: the whole
        self.item_of: dict[int, dict[int, int]] = {}  # by which block the item is found, from any block in it
        self.children: dict[int, list[int]] = {}
        self.regions: dict[tuple[int, bool], Region] = {}
        for block in range(len(nest.of)):
            inner = -1
            for loop in (*nest.chain(block), -1):
                if inner < 0:
                    self.items.setdefault(loop, []).append((block, -1))
                elif nest.loops[inner].header == block:
                    self.items.setdefault(loop, []).append((block, inner))
                self.item_of.setdefault(loop, {})[block] = block if inner < 0 else nest.loops[inner].header
                inner = loop
        for info in nest.loops:
            self.children.setdefault(info.parent, []).append(info.number)

    def tails_to(self, blocks: Collection[int]) -> frozenset[int]:
        """Those of the tails from which one of the blocks can be reached."""
        stack = [b for b in blocks if b in self.tails]
        seen = set(stack)
        while stack:
            for p in self.graph.preds[stack.pop()]:
                if p in self.tails and p not in seen:
                    seen.add(p)
                    stack.append(p)
        return frozenset(seen)

    def region(self, loop: int, tails_matter: bool) -> Region:
        """``tails_matter``: something of interest lies in a tail."""
        key = (loop, tails_matter)
        found = self.regions.get(key)
        if found is None:
            found = self.regions[key] = self.make(loop, tails_matter)
        return found

    def targets(self, block: int, inner: int, tails_matter: bool) -> list[int]:
        """Where control can go from an item; tails left out where that tells nothing of values."""
        if inner >= 0:
            edges = list(self.nest.loops[inner].exits)
        else:
            edges = [(block, s) for s in self.graph.succs[block]]
        if tails_matter:
            return [t for _, t in edges]
        return [t for source, t in edges if t not in self.tails or not self.unknown_condition(source)]

    def unknown_condition(self, block: int) -> bool:
        """The block ends with a two-way branch on something that is no comparison of known values."""
        last = self.graph.blocks[block][-1] if self.graph.blocks[block] else -1
        if last < 0 or not isinstance(self.graph.nodes[last].action, ins.Branch):
            return False
        c = self.conditions.get(last)
        table = self.symbols.table
        return c is None or any(table[s].kind == "object" for s in (c.left - c.right).symbols())

    def make(self, loop: int, tails_matter: bool) -> Region:
        items = self.items.get(loop, [])
        item_of = self.item_of.get(loop, {})
        at = {block: i for i, (block, _) in enumerate(items)}
        header = self.nest.loops[loop].header if loop >= 0 else -1
        last, nowhere = len(items), len(items) + 1
        parent = [nowhere] * (nowhere + 1)
        depth = [0] * (nowhere + 1)
        jump = [nowhere] * (nowhere + 1)
        depth[last] = 1
        for i in range(last - 1, -1, -1):
            block, inner = items[i]
            meet = -1
            for target in self.targets(block, inner, tails_matter):
                to = last if target == header else at[item_of[target]] if target in item_of else nowhere
                meet = to if meet < 0 else _common(meet, to, parent, depth, jump)
            if meet < 0:
                meet = nowhere
            parent[i], depth[i] = meet, depth[meet] + 1
            far = jump[meet]
            jump[i] = jump[far] if depth[meet] - depth[far] == depth[far] - depth[jump[far]] else meet
        return Region(tuple(items), at, last, tuple(parent), tuple(jump))


def _common(a: int, b: int, parent: list[int], depth: list[int], jump: list[int]) -> int:
    """The nearest item that every path from both passes."""
    if depth[a] < depth[b]:
        a, b = b, a
    while depth[a] > depth[b]:
        a = jump[a] if depth[jump[a]] >= depth[b] else parent[a]
    while a != b:
        a, b = (jump[a], jump[b]) if jump[a] != jump[b] else (parent[a], parent[b])
    return a


def stretches_of(graph: Graph, nest: LoopNest, values: Values) -> Stretches:
    """The regions of a program; they are kept with its values, and all its objects share them."""
    found = values.findings.get(Stretches)
    if not isinstance(found, Stretches):
        found = values.findings[Stretches] = Stretches(graph, nest, values)
    return found
