"""What comparisons tell of numbers where a block runs, and where a loop is come to.

A comparison that decides whether a block is reached holds there: ``j < ny`` in the body of a loop that it ends,
``ny >= 1`` behind ``if (ny < 1) return 1;``.  Each is kept as a polynomial that is not negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from math import gcd

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.ir.comparisons import NEGATED
from opi_xform.memory.least import either, wraps
from opi_xform.memory.poly import ONE, Poly, symbol
from opi_xform.memory.symbols import Symbols
from opi_xform.memory.values import Comparison, Values
from opi_xform.record import dataclass
from opi_xform.values.trip_counts import nominal_trips, turns_made

MOST_CONDITIONS = 16


@dataclass(frozen=True, slots=True)
class Hull:
    """The stretch of an access (``hull.py``).  ``lo``: no byte in front of it is touched; ``hi``: none from there on.

    None: nothing is said.
    """

    lo: Poly | None
    hi: Poly | None


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """``facts``: polynomials that are not negative, the nearest comparison's first.

    ``left``: by the symbol of how often a loop runs: that number, where it is known to be just that.
    """

    symbols: Symbols
    facts: tuple[Poly, ...]
    left: dict[int, Poly]
    signs: list[frozenset[int]] = field(default_factory=list)  # see ``nonnegative``

    def nonneg(self, value: Poly) -> bool:
        """Provably not negative: by itself, by one fact, or as a product of such numbers."""
        value = self.symbols.resolve(value)
        if self.simply(value):
            return True
        for factor in self.factors():
            while (quotient := value.quotient(factor)) is not None and quotient.terms:
                value = quotient
                if self.simply(value):
                    return True
        return False

    def simply(self, value: Poly) -> bool:
        common = gcd(*(c for _, c in value.terms)) or 1
        value = Poly(tuple((m, c // common) for m, c in value.terms))
        return self.by_signs(value) or any(self.by_signs(value - fact) for fact in self.facts)

    def by_signs(self, value: Poly) -> bool:
        """Not negative, term by term, with what facts tell of single numbers."""
        if any(c < 0 for _, c in value.terms):
            return False
        table = self.symbols.table
        return all(table[s].nonneg or s in self.nonnegative() for m, _ in value.terms for s in m)

    def nonnegative(self) -> frozenset[int]:
        """Numbers of which a fact tells that they are not negative."""
        if not self.signs:
            self.signs.append(frozenset(s for fact in self.facts if (s := self.told_of(fact)) is not None))
        return self.signs[0]

    def told_of(self, fact: Poly) -> int | None:
        """The number that is at least as large as others, which are not negative."""
        table = self.symbols.table
        large = [m for m, c in fact.terms if c > 0]
        if len(large) != 1 or len(large[0]) != 1:
            return None
        return large[0][0] if all(table[s].nonneg for m, c in fact.terms if c < 0 for s in m) else None

    def factors(self) -> Iterator[Poly]:
        """Numbers that are not negative, and may be the sizes that others are multiplied with."""
        for fact in self.facts:
            for part in (fact, self.without_counts(fact)):
                for factor in (part + ONE, part):
                    if factor.constant is None:
                        yield factor

    def without_counts(self, fact: Poly) -> Poly:
        """What is left where numbers of turns, which are not negative, are taken away: a greater number."""
        table = self.symbols.table
        counts = [t for t in fact.terms if t[1] < 0 and t[0] and all(table[s].kind == "count" for s in t[0])]
        return fact - Poly(tuple(counts))

    def most(self, loop: int, value: Poly) -> Poly | None:
        """A number that ``value`` is not greater than, without the number of turns of the loop."""
        k = self.symbols.count(loop)
        factor = value.coefficient_of(k)
        if factor is None:
            return None
        rest = value - factor * symbol(k)
        if self.nonneg(-factor):
            return rest
        if not self.nonneg(factor):
            return None
        for fact in self.facts:
            step = -fact.coefficient(k)
            bound = fact + symbol(k).scaled(step)
            if step > 0 and k not in set(bound.symbols()) and all(c % step == 0 for _, c in factor.terms):
                return rest + Poly(tuple((m, c // step) for m, c in factor.terms)) * bound
        return None


class Facts:
    """By block, found when asked for."""

    def __init__(self, graph: Graph, nest: LoopNest, values: Values) -> None:
        self.graph = graph
        self.nest = nest
        self.values = values
        self.symbols = values.symbols
        self.cache: dict[int, Known] = {}
        self.hulls: dict[tuple[int, Poly, Poly], list[Hull]] = {}  # of accesses, see ``values/hull.py``
        self.guarded = self.guards()

    def guards(self) -> list[int]:
        """By block: itself, or its nearest dominator, that is reached by one of two ways out of a block (0: none)."""
        out = [0] * len(self.nest.idom)
        for block in range(1, len(out)):
            parent = self.nest.idom[block]
            succs = self.graph.succs[parent]
            two = len(succs) == 2 and succs[0] != succs[1] and bool(self.graph.blocks[parent])
            out[block] = block if two and self.graph.preds[block] == (parent,) else out[parent]
        return out

    def at(self, block: int) -> Known:
        """What holds whenever the block runs."""
        if block not in self.cache:
            facts, left = list[Poly](), dict[int, Poly]()
            for loop in self.nest.chain(block):
                trips = self.turns(loop, block)
                if trips is None:
                    continue
                k = self.symbols.count(loop)
                facts += self.of_both(trips - ONE - symbol(k))
                after = self.symbols.known("exit", loop, k)
                if after is not None:
                    left[after] = trips
            facts += self.compared(block, frozenset(self.nest.chain(block)))
            self.cache[block] = Known(self.symbols, tuple(dict.fromkeys(facts)), left)
        return self.cache[block]

    def before(self, loop: int) -> Known:
        """What holds whenever the loop is come to."""
        header = self.nest.loops[loop].header
        around = frozenset(self.nest.chain(header)) - {loop}
        return Known(self.symbols, tuple(self.compared(header, around)), {})

    def turns(self, loop: int, block: int) -> Poly | None:
        """How often the loop runs, where the block is one that only runs in such a turn."""
        info = self.nest.loops[loop]
        if len(info.exits) != 1:
            return None
        inside, outside = info.exits[0]
        stays = [b for b in self.graph.succs[inside] if b != outside]
        if len(stays) != 1 or not self.passed(stays[0], block):
            return None
        trips = nominal_trips(self.graph, self.nest, self.values, info, info.exits[0])
        return None if trips is None else self.symbols.resolve(trips)

    def ran(self, block: int, s: int) -> Poly | None:
        """How often a loop has run, told by what ends it, where the block runs only if that is not negative."""
        trips = turns_made(self.graph, self.nest, self.values, s)
        return trips if trips is not None and self.at(block).nonneg(trips) else None

    def passed(self, b: int, block: int) -> bool:
        """The one way to b is on every way to the block."""
        return len(self.graph.preds[b]) == 1 and self.nest.dominates(b, block)

    def compared(self, block: int, loops: frozenset[int]) -> list[Poly]:
        """Of the comparisons that decide whether the block is reached, those in the same turns of ``loops``."""
        out: list[Poly] = []
        block = self.guarded[block]
        for _ in range(MOST_CONDITIONS):
            if not block:
                break
            parent = self.nest.idom[block]
            last = self.graph.blocks[parent][-1]
            found = self.values.conditions.get(last)
            if found is not None and frozenset(self.nest.chain(parent)) <= loops:
                out += self.told(found, self.graph.succs[parent][0] == block)
            block = self.guarded[parent]
        return out

    def told(self, comparison: Comparison, holds: bool) -> list[Poly]:
        if wraps(self.graph, self.nest, self.values, comparison):
            return []
        difference = self.symbols.resolve(comparison.left - comparison.right)
        if any(self.symbols.table[s].kind == "object" for s in difference.symbols()):
            return []
        match comparison.op if holds else NEGATED[comparison.op]:
            case "<":
                found = [-difference - ONE]
            case "<=":
                found = [-difference]
            case ">":
                found = [difference - ONE]
            case ">=":
                found = [difference]
            case "==":
                found = [difference, -difference]
            case _:
                found = []
        # what types say to be never so is not reached, or a test of whether a number wrapped
        found = [p for p in found if p.constant is None and not self.symbols.is_nonneg(-p - ONE)]
        return [fact for p in found for fact in self.of_both(p)]

    def of_both(self, fact: Poly) -> list[Poly]:
        """The fact; and where it tells of the smaller one of two numbers, what it tells of both.

        One that is the same in more turns comes first, the other one last: whoever looks from either end finds one.
        """
        for s, pair in either(self.graph, self.nest, self.values, fact):
            factor = fact.coefficient_of(s)
            if factor is not None and factor.terms and self.symbols.is_nonneg(factor):
                first, last = sorted(pair, key=lambda p: len(self.symbols.scope(p)))
                return [fact.substitute({s: first}.get), fact, fact.substitute({s: last}.get)]
        return [fact]
