"""Whether something surely runs where something else does: before it, or after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from opi_xform.graph.graph import Graph, Lost, Unbind
from opi_xform.ownership.model.buffers import Program


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


class Surely:
    """What surely runs in one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.known: dict[tuple[int, int, frozenset[int]], bool] = {}

    def runs(self, message: int, n: int, loops: frozenset[int]) -> bool:
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
