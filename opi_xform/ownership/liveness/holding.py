"""What holds where a node runs: comparisons that every way there has passed, and what merged values tell."""

from __future__ import annotations

from collections.abc import Sequence

from islpy import Set

from opi_xform.ir.comparisons import NEGATED
from opi_xform.memory.poly import symbol
from opi_xform.ownership.buffers.arrays import Indexed
from opi_xform.ownership.liveness.merged_ways import Condition, Way, dominating, ways
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.regions.sets import Regions

MOST_MERGED = 4


class Holding:
    """For the live regions of one object.  peers: values in what its messages have for a source or a destination."""

    def __init__(self, program: Program, regions: Regions, indexed: Indexed | None, uses: Sequence[Use]) -> None:
        self.program = program
        self.symbols = program.values.symbols
        self.regions = regions
        self.indexed = indexed
        args = program.values.args
        given = (args[u.node][p] for u in uses if (p := u.buffer.peer) is not None and p < len(args.get(u.node, ())))
        self.peers = {s for value in given for s in value.symbols()}

    def under(self, n: int, live: Set) -> Set:
        """Restricted to parameters with which a node is executed."""
        block = self.program.graph.nodes[n].block
        for condition in dominating(self.program, block, set(self.program.nest.chain(block))):
            certain = self.certain(n, condition)
            if certain is not None:
                live = live.intersect(certain)
        return self.merged(n, block, live)

    def certain(self, n: int, condition: Condition) -> Set | None:
        """Where a comparison comes out so, at a node; None where C's is not the one of the integers."""
        c, holds = condition
        left, right = c.left, c.right
        if c.unsigned and self.symbols.modulo(left, right):
            return None
        if any(self.symbols.table[s].kind == "object" for s in (left - right).symbols()):
            return None
        wraps = self.symbols.may_wrap(left - right)
        if self.indexed is not None:
            left = self.indexed.specialise(n, self.symbols.resolve(left))
            right = self.indexed.specialise(n, self.symbols.resolve(right))
        out = self.regions.compare(c.op if holds else NEGATED[c.op], left, right)
        return None if wraps and out.is_empty() else out

    def merged(self, n: int, block: int, live: Set) -> Set:
        """Nothing, where what merged values tell excludes all of a region; else the region as it is.

        Asked of are those that messages go to or come from, the last one first: on no way of it may any of it be live.
        """
        asked = sorted((self.met(s), s) for s in self.regions.symbols_of(live) & self.peers if self.met(s) >= 0)
        found = [(s, ways(self.program, s, block)) for _, s in asked[::-1][:MOST_MERGED]] if not live.is_empty() else []
        parts = [live]
        for s, of_value in found:
            told = [self.on(n, s, way) for way in of_value]
            if not told or any(t is None for t in told):
                continue
            parts = [part.intersect(t) for part in parts for t in told if t is not None]
            parts = [part for part in parts if not part.is_empty()]
            if not parts:
                return self.regions.none
        return live

    def met(self, s: int) -> int:
        """The block where a value is merged; -1: it is no such value."""
        info = self.symbols.table[s]
        met = info.key[0] if info.kind == "phi" else -1
        return met if isinstance(met, int) else -1

    def on(self, n: int, s: int, way: Way) -> Set | None:
        """What holds on a way; None: nothing, as the sets tell it."""
        lasting = self.indexed is None
        out: Set | None = None
        for condition in way.holds:
            difference = condition[0].left - condition[0].right
            certain = self.certain(n, condition) if lasting or not self.symbols.scope(difference) else None
            if certain is not None:
                out = certain if out is None else out.intersect(certain)
        value = symbol(s)
        if self.symbols.is_large(value) or self.symbols.is_large(way.value):
            return out
        if lasting or not self.symbols.scope(way.value - value):
            same = self.regions.compare("==", way.value, value)
            if not (same.is_empty() and self.symbols.may_wrap(way.value - value)):
                out = same if out is None else out.intersect(same)
        return out
