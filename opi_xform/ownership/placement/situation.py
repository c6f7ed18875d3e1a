"""One buffer's placement in the making: its events, the insertions so far, and what the state analysis says of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from opi_xform.codes import Reason
from opi_xform.graph.statements import Edge, Flow, Level
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.memory.poly import Poly
from opi_xform.ownership.allocation.freed_rows import tables_given
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.other_pointers import copied_from
from opi_xform.ownership.explain.pointers.returned import allocated_by_function
from opi_xform.ownership.explain.pointers.second_names import set_beside
from opi_xform.ownership.explain.pointers.settings import set_at
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Refusal
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.placement.anchors import Anchors
from opi_xform.ownership.placement.events import EventList
from opi_xform.ownership.placement.states import (
    ALLOC,
    COMPLETE,
    DEALLOC,
    HELD,
    IRECV,
    IREPLACE,
    MAYALLOC,
    NEEDS_BUFFER,
    NONE,
    OTHER,
    PENDING,
    RAW,
    RECV,
    REPLACE,
    SENDS,
    Edges,
    Event,
    Insertion,
    Places,
    View,
    solve,
)
from opi_xform.ownership.spelling.lifts import Lifts
from opi_xform.ownership.spelling.mentions import Definitions, Mentions, Texts
from opi_xform.ownership.spelling.paths import HOLE, Paths
from opi_xform.record import dataclass

RowText = Callable[[int, Poly | None, Level, bool], str | None]  # of a node's row at a statement; may it be a number?


@dataclass(frozen=True, slots=True)
class Tables:
    """What all buffers of one program share."""

    flow: Flow
    defs: Definitions
    texts: Texts


class Unplaceable(Exception):
    def __init__(self, reason: Reason, message: str, notes: tuple[tuple[Span, str], ...] = ()) -> None:
        super().__init__(message)
        self.refusal = Refusal(reason, message, notes)


@dataclass(slots=True)
class State:
    """The union over all views."""

    events: dict[Event, int]
    insertions: dict[Insertion, int]

    def problems(self) -> list[Event]:
        """Events that want a buffer where none may be held, in program order."""
        bad = [e for e, s in self.events.items() if e.kind in NEEDS_BUFFER and s & (NONE | RAW)]
        return sorted(bad, key=lambda e: e.node)

    def held_receives(self) -> set[Event]:
        return {e for e, s in self.events.items() if e.kind in (RECV, IRECV) and s & (HELD | PENDING)}


class Situation:
    """What is known of one buffer, and where calls are put in so far.  shown: nodes of which ``held`` is to tell.

    Placing acquires and placing frees (``place.py``, ``frees.py``) hold the same one.  What they choose is in
    ``events``, ``views``, ``insertions``, ``lifted`` and ``held_leaving``: ``place.py`` sets these, frees add to them.
    """

    def __init__(
        self,
        program: Program,
        buffer: Buffer,
        converted: frozenset[Place],
        null_tests: tuple[int, ...],
        shared: Tables,
        shown: Collection[int] = (),
    ) -> None:
        self.program = program
        self.buffer = buffer
        self.flow = shared.flow
        self.graph = program.graph
        given = tables_given(program, buffer.carrier)
        self.mentions = Mentions(program, shared.flow, shared.defs, buffer, shared.texts, given)
        self.anchors = Anchors(shared.flow)
        member = program.members.get(buffer.carrier.variable)
        self.paths = None if member is None else Paths(program, shared.flow, member, shared.texts)
        self.lifts = Lifts(program, shared.flow, buffer, shared.texts)
        self.shared = shared
        self.converted = converted
        self.null_tests = null_tests
        self.shown = shown
        self.insertions: list[Insertion] = []
        self.views: list[View] = []
        self.lifted = 0
        self.held_leaving: set[int] = set()  # nodes after which a block is left while something is held
        self.events: EventList
        self.initial = NONE

    def fail(self, message: str, node: int | None = None, reason: Reason = Reason.NO_ANCHOR) -> Unplaceable:
        notes: tuple[tuple[Span, str], ...] = ()
        if node is not None:
            for level in self.flow.levels(node):
                notes = ((self.flow.info(level).stmt.span, "here"),)
                break
        return Unplaceable(reason, message, notes)

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

    def solve(self, insertions: Iterable[Insertion] | None = None) -> State:
        chosen = self.insertions if insertions is None else list(insertions)
        state = State({}, {})
        for side in self.views:
            found = solve(self.flow, side, self.events.by_node, chosen, self.initial)
            for event, s in found.events.items():
                state.events[event] = state.events.get(event, 0) | s
            for insertion, s in found.insertions.items():
                state.insertions[insertion] = state.insertions.get(insertion, 0) | s
        return state

    def held(self) -> dict[int, int]:
        """What the carrier may hold after the nodes that are shown."""
        out: dict[int, int] = {}
        for side in self.views:
            solution = solve(self.flow, side, self.events.by_node, self.insertions, self.initial)
            for n in (n for n in self.shown if n in side.succs):
                out[n] = out.get(n, 0) | solution.behind(side, n)
        return out

    @staticmethod
    def worse(before: State, after: State) -> bool:
        """Some event that was sure of its buffer no longer is, a receive meets one that it did not, or a call that is
        put in meets other memory.
        """
        if set(after.problems()) - set(before.problems()):
            return True
        if any(bits & OTHER for bits in after.insertions.values()):
            return True
        if any(i.kind == "alloc" and bits & ~(NONE | RAW) for i, bits in after.insertions.items()):
            return True
        return bool(after.held_receives() - before.held_receives())

    # --- insertions ------------------------------------------------------------------------------------------------

    def insertion(self, event: Event, level: Level, where: str, kind: str) -> Insertion | None:
        """A call about the buffer of ``event`` at a statement; None when it cannot be written there."""
        if where in ("before", "after") and not self.anchors.usable(level, where):
            return None
        target = self.target(event, level, where)
        if target is None:
            return None
        function = self.graph.frames[level[0]].function
        rows: tuple[tuple[int, Poly], ...] = ()
        if event.row is not None:
            copies = self.copies(event, level)
            if copies is None:
                return None
            rows = tuple((frame, e.row) for frame, e in sorted(copies.items()) if e.row is not None)
        index = ""
        if self.paths is not None and self.buffer.carrier.rows:
            if HOLE not in target:
                found_text = self.paths.element(dict(rows), level, where, self.mentions)
                if found_text is None:
                    return None
                target, index = found_text
            else:
                index = self.alike(event, level, self.mentions.index) or ""
                target = target.replace(HOLE, index)
        return Insertion(function, level[1], where, kind, target, rows, index)

    def target(self, event: Event, level: Level, where: str) -> str | None:
        """The carrier as written at a statement."""
        lifted = self.lifts.by_function
        if not self.mentions.named_outside(event.node, level[0], lifted):
            return None
        if self.flow.lowered(level[0]).function.key in lifted:
            return self.lifts.text(level)
        if self.paths is None:
            return self.alike(event, level, self.mentions.target)
        if self.paths.member.twins:
            return ""  # as the row's own struct is named
        text = self.paths.text(level, where)
        if not self.buffer.carrier.rows:
            return text
        if text is None:
            return ""  # perhaps through a pointer to the row's struct
        index = self.alike(event, level, self.mentions.index)
        return "" if index is None else text

    def alike(self, event: Event, level: Level, text: RowText) -> str | None:
        """A text about the event's row that is the right one in every copy of the anchor's function.

        In a function that is called for one row here and for another there, no number is.
        """
        copies = self.copies(event, level)
        if copies is None:
            return None
        for number in (True, False):
            texts = {text(e.node, e.row, (frame, level[1]), number) for frame, e in copies.items()}
            if len(texts) == 1:
                return texts.pop()
        return None

    def copies(self, event: Event, level: Level) -> Mapping[int, Event] | None:
        """The event in each copy of the anchor's function; None when it is of several rows in one of them."""
        frames = self.flow.frames_of[self.graph.frames[level[0]].function]
        if event.row is None or (event.row.constant is not None and len(frames) == 1):
            return {level[0]: event}
        out: dict[int, Event] = {}
        place = self.source_place(event.node)
        for other in self.events.all:
            if other.row is None or self.source_place(other.node) != place:
                continue
            for frame in self.frames_around(other.node):
                inside = frame in frames and self.within(other.node, (frame, level[1]))
                if inside and out.setdefault(frame, other).row != other.row:
                    return None
        return out if level[0] in out and out[level[0]].row == event.row else None

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

    def declared_before(self) -> bool:
        """No jump leads past the declaration, and what it begins with, to anything that is done with the buffer."""
        nodes, frames = self.graph.nodes, self.graph.frames
        births = {
            n: nodes[n].frame for n in (e.node for e in self.events.all) if isinstance(nodes[n].action, ins.Birth)
        }

        def before(n: int) -> bool:
            frame, around = nodes[n].frame, set[int]()
            while frame >= 0:
                around.add(frame)
                frame = frames[frame].parent
            return any(f in around and self.program.dominates(b, n) for b, f in births.items())

        return all(e.node in births or before(e.node) for e in self.events.all)

    def has_site(self, level: Level, kinds: frozenset[str] = frozenset({*SENDS, RECV, IRECV})) -> bool:
        return any(e.kind in kinds and self.flow.inside(level, e.node) for e in self.events.all)

    def positions(
        self, freed: set[int]
    ) -> tuple[tuple[tuple[int, str], ...], tuple[tuple[int, str], ...], dict[tuple[int, str], tuple[Poly, ...]]]:
        """Where the carrier changes in the program graph: acquires and releases, and the rows that are meant."""
        rows: dict[tuple[int, str], list[Poly | None]] = {}
        swaps = self.buffer.swaps
        acquires: set[tuple[int, str]] = {(s.nodes[1], "after") for s in swaps}
        releases: set[tuple[int, str]] = set()
        replaced = {u.node for u in self.buffer.uses if u.op.replaces and u.place in self.converted}
        replaced.update(e.node for e in self.events.all if e.kind in (REPLACE, IREPLACE))
        for event in self.events.all:
            if event.node in replaced:  # another buffer comes in its place
                acquires.add((event.node, "after"))
                releases.add((event.node, "after"))
            elif event.kind in (RECV, IRECV, ALLOC, MAYALLOC, COMPLETE):
                acquires.add((event.node, "after"))
            elif event.kind in SENDS or (event.kind == DEALLOC and event.node in freed):
                releases.add((event.node, "after"))
            else:
                continue
            rows.setdefault((event.node, "after"), []).append(event.row)
        entering: dict[Level, Sequence[Edge]] = {}
        leaving: dict[Level, Sequence[Edge]] = {}
        for insertion in self.insertions:
            for frame in self.flow.frames_of[insertion.function]:
                level = (frame, insertion.stmt)
                entering[level], leaving[level] = self.flow.boundary(level, self.flow.succs, self.flow.preds)
        before = {n: self.flow.preds[n] for frame, _ in entering for n in self.flow.by_frame[frame]}
        edges = Edges(before, entering, leaving)
        for (u, v), found in Places(self.flow, edges, self.insertions).on.items():
            if u < len(self.graph.nodes) and len(self.flow.succs[u]) == 1:
                point = (u, "after")
            elif v < len(self.graph.nodes):
                point = (v, "before")
            else:
                point = (u, "after")
            points = [point]
            if point == (u, "after") and v < len(self.graph.nodes):
                points.append((v, "before"))  # what u sets has its value before the call that is put in
            for _, insertion, row in found:
                for at in points:
                    (releases if insertion.kind == "free" else acquires).add(at)
                    rows.setdefault(at, []).append(row)
        known = {p: tuple(r for r in found if r is not None) for p, found in rows.items() if None not in found}
        return tuple(sorted(acquires)), tuple(sorted(releases)), known


