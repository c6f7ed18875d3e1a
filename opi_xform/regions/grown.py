"""Reads at a counter that only grows: they lie between what it is before its loop and what it is after it.

``for (c…) if (has[c]) for (k…) for (j…) x[…] = buf[p++];`` has no closed form.  Yet each byte that it reads lies in
front of where the counter goes on, and that is never beyond where it ends.  How far that is, an earlier loop may have
counted (``equal_counts.py``): what it told the receive, ``total``, is then where the reads end.
"""

from __future__ import annotations

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import Loop, LoopNest
from opi_xform.memory.environment import Cell
from opi_xform.memory.poly import ZERO, Poly, symbol
from opi_xform.memory.symbols import WRAPS
from opi_xform.memory.values import HeaderPhi, Values
from opi_xform.record import dataclass
from opi_xform.values.equal_counts import Guard, Otherwise, Sums

MOST_PLAIN = 8  # steps from a read to where the counter goes on


@dataclass(frozen=True, slots=True)
class Stretch:
    """Every byte of the access lies in ``[lo, hi)``, where not ``otherwise`` (operator, difference with zero) holds.

    sizes: of them none may be negative; else nothing is said.
    """

    lo: Poly
    hi: Poly
    otherwise: Guard | None
    sizes: frozenset[Poly]


