"""Elements whose numbers a counter tells, and messages that begin where other loops have counted to.

``for (c…) if (has[c]) for (j…) x[…] = in[at[d] + p++];`` has no closed form, and ``at[d + 1]`` is ``at[d]`` and a sum
that a function added up before.  What such a counter only grows to (``regions/grown.py``) says in which stretch the
elements are.  Where that function may have been left early, the starts and the sums are others then, all of them
together: what is to be shown of them is shown on each of the two ways.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.divide.check import prover_at
from opi_xform.memory.poly import Poly, symbol
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.object_index import index_of
from opi_xform.regions.signs import before_turns, negative


class Counted:
    """One program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.symbols = program.values.symbols
        self.index = index_of(program)

    def stretches(self, n: int, lo: Poly, length: Poly, strict: bool) -> list[tuple[Poly, Poly, bool]]:
        """Begin and end of stretches in which all is that node n touches; whether sizes are assumed not to be negative
        (A3).
        """
        out, block = [], self.program.graph.nodes[n].block
        for one in self.index.grown.stretches(block, lo, length):
            signs = any(not self.symbols.is_nonneg(p) for p in one.sizes)
            if one.otherwise is not None or (strict and signs):
                continue
            if not any(self.negative(block, p) for p in one.sizes):
                out.append((self.symbols.resolve(one.lo), self.symbols.resolve(one.hi), signs))
        return out

    def negative(self, block: int, size: Poly) -> bool:
        """The program itself gives a negative number to a size of the loops around a block."""
        at = before_turns(self.program.nest, self.symbols, block, self.symbols.resolve(size))
        return negative(self.program.graph, self.program.values, size, self.index.facts.at(at).nonneg)

    def proves(self, n: int, p: Poly, facts: Sequence[Poly]) -> bool:
        """A number is not negative at node n, on each of two ways that met before it."""
        p = self.symbols.resolve(p)
        if p.constant is not None:
            return p.constant >= 0
        if prover_at(self.program, n, facts).proves(p):
            return True
        told = [self.symbols.resolve(f) for f in facts]
        return any(self.on_both(n, p, told, block) for block in self.meeting(n, p))

    def meeting(self, n: int, p: Poly) -> list[int]:
        """Blocks in which numbers in a value are merged, each before node n in the same turns."""
        nest, at = self.program.nest, self.program.graph.nodes[n].block
        out: dict[int, None] = {}
        for s in sorted(set(p.symbols())):
            info = self.symbols.table[s]
            block = info.key[0] if info.kind == "phi" else None
            if isinstance(block, int) and nest.dominates(block, at):
                out[block] = None
        return list(out)

    def on_both(self, n: int, p: Poly, facts: Sequence[Poly], block: int) -> bool:
        around = frozenset(self.program.nest.chain(self.program.graph.nodes[n].block))
        merged: dict[int, tuple[Poly, Poly]] = {}
        for s in sorted({s for q in (p, *facts) for s in q.symbols()}):
            info = self.symbols.table[s]
            if info.kind != "phi" or info.key[0] != block:
                continue
            found = self.index.sums.ways(block, s)
            if found is None or not all(self.symbols.scope(v) <= around for v in (symbol(s), *found[1:])):
                return False
            merged[s] = found[1:]
        for way in (0, 1):
            arms = {s: found[way] for s, found in merged.items()}
            there = self.symbols.resolve(p.substitute(arms.get))
            known = [q for q in (self.symbols.resolve(f.substitute(arms.get)) for f in facts) if q.constant is None]
            if there.constant is not None and there.constant >= 0:
                continue
            if not prover_at(self.program, n, known).proves(there):
                return False
        return bool(merged)
