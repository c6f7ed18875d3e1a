"""The life of each buffer for people: what happens to it along the flow of control, and the states of the tables there.

The pattern tables (docs/automata.md) say where a life fits "pack, send, pack, ..." and "receive, unpack, receive, ...",
and where it stops to; for a buffer that converts, the placement says what its pointer holds in the transformed program.
Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opi_xform.dataflow.automaton import Automaton, Tracking, shipped_automata
from opi_xform.dataflow.solver import Diverged, solve
from opi_xform.dataflow.view import ListGraph, backward
from opi_xform.ir.instr import CallInstr
from opi_xform.memory.live import Live
from opi_xform.memory.regions import BudgetExceeded
from opi_xform.ownership.aliases import value_refusal
from opi_xform.ownership.liveness import Judge
from opi_xform.ownership.model import Buffer, Program
from opi_xform.ownership.place import place
from opi_xform.ownership.plan import Decision, Plan
from opi_xform.ownership.reasons import node_span
from opi_xform.ownership.swaps import joined
from opi_xform.ownership.traced import path
from opi_xform.ownership.uses import buffers, collect

MOST_STEPS = 400_000  # blocks walked for one object, to find what follows what
_ROLES = {"write": "packs", "read": "reads", "send": "sends", "recv": "receives", "alloc": "allocates", "free": "frees"}
_HIDDEN = frozenset(("birth", "enter"))
_READS = frozenset(("101", "102", "201", "202", "203", "216"))


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happens to a buffer at a line.  what: ``write``, ``read``, ``send``, ``recv``, ``alloc``, ``free``
    or ``escape``.

    sender, receiver: the pattern tables' states just before it ('' where the table has nothing to say).  holds: what
    the pointer holds after it in the transformed program (``None``, ``Held``, ``Maybe``; '' for a buffer that stays).
    then: the moments that may follow, by index.  fails: a pattern first does not fit here.
    """

    file: str
    line: int
    function: str
    what: str
    sender: str = ""
    receiver: str = ""
    holds: str = ""
    then: tuple[int, ...] = ()
    fails: bool = False


@dataclass(frozen=True, slots=True)
class BufferLife:
    """One source-level buffer.  sites: (file, offset, side) of its calls.  roles: function -> what it does, sorted."""

    name: str
    sites: frozenset[tuple[str, int, str]]
    moments: tuple[Moment, ...]
    roles: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class CallGraph:
    """Which function calls which, of those that the analysis entered, by name."""

    calls: Mapping[str, tuple[str, ...]]


def call_graph(program: Program) -> CallGraph:
    """From the frames of the program graph."""
    found: dict[str, set[str]] = {}
    frames = program.graph.frames
    for frame in frames:
        name = _function(program, frame.function)
        found.setdefault(name, set())
        if frame.parent >= 0:
            found.setdefault(_function(program, frames[frame.parent].function), set()).add(name)
    return CallGraph({name: tuple(sorted(found[name])) for name in sorted(found)})


def lives(program: Program, plan: Plan, strict: bool) -> tuple[BufferLife, ...]:
    """Of every buffer whose object is known, in the order in which the program names them."""
    if program.nest.irreducible:
        return ()
    decided = {(d.span.file, d.span.begin, d.side): d for d in plan.decisions}
    groups, _ = buffers(program, collect(program))
    groups, _ = joined(program, groups, strict)
    return tuple(_life(program, buffer, decided, strict) for buffer in groups)


def _life(
    program: Program, buffer: Buffer, decided: Mapping[tuple[str, int, str], Decision], strict: bool
) -> BufferLife:
    sites = {use.place[:3]: decided.get(use.place[:3]) for use in buffer.uses}
    out = {(n.span.file, n.span.line) for d in sites.values() if d and d.code[3:] in _READS for n in d.notes}
    converted = frozenset(u.place for u in buffer.uses if (d := sites[u.place[:3]]) and d.decision == "convert")
    changes = _changes(program, buffer, converted)
    moments: list[Moment] = []
    roles: dict[str, set[str]] = {}
    for o in buffer.objects:
        story = _Story(program, buffer, o, strict, out)
        for node, what in story.flat():
            roles.setdefault(_where(program, node), set()).update({_ROLES[what]} if what in _ROLES else ())
        moments += story.moments(changes, len(moments))
    named = {name: tuple(sorted(found)) for name, found in sorted(roles.items()) if found}
    return BufferLife(buffer.name, frozenset(sites), tuple(_merged(moments)), named)