def not_plain(program: Program, flow: Flow, buffer: Buffer) -> Unplaceable:
    """Memory does not come to the carrier by a plain statement: what is in the way, and where."""
    carrier = buffer.carrier
    variable, named = program.variables[carrier.variable], program.values.objects.by_name.get(carrier.variable, ())
    made = dict.fromkeys(node_span(program, n) for n in carrier.allocations)
    what = f"the memory that is allocated at {lines_of(made)}{_elsewhere(program, buffer)}"
    message = f"{what} does not come to `{buffer.name}` by a plain statement that could be rewritten"
    notes = tuple((span, "allocated here") for span in made)
    here = {*map(line_of, made)}
    # Where it is set to something else than a constant, if that is in several lines.
    places = set_at(program, named) or tuple(s for s in set_at(program, named, True) if line_of(s) not in here)
    copied = copied_from(program, carrier.variable)
    if copied is not None:
        how = f"by a copy of `{copied[0]}` at {line_of(copied[1])}"
        message = f"{what} comes to `{buffer.name}` {how}; the call would have to name `{copied[0]}`"
        notes += ((copied[1], f"`{buffer.name}` is set here"),)
    elif places:
        where = f"`{buffer.name}`, which is set at {lines_of(places)},"
        message = f"{what} does not come to {where} by plain statements that could be rewritten"
        notes += tuple((span, f"`{buffer.name}` is set here") for span in places)
        message += _beside_others(variable, places)
    elif others := _set_to_others(program, buffer, named, here):
        puts = f"{lines_of(others)} put{'s' if len(others) == 1 else ''}"
        message = f"could not show that each of `{buffer.name}` is a block of its own: {puts} other memory there"
        notes = tuple((span, f"`{buffer.name}` is set here") for span in others)
    elif rows := _rows_set(program, buffer, named):
        makers = _makers(program, buffer)
        how = f"without `{makers[0]}`, which allocates it at {lines_of(made)}"
        message = f"could not show that {lines_of(rows)} could set `{buffer.name}` {how}"
        notes += tuple((span, "set here") for span in rows)
    second = set_beside(program, flow, buffer)
    by_function = allocated_by_function(program, flow, buffer) if copied is None and second is None else None
    if by_function is not None:
        message, notes = by_function
    if second is not None:
        message, notes = second[0], (*notes[: len(made)], *second[1])
    return Unplaceable(Reason.NO_ANCHOR, message, notes)