class Grown:
    """What counters that only grow tell of accesses, found when it is asked for."""

    def __init__(self, graph: Graph, nest: LoopNest, values: Values, sums: Sums) -> None:
        self.graph = graph
        self.nest = nest
        self.values = values
        self.symbols = values.symbols
        self.sums = sums
        self.climbs: dict[tuple[int, Cell], bool] = {}

    def stretches(self, block: int, lo: Poly, length: Poly) -> list[Stretch]:
        """Stretches that hold every byte that an access in the block touches."""
        if self.graph.cyclic:
            return []  # a loop may run in several levels at once
        lo, length = self.symbols.resolve(lo), self.symbols.resolve(length)
        if not self.symbols.is_nonneg(length):
            return []
        chain = self.nest.chain(block)
        out: list[Stretch] = []
        for s in sorted(set(lo.symbols())):
            cell, base = self.values.cells.get(s, (None, -1))
            scale = lo.coefficient(s)
            if cell is None or base >= 0 or cell[0] in ("v", "t") or scale <= 0:
                continue
            inside = self.symbols.table[s].key[0]  # the header where the counter has this value
            assert isinstance(inside, int)
            for loop in reversed(chain):
                if inside in self.nest.loops[loop].blocks:
                    out += self.of_loop(self.nest.loops[loop], cell, s, block, lo, length, scale)
        return out

    def of_loop(self, loop: Loop, cell: Cell, s: int, block: int, lo: Poly, length: Poly, scale: int) -> list[Stretch]:
        phi = next((h for h in self.values.headers.get(loop.number, ()) if h.cell == cell), None)
        if phi is None or not self.begins_and_ends(loop, phi):
            return []
        shift = self.shift(loop, cell, block, lo + length, scale)
        if shift is None or not self.sums.not_negative(lo - symbol(s).scaled(scale) - shift, loop.number):
            return []
        found = self.sums.not_less(phi)
        if not found or not self.climbing(loop, cell):
            return []
        init = self.symbols.resolve(phi.init).scaled(scale)
        begin = init + shift
        apart = self.apart(loop, cell, block, lo, scale)
        touches = length.constant is not None and length.constant > 0  # of none, its place says nothing
        first = init + apart if touches and apart is not None else None
        return [
            Stretch(begin, begin + added.scaled(scale), self.unless(first, other, loop), sizes)
            for added, sizes, other in found
        ]

    def apart(self, loop: Loop, cell: Cell, block: int, lo: Poly, scale: int) -> Poly | None:
        """How far a place is from what the counter tells where its block begins; None where that is not always so far,
        or the counter goes on in another block, too.

        When the block runs first, the counter is what it was before the loop.  So that is where the first access is.
        """
        start = self.at_start(block, cell)
        if start is None or not all(b == block or self.stands_in(b, cell) for b in loop.blocks):
            return None
        out = self.symbols.resolve(lo - start.scaled(scale))
        return None if self.symbols.scope(out) & self.symbols.inner[loop.number] else out

    def stands_in(self, block: int, cell: Cell) -> bool:
        """The counter is the same at a block's end as where the block begins."""
        done = self.values.out.done.get(block)
        if done is None or cell not in done:
            return done is not None
        first, end = self.at_start(block, cell), done[cell]
        return first is not None and end is not None and self.symbols.resolve(end - first) == ZERO

    def unless(self, first: Poly | None, other: Otherwise | None, loop: Loop) -> Guard | None:
        """The condition; None where the first access would be in front of the object then: so there is none."""
        if other is None:
            return None
        if first is not None:
            there = self.symbols.resolve(first).substitute(lambda s: self.sums.coming(other, s, loop.header))
            at = there.constant
            if at is not None and at < 0:
                return None
        return other.guard

    def begins_and_ends(self, loop: Loop, phi: HeaderPhi) -> bool:
        """The counter is an own one of the loop, which is left where a turn would begin.  One that begins near the end
        of its type (``-1u``, for ``b[++n]``) goes on from zero.
        """
        if any(abs(c) >= WRAPS for _, c in self.symbols.resolve(phi.init).terms):
            return False
        return len(loop.exits) == 1 and self.values.out.at_end(loop.exits[0][0], phi.cell) == symbol(phi.symbol)

    def shift(self, loop: Loop, cell: Cell, block: int, end: Poly, scale: int) -> Poly | None:
        """What is to be added to the counter, times ``scale``, for a place that is not in front of ``end``: at a later
        value of the counter, in the same turn of each loop.
        """
        at = block
        for _ in range(MOST_PLAIN):
            value = self.values.out.at_end(at, cell)
            if value is None:
                return None
            shift = self.symbols.resolve(end - value.scaled(scale))
            if not self.symbols.scope(shift) & self.symbols.inner[loop.number]:
                return shift
            onward = {self.behind_arm(at, to) for to in self.graph.succs[at]}
            to = next(iter(onward), None)
            if len(onward) != 1 or to is None or to <= at or self.nest.of[to] != self.nest.of[block]:
                return None
            at = to
        return None

    def behind_arm(self, block: int, to: int) -> int | None:
        """Where control comes to from a block by one of its ways, after one arm of an ``if`` without others in it."""
        if len(self.graph.succs[block]) == 1 or len(self.graph.preds[to]) > 1:
            return to
        following = self.graph.succs[to]
        return following[0] if len(following) == 1 else None

    # --- counters that only grow ---------------------------------------------------------------------------------

    def climbing(self, loop: Loop, cell: Cell) -> bool:
        """No block of the loop makes the counter less."""
        key = (loop.number, cell)
        if key not in self.climbs:
            self.climbs[key] = all(self.climbs_in(block, cell, loop) for block in sorted(loop.blocks))
        return self.climbs[key]

    def climbs_in(self, block: int, cell: Cell, loop: Loop) -> bool:
        """The counter is not less at a block's end than where the block begins."""
        done = self.values.out.done.get(block)
        if done is None or cell not in done:
            return done is not None
        first, end = self.at_start(block, cell), done[cell]
        return first is not None and end is not None and self.sums.not_negative(end - first, loop.number)

    def at_start(self, block: int, cell: Cell) -> Poly | None:
        """What the counter is where a block begins; None where it is not known."""
        merged = self.symbols.known("phi", block, cell)
        if merged is not None:
            return self.symbols.resolve(symbol(merged))
        found: set[Poly] = set()
        for source in self.graph.preds[block]:
            value = self.values.out.at_end(source, cell) if source in self.values.out else None
            if value is None:
                return None
            for left in self.nest.chain(source):  # innermost first
                if block not in self.nest.loops[left].blocks:
                    value = self.symbols.leave(value, left)
            found.add(self.symbols.resolve(value))
        return next(iter(found)) if len(found) == 1 else None
