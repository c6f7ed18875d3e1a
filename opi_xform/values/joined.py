"""How far apart two values are at least, where the paths between them meet again and again.

``if (up) post(&r[n++]); if (down) post(&r[n++]); wait(n, r);`` gives n a new symbol at every joint. No symbol has a
closed form, and an integer set doubles at every joint. Yet each is one of few known sums of the one before, so what the
last is greater by is found in one walk back over the joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.memory.poly import Poly, number
from opi_xform.memory.values import Values

MOST_STEPS = 512
_NOWHERE = (-1, -1)


class Joints:
    """What is known of values when they are told apart by the ways on which they came.

    ``start``: all is asked about what comes after this block, before a loop around it begins a new turn: a joint there
    was come to from the block.  -1: anywhere.
    """

    def __init__(self, graph: Graph, nest: LoopNest, values: Values, start: int = -1) -> None:
        self.graph = graph
        self.nest = nest
        self.values = values
        self.start = start

    def not_less(self, one: Poly, other: Poly) -> bool:
        """``one`` is never less than ``other``, where all symbols are of the same turn of the loops in their scopes."""
        difference = one - other
        known = difference.constant
        if known is None:
            known = self.least(difference)
        return known is not None and known >= 0

    def least(self, difference: Poly) -> int | None:
        """A number that ``difference`` is never less than; None: none is found."""
        symbols = self.values.symbols
        bases = _lowest({}, symbols.resolve(difference))
        for _ in range(MOST_STEPS):
            base = max(bases, key=lambda b: max(self.joints(b), default=_NOWHERE))
            block, s = max(self.joints(base), default=_NOWHERE)
            ways = self.ways(block, s)
            if not ways:
                break
            low = bases.pop(base)
            for way in ways:
                bases = _lowest(bases, symbols.resolve(base.substitute({s: way}.get) + number(low)))
        if not all(symbols.is_nonneg(base) for base in bases):
            return None
        return min(bases.values())

    def joints(self, base: Poly) -> list[tuple[int, int]]:
        """The symbols that are made where ways meet, with their blocks: at a later block only of what is older."""
        out: list[tuple[int, int]] = []
        for s in base.symbols():
            info = self.values.symbols.table[s]
            if info.kind == "phi":
                block = info.key[0]
                assert isinstance(block, int)
                out.append((block, s))
        return out

    def ways(self, block: int, s: int) -> list[Poly]:
        """What a symbol may be, by the ways that meet at its block; none: a loop changes it, or it is not known."""
        known = next((ways for phi, ways in self.values.phis.get(block, ()) if phi == s), ())
        turns = [loop for loop in map(self.nest.loops.__getitem__, self.nest.chain(block)) if loop.header == block]
        again = turns[0].blocks if turns else frozenset[int]()
        sources = [p for p in self.graph.preds[block] if p in self.values.out and p not in again]
        if not known:
            return []
        all_of_them = block == self.start or block not in self.behind
        return [way for p, way in zip(sources, known, strict=True) if all_of_them or p in self.behind]

    @cached_property
    def behind(self) -> frozenset[int]:
        """The blocks from ``start`` on, in this turn of the loops around it."""
        if self.start < 0:
            return frozenset()
        around = self.nest.chain(self.start)
        headers = {self.nest.loops[loop].header for loop in around}
        seen = {self.start}
        work = [self.start]
        while work:
            for s in self.graph.succs[work.pop()]:
                if s not in seen and s not in headers:
                    seen.add(s)
                    work.append(s)
        return frozenset(seen)


def _lowest(bases: Mapping[Poly, int], value: Poly) -> dict[Poly, int]:
    """Sums without their numbers, each with the least number it comes with; one more of them."""
    least = value.constant_term
    base = value - number(least)
    return {**bases, base: min(least, bases.get(base, least))}
