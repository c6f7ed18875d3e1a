"""What comparisons tell of numbers where a block runs, and where a loop is come to.

A comparison that decides whether a block is reached holds there: ``j < ny`` in the body of a loop that it ends,
``ny >= 1`` behind ``if (ny < 1) return 1;``.  Each is kept as a polynomial that is not negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from opi_xform.ir.loops import LoopNest
from opi_xform.memory.poly import ONE, Poly, symbol
from opi_xform.memory.symbols import Symbols
from opi_xform.memory.trips import NEGATED, nominal_trips
from opi_xform.memory.values import Comparison, Values
from opi_xform.program.graph import Graph
from opi_xform.record import dataclass

MOST_CONDITIONS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """``facts``: polynomials that are not negative, the nearest comparison's first.

    ``left``: by the symbol of how often a loop runs: that number, where it is known to be just that.
    """

    symbols: Symbols
    facts: tuple[Poly, ...]
    left: dict[int, Poly]

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
        return self.symbols.is_nonneg(value) or any(self.symbols.is_nonneg(value - fact) for fact in self.facts)

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
            facts, left = [], dict[int, Poly]()
            for loop in self.nest.chain(block):
                trips = self.turns(loop, block)
                if trips is None:
                    continue
                k = self.symbols.count(loop)
                facts.append(trips - ONE - symbol(k))
                after = self.symbols.index.get(("exit", loop, k))
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
        if comparison.unsigned and self.symbols.modulo(comparison.left, comparison.right):
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
        return [p for p in found if p.constant is None and not self.symbols.is_nonneg(-p - ONE)]
