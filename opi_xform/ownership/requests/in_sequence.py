"""Waits for any request, one after the other: after as many as there are requests, all are complete.

``MPI_Waitany(2, r, &i, s); if (i == 0) …; if (i == 1) …; MPI_Waitany(2, r, &i, s); …``: each of the calls completes one
request, or there is none left.  A call counts where each way to it has as many calls before, all of these requests,
since one of them may have been begun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opi_xform.dataflow.lattice import Bits
from opi_xform.dataflow.solver import solve
from opi_xform.dataflow.view import numbered
from opi_xform.ownership.model.names import Names
from opi_xform.ownership.requests.slots import Slots, apart, joints_of, lost_slots, slots_of
from opi_xform.record import dataclass

MOST = 16  # requests that calls wait for without a loop
_BEGUN, _WAITED = 0, 1


def last_waits(names: Names, o: int) -> Mapping[int, Slots]:
    """Calls that wait for any of some requests in an object, after which all of these are complete."""
    waits: dict[tuple[Slots, int], list[int]] = {}
    values = names.program.values
    for n, op in names.operations.items():
        done = op.completes
        if done is None or done.which != "any" or not done.definite or not done.releases or done.count is None:
            continue
        args = values.args.get(n, ())
        count = values.symbols.resolve(args[done.count]).constant if done.count < len(args) else None
        slots = slots_of(names, n, done.requests, args[done.count]) if count is not None else None
        if slots is None or count is None or slots.object != o or not 0 < count <= MOST:
            continue
        if not values.symbols.scope(slots.lo):
            waits.setdefault((slots, count), []).append(n)
    out: dict[int, Slots] = {}
    for (slots, count), nodes in waits.items():
        if len(nodes) >= count:
            out.update(dict.fromkeys(_last(names, slots, count, nodes), slots))
    return out


def _last(names: Names, slots: Slots, count: int, waits: Sequence[int]) -> list[int]:
    graph = names.graph
    happens = dict.fromkeys(waits, _WAITED)
    for n, region in lost_slots(names, slots.object).items():
        if region is None or not apart(joints_of(names), region, slots):
            happens[n] = _BEGUN
    happens.update({n: _BEGUN for n, op in names.operations.items() if op.kind == "start"})
    events: dict[int, list[tuple[int, int]]] = {}
    for n in sorted(happens):
        events.setdefault(graph.nodes[n].block, []).append((n, happens[n]))
    counting = _Counting(events, count)
    before = solve(numbered(graph.succs, graph.preds), counting).before
    out = []
    for block, found in events.items():
        state = before[block]
        for n, what in found:
            state = counting.step(state, what)
            if what == _WAITED and state == 1 << count:
                out.append(n)
    return out


@dataclass(frozen=True)
class _Counting:
    """How many calls there were since a request was begun, as a dataflow problem: bit ``k`` for ``k`` of them.

    events: by block, what happens in order.  count: as many are enough.
    """

    events: Mapping[int, Sequence[tuple[int, int]]]
    count: int

    @property
    def lattice(self) -> Bits:
        return Bits((1 << (self.count + 1)) - 1)

    def boundary(self, node: int) -> int:
        del node
        return 1

    def transfer(self, node: int, state: int) -> int:
        for _, what in self.events.get(node, ()):
            state = self.step(state, what)
        return state

    def transfer_edge(self, source: int, target: int, state: int) -> int:
        del source, target
        return state

    def step(self, state: int, what: int) -> int:
        """After one event."""
        if what == _BEGUN:
            return 1 if state else 0
        enough = 1 << self.count
        return (state & ~enough) << 1 | (state & enough)
