"""What happens to a buffer whose object is known, with the states of the tables that run (docs/book/automata.md).

The table of a side is run over the moments of the page, for all that is needed of the buffer at once.  What decides is
asked of one site and one need, and leaves out ways that are never taken (``patterns.agree``): a call that converts is
allowed, whatever is said here of the ways that lead on from it.  A write is ``ClosedWrite`` here where liveness finds
no byte needed before it: the patterns do not ask for extent, and the page would say Packed of what is half filled.
Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from opi_xform.dataflow.solver import Diverged, solve
from opi_xform.dataflow.table import Course, Table, shipped_table
from opi_xform.dataflow.view import ListGraph
from opi_xform.ir.instr import Instr
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.liveness.findings import fine
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Place, Program
from opi_xform.ownership.placement.states import HELD
from opi_xform.record import dataclass
from opi_xform.regions.live import Live
from opi_xform.regions.sets import BudgetExceeded
from opi_xform.report.page.moments import HIDDEN, Moment, in_order, linked, moment_at, successors
from opi_xform.report.page.touched import Named

SEND, RECEIVE = "send-pattern", "receive-pattern"
ROLES = {"send": "sends", "recv": "receives", "alloc": "allocates", "free": "frees"}
_RECEIVER = {
    "read": "InRead",
    "write": "OpenWrite",
    "send": "InRead",
    "recv": "Recv",
    "alloc": "Allocate",
    "birth": "Allocate",
    "free": "Deallocate",
    "escape": "Escape",
}
_ENDS = frozenset(("alloc", "birth", "free", "send", "recv"))


@dataclass(frozen=True, slots=True)
class Happens:
    """What happens at a node, for people; and as events of the send's and the receive's table ('': none)."""

    what: str
    sender: str
    receiver: str


class Story:
    """What happens to one object, on a graph of nothing else."""

    def __init__(
        self, program: Program, buffer: Buffer, o: int, strict: bool, out: set[tuple[str, int]], named: Named
    ) -> None:
        self.program = program
        self.named = named
        self.buffer = buffer
        self.o = o
        self.judge = Judge(program, buffer, o, strict)
        self.out = out
        self.events: dict[int, list[Happens]] = {}
        self.sender: dict[int, int] = {}
        self.receiver: dict[int, int] = {}
        self.failing: set[int] = set()
        self.packed: set[int] = set()
        self.unpacked: set[int] = set()
        self.collect()
        self.nodes = in_order(program, self.events)
        self.succs = successors(program, self.nodes)

    def collect(self) -> None:
        judge, named = self.judge, self.named
        closed = self.closed()
        for n, found in judge.accesses.items():
            if judge.initialises(n):
                continue
            kinds = {a.kind for a in found}
            sides = named.sides(n, (self.o,))  # of a call that may also be one of another buffer
            if "R" in kinds:
                self.add(n, "read", "Read", shown="send" if "send" in sides else "")
            if "W" in kinds:
                event = "ClosedWrite" if closed.get(n, False) else "OpenWrite"
                self.add(n, "write", event, shown="recv" if "recv" in sides else "")
        for n, what in named.scalars.get(self.o, ()):
            if n not in judge.use_nodes and not judge.initialises(n):
                self.add(n, what, "Read" if what == "read" else "OpenWrite")
        for n, uses in judge.use_nodes.items():
            for use in sorted(uses, key=lambda u: u.side == "recv"):
                fits = (f := judge.findings.get((n, use.argument))) is not None and f.ok
                self.add(n, use.side, "Send" if use.side == "send" else "Recv" if fits else "OpenWrite")
        heap = self.program.values.objects.table[self.o].kind != "variable"
        for n in judge.births:
            self.events.setdefault(n, []).insert(0, Happens("alloc" if heap else "birth", "Allocate", "Allocate"))
        certain = judge.frees()
        for n in certain:
            self.add(n, "free", "Deallocate")
        for n in named.freed.get(self.o, ()):
            if n not in certain:  # the tables are not told: it may be other memory
                self.events.setdefault(n, []).append(Happens("free", "", ""))
        # A packing loop of no turn packs nothing, and nothing is sent then: the table is told at the loop's entry.
        for q in {q for n, fits in closed.items() if fits for q in self.ahead(n, self.packing(n))}:
            if q not in judge.use_nodes:
                self.add(q, "enter", "ClosedWrite")
        lost = self.program.values.given_away.get(self.o)
        if lost is not None:
            self.add(lost[0], "escape", "Escape")

    def add(self, n: int, what: str, sender: str, shown: str = "") -> None:
        """``shown``: what people are told instead."""
        span = node_span(self.program, n)
        receiver = _RECEIVER.get(what, "")
        if what in ("read", "send") and (span.file, span.line) in self.out:
            receiver = "OutRead"
        if sender == "ClosedWrite":
            receiver = sender
        self.events.setdefault(n, []).append(Happens(shown or what, sender, receiver))

    def closed(self) -> dict[int, bool]:
        """For each write: whether no byte is live before it, or before the loops that pack with it.

        Where every message may pass ownership, that holds of all writes together.
        """
        judge, graph, nest = self.judge, self.program.graph, self.program.nest
        writes = [n for n, found in judge.accesses.items() if any(a.kind == "W" for a in found)]
        if judge.findings and fine(judge.initial, judge.findings) and not judge.exceeded:
            return dict.fromkeys(writes, True)
        asked: dict[int, tuple[int, ...]] = {}
        for n in writes:
            asked[n] = self.ahead(n, self.packing(n))
        if judge.exceeded:
            return {}
        nothing: frozenset[str] = frozenset()
        queries = {q for found in asked.values() for q in found}
        try:
            live = Live(
                graph,
                nest,
                self.program.values,
                judge.regions,
                judge.telescopes(nothing),
                judge.events(None, None, nothing),
                sorted({*queries, *judge.use_nodes, *judge.births}),
                judge.indexed,
            )
            after = live.solve()
        except BudgetExceeded:
            return {}
        return {
            n: all(q in after and after[q].is_empty() for q in found) and (bool(found) or live.at_entry.is_empty())
            for n, found in asked.items()
        }

    def packing(self, n: int) -> list[int]:
        """The loops around a node in which nothing is sent or received, innermost first."""
        graph, nest = self.program.graph, self.program.nest
        busy = {graph.nodes[u].block for u in self.judge.use_nodes}
        return [i for i in nest.chain(graph.nodes[n].block) if not nest.loops[i].blocks & busy]

    def ahead(self, n: int, loops: Sequence[int]) -> tuple[int, ...]:
        """The nodes that run last before a node, or before the outermost of these loops around it."""
        graph, nest = self.program.graph, self.program.nest
        block = graph.nodes[n].block
        if loops:
            loop = nest.loops[loops[-1]]
            worklist, inside = [p for p in graph.preds[loop.header] if p not in loop.blocks], loop.blocks
        else:
            nodes = graph.blocks[block]
            at = nodes.index(n)
            if at:
                return (nodes[at - 1],)
            worklist, inside = list(graph.preds[block]), frozenset()
        found: list[int] = []
        seen = set(inside)
        while worklist:
            b = worklist.pop()
            if b in seen:
                continue
            seen.add(b)
            if graph.blocks[b]:
                found.append(graph.blocks[b][-1])
            else:
                worklist += graph.preds[b]
        return tuple(sorted(found))

    def moments(
        self, holds: Mapping[int, int], base: int, acquired: Iterable[int] = (), converted: Collection[Place] = ()
    ) -> list[Moment]:
        """In the order of the nodes, numbered from ``base``.  Without states and order where the flow is too large.

        holds: what the pointer holds behind nodes (``Placement.holds``).  acquired: nodes after which it is set.
        converted: the calls that convert.
        """
        events = [self.events[n] for n in self.nodes]
        roles = {use.side for use in self.judge.uses}
        if self.succs and "send" in roles:
            steps = [[h.sender for h in found if h.sender] for found in events]
            self.sender = self.states(shipped_table(SEND), steps)
        if self.succs and "recv" in roles:
            steps = [[h.receiver for h in found if h.receiver] for found in events]
            self.receiver = self.states(shipped_table(RECEIVE), steps)
        self.failing -= {u.node for u in self.judge.uses if u.place in converted}
        self.roles()
        behind = self.held(holds, acquired)
        found = []
        for i, n in enumerate(self.nodes, 1):
            whats = list(dict.fromkeys(h.what for h in events[i - 1] if h.what not in HIDDEN)) or ["enter"]
            found.append(
                [
                    replace(
                        moment_at(self.program, n, what),
                        sender=self.sender.get(i, 0),
                        receiver=self.receiver.get(i, 0),
                        holds=behind.get(n, 0),
                        fails=n in self.failing and what in ("send", "recv"),
                    )
                    for what in whats
                ]
            )
        return linked(self.succs, found, base)

    def words(self, n: int) -> set[str]:
        """What is done at a node, as roles of functions.

        ``packs``: what is written may be sent next, and is not worked with until then; ``unpacks``: what is read is
        what a receive brought.
        """
        found: set[str] = set()
        for happens in self.events[n]:
            what = happens.what
            if what == "write":
                found.add("packs" if n in self.packed else "writes")
            elif what == "read":
                found.add("unpacks" if n in self.unpacked else "reads")
            elif what in ROLES:
                found.add(ROLES[what])
        return found

    def roles(self) -> None:
        """Finds the nodes that pack and those that unpack."""
        sent = self.spread("send", back=True)
        given = self.spread("send", back=True, without=self.failing)
        looked_at = self.spread("read", back=True)
        came = self.spread("recv", back=False)
        mine = {h.what for found in self.events.values() for h in found}
        outside = shipped_table(RECEIVE).states["Open"]
        for i, n in enumerate(self.nodes, 1):
            events = {h.sender for h in self.events[n] if h.what == "write"}
            fresh = "ClosedWrite" in events or i not in looked_at
            if i in given or (i in sent and fresh):
                self.packed.add(n)
            if i in came and ("write" not in mine or not self.receiver.get(i, outside) & outside):
                self.unpacked.add(n)

    def spread(self, what: str, back: bool, without: Iterable[int] = ()) -> set[int]:
        """The nodes (from 1) that lead to such a happening, or that it leads to, within one life and one message."""
        count = len(self.nodes)
        nexts = [[s for s in found if 0 < s <= count] for found in self.succs]
        if back:
            preds: list[list[int]] = [[] for _ in nexts]
            for i, found in enumerate(nexts):
                for s in found:
                    preds[s].append(i)
            nexts = preds
        left = [n for n in self.nodes if n not in without]
        at = {i for i, n in enumerate(self.nodes, 1) if n in left and any(h.what == what for h in self.events[n])}
        stops = {i for i, n in enumerate(self.nodes, 1) if any(h.what in _ENDS for h in self.events[n])}
        seen: set[int] = set()
        worklist = [t for i in at if i < len(nexts) for t in nexts[i]]
        while worklist:
            i = worklist.pop()
            if i in seen or i == 0:
                continue
            seen.add(i)
            if i not in stops:
                worklist += nexts[i]
        return seen

    def states(self, table: Table, events: list[list[str]]) -> dict[int, int]:
        """The set of states just before each node; finds the calls that the table does not allow."""
        whole = self.program.values.objects.table[self.o]
        everywhere = whole.kind == "variable" and whole.frame < 0
        for found in events:  # a variable that is born again has ended before
            if found and found[0] == "Allocate":
                found.insert(0, "Deallocate")
        steps = [["Allocate"] if everywhere else [], *events, ["Deallocate"] if everywhere else []]
        view = table.view(ListGraph.of(self.succs, 0, [len(self.succs) - 1]))
        course = Course(table, lambda node: steps[node])
        try:
            solution = solve(view, course)
        except Diverged:
            return {}
        side = "send" if table.name == SEND else "recv"
        for i, n in enumerate(self.nodes, 1):
            if any(use.side == side for use in self.judge.use_nodes.get(n, ())):
                behind = dict(course.ahead_of(i, solution.before[i]))
                if behind.get("Send" if side == "send" else "Recv", solution.before[i]) & ~table.allows:
                    self.failing.add(n)
        return {i: solution.after[i] for i in range(1, len(self.nodes) + 1)}

    def held(self, holds: Mapping[int, int], acquired: Iterable[int]) -> dict[int, int]:
        """What the pointer holds after each node."""
        out = {n: holds[n] for n in self.nodes if n in holds}
        for n in out:  # OPI_Alloc stands for the whole statement, whichever function allocates in it
            if any(h.what == "alloc" for h in self.events[n]) and not self.statements({n}, up=True).isdisjoint(
                self.statements(acquired)
            ):
                out[n] = HELD
        return out

    def statements(self, nodes: Iterable[int], up: bool = False) -> set[tuple[int, int]]:
        """The statements of nodes, as (frame, number); ``up``: those of the calls that lead there as well."""
        graph = self.program.graph
        found: set[tuple[int, int]] = set()
        for n in nodes:
            while n >= 0:
                action = graph.nodes[n].action
                if isinstance(action, Instr) and action.stmt >= 0:
                    found.add((graph.nodes[n].frame, action.stmt))
                n = graph.frames[graph.nodes[n].frame].call if up else -1
        return found
