"""The program's graph as one question about a buffer needs it: stretches in which nothing happens are passed over.

Loops that are not ``open`` are one block each, that of their header.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection

from opi_xform.memory.stretches import Region, stretches_of
from opi_xform.ownership.model.buffers import Program
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """Along the edge from ``source`` to ``first``, and on to the block ``to`` (-1: to where nothing happens any more).

    turned: the loops whose next turns begin there.
    """

    source: int
    first: int
    to: int
    turned: tuple[int, ...] = ()


class Paths:
    """busy: blocks in which something happens to the buffer."""

    def __init__(self, program: Program, opened: Collection[int], busy: Collection[int]) -> None:
        self.program = program
        self.graph, self.nest = program.graph, program.nest
        self.opened = frozenset(opened)
        self.stretches = stretches_of(program.graph, program.nest, program.values)
        self.tails = self.stretches.tails_to(busy)
        self.places: dict[int, list[int]] = {}
        for loop in (*self.opened, -1):
            item_of = self.stretches.item_of.get(loop, {})
            self.places[loop] = sorted({self.region(loop).at[item_of[b]] for b in busy if b in item_of})
        self.found: dict[int, tuple[Way, ...]] = {}

    def region(self, loop: int) -> Region:
        return self.stretches.region(loop, bool(self.tails))

    def home(self, block: int) -> int:
        """The innermost open loop around a block."""
        return next((i for i in self.nest.chain(block) if i in self.opened), -1)

    def closed(self, block: int) -> int:
        """The outermost loop that is not open of which a block is the header's (-1: none)."""
        home, out = self.home(block), -1
        for loop in self.nest.chain(block):
            if loop == home:
                break
            out = loop
        return out

    def ways(self, block: int) -> tuple[Way, ...]:
        found = self.found.get(block)
        if found is None:
            loop = self.closed(block)
            if loop >= 0:
                edges = list(self.nest.loops[loop].exits)
            else:
                edges = [(block, t) for t in dict.fromkeys(self.graph.succs[block])]
            found = self.found[block] = tuple(w for s, t in edges for w in [self.way(s, t)] if w is not None)
        return found

    def way(self, source: int, first: int) -> Way | None:
        if first in self.stretches.tails and first not in self.tails:
            return None
        at, turned = first, self.turn(source, first)
        while True:
            loop = self.home(at)
            if loop >= 0 and self.nest.loops[loop].header == at and at != first:
                return Way(source, first, at, turned)
            region = self.region(loop)
            i = region.at[self.stretches.item_of[loop][at]]
            places = self.places[loop]
            following = bisect_left(places, i)
            limit = places[following] if following < len(places) else region.last
            onward = i if limit == i else region.farthest(i, limit)
            if onward == i:
                return Way(source, first, region.items[i][0], turned)
            if onward == region.last:
                return Way(source, first, -1, turned) if loop < 0 else self.back(source, first, turned, loop)
            block, inner = region.items[onward]
            if block == at:
                return Way(source, first, at, turned)
            at = block
            if inner >= 0 and inner not in self.opened:
                return Way(source, first, at, turned)

    def back(self, source: int, first: int, turned: tuple[int, ...], loop: int) -> Way:
        header = self.nest.loops[loop].header
        return Way(source, first, header, (*turned, loop))

    def turn(self, source: int, first: int) -> tuple[int, ...]:
        """The loop whose header an edge goes back to."""
        return tuple(loop for loop in self.nest.chain(source) if self.nest.loops[loop].header == first)
