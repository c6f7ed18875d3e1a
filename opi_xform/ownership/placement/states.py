"""What the carrier holds at every point: the table ``analyses/carrier.toml``, run over the program graph.

A state is a set of what may be the case on the paths that lead somewhere (docs/book/automata.md);
NONE together with HELD is the Maybe of the placement tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

from opi_xform.dataflow.table import shipped_table
from opi_xform.graph.statements import Edge, Flow, Level, mirrored
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly
from opi_xform.record import dataclass

_TABLE = shipped_table()
_STEPS = _TABLE.steps
NONE, HELD, PENDING, RAW, OTHER = (_TABLE.states[s] for s in ("None", "Held", "Pending", "Raw", "Other"))

(
    RAWBIRTH,
    BIRTH,
    MADE,
    ALLOC,
    MAYALLOC,
    TOUCH,
    SEND,
    MAYSEND,
    RECV,
    IRECV,
    REPLACE,
    IREPLACE,
    COMPLETE,
    DEALLOC,
    LEAVE,
) = [
    "rawbirth",
    "birth",
    "made",
    "alloc",
    "mayalloc",
    "touch",
    "send",
    "maysend",
    "recv",
    "irecv",
    "replace",
    "ireplace",
    "complete",
    "dealloc",
    "leave",
]
SENDS = frozenset({SEND, MAYSEND})
# MAYSEND: of a program that goes on when a message cannot be sent; a give that failed leaves the buffer where it was.
# REPLACE, IREPLACE: a receive that leaves what is there in its place where the source is MPI_PROC_NULL.
# LEAVE: the pointer is set to other memory.  What it was to may still be used by another name.
NEEDS_BUFFER = frozenset({TOUCH, *SENDS, REPLACE, IREPLACE})


@dataclass(frozen=True, slots=True)
class Event:
    """What a node does to the buffer; ``row``: to which one of an array of buffers (None: there is only one)."""

    node: int
    kind: str
    row: Poly | None = None


@dataclass(frozen=True, slots=True)
class Insertion:
    """A call to be put into the source at a statement of ``function``, and so into every copy of it.

    where: ``before`` or ``after`` the statement; ``leave``: on every way out of a block but its returns; ``return``:
    inside a return, behind its expression.  kind: ``alloc``, ``guard`` (OPI_Alloc where the pointer is NULL), ``free``.
    target: the carrier as written there; rows: which buffer that is, per frame; index: the subscript in the target.
    """

    function: str
    stmt: int
    where: str
    kind: str
    target: str
    rows: tuple[tuple[int, Poly], ...] = ()
    index: str = ""


@dataclass(frozen=True)
class View:
    """The graph as one buffer (of an array of buffers: one row) sees it.  ``row``: its number, None for any.

    Only the nodes that matter are left: those with events, and the ends of the edges where a call may be inserted.
    ``entering``/``leaving``: the edges into and out of each statement at which that may be.
    """

    succs: Mapping[int, Sequence[int]]
    preds: Mapping[int, Sequence[int]]
    entering: Mapping[Level, Sequence[Edge]]
    leaving: Mapping[Level, Sequence[Edge]]
    row: int | None = None

    def concerns(self, row: Poly | None) -> bool:
        number = None if row is None else row.constant
        return number is None or number == self.row


def view(
    flow: Flow, succs: Sequence[Sequence[int]], events: Sequence[Event], levels: Sequence[Level], row: int | None = None
) -> View:
    """The view of a graph (``Flow.succs``, or that graph changed)."""
    preds = flow.preds if succs is flow.succs else mirrored(succs)
    entering: dict[Level, Sequence[Edge]] = {}
    leaving: dict[Level, Sequence[Edge]] = {}
    kept = {flow.entry, flow.exit, *(e.node for e in events)}
    for level in levels:
        entering[level], leaving[level] = flow.boundary(level, succs, preds)
        kept.update(v for edge in (*entering[level], *leaving[level]) for v in edge)
        if isinstance(flow.info(level).stmt, ast.Return):
            for n in flow.by_frame[level[0]]:
                if flow.stmt[n] == level[1] and isinstance(flow.graph.nodes[n].action, ins.ReturnInstr):
                    kept.update((n, *preds[n], *succs[n]))
    frontier = _frontier(flow, succs, kept)
    few = {u: tuple(sorted(frozenset[int]().union(*(frontier[t] for t in succs[u])))) for u in sorted(kept)}
    back: dict[int, list[int]] = {u: [] for u in few}
    for u, targets in few.items():
        for t in targets:
            back[t].append(u)
    return View(few, back, entering, leaving, row)


def _frontier(flow: Flow, succs: Sequence[Sequence[int]], kept: set[int]) -> dict[int, frozenset[int]]:
    """Per node: itself when it is kept, else the kept nodes that come next.

    Copies of functions without kept nodes are stepped over: whatever enters them leaves them, if it ever does.
    """
    graph = flow.graph
    frames: set[int] = set()
    for v in kept:
        if v < len(graph.nodes):
            at = graph.nodes[v].frame
            while at >= 0 and at not in frames:
                frames.add(at)
                at = graph.frames[at].parent
    frames.add(0)
    nodes = sorted((v for frame in frames for v in flow.by_frame[frame]), reverse=True)
    none: frozenset[int] = frozenset()
    found: dict[int, frozenset[int]] = dict.fromkeys(nodes, none)
    found.update((v, frozenset({v})) for v in kept)
    over: dict[int, Sequence[int]] = {}
    for v in nodes:
        if v in kept:
            continue
        targets: list[int] = []
        for t in succs[v]:
            if t < len(graph.nodes) and graph.nodes[t].frame not in frames:
                targets.extend(flow.exits.get(graph.nodes[t].frame, ()))
            else:
                targets.append(t)
        over[v] = targets
    outside = {t for v in kept for t in succs[v] if t not in found}
    changed = True
    while changed:
        changed = False
        for v, reached in over.items():
            new = (
                found.get(reached[0], none) if len(reached) == 1 else none.union(*(found.get(t, none) for t in reached))
            )
            if new != found[v]:
                found[v] = new
                changed = True
    for t in outside:
        found[t] = none.union(*(found.get(x, none) for x in flow.exits.get(graph.nodes[t].frame, ())))
    return found


@dataclass(slots=True)
class Solution:
    """``events``: state ahead of each event; ``insertions``: ahead of each insertion."""

    events: dict[Event, int]
    insertions: dict[Insertion, int]
    after: Mapping[int, int]
    ends: dict[Edge, int]  # of edges with insertions

    def at_end(self, edge: Edge) -> int:
        """The state at the end of an edge, behind what is inserted on it."""
        return self.ends.get(edge, self.after[edge[0]])


class Places:
    """The edges on which insertions are executed, in order."""

    def __init__(self, flow: Flow, view: View, insertions: Sequence[Insertion]) -> None:
        self.on: dict[Edge, list[tuple[tuple[int, int], Insertion, Poly | None]]] = {}
        for insertion in insertions:
            rows = dict(insertion.rows)
            for frame in flow.frames_of.get(insertion.function, ()):
                depth = flow.depth((frame, insertion.stmt))
                # what stands behind inner statements comes first, what stands before them last
                key = {"before": (1, depth), "return": (2, depth)}.get(insertion.where, (0, -depth))
                for edge in edges(flow, view, insertion, frame):
                    self.on.setdefault(edge, []).append((key, insertion, rows.get(frame)))
        for found in self.on.values():
            found.sort(key=lambda item: item[0])


def edges(flow: Flow, view: View, insertion: Insertion, frame: int) -> Sequence[Edge]:
    """Where an insertion is executed in one copy of its function."""
    level = (frame, insertion.stmt)
    if insertion.where == "before":
        return view.entering.get(level, ())
    if insertion.where == "return":
        inside = [n for n in flow.by_frame[frame] if flow.stmt[n] == insertion.stmt]
        returns = [n for n in inside if isinstance(flow.graph.nodes[n].action, ins.ReturnInstr)]
        return [(u, n) for n in returns for u in view.preds[n]]
    return view.leaving.get(level, ())


def _happen(event: Event, state: int, steps: Mapping[str, Sequence[int]]) -> int:
    return steps[event.kind][state]


def _put_in(insertion: Insertion) -> str:
    """The event that a call that is put in is."""
    return "OPI_Free" if insertion.kind == "free" else "OPI_Alloc"


def solve(
    flow: Flow,
    view: View,
    events: Mapping[int, Sequence[Event]],
    insertions: Sequence[Insertion],
    initial: int,
    steps: Mapping[str, Sequence[int]] = _STEPS,
) -> Solution:
    """The least solution: the union over all paths.  steps: of a table with the events of ``carrier.toml``."""
    places = Places(flow, view, insertions).on
    before = dict.fromkeys(view.succs, 0)
    after = dict.fromkeys(view.succs, 0)
    after[flow.entry] = initial
    queue = sorted(set(view.succs[flow.entry]))
    queued = set(queue)
    while queue:
        v = heappop(queue)
        queued.discard(v)
        state = 0
        for u in view.preds[v]:
            state |= _along(places, view, (u, v), after[u], steps)
        before[v] = state
        for event in events.get(v, ()):
            if view.concerns(event.row):
                state = _happen(event, state, steps)
        if state != after[v]:
            after[v] = state
            for t in view.succs[v]:
                if t not in queued:
                    queued.add(t)
                    heappush(queue, t)
    solution = Solution({}, {}, after, {})
    for v, happening in events.items():
        state = before[v]
        for event in happening:
            if not view.concerns(event.row):
                continue
            solution.events[event] = solution.events.get(event, 0) | state
            state = _happen(event, state, steps)
    for (u, v), found in places.items():
        if u not in view.preds[v]:
            continue
        state = after[u]
        for _, insertion, row in found:
            if view.concerns(row):
                solution.insertions[insertion] = solution.insertions.get(insertion, 0) | state
                state = steps[_put_in(insertion)][state]
        solution.ends[u, v] = state
    return solution


def _along(
    places: Mapping[Edge, Sequence[tuple[tuple[int, int], Insertion, Poly | None]]],
    view: View,
    edge: Edge,
    state: int,
    steps: Mapping[str, Sequence[int]],
) -> int:
    for _, insertion, row in places.get(edge, ()):
        if view.concerns(row):
            state = steps[_put_in(insertion)][state]
    return state


def needed(
    flow: Flow, view: View, events: Mapping[int, Sequence[Event]], insertions: Sequence[Insertion]
) -> Mapping[int, bool]:
    """Per node: whether what the buffer holds on entering it may be touched or sent before it is acquired anew."""
    places = Places(flow, view, insertions).on
    need = dict.fromkeys(view.succs, False)
    work = sorted(view.succs)
    queued = set(work)
    while work:
        v = work.pop()
        queued.discard(v)
        found = False
        for t in view.succs[v]:
            ahead = need[t]
            for _, insertion, row in reversed(places.get((v, t), ())):
                if insertion.kind != "guard" and view.concerns(row):
                    ahead = False
            found = found or ahead
        for event in reversed(events.get(v, ())):
            if event.kind not in (COMPLETE, LEAVE) and view.concerns(event.row):
                found = event.kind in NEEDS_BUFFER
        if found and not need[v]:
            need[v] = True
            for p in view.preds[v]:
                if p not in queued:
                    queued.add(p)
                    work.append(p)
    return need
