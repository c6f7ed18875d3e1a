"""Arrays of buffers: the program graph as one row sees it.

In a loop over the rows, one iteration concerns the row and the others do not.  Where the index is a different one in
each iteration, the row passes through the body at most once: the edge back to the header goes to the loop's exits.
Where all such loops run over the same rows, it passes exactly once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opi_xform.graph.statements import Flow, Level
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import ONE, ZERO, Poly, number, symbol
from opi_xform.ownership.explain.pointers.row_uses import Untold
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.placement.states import BIRTH, DEALLOC, IRECV, IREPLACE, MADE, Event, View, view
from opi_xform.ownership.requests.completions import all_in_turn
from opi_xform.record import dataclass
from opi_xform.values.trip_counts import nominal_trips


@dataclass(frozen=True, slots=True)
class _Span:
    """The rows ``first, first + step, …``, ``count`` of them; with a ``modulus``, their remainders."""

    first: Poly
    count: Poly
    step: int
    modulus: Poly | None = None


@dataclass(frozen=True, slots=True)
class _RowLoop:
    """``once``: no row twice.  ``span``: its rows, if known.  ``ends_only``: nothing happens but births and frees."""

    loop: int
    once: bool
    span: _Span | None
    ends_only: bool


def views(
    program: Program,
    flow: Flow,
    events: Sequence[Event],
    levels: Sequence[Level],
    cases: Sequence[Mapping[int, bool]] = ({},),
) -> list[View] | list[Untold]:
    """One view per row that a constant names, one for all others; or what of the rows cannot be told apart.

    ``levels``: the statements at which calls may be inserted.  ``cases``: see guards; all views once for each.
    """
    rows = list(dict.fromkeys(e.row for e in events if e.row is not None))
    constants = sorted({c for r in rows if (c := r.constant) is not None})
    untold = _untold(program, events)
    indexed = [] if untold else _row_loops(program, events)
    numbers: list[int | None] = [None, *constants]
    if untold:
        moving = [r for r in rows if r.constant is None]
        if len(rows) > 1 or not moving or program.values.symbols.scope(moving[0]):
            return untold
    elif not indexed:
        numbers = list(constants) or [None]
    span = _common(indexed) if indexed else None
    if indexed and constants:
        missed = next((c for c in constants if not _covers(span, c)), None)
        if missed is not None:
            at = next(e.node for e in events if e.row is not None and e.row.constant == missed)
            return [Untold(indexed[0].loop, (at,))]
        if span is not None and span.count.constant == len(constants):
            numbers = list(constants)  # there are no others
    out: list[View] = []
    for case in cases:
        succs = flow.succs
        edges: list[Sequence[int]] = list(program.graph.succs) if case or indexed else []
        for n, taken in case.items():
            block = program.graph.nodes[n].block
            edges[block] = (edges[block][0 if taken else 1],)
        if indexed or case:
            succs = flow.contracted(_unrolled(program, edges, indexed, span is not None))
        one = view(flow, succs, events, levels)
        out.extend(replace(one, row=number) for number in numbers)
    return out


def _common(loops: Sequence[_RowLoop]) -> _Span | None:
    """The rows that pass through all of the loops, when all others pass through none that matters."""
    spans = {loop.span for loop in loops if not loop.ends_only} or {loop.span for loop in loops}
    if len(spans) != 1:
        return None
    span = next(iter(spans))
    if span is None:
        return None
    everything = _Span(ZERO, span.modulus, 1) if span.modulus is not None else span
    return span if all(loop.span in (span, everything) for loop in loops) else None


def _untold(program: Program, events: Sequence[Event]) -> list[Untold]:
    """What keeps the loops from being such that each of their turns concerns one row; empty where nothing does."""
    out = []
    rows: dict[int, Event] = {}
    for event in events:
        loop = _own_loop(program, event)
        if loop is None:
            continue
        first = rows.setdefault(loop, event)
        if loop < 0:
            out.append(Untold(loop, (event.node,)))
        elif first.row != event.row:
            out.append(Untold(loop, (first.node, event.node)))
    for loop, first in rows.items():
        blocks = program.nest.loops[loop].blocks if loop >= 0 else ()
        inside = (e for e in events if e.row is not None and program.graph.nodes[e.node].block in blocks)
        out.extend(Untold(loop, (first.node, e.node)) for e in inside if e.row != first.row)
    return sorted(dict.fromkeys(out), key=lambda found: found.loop < 0)


def computed_row(program: Program, events: Sequence[Event]) -> Untold | None:
    """A row that is computed anew in each turn of a loop, and is not a count of those."""
    if _untold(program, events):
        return None
    computed = {found.loop for found in _row_loops(program, events) if not found.once and found.span is None}
    return next((Untold(-1, (e.node,)) for e in events if _own_loop(program, e) in computed), None)


def _own_loop(program: Program, event: Event) -> int | None:
    """The loop whose turns the index of an event's row counts; -1 for none, None where the row has a number."""
    if event.row is None or event.row.constant is not None:
        return None
    scope = program.values.symbols.scope(event.row)
    chain = program.nest.chain(program.graph.nodes[event.node].block)
    return next((loop for loop in chain if loop in scope), -1)


