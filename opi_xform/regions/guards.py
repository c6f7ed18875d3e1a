"""Of branches: the offsets of an object for which each way is taken, as integer sets over the symbols."""

from __future__ import annotations

from typing import Protocol

from islpy import Set

from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import NEGATED
from opi_xform.memory.poly import Poly, number
from opi_xform.memory.values import Comparison, Values
from opi_xform.regions.sets import Regions


class Rows(Protocol):
    """For an array of buffers: the view of the one row that the sets are about."""

    def specialise(self, node: int, value: Poly) -> Poly: ...

    def specialise_at(self, block: int, value: Poly) -> Poly: ...

    def in_loop(self, regions: Regions, node: int) -> Set | None: ...


class Guards:
    """Of one program's branches, for one object; each is built when it is first asked for."""

    def __init__(self, values: Values, regions: Regions, indexed: Rows | None) -> None:
        self.values = values
        self.symbols = values.symbols
        self.regions = regions
        self.indexed = indexed
        self.conditions: dict[int, tuple[Set, Set] | None] = {}

    def condition(self, node: int) -> tuple[Set, Set] | None:
        if node not in self.conditions:
            comparison = self.values.conditions.get(node)
            self.conditions[node] = self.guards(node, comparison) if comparison is not None else None
        return self.conditions[node]

    def guards(self, node: int, c: Comparison) -> tuple[Set, Set] | None:
        """Offsets where the comparison holds, and where it does not; None where C's comparison is not the integers'."""
        if c.unsigned and self.symbols.modulo(c.left, c.right):
            return None
        difference = c.left - c.right
        if any(self.symbols.table[s].kind == "object" for s in difference.symbols()):
            return None
        left, right = self.symbols.resolve(c.left), self.symbols.resolve(c.right)
        here = None
        if self.indexed is not None:
            here = self.indexed.in_loop(self.regions, node)
            left, right = self.indexed.specialise(node, left), self.indexed.specialise(node, right)
        holds, fails = self.regions.compare(c.op, left, right), self.regions.compare(NEGATED[c.op], left, right)
        if (holds.is_empty() or fails.is_empty()) and self.symbols.may_wrap(difference):
            return None
        if here is not None and (left != self.symbols.resolve(c.left) or right != self.symbols.resolve(c.right)):
            elsewhere = self.regions.all.subtract(here)  # other iterations: not about this row, either way
            holds, fails = holds.union(elsewhere), fails.union(elsewhere)
        return holds, fails

    def cases(self, node: int, action: ins.SwitchOn) -> list[Set | None]:
        value = self.values.switches[node]
        out: list[Set | None] = []
        rest = self.regions.all
        for case in action.cases:
            if case is None:
                out.append(None)
                continue
            low = self.regions.compare(">=", value, number(case[0]))
            here = low.intersect(self.regions.compare("<=", value, number(case[1])))
            rest = rest.subtract(here)
            out.append(here)
        return [rest if g is None else g for g in out]
