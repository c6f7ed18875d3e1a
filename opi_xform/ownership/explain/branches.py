"""Which nodes no process runs both, as the two arms of `if (rank == 0)`: what one does is no reason at the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from opi_xform.memory.poly import Poly
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.inequalities import not_zero
from opi_xform.ownership.model.object_index import index_of

TESTS = 24  # that are looked at around a node

_ALL = frozenset({-1, 0, 1})
_SIGNS = {
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
    "==": frozenset({0}),
    "!=": frozenset({-1, 1}),
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
}
_Tested = tuple[tuple[Poly, frozenset[int]], ...]


class Branches:
    """One per program: ``excluded``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.certain: dict[int, _Tested] = {}

    def excluded(self, n: int, other: int) -> bool:
        """No process runs both nodes: what is tested around one is not so around the other, for the whole run."""
        nodes = self.program.graph.nodes
        return any(
            (a == b and signs.isdisjoint(found)) or (a == -b and signs.isdisjoint({-sign for sign in found}))
            for (a, signs), (b, found) in product(self.tested(nodes[n].block), self.tested(nodes[other].block))
        )

    def tested(self, block: int) -> _Tested:
        """What is certain in a block of values that never change: differences, each with the signs it may have."""
        known = self.certain.get(block)
        if known is None:
            known = self.certain[block] = tuple(self.found(block))
        return known

    def found(self, block: int) -> Iterator[tuple[Poly, frozenset[int]]]:
        symbols, guarded = self.program.values.symbols, index_of(self.program).guarded
        graph = self.program.graph
        at = guarded[block]
        for _ in range(TESTS):
            if not at:
                return
            parent = self.program.nest.idom[at]
            test = self.program.values.conditions[graph.blocks[parent][-1]]
            holds = graph.succs[parent][0] == at
            at = guarded[parent]
            if test.unsigned:
                continue
            signs = _SIGNS[test.op] if holds else _ALL - _SIGNS[test.op]
            difference = symbols.resolve(test.left - test.right)
            for p in [difference] if 0 in signs else dict.fromkeys(not_zero(symbols, difference)):
                if not any(symbols.table[s].scope for s in p.symbols()):
                    yield p, signs if p == difference else _SIGNS["!="]


@lru_cache(maxsize=1)
def branches_of(program: Program) -> Branches:
    return Branches(program)
