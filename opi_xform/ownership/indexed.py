"""Arrays of buffers: the analysis of row D, for one D that stands for all.

In a loop whose iteration k touches only row k (or k plus a constant), what concerns row D happens in one iteration.  There
the iteration number is known, and so everything indexed by it: ``nbr[k]`` is ``nbr[D]``, the same value in the loop that
packs, the loop that sends and the loop that unpacks.
"""

from __future__ import annotations

from islpy import Set

from opi_xform.memory.poly import Poly, symbol
from opi_xform.memory.regions import Regions
from opi_xform.ownership.model import Program
from opi_xform.ownership.uses import split_row


class Indexed:
    """Row D of one object.  ``row`` is D's symbol."""

    def __init__(self, program: Program, o: int) -> None:
        self.program = program
        self.symbols = program.values.symbols
        self.o = o
        self.row = self.symbols.get("opaque", ("row", o), frozenset(), True)
        self.loops = self.find_loops()
        self.cache: dict[tuple[int, int], int] = {}

    def find_loops(self) -> dict[int, Poly]:
        """Loops in which every access is to the row of the iteration: loop -> its iteration number in terms of D."""
        nest, graph = self.program.nest, self.program.graph
        seen: dict[int, Poly | None] = {}
        for n, accesses in self.program.values.accesses.items():
            for a in accesses:
                if a.object != self.o:
                    continue
                found = None if a.lo is None else split_row(self.program, self.o, a.lo)
                for loop in nest.chain(graph.nodes[n].block):
                    solved = None if found is None else self.solve(loop, self.symbols.resolve(found[0]))
                    if loop not in seen:
                        seen[loop] = solved
                    elif seen[loop] != solved:
                        seen[loop] = None
        return {loop: k for loop, k in seen.items() if k is not None}

    def solve(self, loop: int, index: Poly) -> Poly | None:
        """k such that the index of iteration k is D; only where the index is ±k plus a constant of the loop."""
        k = self.symbols.count(loop)
        c = index.coefficient(k)
        rest = index - symbol(k).scaled(c)
        if abs(c) != 1 or k in set(rest.symbols()) or self.symbols.scope(rest):
            return None
        return (symbol(self.row) - rest).scaled(c)

    def at(self, regions: Regions, node: int, index: Poly) -> Set:
        """Parameters for which an access to row ``index`` concerns row D."""
        return regions.compare("==", self.symbols.resolve(index), symbol(self.row))

    def specialise(self, node: int, value: Poly) -> Poly:
        """The value in the iteration that concerns row D."""
        block = self.program.graph.nodes[node].block
        for loop in self.program.nest.chain(block):
            if loop in self.loops:
                value = value.substitute(lambda s, loop=loop: self.replace(s, loop))  # type: ignore[misc]
        return value

    def replace(self, s: int, loop: int) -> Poly | None:
        """A memory read or operation that depends on the iteration number, at iteration D."""
        info = self.symbols.table[s]
        if loop not in info.scope or info.kind not in ("load", "op", "count"):
            return None
        if info.kind == "count":
            return None  # tied to D by the condition of the access itself
        if (s, loop) in self.cache:
            return symbol(self.cache[(s, loop)])
        key: list[object] = []
        scope: frozenset[int] = frozenset()
        for part in info.key:
            if isinstance(part, Poly):
                part = self.deep(part, loop)
                scope |= self.symbols.scope(part)
            elif isinstance(part, tuple) and part and all(isinstance(x, Poly) for x in part):
                polys = tuple(self.deep(x, loop) for x in part)
                for x in polys:
                    scope |= self.symbols.scope(x)
                part = polys
            key.append(part)
        new = self.symbols.get(info.kind, tuple(key), scope, info.nonneg)
        self.cache[(s, loop)] = new
        return symbol(new)

    def deep(self, value: Poly, loop: int) -> Poly:
        """Inside a symbol's key the iteration number itself is replaced too."""
        k = self.symbols.count(loop)
        solved = self.loops[loop]

        def inner(s: int) -> Poly | None:
            if s == k:
                return solved
            info = self.symbols.table[s]
            if loop in info.scope and info.kind in ("load", "op"):
                return self.replace(s, loop)
            return None

        return self.symbols.resolve(value).substitute(inner)

    def in_loop(self, regions: Regions, node: int) -> Set | None:
        """Where a node's loops are in the iteration of row D; None when they have no such iteration."""
        out: Set | None = None
        for loop in self.program.nest.chain(self.program.graph.nodes[node].block):
            if loop in self.loops:
                here = regions.compare("==", symbol(self.symbols.count(loop)), self.loops[loop])
                out = here if out is None else out.intersect(here)
        return out

