"""What the outcomes of comparisons say, and which of them exclude each other.

A bound is said of a sum of products of symbols without its constant: from, to, and single values that it has not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd

from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import NEGATED
from opi_xform.memory.poly import Poly, number
from opi_xform.memory.values import Comparison
from opi_xform.ownership.liveness.merged_ways import ways
from opi_xform.ownership.model.buffers import Program
from opi_xform.record import dataclass

_FAR = 1 << 200


@dataclass(frozen=True, slots=True)
class Bound:
    """``lo <= sum <= hi``, and not one of ``holes``."""

    of: Poly
    lo: int = -_FAR
    hi: int = _FAR
    holes: frozenset[int] = frozenset()

    def excludes(self, other: Bound) -> bool:
        """Both cannot hold; they are of the same sum."""
        lo, hi, holes = max(self.lo, other.lo), min(self.hi, other.hi), self.holes | other.holes
        return lo > hi or (hi - lo < len(holes) and all(v in holes for v in range(lo, hi + 1)))

    def and_also(self, other: Bound) -> Bound:
        return Bound(self.of, max(self.lo, other.lo), min(self.hi, other.hi), self.holes | other.holes)


Bounds = Mapping[Poly, Bound]


class Outcomes:
    """What each edge of the program's graph says, and what holds wherever a block runs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.symbols = program.values.symbols
        self.on: dict[tuple[int, int], tuple[Bound, ...]] = {}
        self.at: dict[int, dict[Poly, Bound]] = {}

    def bound(self, difference: Poly, op: str) -> Bound:
        """``difference op 0`` as a bound."""
        value = self.symbols.resolve(difference)
        constant = value.constant_term
        of = value - number(constant)
        edge = -constant
        if of.terms and of.terms[0][1] < 0:
            of, edge = -of, -edge
            op = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
        match op:
            case "<":
                return Bound(of, hi=edge - 1)
            case "<=":
                return Bound(of, hi=edge)
            case ">":
                return Bound(of, lo=edge + 1)
            case ">=":
                return Bound(of, lo=edge)
            case "==":
                return Bound(of, edge, edge)
            case _:
                return Bound(of, holes=frozenset({edge}))

    def positive(self, length: Poly | None) -> tuple[Bound, ...]:
        """A number of bytes is more than 0: said of what is multiplied with a constant, ``n`` of ``8 * n``."""
        if length is None or self.symbols.near(length, number(0)):
            return ()
        value = self.symbols.resolve(length)
        factor = gcd(*(c for m, c in value.terms if m))
        if not factor:
            return ()
        of = Poly(tuple((m, c // factor) for m, c in value.terms if m))
        return (self.bound(of + number(-(-value.constant_term // factor)), ">"),)

    def by_itself(self, of: Poly) -> Bound:
        """What a sum is whatever any comparison says: without terms 0, of counts of turns from 0 on.

        Of other numbers that are not negative by their type nothing: what is made of them may wrap.
        """
        if not of.terms:
            return Bound(of, 0, 0)
        if all(c > 0 and all(self.symbols.table[s].kind == "count" for s in m) for m, c in of.terms):
            return Bound(of, lo=0)
        return Bound(of)

    def impossible(self, bound: Bound, known: Bounds) -> bool:
        found = known.get(bound.of)
        return bound.excludes(self.by_itself(bound.of)) or (found is not None and bound.excludes(found))

    def compared(self, c: Comparison, holds: bool) -> tuple[Bound, ...]:
        """What one outcome says; nothing where C's comparison is not the one of the integers."""
        difference = c.left - c.right
        if c.unsigned and self.symbols.modulo(c.left, c.right) and c.op not in ("==", "!="):
            return ()
        if any(self.symbols.table[s].kind == "object" for s in difference.symbols()):
            return ()
        return (self.bound(difference, c.op if holds else NEGATED[c.op]),)

    def of_edge(self, source: int, target: int) -> tuple[Bound, ...]:
        """What is known where control goes from one block to another."""
        found = self.on.get((source, target))
        if found is None:
            found = self.on[source, target] = tuple(self._of_edge(source, target))
        return found

    def _of_edge(self, source: int, target: int) -> Iterator[Bound]:
        graph, values = self.program.graph, self.program.values
        succs, last = graph.succs[source], graph.blocks[source][-1] if graph.blocks[source] else -1
        if last < 0 or list(succs).count(target) != 1:
            return
        action, at = graph.nodes[last].action, list(succs).index(target)
        if isinstance(action, ins.Branch) and len(succs) == 2 and last in values.conditions:
            yield from self.compared(values.conditions[last], at == 0)
        elif isinstance(action, ins.SwitchOn) and last in values.switches and action.cases[at] is not None:
            case = action.cases[at]
            assert case is not None
            value = values.switches[last]
            yield self.bound(value - number(case[0]), ">=")
            yield self.bound(value - number(case[1]), "<=")

    def around(self, block: int) -> Mapping[Poly, Bound]:
        """What holds wherever a block runs: the outcomes that every way there has, in the same turns of loops."""
        found = self.at.get(block)
        if found is not None:
            return found
        graph, nest = self.program.graph, self.program.nest
        found, loops, at = {}, set(nest.chain(block)), block
        while at:
            parent = nest.idom[at]
            inside = set(nest.chain(parent)) <= loops
            if (
                inside
                and parent in graph.preds[at]
                and all(p == parent or nest.dominates(at, p) for p in graph.preds[at])
            ):
                for bound in self.of_edge(parent, at):
                    if self.symbols.scope(bound.of) <= loops:
                        known = found.get(bound.of)
                        found[bound.of] = bound if known is None else known.and_also(bound)
            at = parent
        self.at[block] = found
        return found

    def merged(self, source: int, target: int, bound: Bound) -> Bound | None:
        """A bound of a value that blocks merge, as one of what comes from ``source``; None where it is not one."""
        phis = self.program.values.phis.get(target)
        if not phis:
            return None
        preds = [p for p in self.program.graph.preds[target] if p in self.program.values.out]
        header = next((i for i in self.program.nest.loops if i.header == target), None)
        if header is not None:
            preds = [p for p in preds if p not in header.blocks]
        if source not in preds:
            return None
        incoming = {s: given[preds.index(source)] for s, given in phis}
        if incoming.keys().isdisjoint(bound.of.symbols()):
            return None
        return self.replaced(bound, incoming)

    def on_its_way(self, block: int, bound: Bound) -> Iterator[Bound]:
        """What holds where a block runs and a bound does: of a merged value that is so on one of its ways only."""
        loops = frozenset(self.program.nest.chain(block))
        for s in bound.of.symbols():
            found: list[list[Bound]] = []
            for way in ways(self.program, s, block):
                told = [self.replaced(bound, {s: way.value})]
                for comparison, holds in way.holds:
                    told += self.compared(comparison, holds)
                if not any(self.impossible(one, {other.of: other}) for one in told for other in told):
                    found.append(told)
            if len(found) == 1:
                yield from (told for told in found[0] if self.symbols.scope(told.of) <= loops)

    def replaced(self, bound: Bound, values: Mapping[int, Poly]) -> Bound:
        """A bound with values in the place of symbols."""
        new = self.symbols.resolve(bound.of.substitute(values.get))
        shift = new.constant_term
        of = new - number(shift)
        lo, hi, holes = bound.lo - shift, bound.hi - shift, frozenset(h - shift for h in bound.holes)
        if of.terms and of.terms[0][1] < 0:
            return Bound(-of, -hi, -lo, frozenset(-h for h in holes))
        return Bound(of, lo, hi, holes)