def _changes(
    program: Program, buffer: Buffer, converted: frozenset[tuple[str, int, str, int]]
) -> tuple[frozenset[int], frozenset[int], frozenset[int], frozenset[int]] | None:
    """Nodes before and after which the pointer is set, and before and after which it is cleared."""
    if not converted:
        return None
    shape = value_refusal(program, buffer)
    lifted = {key for u in buffer.uses if u.place in converted for key in path(program, u)[0]}
    placed = place(program, replace(buffer, lifted=frozenset(lifted)), converted, getattr(shape, "null_tests", ()))
    acquires, releases = getattr(placed, "acquires", None), getattr(placed, "releases", None)
    if acquires is None or releases is None:
        return None
    first, second = (
        {w: frozenset(n for n, at in points if at == w) for w in ("before", "after")} for points in (acquires, releases)
    )
    return first["before"], first["after"], second["before"], second["after"]


class _Story:
    """What happens to one object, on a graph of nothing else."""

    def __init__(self, program: Program, buffer: Buffer, o: int, strict: bool, out: set[tuple[str, int]]) -> None:
        self.program = program
        self.buffer = buffer
        self.o = o
        self.judge = Judge(program, buffer, o, strict)
        self.out = out
        self.events: dict[int, list[tuple[str, str]]] = {}  # node -> (what, event of the sender's table)
        self.collect()
        self.nodes = sorted(self.events, key=lambda n: (program.graph.nodes[n].block, n))
        self.succs = self.flow()

    def flat(self) -> list[tuple[int, str]]:
        return [(n, what) for n in self.nodes for what, _ in self.events[n]]

    def collect(self) -> None:
        judge = self.judge
        closed = self.closed()
        for n, found in judge.accesses.items():
            if judge.initialises(n):
                continue
            kinds = {a.kind for a in found}
            if "R" in kinds:
                self.events.setdefault(n, []).append(("read", "Read"))
            if "W" in kinds:
                event = "ClosedWrite" if closed.get(n, False) else "OpenWrite"
                self.events.setdefault(n, []).append(("write", event))
        for n, uses in judge.use_nodes.items():
            for use in sorted(uses, key=lambda u: u.side == "recv"):
                fits = (f := judge.findings.get((n, use.argument))) is not None and f.ok
                event = "Send" if use.side == "send" else "ClosedWrite" if fits else "OpenWrite"
                self.events.setdefault(n, []).append((use.side, event))
        heap = self.program.values.objects.table[self.o].kind != "variable"
        for n in judge.births:
            self.events.setdefault(n, []).insert(0, ("alloc" if heap else "birth", "Allocate"))
        for n in judge.frees():
            self.events.setdefault(n, []).append(("free", "Deallocate"))
        # A packing loop of no turn packs nothing, and nothing is sent then: the table is told at the loop's entry.
        for q in {q for n, fits in closed.items() if fits for q in self.ahead(n, self.packing(n))}:
            if q not in self.judge.use_nodes:
                self.events.setdefault(q, []).append(("enter", "ClosedWrite"))
        lost = self.program.values.given_away.get(self.o)
        if lost is not None:
            self.events.setdefault(lost[0], []).append(("escape", "Escape"))

    def closed(self) -> dict[int, bool]:
        """For each write: whether no byte is live before it, or before the loops that pack with it.

        Where every message may pass ownership, that holds of all writes together.
        """
        judge, graph, nest = self.judge, self.program.graph, self.program.nest
        writes = [n for n, found in judge.accesses.items() if any(a.kind == "W" for a in found)]
        if judge.findings and judge.fine(judge.initial, judge.findings) and not judge.exceeded:
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

    def flow(self) -> list[tuple[int, ...]]:
        """For the entry (0), each node with events (1, 2, ...) and the exit (the last): what may come next.

        Where the program may end by returning from main, a call that ends it (an error) is no end of the buffer's life.
        """
        graph = self.program.graph
        ends = {b for b, out in enumerate(graph.succs) if not out}
        ends = {b for b in ends if not self.stops(b)} or ends
        number = {n: i for i, n in enumerate(self.nodes, 1)}
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        succs: list[set[int]] = [set() for _ in range(len(self.nodes) + 2)]
        end = len(self.nodes) + 1
        for n in self.nodes:
            block = graph.nodes[n].block
            if block in last:
                succs[number[last[block]]].add(number[n])
            first.setdefault(block, n)
            last[block] = n
        left = MOST_STEPS
        for source, start in [(0, (0,)), *((number[n], graph.succs[b]) for b, n in last.items())]:
            seen: set[int] = set()
            worklist = list(start)
            if not start and (source == 0 or graph.nodes[self.nodes[source - 1]].block in ends):
                succs[source].add(end)
            while worklist and left:
                b = worklist.pop()
                if b in seen:
                    continue
                seen.add(b)
                left -= 1
                if b in first:
                    succs[source].add(number[first[b]])
                elif graph.succs[b]:
                    worklist += graph.succs[b]
                elif b in ends:
                    succs[source].add(end)
        return [tuple(sorted(found)) for found in succs] if left else []

    def stops(self, block: int) -> bool:
        """The block ends with a call that does not return."""
        nodes = self.program.graph.blocks[block]
        return bool(nodes) and isinstance(self.program.graph.nodes[nodes[-1]].action, CallInstr)

    def moments(
        self, changes: tuple[frozenset[int], frozenset[int], frozenset[int], frozenset[int]] | None, base: int
    ) -> list[Moment]:
        """In the order of the nodes; ``then`` counts from ``base``.  Nothing when the flow is too large."""
        if not self.succs:
            return []
        sides = {use.side for use in self.judge.uses}
        tables = shipped_automata()
        sender = self.states(tables["sender-pattern"], self.sender_events()) if "send" in sides else {}
        receiver = self.states(tables["receiver-pattern"], self.receiver_events()) if "recv" in sides else {}
        holds = self.held(changes)
        found = []
        for i, n in enumerate(self.nodes, 1):
            span = node_span(self.program, n)
            what = self.events[n][-1][0] if self.events[n][0][0] != "alloc" else "alloc"
            then = tuple(base + s - 1 for s in self.succs[i] if 0 < s <= len(self.nodes))
            place_ = (span.file, span.line, _where(self.program, n))
            before, behind = sender.get(i, ("", False)), receiver.get(i, ("", False))
            fails = before[1] or behind[1]
            found.append(Moment(*place_, what, before[0], behind[0], holds.get(i, ""), then, fails))
        return found

    def sender_events(self) -> list[list[str]]:
        return [[event for _, event in self.events[n]] for n in self.nodes]

    def receiver_events(self) -> list[list[str]]:
        found = []
        for n in self.nodes:
            span = node_span(self.program, n)
            beyond = (span.file, span.line) in self.out
            kinds = {
                "read": "OutRead" if beyond else "InRead",
                "write": "InWrite",
                "send": "OutRead" if beyond else "InRead",
                "recv": "Recv",
                "alloc": "Allocate",
                "birth": "Allocate",
                "free": "Deallocate",
                "escape": "Escape",
            }
            found.append([kinds[what] for what, _ in self.events[n] if what in kinds])
        return found

    def states(self, table: Automaton, events: list[list[str]]) -> dict[int, tuple[str, bool]]:
        """The state just before each node, and whether it is there that the table first fails."""
        whole = self.program.values.objects.table[self.o]
        everywhere = whole.kind == "variable" and whole.frame < 0
        by_node: list[list[tuple[str, str]]] = [[("b", e) for e in found] for found in events]
        for found in by_node:  # a variable that is born again has ended before
            if found and found[0][1] == "Allocate":
                found.insert(0, ("b", "Deallocate"))
        start = [("b", "Allocate")] if everywhere else []
        end = [("b", "Deallocate")] if everywhere else []
        graph = ListGraph.of(self.succs, 0, [len(self.succs) - 1])
        steps = [start, *by_node, end]
        tracking = Tracking(table, ["b"], lambda node: steps[node])
        view = backward(graph)
        try:
            solution = solve(view, tracking, record=True)
        except Diverged:
            return {}
        failed = set(tracking.failures(view, solution, "b"))
        states = {i: solution.after[i][0] for i in range(1, len(self.nodes) + 1)}
        return {i: (state, i in failed) for i, state in states.items() if state != table.top}

    def held(
        self, changes: tuple[frozenset[int], frozenset[int], frozenset[int], frozenset[int]] | None
    ) -> dict[int, str]:
        """What the pointer holds behind each node, from the points where it is set and cleared."""
        if changes is None:
            return {}
        graph = self.program.graph
        set_before, set_after, cut_before, cut_after = changes
        names = {1: "None", 2: "Held", 3: "Maybe"}
        first: dict[int, int] = {0: 1}
        worklist = [0]
        out: dict[int, int] = {}
        wanted = set(self.nodes)
        while worklist:
            b = worklist.pop()
            state = first[b]
            for n in graph.blocks[b]:
                state = 1 if n in cut_before else state
                state = 2 if n in set_before else state
                state = 1 if n in cut_after else state
                state = 2 if n in set_after else state
                if n in wanted:
                    out[n] = out.get(n, 0) | state
            for t in graph.succs[b]:
                new = first.get(t, 0) | state
                if new != first.get(t):
                    first[t] = new
                    worklist.append(t)
        return {i: names[out[n]] for i, n in enumerate(self.nodes, 1) if n in out}


