"""What the carrier holds at every point: the table ``analyses/automata/carrier.toml``, run over the program graph.

A state is a set of what may be the case on the paths that lead somewhere (docs/book/automata.md);
NONE together with HELD is the Maybe of the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_

from opi_xform.dataflow import solver
from opi_xform.dataflow.lattice import May
from opi_xform.dataflow.table import Sets, Table, shipped_table
from opi_xform.dataflow.view import View as Paths
from opi_xform.graph.statements import Edge, Flow, Level, mirrored
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly
from opi_xform.record import dataclass

_TABLE = shipped_table()
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
    inside a return, after its expression.  kind: ``alloc``, ``guard`` (OPI_Alloc where the pointer is NULL), ``free``.
    target: the carrier as written there; rows: which buffer that is, per frame; index: the subscript in the target.
    """

    function: str
    stmt: int
    where: str
    kind: str
    target: str
    rows: tuple[tuple[int, Poly], ...] = ()
    index: str = ""


def nothing_at(node: int) -> Event:
    """What makes ``view`` keep a node, and is no event of a table."""
    return Event(node, "")


@dataclass(frozen=True)
class Edges:
    """``entering``/``leaving``: the edges into and out of each statement at which a call may be inserted."""

    preds: Mapping[int, Sequence[int]]
    entering: Mapping[Level, Sequence[Edge]]
    leaving: Mapping[Level, Sequence[Edge]]


@dataclass(frozen=True)
class View(Edges):
    """The graph as one buffer (of an array of buffers: one row) sees it.  ``row``: its number, None for any.

    Only the nodes that matter are left: those with events, and the ends of the edges where a call may be inserted.
    ``number``: of each node, for the solver; ``onward``, ``back``: the graph with these numbers.
    """

    succs: Mapping[int, Sequence[int]]
    number: Mapping[int, int]
    onward: Paths
    back: Paths
    row: int | None = None

    @property
    def nodes(self) -> Iterable[int]:
        """In the order of their numbers."""
        return self.number

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
    number = {u: i for i, u in enumerate((flow.entry, *(u for u in few if u != flow.entry)))}
    along, against = (tuple(tuple(number[t] for t in found[u]) for u in number) for found in (few, back))
    order = tuple(range(len(number)))
    ahead, behind = Paths(True, along, against, (0,), order), Paths(False, against, along, (), order[::-1])
    return View(back, entering, leaving, few, number, ahead, behind, row)


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
    """``events``: state before each event; ``insertions``: before each insertion."""

    events: dict[Event, int]
    insertions: dict[Insertion, int]
    after: Mapping[int, int]
    ends: dict[Edge, int]  # of edges with insertions
    statement_ends: dict[Edge, int]  # the same, with no more than belongs to the statements that they leave

    def behind(self, view: View, node: int) -> int:
        """The state after a node, and what is put in after the statements that end there."""
        found = [self.statement_ends.get((node, t), self.after[node]) for t in view.succs[node]]
        return reduce(or_, found, 0) if found else self.after[node]

    def at_end(self, edge: Edge) -> int:
        """The state at the end of an edge, after what is inserted on it."""
        return self.ends.get(edge, self.after[edge[0]])


_On = Mapping[Edge, Sequence[tuple[tuple[int, int], Insertion, Poly | None]]]


class Places:
    """The edges on which insertions are executed, in order."""

    def __init__(self, flow: Flow, view: Edges, insertions: Sequence[Insertion]) -> None:
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


def edges(flow: Flow, view: Edges, insertion: Insertion, frame: int) -> Sequence[Edge]:
    """Where an insertion is executed in one copy of its function."""
    level = (frame, insertion.stmt)
    if insertion.where == "before":
        return view.entering.get(level, ())
    if insertion.where == "return":
        inside = [n for n in flow.by_frame[frame] if flow.stmt[n] == insertion.stmt]
        returns = [n for n in inside if isinstance(flow.graph.nodes[n].action, ins.ReturnInstr)]
        return [(u, n) for n in returns for u in view.preds[n]]
    return view.leaving.get(level, ())