def _makers(program: Program, buffer: Buffer) -> list[str]:
    """The functions that allocate a buffer, by their names."""
    frames = (program.graph.frames[program.graph.nodes[n].frame] for n in buffer.carrier.allocations)
    return list(dict.fromkeys(program.functions[frame.function].name for frame in frames))


def _set_to_others(program: Program, buffer: Buffer, table: Collection[int], here: Collection[str]) -> tuple[Span, ...]:
    """Where pointers of a table are set to something else than what is allocated there, as other lines do (``here``).

    Those lines are harmless: without the others each block would be a row's own.  What a function allocates for its
    caller may be as harmless: nothing is told of them then.
    """
    nodes, names, frames = program.graph.nodes, names_of(program), program.graph.frames
    found: dict[Span, None] = {}
    functions = {frames[nodes[n].frame].function for n in buffer.carrier.allocations}
    for n in (a.node for o in table for a in names.writes(o)) if buffer.carrier.rows else ():
        action = nodes[n].action
        if isinstance(action, ins.Store) and action.type.is_pointer and not isinstance(action.value, ins.Const):
            found[names.span(n)] = None
            functions.add(frames[nodes[n].frame].function)
    if len(functions) > 1:
        return ()
    others = tuple(span for span in found if line_of(span) not in here)
    return others if len(others) < len(found) else ()


