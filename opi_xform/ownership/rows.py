"""Arrays of buffers: the program graph as one row sees it.

In a loop over the rows, one iteration concerns the row and the others do not.  Where the index is a different one in each
iteration, the row passes through the body at most once: the edge back to the header goes to the loop's exits instead.
Where all such loops run over the same rows, it passes exactly once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opi_xform.memory.poly import Poly
from opi_xform.memory.trips import nominal_trips
from opi_xform.ownership.flow import Flow, mirrored
from opi_xform.ownership.model import Program
from opi_xform.ownership.states import Event, View


@dataclass(frozen=True, slots=True)
class _RowLoop:
    """``once``: no row twice.  ``span``: (first row, number of rows, step) when all are known."""

    loop: int
    once: bool
    span: tuple[Poly, Poly, int] | None


def views(program: Program, flow: Flow, events: Sequence[Event]) -> list[View] | None:
    """One view per row that a constant names, one for all others; None when the rows cannot be told apart."""
    whole = View(flow.succs, flow.preds)
    rows = list(dict.fromkeys(e.row for e in events if e.row is not None))
    if not rows:
        return [whole]
    constants = sorted({c for r in rows if (c := r.constant) is not None})
    indexed = _row_loops(program, events)
    if indexed is None:
        moving = [r for r in rows if r.constant is None]
        return [whole] if len(rows) == 1 and moving and not program.values.symbols.scope(moving[0]) else None
    if not indexed:
        return [View(flow.succs, flow.preds, c) for c in constants]
    spans = {loop.span for loop in indexed}
    alike = len(spans) == 1 and None not in spans
    if constants and not (alike and all(_covers(next(iter(spans)), c) for c in constants)):
        return None
    succs = flow.contracted(_unrolled(program, indexed, alike))
    preds = mirrored(succs)
    return [View(succs, preds, c) for c in (None, *constants)]


def _row_loops(program: Program, events: Sequence[Event]) -> list[_RowLoop] | None:
    """The loops whose iterations concern one row each; None when some index is not of that kind."""
    symbols = program.values.symbols
    rows: dict[int, Poly] = {}
    for event in events:
        if event.row is None or event.row.constant is not None:
            continue
        scope = symbols.scope(event.row)
        block = program.graph.nodes[event.node].block
        loop = next((lp for lp in program.nest.chain(block) if lp in scope), None)
        if loop is None or rows.setdefault(loop, event.row) != event.row:
            return None
    for loop, row in rows.items():
        blocks = program.nest.loops[loop].blocks
        if any(e.row != row for e in events if e.row is not None and program.graph.nodes[e.node].block in blocks):
            return None
    return [_row_loop(program, loop, row) for loop, row in sorted(rows.items())]


def _row_loop(program: Program, loop: int, row: Poly) -> _RowLoop:
    symbols = program.values.symbols
    count = symbols.count(loop)
    step = row.coefficient(count)
    rest = row - Poly((((count,), step),)) if step else row
    inner = symbols.inner[loop]
    if step == 0 or symbols.scope(rest) & inner:
        return _RowLoop(loop, False, None)
    info = program.nest.loops[loop]
    trips = nominal_trips(program.graph, program.values, info, info.exits[0]) if len(info.exits) == 1 else None
    if trips is None or info.exits[0][0] != info.header or symbols.scope(rest) or symbols.scope(trips):
        return _RowLoop(loop, True, None)
    if step < 0:
        rest, step = rest + (trips - Poly((((), 1),))).scaled(step), -step
    return _RowLoop(loop, True, (rest, trips, step))


def _covers(span: tuple[Poly, Poly, int] | None, row: int) -> bool:
    if span is None:
        return False
    first, trips, step = span[0].constant, span[1].constant, span[2]
    return first is not None and trips is not None and (row - first) % step == 0 and 0 <= (row - first) // step < trips


def _unrolled(program: Program, loops: Sequence[_RowLoop], alike: bool) -> list[tuple[int, ...]]:
    """Edges between blocks for one row.  ``alike``: the row passes through all of these loops or through none."""
    edges = [list(s) for s in program.graph.succs]
    for found in loops:
        info = program.nest.loops[found.loop]
        outside = [b for _, b in info.exits]
        if found.once:
            for latch in info.latches:
                edges[latch] = [*(s for s in edges[latch] if s != info.header), *outside]
            if alike and info.header not in info.latches:
                edges[info.header] = [s for s in edges[info.header] if s not in outside]
        if not alike and info.header not in {a for a, _ in info.exits}:
            for before in program.graph.preds[info.header]:
                if before not in info.blocks:
                    edges[before].extend(outside)
    return [tuple(dict.fromkeys(s)) for s in edges]