def _put_in(insertion: Insertion) -> str:
    """The event that a call that is put in is."""
    return "OPI_Free" if insertion.kind == "free" else "OPI_Alloc"


class _Carrier:
    """A table with the events of ``carrier.toml`` over a view, as a dataflow problem.

    at: what each node does, on: what is put in on each edge, as rows of ``Table.steps``.
    """

    def __init__(self, view: View, table: Table, events: Mapping[int, Sequence[Event]], on: _On, initial: int) -> None:
        steps, number = table.steps, view.number
        self.lattice = Sets(table)
        self.initial = initial
        self.at = {number[n]: [steps[e.kind] for e in found if view.concerns(e.row)] for n, found in events.items()}
        self.on = {
            (number[u], number[v]): [steps[_put_in(i)] for _, i, row in found if view.concerns(row)]
            for (u, v), found in on.items()
            if u in number and v in number
        }

    def boundary(self, node: int) -> int:
        del node
        return self.initial

    def transfer(self, node: int, state: int) -> int:
        for step in self.at.get(node, ()):
            state = step[state]
        return state

    def transfer_edge(self, source: int, target: int, state: int) -> int:
        for step in self.on.get((source, target), ()):
            state = step[state]
        return state


def solve(
    flow: Flow,
    view: View,
    events: Mapping[int, Sequence[Event]],
    insertions: Sequence[Insertion],
    initial: int,
    table: Table = _TABLE,
) -> Solution:
    """The union over all paths.  table: one with the events of ``carrier.toml``."""
    on = Places(flow, view, insertions).on
    problem = _Carrier(view, table, events, on, initial)
    found = solver.solve(view.onward, problem)
    after = dict(zip(view.nodes, found.after, strict=True))
    solution = Solution({}, {}, after, {}, {})
    for v, happening in events.items():
        state = found.before[view.number[v]]
        for event in happening:
            if view.concerns(event.row):
                solution.events[event] = solution.events.get(event, 0) | state
                state = table.steps[event.kind][state]
    for (u, v), put_in in on.items():
        if u not in view.preds[v]:
            continue
        state = after[u]
        for _, insertion, row in put_in:
            if view.concerns(row):
                solution.insertions[insertion] = solution.insertions.get(insertion, 0) | state
                state = table.steps[_put_in(insertion)][state]
                if insertion.where in ("after", "leave"):
                    solution.statement_ends[u, v] = state
        solution.ends[u, v] = state
    return solution


class _Need:
    """Whether what the buffer holds may be touched before it is acquired anew, as a dataflow problem."""

    lattice = May()

    def __init__(self, view: View, events: Mapping[int, Sequence[Event]], on: _On) -> None:
        number = view.number
        self.at = {}
        for n, found in events.items():
            first = next((e for e in found if e.kind not in (COMPLETE, LEAVE) and view.concerns(e.row)), None)
            if first is not None:
                self.at[number[n]] = first.kind in NEEDS_BUFFER
        self.ends = {
            (number[u], number[v])
            for (u, v), found in on.items()
            if u in number and v in number and any(i.kind != "guard" and view.concerns(row) for _, i, row in found)
        }

    def boundary(self, node: int) -> bool:
        del node
        return False

    def transfer(self, node: int, state: bool) -> bool:
        return self.at.get(node, state)

    def transfer_edge(self, source: int, target: int, state: bool) -> bool:
        return state and (source, target) not in self.ends


def needed(
    flow: Flow, view: View, events: Mapping[int, Sequence[Event]], insertions: Sequence[Insertion]
) -> Mapping[int, bool]:
    """Per node: whether what the buffer holds on entering it may be touched or sent before it is acquired anew."""
    found = solver.solve(view.back, _Need(view, events, Places(flow, view, insertions).on))
    return dict(zip(view.nodes, found.after, strict=True))