def _row_loops(program: Program, events: Sequence[Event]) -> list[_RowLoop]:
    """The loops whose iterations concern one row each, where nothing is untold."""
    rows = {
        loop: event.row for event in events if event.row is not None and (loop := _own_loop(program, event)) is not None
    }
    lives = _lives_in(program, events)
    out = []
    for loop, row in sorted(rows.items()):
        blocks = program.nest.loops[loop].blocks
        kinds = {e.kind for e in events if e.row is not None and program.graph.nodes[e.node].block in blocks}
        out.append(_row_loop(program, loop, row, kinds <= {BIRTH, MADE, DEALLOC}, lives))
    return [_in_turn(program, found, rows[found.loop], events, out) for found in out]


def _in_turn(
    program: Program, found: _RowLoop, row: Poly, events: Sequence[Event], loops: Sequence[_RowLoop]
) -> _RowLoop:
    """A loop of MPI_Waitany over the requests of receives: each row's turn comes once, in some order."""
    if found.once or row.single is None:
        return found
    names = names_of(program)
    around = program.nest.loops[found.loop]
    receives = [(e.node, e.row) for e in events if e.kind in (IRECV, IREPLACE) and e.row is not None]
    named = [(n, r, ONE) for n, r in receives if r.constant is not None]
    if named and len(named) == len(receives):
        done = all_in_turn(names, around, row.single, named)
        return replace(found, once=True, span=_Span(ZERO, number(len(named)), 1)) if done else found
    for other in loops:
        span = other.span
        if span is None or (span.first, span.step, span.modulus) != (ZERO, 1, None):
            continue
        blocks = program.nest.loops[other.loop].blocks
        posts = [(n, r, span.count) for n, r in receives if program.graph.nodes[n].block in blocks]
        if all_in_turn(names, around, row.single, posts):
            return replace(found, once=True, span=span)
    return found


def _lives_in(program: Program, events: Sequence[Event]) -> frozenset[int]:
    """The loops in each turn of which the array itself begins anew.

    All of its life is in one turn then, so that numbers which only these loops change are the same all the time.
    """
    graph, nest = program.graph, program.nest
    nodes = (graph.nodes[e.node] for e in events)
    return frozenset(loop for n in nodes if isinstance(n.action, ins.Birth) for loop in nest.chain(n.block))


def _row_loop(program: Program, loop: int, row: Poly, ends_only: bool, lives: frozenset[int]) -> _RowLoop:
    """lives: the loops that the whole array's life is in one turn of."""
    symbols = program.values.symbols
    count = symbols.count(loop)
    modulus: Poly | None = None
    if row.single is not None and symbols.table[row.single].kind == "op":
        key = symbols.table[row.single].key
        if key[0] == "%" and isinstance(key[2], tuple) and all(isinstance(x, Poly) for x in key[2]):
            row, modulus = (symbols.resolve(x) for x in key[2])
    step = row.coefficient(count)
    rest = row - symbol(count).scaled(step)
    if step == 0 or symbols.scope(rest) & symbols.inner[loop]:
        return _RowLoop(loop, False, None, ends_only)
    info = program.nest.loops[loop]
    ending = _ending(program)
    info = replace(info, exits=tuple(e for e in info.exits if e[1] in ending))  # MPI_Abort is no way out
    trips = None
    if len(info.exits) == 1:
        trips = nominal_trips(program.graph, program.nest, program.values, info, info.exits[0])
    known = trips is not None and info.exits[0][0] == info.header
    if trips is not None and (symbols.scope(rest) | symbols.scope(trips)) - lives:
        known = False  # it may differ from one time to another in the array's life
    if modulus is not None:
        # the index of an array is not negative, so remainders of neighbours differ until they come round
        within = trips is not None and abs(step) == 1 and symbols.is_nonneg(modulus - trips)
        if not within or symbols.scope(modulus):
            return _RowLoop(loop, False, None, ends_only)
    if trips is None or not known:
        return _RowLoop(loop, modulus is None, None, ends_only)
    if step < 0:
        rest, step = rest + (trips - ONE).scaled(step), -step
    return _RowLoop(loop, True, _Span(rest, trips, step, modulus), ends_only)


def _ending(program: Program) -> frozenset[int]:
    """Blocks from which the end of the program can be reached."""
    graph = program.graph
    work = [
        b
        for b, succs in enumerate(graph.succs)
        if not succs and not (graph.blocks[b] and isinstance(graph.nodes[graph.blocks[b][-1]].action, ins.CallInstr))
    ]
    found: set[int] = set()
    while work:
        b = work.pop()
        if b not in found:
            found.add(b)
            work.extend(graph.preds[b])
    return frozenset(found)


def _covers(span: _Span | None, row: int) -> bool:
    if span is None or span.modulus is not None:
        return False
    first, count = span.first.constant, span.count.constant
    if first is None or count is None or (row - first) % span.step:
        return False
    return 0 <= (row - first) // span.step < count


def _unrolled(
    program: Program, succs: Sequence[Sequence[int]], loops: Sequence[_RowLoop], alike: bool
) -> list[tuple[int, ...]]:
    """Edges between blocks for one row.  ``alike``: the row passes through all of these loops or through none."""
    edges = [list(s) for s in succs]
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