def _merged(moments: Sequence[Moment]) -> Iterable[Moment]:
    """One moment for each line and kind of happening, in the order of the flow; copies of a function are one."""
    places: dict[tuple[str, int, str], int] = {}
    shown = [m for m in moments if m.file and m.what not in _HIDDEN]
    for m in shown:
        places.setdefault((m.file, m.line, m.what), len(places))
    tables = shipped_automata()
    found: dict[int, Moment] = {}
    then: dict[int, set[int]] = {}
    for index, m in enumerate(moments):
        i = places.get((m.file, m.line, m.what))
        if i is None:
            continue
        old = found.get(i)
        found[i] = (
            m
            if old is None
            else replace(
                old,
                sender=_meet(tables["sender-pattern"], old.sender, m.sender),
                receiver=_meet(tables["receiver-pattern"], old.receiver, m.receiver),
                holds=m.holds if old.holds in ("", m.holds) else "Maybe",
                fails=old.fails or m.fails,
            )
        )
        then.setdefault(i, set()).update(_reached(moments, places, index))
    return [replace(found[i], then=tuple(sorted(then[i]))) for i in range(len(places))]


def _reached(moments: Sequence[Moment], places: Mapping[tuple[str, int, str], int], index: int) -> set[int]:
    """The shown moments that follow one, past those that are not shown."""
    found: set[int] = set()
    seen: set[int] = set()
    worklist = list(moments[index].then)
    while worklist:
        at = worklist.pop()
        if at in seen:
            continue
        seen.add(at)
        m = moments[at]
        i = places.get((m.file, m.line, m.what))
        if i is None:
            worklist += m.then
        else:
            found.add(i)
    return found


def _meet(table: Automaton, a: str, b: str) -> str:
    return table.meet(a, b) if a and b else a or b


def _where(program: Program, node: int) -> str:
    return _function(program, program.graph.frames[program.graph.nodes[node].frame].function)


def _function(program: Program, key: str) -> str:
    known = program.functions.get(key)
    return known.name if known is not None else key
