"""Numbers of bytes that end in their row, since another place touches as many in a row that they cannot leave.

``double out[4][MAX]``: ``n`` elements are written and sent for each row ``d``.  ``out[d][i]`` stays in its row, and
what is touched in the last row ends in the array, or it is no correct C; so does a message from there, or it is no
correct message.  So ``n`` is no more than ``MAX``, where that happened before or surely will.
"""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.graph.graph import Lost
from opi_xform.memory.accesses import Access
from opi_xform.memory.poly import ZERO, Poly, number, symbol
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.inequalities import Prover, facts_at
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.split_rows import split_row
from opi_xform.ownership.procnull.sources import proc_null
from opi_xform.ownership.requests.surely import Surely
from opi_xform.record import dataclass
from opi_xform.values.trip_counts import nominal_trips


@dataclass(frozen=True, slots=True)
class Last:
    """Where a node runs, so many bytes of a row are touched, before or after, that end in it."""

    node: int
    length: Poly


class RowLengths:
    """One array of rows: ``count`` of them, of ``row`` bytes each."""

    def __init__(self, program: Program, o: int, uses: Iterable[Use], row: int, count: int | None) -> None:
        self.program = program
        self.graph = program.graph
        self.nest = program.nest
        self.symbols = program.values.symbols
        self.o = o
        self.row = row
        self.count = count
        self.surely = Surely(program)
        self.uses = [u for u in uses if u.object == o]
        self.found: list[Last] | None = None

    def fits(self, n: int, length: Poly) -> bool:
        """So many bytes from the start of a row end in it, where node n runs."""
        return self.symbols.resolve(length) in self.at(n)

    def inside(self, n: int, start: Poly, length: Poly) -> bool:
        """An access of node n, (start, length) in a row, stays in it."""
        known = [number(self.row) - most for most in self.at(n)]
        if not known:
            return False
        counts = frozenset(info.number for info in self.symbols.table if info.kind == "count")
        prover = Prover([self.symbols.resolve(f) for f in (*facts_at(self.program, n), *known)], counts)
        return prover.proves(start) and prover.proves(number(self.row) - length - start)

    def at(self, n: int) -> list[Poly]:
        """Numbers of bytes that are no more than those of a row, where node n runs."""
        if self.found is None:
            self.found = list(dict.fromkeys([*self.messages(), *self.accesses()]))
        out: dict[Poly, None] = {}
        for last in self.found:
            if last.length not in out and self.surely.runs(last.node, n, self.symbols.scope(last.length)):
                out[last.length] = None
        return list(out)

    def messages(self) -> list[Last]:
        """A message to or from a process ends in the array; one to nobody may be longer than that."""
        out = []
        for use in self.uses:
            peer, found = use.buffer.peer, self.split(use.lo)
            if use.length is None or found is None or found[1] != ZERO or peer is None:
                continue
            block = self.graph.nodes[use.node].block
            if proc_null(self.program).shown(use.node, peer):
                out += self.last(use.node, block, found[0], self.symbols.resolve(use.length))
        return out

    def accesses(self) -> list[Last]:
        """What the program itself reads or writes ends in the array."""
        out = []
        for n, accesses in sorted(index_of(self.program).accesses.of(self.o).items()):
            if any(u.node == n for u in self.uses):
                continue
            for a in accesses:
                found = self.split(a.lo)
                if found is not None and a.length is not None and (a.must or (a.kind == "R" and not a.why)):
                    out += self.in_turns(a, *found)
        return out

    def in_turns(self, a: Access, index: Poly, start: Poly) -> list[Last]:
        """An access that goes through a row from its start, at once or one element in each turn of a loop."""
        assert a.length is not None
        block = self.graph.nodes[a.node].block
        loop, length = self.nest.of[block], self.symbols.resolve(a.length)
        if length.constant is None:
            return self.last(a.node, block, index, length) if start == ZERO else []
        if loop < 0:
            return []
        k, trips = self.symbols.count(loop), self.trips(loop, block)
        header = self.graph.blocks[self.nest.loops[loop].header]
        step = start.coefficient(k)
        if trips is None or not header or self.of_turn(loop, index) or self.of_turn(loop, trips):
            return []
        if start != symbol(k).scaled(step) or step < length.constant:
            return []  # it says nothing of the row where the loop does not run
        most = start + (trips - number(1) - symbol(k)).scaled(step) + length
        if a.within == self.row and index.constant is None and not self.program.pointers:
            return [self.early(header[0], most)]  # a subscript stays in its row (``uses.is_rows``)
        return self.last(header[0], self.nest.loops[loop].header, index, most)

    def split(self, lo: Poly | None) -> tuple[Poly, Poly] | None:
        found = None if lo is None else split_row(self.program, self.o, lo)
        return None if found is None else (self.symbols.resolve(found[0]), self.symbols.resolve(found[1]))

    def last(self, n: int, block: int, index: Poly, length: Poly) -> list[Last]:
        """Of what node n, of a block, does with a row: that it does so with the last one, for certain."""
        if self.count is None:
            return []
        if index.constant is not None:
            return [self.early(n, length)] if index.constant == self.count - 1 else []
        loop = self.around(n)
        if self.nest.of[block] >= 0 and self.of_turn(self.nest.of[block], index):
            loop = self.nest.of[block]
        turns = self.turns(loop, block, length)
        if turns is None:
            return []
        k, header = self.symbols.count(loop), self.graph.blocks[self.nest.loops[loop].header][0]
        first = index - symbol(k).scaled(index.coefficient(k))
        ends = {(first + number(index.coefficient(k) * turn)).constant for turn in (0, turns - 1)}
        return [self.early(header, length)] if self.count - 1 in ends else []

    def early(self, n: int, length: Poly) -> Last:
        """What happens where node n runs happens where the loops around it begin, if they surely run."""
        loop = self.around(n)
        while self.turns(loop, self.graph.nodes[n].block, length) is not None:
            n = self.graph.blocks[self.nest.loops[loop].header][0]
            loop = self.nest.loops[loop].parent
        return Last(n, length)

    def around(self, n: int) -> int:
        """The loop in whose turns a node runs; of what begins a loop, the one around that."""
        block = self.graph.nodes[n].block
        loop = self.nest.of[block]
        begins = loop >= 0 and self.nest.loops[loop].header == block and n == self.graph.blocks[block][0]
        return self.nest.loops[loop].parent if begins else loop

    def turns(self, loop: int, block: int, length: Poly) -> int | None:
        """How often a loop runs, at least once and each time through a block, with the same length."""
        if loop < 0 or self.of_turn(loop, length) or not self.graph.blocks[self.nest.loops[loop].header]:
            return None
        trips = self.trips(loop, block)
        known = None if trips is None else trips.constant
        return known if known is not None and known > 0 else None

    def of_turn(self, loop: int, value: Poly) -> bool:
        """A value may differ from turn to turn of a loop."""
        return bool(self.symbols.scope(value) & self.symbols.inner[loop])

    def trips(self, loop: int, block: int) -> Poly | None:
        """How often a loop runs, where each turn passes a block and is followed by the next, whatever happens in it."""
        one = self.nest.loops[loop]
        if not one.exits or not all(self.nest.dominates(block, latch) for latch in one.latches):
            return None
        of = self.nest.of[block]
        if of != loop and (self.nest.loops[of].parent != loop or self.nest.loops[of].header != block):
            return None
        if any(isinstance(self.graph.nodes[m].action, Lost) for b in one.blocks for m in self.graph.blocks[b]):
            return None
        found = nominal_trips(self.graph, self.nest, self.program.values, one, one.exits[0])
        return None if found is None else self.symbols.resolve(found)
