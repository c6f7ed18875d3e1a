"""Sizes of messages that lie beside one another in one buffer: no message has a negative count.

``out[ny + k]`` is beside ``out[0 .. ny)`` and before ``out[ny + nx]`` only where ``nx`` and ``ny`` are not negative.
MPI refuses a message of a negative count, so a program that gets to its message at each time knows them not to be.  A
message tells that of where it has been, and of where no way leads past it: what is before it is then assumed (A3), for
a program with such a count ends there.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.divide.passages.called import place_of
from opi_xform.memory.poly import Poly
from opi_xform.ownership.liveness.failures import failures_of
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.requests.surely import Surely
from opi_xform.regions.signs import negative


class Sizes:
    """One program.  ``used``: something rests on them."""

    def __init__(self, program: Program, uses: Sequence[Use]) -> None:
        self.program = program
        self.symbols = program.values.symbols
        self.uses = uses
        self.returns = failures_of(program).returns  # a count that is refused ends nothing then
        self.used = False
        self.surely = Surely(program)

    def at(self, use: Use, n: int) -> list[Poly]:
        """Bytes of messages in the buffer of ``use``, in the same copy of its function: not negative at node n."""
        if self.returns:
            return []
        out = dict[Poly, None]()
        for u in self.uses:
            if u.object != use.object or u.length is None or self.frame(u) != self.frame(use):
                continue
            size = self.symbols.resolve(u.length)
            if size.constant is not None or size in out:
                continue
            nonneg = index_of(self.program).facts.at(self.program.graph.nodes[u.node].block).nonneg
            if negative(self.program.graph, self.program.values, size, nonneg):
                continue
            if self.surely.runs(u.node, n, self.symbols.scope(size)):
                out[size] = None
        return list(out)

    def frame(self, use: Use) -> int:
        """The copy of a function that names a message's place."""
        by = place_of(self.program, use)
        return self.program.graph.nodes[use.node if by is None else by.node].frame