def _rows_set(program: Program, buffer: Buffer, table: Collection[int]) -> tuple[Span, ...]:
    """Where the pointers of a table are set to what one function allocates for its callers."""
    nodes, names = program.graph.nodes, names_of(program)
    if not buffer.carrier.rows or len(_makers(program, buffer)) != 1:
        return ()
    stores = ((a.node, nodes[a.node].action) for o in table for a in names.writes(o))
    sets = [
        n for n, a in stores if isinstance(a, ins.Store) and a.type.is_pointer and not isinstance(a.value, ins.Const)
    ]
    inner = {program.graph.frames[nodes[n].frame].function for n in buffer.carrier.allocations}
    if any(program.graph.frames[nodes[n].frame].function in inner for n in sets):
        return ()
    return tuple(dict.fromkeys(names.span(n) for n in sets))


def _elsewhere(program: Program, buffer: Buffer) -> str:
    """The function that allocates, in words, where it is another one than that of the carrier."""
    carrier = buffer.carrier
    makers = {program.graph.frames[program.graph.nodes[n].frame].function for n in carrier.allocations}
    if len(makers) > 1 or program.variables[carrier.variable].function in ("", *makers):
        return ""
    return f", in `{program.functions[makers.pop()].name}`,"


def _beside_others(variable: ast.Variable, places: Collection[Span]) -> str:
    """What is missing first, where a carrier is set by a declaration that has others: one of its own."""
    own = any(
        d.alone or (d.statement.file, d.statement.line) != (s.file, s.line)
        for d in variable.declarators
        for s in places
    )
    return "" if own or not variable.declarators else f"; `{variable.name}` would need a declaration of its own"
