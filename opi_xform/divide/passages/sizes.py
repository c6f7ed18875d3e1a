"""Sizes of messages that lie beside one another in one buffer: no message has a negative count.

``out[ny + k]`` is beside ``out[0 .. ny)`` and before ``out[ny + nx]`` only where ``nx`` and ``ny`` are not negative.
MPI refuses a message of a negative count, so a program that gets to its message at each time knows them not to be.  A
message tells that of where it has been, and of where no way leads past it: what is before it is then assumed (A3), for
a program with such a count ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from opi_xform.divide.passages.called import place_of
from opi_xform.graph.graph import Graph, Lost, Unbind
from opi_xform.memory.poly import Poly
from opi_xform.ownership.liveness.failures import failures_of
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.object_index import index_of
from opi_xform.regions.signs import negative


def reached(graph: Graph, after: int, stop: Callable[[int], bool]) -> Iterator[tuple[int, bool]]:
    """The nodes that follow a node, without those that stop the way; each with whether the way ends there (-1: it ends
    where nothing stands).
    """
    block = graph.nodes[after].block
    work = [(block, graph.blocks[block].index(after) + 1)]
    seen: set[int] = set()
    while work:
        block, start = work.pop()
        nodes = graph.blocks[block]
        for i in range(start, len(nodes)):
            if stop(nodes[i]):
                break
            yield nodes[i], i == len(nodes) - 1 and not graph.succs[block]
        else:
            if not nodes and not graph.succs[block]:
                yield -1, True
            more = [b for b in graph.succs[block] if b not in seen]
            seen.update(more)
            work += [(b, 0) for b in more]


class Sizes:
    """One program.  ``used``: something rests on them."""

    def __init__(self, program: Program, uses: Sequence[Use]) -> None:
        self.program = program
        self.symbols = program.values.symbols
        self.uses = uses
        self.returns = failures_of(program).returns  # a count that is refused ends nothing then
        self.used = False
        self.known: dict[tuple[int, int, frozenset[int]], bool] = {}

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
            if self.surely(u.node, n, self.symbols.scope(size)):
                out[size] = None
        return list(out)

    def frame(self, use: Use) -> int:
        """The copy of a function that names a message's place."""
        by = place_of(self.program, use)
        return self.program.graph.nodes[use.node if by is None else by.node].frame

    def surely(self, message: int, n: int, loops: frozenset[int]) -> bool:
        """Where node n runs, the message was tried, or will be, in this turn of the loops.

        loops: in whose turns its size may differ.
        """
        graph, nest = self.program.graph, self.program.nest
        inside = (nest.loops[lp].blocks for lp in loops)
        if any(graph.nodes[m].block not in blocks for blocks in inside for m in (message, n)):
            return False
        if message == n or self.program.dominates(message, n):
            return True
        found = self.known.get((message, n, loops))
        if found is None:
            found = self.known[message, n, loops] = self.follows(message, n, loops)
        return found

    def follows(self, message: int, n: int, loops: frozenset[int]) -> bool:
        """No way from node n leads past the message."""
        graph, nest = self.program.graph, self.program.nest
        frames = {frame := graph.nodes[message].frame}
        while (frame := graph.frames[frame].parent) >= 0:
            frames.add(frame)
        headers = [graph.blocks[nest.loops[lp].header] for lp in loops]
        if not all(headers):
            return False
        again = {nodes[0] for nodes in headers}
        for m, last in reached(graph, n, lambda m: m == message):
            if last or m < 0:
                return False
            node = graph.nodes[m]
            if isinstance(node.action, Lost) or (isinstance(node.action, Unbind) and node.action.callee in frames):
                return False
            if m in again or any(node.block not in nest.loops[lp].blocks for lp in loops):
                return False
        return True
