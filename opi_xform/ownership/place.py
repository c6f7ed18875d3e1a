"""Where OPI_Alloc and OPI_Free go: the placement analysis of Friedley et al., section 4.3, over the whole program.

Events that want the buffer are taken in program order; each gets an acquire at the best place that the state analysis
(``states``) shows to be right in every copy of the function it stands in.  The result is checked once more as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.ast import Variable
from opi_xform.ir.span import Span
from opi_xform.memory.poly import Poly
from opi_xform.ownership.allocations import Allocation, find_allocations
from opi_xform.ownership.anchors import Anchors
from opi_xform.ownership.edits import Builder, Written
from opi_xform.ownership.events import EventList, collect_events
from opi_xform.ownership.flow import Flow, Level
from opi_xform.ownership.guards import cases
from opi_xform.ownership.mentions import Definitions, Mentions, Texts, definitions
from opi_xform.ownership.model import Buffer, Program, Refusal
from opi_xform.ownership.plan import Edit
from opi_xform.ownership.rows import views
from opi_xform.ownership.states import (
    ALLOC,
    BIRTH,
    DEALLOC,
    HELD,
    IRECV,
    NEEDS_BUFFER,
    NONE,
    PENDING,
    RAW,
    RAWBIRTH,
    RECV,
    SEND,
    TOUCH,
    Event,
    Insertion,
    Places,
    View,
    needed,
    solve,
    view,
)

_ROUNDS = 400
_LIFE = frozenset({SEND, RECV, IRECV, BIRTH, RAWBIRTH, DEALLOC, ALLOC})
Site = tuple[str, int, str, int]


@dataclass(frozen=True, slots=True)
class Placement:
    """What the conversion of one buffer takes.

    points: (node, ``before`` or ``after``) where a call that is put in or replaced changes the carrier.  files: those
    that must include opi.h.  acquires, releases: the same points by what happens there.
    """

    edits: tuple[Edit, ...]
    points: tuple[tuple[int, str], ...]
    files: tuple[str, ...]
    acquires: tuple[tuple[int, str], ...]
    releases: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """What all buffers of one program share."""

    flow: Flow
    defs: Definitions
    texts: Texts


def tables(program: Program, read: Callable[[str], bytes] | None = None) -> Tables:
    return Tables(Flow(program.graph), definitions(program), Texts(read))


def place(
    program: Program,
    buffer: Buffer,
    converted: frozenset[Site],
    null_tests: tuple[int, ...] = (),
    shared: Tables | None = None,
) -> Placement | Refusal:
    """What converts the uses in ``converted`` (``Use.place``), or why that cannot be written."""
    found = _Placing(program, buffer, converted, null_tests, shared or tables(program))
    try:
        return found.run()
    except _Unplaceable as reason:
        return reason.refusal


class _Unplaceable(Exception):
    def __init__(self, code: str, message: str, notes: tuple[tuple[Span, str], ...] = ()) -> None:
        super().__init__(message)
        self.refusal = Refusal(code, message, notes)


@dataclass(slots=True)
class _State:
    """The union over all views."""

    events: dict[Event, int]
    insertions: dict[Insertion, int]

    def problems(self) -> list[Event]:
        """Events that want a buffer where none may be held, in program order."""
        bad = [e for e, s in self.events.items() if e.kind in NEEDS_BUFFER and s & (NONE | RAW)]
        return sorted(bad, key=lambda e: e.node)

    def held_receives(self) -> set[Event]:
        return {e for e, s in self.events.items() if e.kind in (RECV, IRECV) and s & (HELD | PENDING)}


class _Placing:
    def __init__(
        self, program: Program, buffer: Buffer, converted: frozenset[Site], null_tests: tuple[int, ...], shared: Tables
    ) -> None:
        self.program = program
        self.buffer = buffer
        self.flow = shared.flow
        self.graph = program.graph
        self.mentions = Mentions(program, shared.flow, shared.defs, buffer, shared.texts)
        self.anchors = Anchors(shared.flow)
        self.shared = shared
        self.converted = converted
        self.null_tests = null_tests
        self.insertions: list[Insertion] = []
        self.views: list[View] = []
        self.lifted = 0
        self.held_leaving: set[int] = set()  # nodes behind which a block is left while something is held
        self.events: EventList
        self.initial = NONE

    def fail(self, message: str, node: int | None = None, code: str = "14") -> _Unplaceable:
        notes: tuple[tuple[Span, str], ...] = ()
        if node is not None:
            for level in self.flow.levels(node):
                notes = ((self.flow.info(level).stmt.span, "here"),)
                break
        return _Unplaceable(code, message, notes)

    # --- the steps -------------------------------------------------------------------------------------------------

    def run(self) -> Placement:
        carrier = self.buffer.carrier
        allocations = find_allocations(self.program, self.flow, self.buffer)
        if allocations is None:
            raise self.fail("the memory is not allocated by a plain statement that could be rewritten")
        in_place = carrier.kind == "pointer" and self.tested(allocations)
        found = collect_events(
            self.program, self.flow, self.buffer, self.mentions, self.converted, allocations, in_place
        )
        if isinstance(found, str):
            raise self.fail(found)
        self.events = found
        variable = self.program.variables[carrier.variable]
        if variable.kind in ("local", "param"):
            self.initial = RAW
        self.arrange(variable)
        state = self.solve()
        self.check(state, variable)
        builder = Builder(self.program, self.flow, self.buffer, self.mentions, self.shared.texts, self.shared.defs)
        freed = {e.node for e, s in state.events.items() if e.kind == DEALLOC and s & (HELD | PENDING)}
        raw = any(s & RAW for s in state.insertions.values()) or any(
            s & RAW for e, s in state.events.items() if e.kind == DEALLOC and e.node in freed
        )
        written: Written | str = builder.build(
            self.converted, self.insertions, allocations, in_place, self.events, freed, raw, self.held_leaving
        )
        if isinstance(written, str):
            raise self.fail(written)
        acquires, releases = self.positions(freed)
        points = tuple(sorted({*acquires, *releases}))
        return Placement(written.edits, points, written.files, acquires, releases)

    def arrange(self, variable: Variable) -> None:
        """Chooses the insertions; where paths disagree, once more with the paths left out that cannot be."""
        levels = self.levels()
        found: list[tuple[tuple[int, int, int], list[View], list[Insertion], set[int]]] = []
        failure: _Unplaceable | None = None
        none: list[dict[int, bool]] = [{}]
        for chosen in (none, cases(self.program, self.flow, self.events.all)):
            sides = views(self.program, self.flow, self.events.all, levels, chosen)
            if sides is None:
                raise self.fail("the rows of the array are addressed in a way that is not followed")
            self.views, self.insertions, self.lifted = sides, [], 0
            self.held_leaving = set()
            try:
                self.insert(variable)
            except _Unplaceable as reason:
                failure = failure or reason
                continue
            guards = sum(i.kind == "guard" for i in self.insertions)
            found.append(
                ((guards, self.lifted, len(self.insertions)), self.views, self.insertions, self.held_leaving)
            )
            if not guards and not self.lifted:
                break
        if not found:
            assert failure is not None
            raise failure
        _, self.views, self.insertions, self.held_leaving = min(found, key=lambda one: one[0])

    def insert(self, variable: Variable) -> None:
        if not self.events.pending_kept:
            self.free_after_last_use()
        self.acquire()
        if variable.kind == "local":
            self.free_at_scope_end(variable)
        self.free_before_receives()

    def levels(self) -> list[Level]:
        """The statements at which a call may be inserted, in every copy of their functions."""
        found: dict[tuple[str, int], None] = {}
        for event in self.events.all:
            for frame, stmt in self.flow.chain(event.node):
                found[self.graph.frames[frame].function, stmt] = None
        variable = self.program.variables[self.buffer.carrier.variable]
        if variable.kind == "local" and variable.function in self.flow.frames_of:
            for i, info in enumerate(self.graph.lowered[variable.function].stmts):
                if isinstance(info.stmt, ast.Return):
                    found[variable.function, i] = None
            block = self.anchors.declaring_block(variable.function, variable.key)
            if block is not None:
                found[variable.function, block] = None
        return [(frame, stmt) for function, stmt in found for frame in self.flow.frames_of[function]]

    def tested(self, allocations: Sequence[Allocation]) -> bool:
        """The program looks at what malloc returned, other than to give up where it has no more memory to return."""
        wrappers = {f for a in allocations for f in a.wrappers}
        return any(self.graph.nodes[n].frame not in wrappers for n in self.null_tests)

    def solve(self, insertions: Iterable[Insertion] | None = None) -> _State:
        chosen = self.insertions if insertions is None else list(insertions)
        state = _State({}, {})
        for side in self.views:
            found = solve(self.flow, side, self.events.by_node, chosen, self.initial)
            for event, s in found.events.items():
                state.events[event] = state.events.get(event, 0) | s
            for insertion, s in found.insertions.items():
                state.insertions[insertion] = state.insertions.get(insertion, 0) | s
        return state

    # --- insertions ------------------------------------------------------------------------------------------------

    def insertion(self, event: Event, level: Level, where: str, kind: str) -> Insertion | None:
        """A call about the buffer of ``event`` at a statement; None when it cannot be written there."""
        if where in ("before", "after") and not self.anchors.usable(level, where):
            return None
        target = self.mentions.target(event.node, event.row, level)
        if target is None:
            return None
        function = self.graph.frames[level[0]].function
        rows: tuple[tuple[int, Poly], ...] = ()
        if event.row is not None:
            found = self.rows_at(event, level)
            if found is None:
                return None
            rows = found
        return Insertion(function, level[1], where, kind, target, rows)

    def rows_at(self, event: Event, level: Level) -> tuple[tuple[int, Poly], ...] | None:
        """The row that the text of ``event`` means in each copy of the anchor's function; None when it is not clear."""
        assert event.row is not None
        function = self.graph.frames[level[0]].function
        frames = self.flow.frames_of[function]
        if event.row.constant is not None and len(frames) == 1:
            return ((level[0], event.row),)
        out: dict[int, Poly] = {}
        place = self.source_place(event.node)
        for other in self.events.all:
            if other.row is None or self.source_place(other.node) != place:
                continue
            for frame in self.frames_around(other.node):
                inside = frame in frames and self.within(other.node, (frame, level[1]))
                if inside and out.setdefault(frame, other.row) != other.row:
                    return None
        return tuple(sorted(out.items())) if out.get(level[0]) == event.row else None

    def source_place(self, n: int) -> tuple[str, int, str]:
        node = self.graph.nodes[n]
        function = self.graph.frames[node.frame].function
        span = getattr(node.action, "span", None)
        return function, self.flow.stmt[n], f"{span.begin}" if span is not None else type(node.action).__name__

    def frames_around(self, n: int) -> Iterable[int]:
        frame = self.graph.nodes[n].frame
        while frame >= 0:
            yield frame
            frame = self.graph.frames[frame].parent

    def within(self, n: int, level: Level) -> bool:
        return self.flow.inside(level, n)

    def has_site(self, level: Level, kinds: frozenset[str] = frozenset({SEND, RECV, IRECV})) -> bool:
        return any(e.kind in kinds and self.flow.inside(level, e.node) for e in self.events.all)

    # --- frees after the last use ------------------------------------------------------------------------------------

    def free_after_last_use(self) -> None:
        state = self.solve()
        needs = [needed(self.flow, v, self.events.by_node, self.insertions) for v in self.views]
        judged: dict[Insertion, int] = {}
        for event in self.events.all:
            if event.kind != TOUCH:
                continue
            chosen = self.last_use(event, state, needs, judged)
            if chosen is not None and chosen not in self.insertions:
                self.insertions.append(chosen)
                state = self.solve()
                needs = [needed(self.flow, v, self.events.by_node, self.insertions) for v in self.views]
                judged.clear()

    def last_use(
        self, event: Event, before: _State, needs: list[Mapping[int, bool]], judged: dict[Insertion, int]
    ) -> Insertion | None:
        """OPI_Free behind the outermost statement around a touch after which the buffer is dead.

        ``judged``: what is held where the candidates seen so far would free it; 0 for those that cannot be.
        """
        fallback: Insertion | None = None
        for level in self.anchors.controls(event.node):
            if self.has_site(level, _LIFE):
                continue
            candidate = self.insertion(event, level, "after", "free")
            if candidate is None:
                continue
            if candidate in self.insertions:
                return None
            held = judged.get(candidate)
            if held is None:
                held = judged[candidate] = self.held_at(candidate, before, needs)
            if not held & HELD:
                continue
            if not held & (NONE | RAW):
                return candidate
            if fallback is None and not isinstance(self.flow.info(level).stmt, (ast.If, ast.Switch)):
                fallback = candidate
        return fallback

    def held_at(self, candidate: Insertion, before: _State, needs: list[Mapping[int, bool]]) -> int:
        if not self.dead_after(candidate, needs):
            return 0
        after = self.solve([*self.insertions, candidate])
        return 0 if self.worse(before, after) else after.insertions.get(candidate, 0)

    def dead_after(self, candidate: Insertion, needs: list[Mapping[int, bool]]) -> bool:
        for side, need in zip(self.views, needs, strict=True):
            for (_, v), found in Places(self.flow, side, [candidate]).on.items():
                if need[v] and any(side.concerns(row) for _, _, row in found):
                    return False
        return True

    @staticmethod
    def worse(before: _State, after: _State) -> bool:
        """Some event that was sure of its buffer no longer is, or a receive meets one that it did not."""
        if set(after.problems()) - set(before.problems()):
            return True
        if any(i.kind == "alloc" and bits & ~(NONE | RAW) for i, bits in after.insertions.items()):
            return True
        return bool(after.held_receives() - before.held_receives())

    # --- acquires --------------------------------------------------------------------------------------------------

    def acquire(self) -> None:
        for _ in range(_ROUNDS):
            state = self.solve()
            problems = state.problems()
            if not problems:
                return
            event = problems[0]
            if not (self.alloc(event, state) or self.lift(event, state) or self.guard(event, state)):
                raise self.fail("there is no place where the buffer could be allocated before this", event.node)
        raise self.fail("the calls that allocate the buffer cannot be placed")

    def alloc(self, event: Event, state: _State) -> bool:
        """OPI_Alloc where nothing is held, before the statement (or the loop around it) that wants the buffer."""
        for level in self.anchors.befores(event.node, self.has_site):
            candidate = self.insertion(event, level, "before", "alloc")
            if candidate is not None and candidate not in self.insertions and self.accept(event, state, candidate):
                self.insertions.append(candidate)
                return True
        return False

    def accept(self, event: Event, state: _State, candidate: Insertion, instead: Sequence[Insertion] = ()) -> bool:
        trial = self.solve([*(i for i in self.insertions if i not in instead), candidate])
        return event not in trial.problems() and not self.worse(state, trial)

    def lift(self, event: Event, state: _State) -> bool:
        """An OPI_Alloc that stands in one branch only moves in front of what holds both."""
        for old in reversed(self.insertions):
            if old.kind != "alloc" or old.where != "before":
                continue
            source = next((e for e in self.events.all if self.covered(e, old)), None)
            if source is None:
                continue
            for level in self.anchors.above(source.node, old.function, old.stmt):
                candidate = self.insertion(source, level, "before", "alloc")
                if candidate is None or candidate in self.insertions:
                    continue
                inside = [i for i in self.insertions if i.kind == "alloc" and self.holds(candidate, i)]
                if self.accept(event, state, candidate, inside):
                    self.lifted += 1
                    self.insertions = [i for i in self.insertions if i not in inside]
                    self.insertions.append(candidate)
                    return True
        return False

    def holds(self, outer: Insertion, inner: Insertion) -> bool:
        """The anchor of one insertion is the other's, or lies inside it."""
        if outer.function == inner.function:
            return outer.stmt <= inner.stmt < self.flow.end(outer.function, outer.stmt)
        levels = [(frame, outer.stmt) for frame in self.flow.frames_of[outer.function]]
        starts = [self.graph.frames[frame].call for frame in self.flow.frames_of[inner.function]]
        return all(n >= 0 and any(self.flow.inside(level, n) for level in levels) for n in starts)

    def covered(self, event: Event, insertion: Insertion) -> bool:
        return event.kind in NEEDS_BUFFER and any(
            self.within(event.node, (frame, insertion.stmt)) for frame in self.flow.frames_of[insertion.function]
        )

    def guard(self, event: Event, state: _State) -> bool:
        """OPI_Alloc where the pointer is NULL: where paths disagree and no one place serves them all."""
        for level in self.anchors.befores(event.node, self.has_site):
            candidate = self.insertion(event, level, "before", "guard")
            if candidate is None or candidate in self.insertions:
                continue
            trial = self.solve([*self.insertions, candidate])
            if event not in trial.problems() and not self.worse(state, trial):
                self.insertions.append(candidate)
                return True
        return False

    # --- releases --------------------------------------------------------------------------------------------------

    def free_before_receives(self) -> None:
        """OPI_Free (of NULL it does nothing) before each receive that may meet a buffer."""
        done: set[Event] = set()
        for _ in range(_ROUNDS):
            state = self.solve()
            held = sorted(state.held_receives() - done, key=lambda e: e.node)
            if not held:
                return
            done.add(held[0])
            self.free_before(held[0], state)
        raise self.fail("the calls that free the buffer cannot be placed")

    def free_before(self, event: Event, state: _State) -> None:
        for level in self.flow.levels(event.node):
            candidate = self.insertion(event, self.anchors.outermost_init(level), "before", "free")
            if candidate is None:
                continue
            if candidate in self.insertions and not state.events[event] & HELD:
                return  # put there for another copy; what is left is an OPI_Itake under way
            trial = self.solve([*self.insertions, candidate])
            if not trial.events.get(event, 0) & HELD and not set(trial.problems()) - set(state.problems()):
                self.insertions.append(candidate)
                return
        raise self.fail("there is no place to free what the buffer still holds before this call", event.node)

    def free_at_scope_end(self, variable: Variable) -> None:
        """A local carrier leaves nothing behind on any way out of the block that declares it."""
        function = variable.function
        if function not in self.flow.frames_of:
            return
        block = self.anchors.declaring_block(function, variable.key)
        if block is None:
            raise self.fail("the buffer's declaration is not understood")
        frame = self.flow.frames_of[function][0]
        end = Insertion(function, block, "leave", "free", self.buffer.name)
        bits, needs = self.ways_out(function, block)
        for stmt, (held, need) in sorted(bits.items()):
            if not held & (HELD | PENDING):
                continue
            if need:
                raise self.fail("the buffer is used after its pointer has gone")
            level = (frame, stmt)
            if self.anchors.return_touches(level, [e.node for e in self.events.all if e.kind in NEEDS_BUFFER]):
                self.insertions.append(Insertion(function, stmt, "return", "free", self.buffer.name))
            elif self.anchors.usable(level, "before"):
                self.insertions.append(Insertion(function, stmt, "before", "free", self.buffer.name))
            else:
                raise self.fail("nothing can be inserted before a return")
        if needs & (HELD | PENDING):
            self.insertions.append(end)

    def ways_out(self, function: str, block: int) -> tuple[dict[int, tuple[int, bool]], int]:
        """State and need at each return in a block, and the state on all its other ways out."""
        returns: dict[int, tuple[int, bool]] = {}
        other = 0
        for side in self.views:
            solution = solve(self.flow, side, self.events.by_node, self.insertions, self.initial)
            need = needed(self.flow, side, self.events.by_node, self.insertions)
            for frame in self.flow.frames_of[function]:
                level = (frame, block)
                for n in self.flow.by_frame[frame]:
                    if not isinstance(self.graph.nodes[n].action, ins.ReturnInstr) or not self.flow.inside(level, n):
                        continue
                    stmt = self.flow.stmt[n]
                    bits, wanted = returns.get(stmt, (0, False))
                    later = any(need[t] for t in side.succs[n])
                    returns[stmt] = (bits | solution.after[n], wanted or later)
                for u, v in side.leaving.get(level, ()):
                    state = solution.at_end((u, v))
                    other |= state
                    if not state & (HELD | PENDING):
                        continue
                    if need[v]:
                        raise self.fail("the buffer is used after its pointer has gone")
                    if u < len(self.graph.nodes):
                        self.held_leaving.add(u)
        return returns, other

    def leftover(self, function: str, block: int) -> bool:
        returns, other = self.ways_out(function, block)
        return bool(other & (HELD | PENDING)) or any(s & (HELD | PENDING) for s, _ in returns.values())

    # --- the check of the whole ------------------------------------------------------------------------------------

    def check(self, state: _State, variable: Variable) -> None:
        """What was placed, once more: raises _Unplaceable when something is not right after all."""
        for event in state.problems():
            raise self.fail("the buffer may not be there at this access", event.node, "15")
        for event in state.held_receives():
            if state.events[event] & HELD:
                raise self.fail("the buffer may still be held at this receive", event.node, "15")
        for insertion, bits in state.insertions.items():
            if insertion.kind == "alloc" and bits & ~(NONE | RAW):
                raise self.fail("the buffer may be allocated twice", None, "15")
            if bits & RAW and self.buffer.carrier.kind == "array":
                raise self.fail("the buffer's declaration is jumped over", None, "15")
        if self.buffer.carrier.kind == "array" and any(s & RAW for s in state.events.values() if s & RAW):
            for event, bits in state.events.items():
                if bits & RAW and event.kind != BIRTH:
                    raise self.fail("the buffer's declaration is jumped over", event.node, "15")
        if variable.kind == "local" and variable.function in self.flow.frames_of:
            block = self.anchors.declaring_block(variable.function, variable.key)
            assert block is not None
            if self.leftover(variable.function, block):
                raise self.fail("the buffer may be held where its pointer goes out of scope", None, "15")

    def positions(self, freed: set[int]) -> tuple[tuple[tuple[int, str], ...], tuple[tuple[int, str], ...]]:
        """Where the carrier changes in the program graph: acquires and releases."""
        acquires: set[tuple[int, str]] = set()
        releases: set[tuple[int, str]] = set()
        for event in self.events.all:
            if event.kind in (RECV, IRECV, "alloc", "complete"):
                acquires.add((event.node, "after"))
            elif event.kind == SEND or (event.kind == DEALLOC and event.node in freed):
                releases.add((event.node, "after"))
        whole = view(self.flow, self.flow.succs, self.events.all, self.levels())
        for (u, v), found in Places(self.flow, whole, self.insertions).on.items():
            if u < len(self.graph.nodes) and len(self.flow.succs[u]) == 1:
                point = (u, "after")
            elif v < len(self.graph.nodes):
                point = (v, "before")
            else:
                point = (u, "after")
            for _, insertion, _ in found:
                (releases if insertion.kind == "free" else acquires).add(point)
        return tuple(sorted(acquires)), tuple(sorted(releases))
