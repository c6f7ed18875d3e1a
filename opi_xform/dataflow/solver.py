"""The greatest fixpoint of a monotone analysis, by a worklist in reverse postorder.

The solver knows nothing of any analysis, and an analysis nothing of the solver; diagnostics are read off the solution
afterwards.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar

from opi_xform.dataflow.lattice import Lattice
from opi_xform.dataflow.view import View
from opi_xform.record import dataclass

S = TypeVar("S")


class Analysis(Protocol[S]):
    """A dataflow problem.

    ``boundary(node)``: the state that enters at a start of the view.  ``transfer(node, state)``: the state after the
    node, in the direction of the view.  ``transfer_edge(source, target, state)``: the state at the far end of an edge,
    which is named in the graph's own direction whatever the view's.  Both transfers are monotone.
    """

    @property
    def lattice(self) -> Lattice[S]: ...

    def boundary(self, node: int) -> S: ...

    def transfer(self, node: int, state: S) -> S: ...

    def transfer_edge(self, source: int, target: int, state: S) -> S: ...


class Diverged(Exception):
    """The solver's budget ran out: an analysis that is not monotone, or whose chains are too long."""


@dataclass(frozen=True, slots=True)
class Solution(Generic[S]):
    """before[n], after[n]: the states before and behind node n in the view's direction; top where it was not reached.

    steps: how many nodes were transferred, for tests of cost.  log, if asked for: (node, state ahead, state behind) at
    each change, in order.  States only go down, so what an early entry shows to fail, fails for good: the log tells
    where a bottom comes from, which the fixpoint does not (in a cycle, each node has it from the one before).
    """

    before: tuple[S, ...]
    after: tuple[S, ...]
    steps: int
    log: tuple[tuple[int, S, S], ...] = ()


def solve(view: View, analysis: Analysis[S], *, budget: int | None = None, record: bool = False) -> Solution[S]:
    """The greatest solution of ``analysis`` over ``view``, with its log when ``record`` is set.

    budget: most node transfers, by default a thousand per node.  Raises Diverged when that is not enough.
    """
    log: list[tuple[int, S, S]] = []
    lattice = analysis.lattice
    top = lattice.top
    size = len(view.nexts)
    before = [top] * size
    after = [top] * size
    rank = {node: i for i, node in enumerate(view.order)}
    starts = {node: analysis.boundary(node) for node in view.starts}
    limit = budget if budget is not None else 1000 * (len(view.order) + 1)
    queue = list(range(len(view.order)))  # a sorted list is a heap
    queued = set(queue)
    steps = 0
    while queue:
        place = heappop(queue)
        queued.discard(place)
        node = view.order[place]
        state = starts.get(node, top)
        for prev in view.prevs[node]:
            if prev in rank:
                source, target = (prev, node) if view.forward else (node, prev)
                state = lattice.meet(state, analysis.transfer_edge(source, target, after[prev]))
        before[node] = state
        steps += 1
        if steps > limit:
            raise Diverged(f"no fixpoint after {limit} steps over {len(view.order)} nodes")
        out = analysis.transfer(node, state)
        if out != after[node]:
            after[node] = out
            if record:
                log.append((node, state, out))
            for to in view.nexts[node]:
                again = rank[to]
                if again not in queued:
                    queued.add(again)
                    heappush(queue, again)
    return Solution(tuple(before), tuple(after), steps, tuple(log))
