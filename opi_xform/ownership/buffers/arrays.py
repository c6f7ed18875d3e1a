"""Arrays of buffers: the analysis of row D, for one D that stands for all.

In a loop whose iterations touch one row each (``k``, ``k + 1``, ``(rank + k) % size``), what concerns row D happens
where the index is D.  There everything indexed by it is known too: ``nbr[k]`` is ``nbr[D]``, the same value in the loop
that packs, the loop that sends and the loop that unpacks.
"""

from __future__ import annotations

from islpy import Set

from opi_xform.ir import instr as ins
from opi_xform.memory.poly import ZERO, Poly, symbol
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.split_rows import split_row
from opi_xform.ownership.requests.completions import waited
from opi_xform.regions.sets import Regions


class Indexed:
    """Row D of one object.  ``row`` is D's symbol."""

    def __init__(self, program: Program, o: int) -> None:
        self.program = program
        self.symbols = program.values.symbols
        self.o = o
        self.row = self.symbols.get("opaque", ("row", o), frozenset(), True)
        self.loops = self.find_loops()
        self.cache: dict[tuple[int, int], int] = {}

    def find_loops(self) -> dict[int, tuple[Poly, int, Poly]]:
        """Loops in which every access of an iteration is to one row: (its index, the symbol in it, that symbol for row
        D).
        """
        nest, graph = self.program.nest, self.program.graph
        seen: dict[int, tuple[Poly, int, Poly] | None] = {}
        for n, accesses in index_of(self.program).accesses.of(self.o).items():
            for a in accesses:
                found = None if a.lo is None else split_row(self.program, self.o, a.lo)
                for loop in nest.chain(graph.nodes[n].block):
                    solved = None if found is None else self.solve(loop, self.symbols.resolve(found[0]))
                    if loop not in seen:
                        seen[loop] = solved
                    elif seen[loop] != solved:
                        seen[loop] = None
        return {loop: k for loop, k in seen.items() if k is not None}

    def solve(self, loop: int, index: Poly) -> tuple[Poly, int, Poly] | None:
        """The index as ± a symbol of the loop plus a constant, solved for row D."""
        varying = [s for s in index.symbols() if loop in self.symbols.table[s].scope]
        if len(varying) != 1:
            return None
        s = varying[0]
        c = index.coefficient(s)
        rest = index - symbol(s).scaled(c)
        if abs(c) != 1 or self.symbols.scope(rest):
            return None
        return index, s, (symbol(self.row) - rest).scaled(c)

    def at(self, regions: Regions, node: int, index: Poly) -> Set:
        """Parameters for which an access to row ``index`` concerns row D."""
        index = self.symbols.resolve(index)
        here = regions.compare("==", index, symbol(self.row))
        if index.single is not None:
            found = waited(names_of(self.program), index.single)
            if found is not None:
                here = here.intersect(regions.compare(">=", symbol(self.row), ZERO))
                here = here.intersect(regions.compare("<", symbol(self.row), found[2]))
        return here

    def stored(self, node: int) -> Poly | None:
        """For an allocation or a free: the index of the cell that gets or held the pointer."""
        values = self.program.values
        info = values.objects.table[self.o]
        call = self.program.graph.nodes[node].action
        if isinstance(call, ins.CallInstr) and isinstance(call.callee, ins.AddrFunc):
            effect = self.program.effects.get(call.callee.key)
            if effect is not None and effect.frees is not None:
                freed = self.symbols.offset(values.args[node][effect.frees.arg])
                found = split_row(self.program, self.o, freed)
                return None if found is None else found[0]
        for h in info.members:
            if node in values.objects.table[h].nodes:
                return self.cell_of(h)
        return None

    def cell_of(self, h: int) -> Poly | None:
        """The index at which an allocation is stored."""
        values = self.program.values
        for n, operands in values.operands.items():
            if isinstance(self.program.graph.nodes[n].action, ins.Store) and self.symbols.base(operands[1]) == h:
                offset = self.symbols.resolve(self.symbols.offset(operands[0]))
                if any(c % 8 for _, c in offset.terms):
                    return None
                return Poly(tuple((m, c // 8) for m, c in offset.terms))
        return None

    def at_store(self, node: int, value: Poly) -> Poly:
        """A value at an allocation, in the iteration that makes the buffer of row D."""
        index = self.stored(node)
        if index is None:
            return value
        for loop in self.program.nest.chain(self.program.graph.nodes[node].block):
            if loop not in self.loops:
                solved = self.solve(loop, index)
                if solved is not None:
                    self.loops[loop] = solved
        value = self.specialise(node, value)
        for loop in self.program.nest.chain(self.program.graph.nodes[node].block):
            if loop in self.loops:
                _, s, solved_value = self.loops[loop]
                value = value.substitute(lambda x, s=s, v=solved_value: v if x == s else None)  # type: ignore[misc]
        return value

    def specialise(self, node: int, value: Poly) -> Poly:
        """The value at a node in the iteration that concerns row D."""
        return self.specialise_at(self.program.graph.nodes[node].block, value)

    def specialise_at(self, block: int, value: Poly) -> Poly:
        """The value in a block, likewise."""
        for loop in self.program.nest.chain(block):
            if loop in self.loops:
                value = value.substitute(lambda s, loop=loop: self.replace(s, loop))  # type: ignore[misc]
        return value

    def replace(self, s: int, loop: int) -> Poly | None:
        """A memory read or operation that depends on the index, for row D."""
        info = self.symbols.table[s]
        if loop not in info.scope or info.kind not in ("load", "op") or s == self.loops[loop][1]:
            return None  # the symbol itself is tied to D by the condition of the access
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
        """Inside a symbol's key the symbol of the index is replaced too."""
        _, k, solved = self.loops[loop]

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
                here = regions.compare("==", self.loops[loop][0], symbol(self.row))
                out = here if out is None else out.intersect(here)
        return out
