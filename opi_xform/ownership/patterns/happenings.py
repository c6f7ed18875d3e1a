"""What happens to a buffer, as the pattern tables name it: a reading that knows nothing of live regions."""

from __future__ import annotations

from collections.abc import Collection

from opi_xform.memory.accesses import Access
from opi_xform.memory.poly import Poly
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Use
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.split_rows import split_row
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Happening:
    """One event.  kind: ``read``, ``send``, ``write``, ``recv``, ``allocate``, ``deallocate``.

    lo, length: where (None: not known, anywhere); row: in which of an array of buffers.  certain: of a write: each
    time that the node runs.  use: of a site.
    """

    node: int
    kind: str
    lo: Poly | None = None
    length: Poly | None = None
    certain: bool = True
    row: Poly | None = None
    use: Use | None = None

    @property
    def needs(self) -> bool:
        return self.kind in ("read", "send")


class Happenings:
    """All that happens to one object, by node, in the order of execution.

    packed: sends before which all is written, as counters or comments say.
    """

    def __init__(self, program: Program, buffer: Buffer, o: int, packed: Collection[Place]) -> None:
        self.program = program
        self.buffer = buffer
        self.o = o
        self.symbols = program.values.symbols
        self.many = buffer.carrier.rows > 0
        self.by_node: dict[int, list[Happening]] = {}
        uses = [u for u in buffer.uses if u.object == o]
        sites = {u.node for u in uses}
        swapped = {n for swap in buffer.swaps for n in swap.nodes}
        self.lives()
        for n, found in program.values.accesses.of(o).items():
            if n not in sites and n not in swapped:
                for a in found:
                    self.add(self.access(a))
        for u in uses:
            if u.side == "recv":
                self.add(self.placed(Happening(u.node, "recv", u.lo, u.length, u.length is not None, use=u)))
            elif u.place not in packed:
                self.add(self.placed(Happening(u.node, "send", u.lo, u.length, use=u)))
        for swap in buffer.swaps:  # another block comes there, and what is needed of it is needed of this one
            self.add(Happening(swap.nodes[1], "deallocate"))

    def add(self, happening: Happening) -> None:
        self.by_node.setdefault(happening.node, []).append(happening)

    def access(self, a: Access) -> Happening:
        kind = "read" if a.kind == "R" else "write"
        return self.placed(Happening(a.node, kind, a.lo, a.length, a.must))

    def placed(self, h: Happening) -> Happening:
        """With the place within its row."""
        if not self.many or h.lo is None:
            return h
        found = split_row(self.program, self.o, h.lo)
        if found is None:
            return Happening(h.node, h.kind, None, None, h.certain, None, h.use)
        return Happening(h.node, h.kind, found[1], h.length, h.certain, self.symbols.resolve(found[0]), h.use)

    def lives(self) -> None:
        """Where lives of the object begin and end."""
        index, table = index_of(self.program), self.program.values.objects.table
        info = table[self.o]
        if info.kind in ("heap", "family"):
            for h in info.members if info.kind == "family" else (self.o,):
                for n in table[h].nodes:
                    self.add(Happening(n, "allocate"))
        for n in index.births.get(info.variable or "", ()):
            frame = self.program.graph.nodes[n].frame
            if info.variable and self.program.values.objects.variable(frame, info.variable) == self.o:
                self.add(Happening(n, "allocate"))
        for n, arg in index.frees:
            values = self.program.values.args.get(n, ())
            if arg < len(values) and self.symbols.base(values[arg]) == self.o:
                self.add(Happening(n, "deallocate"))

    # --- places ----------------------------------------------------------------------------------------------------

    def steady(self, value: Poly) -> bool:
        """It is one number, however often loops turn."""
        return not self.symbols.scope(value)

    def distance(self, a: Poly | None, b: Poly | None) -> int | None:
        """``b - a``, where it is known and the same in all turns of all loops."""
        if a is None or b is None:
            return None
        a, b = self.symbols.resolve(a), self.symbols.resolve(b)
        return (b - a).constant if self.steady(a) and self.steady(b) else None

    def appends(self, h: Happening) -> bool:
        """It is put where a counter of the program's stands, which need not go on in each turn: nothing is left out."""
        cells = self.program.values.cells
        return h.lo is not None and any(s in cells for s in self.symbols.resolve(h.lo).symbols())

    def beside(self, a: Happening, b: Happening) -> bool:
        """No byte of one is a byte of the other, whatever the turns of loops are."""
        if self.distance(a.row, b.row) not in (None, 0):
            return True
        apart = self.distance(a.lo, b.lo)
        if apart is None:
            return False
        length = a.length if apart >= 0 else b.length
        known = None if length is None else self.symbols.resolve(length).constant
        return known is not None and abs(apart) >= known

    def beyond(self, read: Happening, message: Happening) -> bool:
        """Some byte of the first is behind or before the second, for certain: it begins there, or ends there."""
        apart = self.distance(message.lo, read.lo)
        if apart is None or message.length is None:
            return False
        if apart < 0:
            return True
        room = self.symbols.resolve(message.length)
        if read.length is None:
            return room.constant is not None and apart >= room.constant
        rest = self.symbols.resolve(read.length) - room
        return rest.constant is not None and self.steady(room) and rest.constant + apart > 0

    def event(self, h: Happening, need: Happening, brings: Happening | None) -> str:
        """How the table of a side names it, for one thing that is needed.

        brings: the receive that is asked about (None: it is a send).
        """
        if h.kind == "allocate":
            return "Allocate"
        if h.kind == "deallocate":
            return "Deallocate"
        if h.needs:
            if brings is None:
                return "Send" if h.kind == "send" else "Read"
            return "OutRead" if self.beyond(h, brings) else "InRead"
        if not h.certain or self.beside(h, need):
            return "OpenWrite"
        return "Recv" if h.kind == "recv" else "ClosedWrite"


def block_order(program: Program, happenings: Happenings) -> dict[int, list[Happening]]:
    """By block, in the order of execution."""
    graph = program.graph
    out: dict[int, list[Happening]] = {}
    blocks = {graph.nodes[n].block for n in happenings.by_node}
    for b in blocks:
        out[b] = [h for n in graph.blocks[b] for h in happenings.by_node.get(n, ())]
    return out
