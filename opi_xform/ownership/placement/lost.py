"""Where memory would be lost that only the transformed program has: ``analyses/automata/lost-memory.toml``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from opi_xform.dataflow.table import shipped_table
from opi_xform.graph.statements import Flow
from opi_xform.ownership.placement.states import (
    ALLOC,
    BIRTH,
    LEAVE,
    MADE,
    MAYALLOC,
    RAWBIRTH,
    Event,
    Insertion,
    View,
    solve,
)

_TABLE = shipped_table("lost-memory")
_EXTRA, _AWAITED = (_TABLE.states[name] for name in ("Extra", "AwaitedExtra"))
_SETS = frozenset({RAWBIRTH, BIRTH, MADE, ALLOC, MAYALLOC, LEAVE})  # what sets the pointer and frees nothing


def lost(
    flow: Flow,
    views: Sequence[View],
    events: Mapping[int, Sequence[Event]],
    insertions: Sequence[Insertion],
    swapped: Collection[int],
    lazy: Collection[int],
) -> set[Event]:
    """The events at which memory may be lost that the program never had.

    swapped: nodes at which the pointer changes places with another: what the program has is not followed beyond them.
    lazy: what allocates only where the pointer is NULL, in the transformed program, too.
    """
    found: set[Event] = set()
    for side in views:
        solution = solve(flow, side, events, insertions, _TABLE.start, _TABLE)
        for event, bits in solution.events.items():
            sets = (event.kind in _SETS and event.node not in lazy) or event.node in swapped
            if sets and bits & (_EXTRA | _AWAITED):
                found.add(event)
    return found
