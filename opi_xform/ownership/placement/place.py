"""Where OPI_Alloc and OPI_Free go: the placement analysis of Friedley et al., section 4.3, over the whole program.

Events that want the buffer are taken in program order; each gets an acquire at the best place that the state analysis
(``states``) shows to be right in every copy of the function it stands in.  The result is checked once more as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

from opi_xform.codes import Reason
from opi_xform.graph.statements import Edge, Flow, Level
from opi_xform.ir.ast import Variable
from opi_xform.memory.poly import Poly
from opi_xform.once import once
from opi_xform.ownership.allocation.allocations import Allocation, find_allocations, moves
from opi_xform.ownership.allocation.deallocations import deallocation
from opi_xform.ownership.allocation.lazy_tests import tests_of_allocations
from opi_xform.ownership.allocation.null_tests import GOES_ON, can_be_told, uncertain_test
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.hints import ending
from opi_xform.ownership.explain.part_reasons import not_there
from opi_xform.ownership.explain.pointers.row_uses import Untold, rows_untold
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Refusal
from opi_xform.ownership.model.endings import Past
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.plan import Edit
from opi_xform.ownership.placement.allocation_edits import AllocationEdits
from opi_xform.ownership.placement.edits import Builder, Written
from opi_xform.ownership.placement.events import collect_events
from opi_xform.ownership.placement.frees import ROUNDS, Releases
from opi_xform.ownership.placement.guards import Ends, cases, ends_besides, there
from opi_xform.ownership.placement.renewal import Renewal
from opi_xform.ownership.placement.row_graph import computed_row, views
from opi_xform.ownership.placement.situation import Situation, State, Tables, Unplaceable, not_plain
from opi_xform.ownership.placement.states import (
    BIRTH,
    COMPLETE,
    DEALLOC,
    HELD,
    IRECV,
    IREPLACE,
    LEAVE,
    NEEDS_BUFFER,
    NONE,
    OTHER,
    PENDING,
    RAW,
    RECV,
    REPLACE,
    SENDS,
    Event,
    Insertion,
    View,
    nothing_at,
)
from opi_xform.ownership.spelling.mentions import Texts, definitions
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Placement:
    """What the conversion of one buffer takes.

    points: (node, ``before`` or ``after``) where a call that is put in or replaced changes the carrier.  files: those
    that must include opi.h.  acquires, releases: the same points by what happens there.  test: a comparison with NULL
    that might find something else than before, which makes all sites stay.  guarded: memory is asked for where none is
    there yet, on some ways only.  ahead: before a loop with a site, so that there is none of these.  holds: the states
    of the carrier behind nodes that were asked for.
    """

    edits: tuple[Edit, ...]
    points: tuple[tuple[int, str], ...]
    files: tuple[str, ...]
    acquires: tuple[tuple[int, str], ...]
    releases: tuple[tuple[int, str], ...]
    rows: Mapping[tuple[int, str], tuple[Poly, ...]]
    test: Refusal | None = None
    guarded: bool = False
    ahead: bool = False
    holds: Mapping[int, int] = field(default_factory=dict)


_OF_THE_BUFFER = frozenset({*SENDS, RECV, IRECV, REPLACE, IREPLACE, DEALLOC})  # what gives it, takes it or frees it


@once
def tables(program: Program) -> Tables:
    """What all buffers of a program share."""
    return Tables(Flow(program.graph, program.threads), definitions(program), Texts())


def place(
    program: Program,
    buffer: Buffer,
    converted: frozenset[Place],
    null_tests: tuple[int, ...] = (),
    shared: Tables | None = None,
    ahead: bool = False,
    renewed: Sequence[Renewal] = (),
    shown: Collection[int] = (),
    telling: bool = True,
) -> Placement | Refusal:
    """What converts the uses in ``converted`` (``Use.place``), or why that cannot be written.

    ahead: memory may be allocated before a loop with a site, for all of its turns.  renewed: where the buffer gets new
    memory, so that there is room.  shown: nodes of which ``Placement.holds`` is to tell.  telling: OPI_Malloc may
    stand for malloc.
    """
    failure: Unplaceable | None = None
    common = shared or tables(program)
    for cut in (False, True):  # with the ways on which the program gives up, or without
        if cut and not ends_besides(program, common.defs.addressed, buffer.carrier.allocations).ways:
            break
        for eager in (False, True):
            now = Situation(program, buffer, converted, null_tests, common, shown)
            found = _Placing(now, Releases(now, renewed), ahead, telling, cut)
            try:
                return found.run(eager)
            except Unplaceable as reason:
                failure = failure or reason.with_traceback(None)  # its frames would keep the program
            if found.in_place or buffer.carrier.kind != "pointer":
                break
    assert failure is not None
    return failure.refusal


class _Placing:
    """One use: ``run``.  now: what is chosen so far, by this and by the frees; may_be_ahead, telling: see ``place``.
    cut: without the ways on which the program gives up (``ends_besides``)."""

    def __init__(
        self, now: Situation, releases: Releases, may_be_ahead: bool, telling: bool, cut: bool = False
    ) -> None:
        self.now = now
        self.telling = telling
        self.releases = releases
        self.may_be_ahead = may_be_ahead
        self.in_place = False  # memory is allocated where the program does it
        self.cut = cut
        self.ends = Ends({}, frozenset())
        self.program, self.buffer, self.flow, self.graph = now.program, now.buffer, now.flow, now.graph

    # --- the steps -------------------------------------------------------------------------------------------------

    def run(self, eager: bool) -> Placement:
        """``eager``: memory is allocated where the program does it, also where nothing asks for that."""
        carrier = self.buffer.carrier
        for n in carrier.allocations:
            if moves(self.program, n):
                raise self.now.fail("the memory comes from realloc, which copies and frees what was there", n)
        allocations = find_allocations(self.program, self.flow, self.now.shared.defs, self.buffer)
        if allocations is None:
            raise not_plain(self.program, self.flow, self.buffer)
        addressed = self.now.shared.defs.addressed
        lazy = tests_of_allocations(self.program, self.flow, self.buffer, allocations, addressed)
        inside = any(a.inside or a.local for a in allocations)
        in_place = carrier.kind == "pointer" and (
            eager or inside or self.buffer.zeros or self.buffer.cleared or self.tested(allocations, lazy)
        )
        self.in_place = in_place
        found = collect_events(
            self.program, self.flow, self.buffer, self.now.mentions, self.now.converted, allocations, in_place, lazy
        )
        if isinstance(found, Refusal):
            raise Unplaceable(found.reason, found.message, found.notes)
        if isinstance(found, str):
            raise Unplaceable(Reason.NO_ANCHOR, found)
        self.now.events = found
        variable = self.program.variables[carrier.variable]
        member = self.program.members.get(carrier.variable)
        if variable.kind in ("local", "param") or (member is not None and member.raw):
            self.now.initial = RAW
        self.arrange(variable, lazy.values())
        state = self.now.solve()
        self.check(state, variable)
        defs, texts = self.now.shared.defs, self.now.shared.texts
        freed = {e.node for e, s in state.events.items() if e.kind == DEALLOC and s & (HELD | PENDING)}
        # a member of a struct that the program itself frees has been set
        kept = ("alloc",) if member is not None else ()
        unset = [i for i, s in state.insertions.items() if s & RAW and i.kind not in kept]
        raw = bool(unset) or any(
            s & RAW for e, s in state.events.items() if member is None and e.kind == DEALLOC and e.node in freed
        )
        # What frees all rows of an array also frees those that no row of a view stands for: nobody has set them.
        all_rows = carrier.rows > 0 and any(i.kind == "free" and not i.rows for i in self.now.insertions)
        if all_rows and variable.kind == "local" and not self.now.declared_before():
            raise self.now.fail("the buffer's declaration is jumped over", None, Reason.UNPAIRED)
        raw = raw or all_rows
        unset_rows = raw and carrier.kind != "array" and member is not None and not member.named  # it fails, or this
        if unset_rows and (computed := computed_row(self.program, found.all)):
            raise Unplaceable(*rows_untold(self.program, self.buffer, [computed]))
        acquires, releases, rows = self.now.positions(freed)
        points = tuple(sorted({*acquires, *releases}))
        known = found.known_tests | self.own_tests(allocations, points if in_place else None)
        there = in_place and not carrier.rows and not self.buffer.swaps
        unmoved = self.unmoved(allocations, points) if there else frozenset[int]()
        tests = self.now.null_tests
        uncertain = uncertain_test(self.program, self.buffer, tests, known, addressed, unmoved)
        otherwise = self.buffer.zeros or self.buffer.cleared
        otherwise = otherwise or any(a.kept or not can_be_told(a.call) for a in allocations)
        told = False  # OPI_Malloc tells of no memory as malloc does
        if uncertain is not None and self.telling and not otherwise:
            stores = frozenset(m for a in allocations for m in a.stores)
            sites = {e.node for e in self.now.events.all if e.kind in SENDS}
            past = Past(frozenset({*sites, *(n for n, _ in acquires)}) - stores, frozenset(carrier.allocations))
            told = not uncertain_test(self.program, self.buffer, tests, known, addressed, unmoved, past=past)
            uncertain = None if told else uncertain
        made = AllocationEdits(self.program, self.flow, self.buffer, self.now.mentions, texts, defs, told)
        builder = Builder(made)
        written: Written | str = builder.build(
            self.now.converted,
            self.now.insertions,
            allocations,
            in_place,
            self.now.events,
            freed,
            raw,
            unset,
            self.now.held_leaving,
        )
        if isinstance(written, str):
            raise self.now.fail(written)
        if self.buffer.swaps and uncertain is None:
            # What a later one finds is told by the pointers, as they were before they changed places.
            plain = (found.known_tests | found.fresh_tests) - set(lazy)
            plain |= self.unswapped(allocations, points) if in_place else frozenset()
            first = next((n for n in self.now.null_tests if n not in plain), None)
            uncertain = None if first is None else (first, "where it need not have been allocated")
        test = None
        if uncertain is not None:
            n, why = uncertain
            test = self.now.fail(f"`{self.buffer.name}` is compared with NULL {why}", n, Reason.OLD_ADDRESS).refusal
            if why == GOES_ON and not self.buffer.swaps:  # else a test of any kind keeps the site
                hint = ending(self.program, self.buffer, self.now.null_tests, known, addressed, unmoved)
                test = replace(test, hint=hint)
        guarded = any(i.kind == "guard" for i in self.now.insertions)
        files, ahead = written.files, self.may_be_ahead
        placed = Placement(written.edits, points, files, acquires, releases, rows, test, guarded, ahead)
        return replace(placed, holds=self.now.held()) if self.now.shown else placed

    def arrange(self, variable: Variable, lazy: Collection[Level]) -> None:
        """Chooses the insertions; where paths disagree, once more with the paths left out that cannot be."""
        levels = self.now.levels()
        found: list[tuple[tuple[int, int, int], list[View], list[Insertion], set[int]]] = []
        failure: Unplaceable | None = None
        present = there(self.program, self.program.members.get(self.buffer.carrier.variable))
        if self.cut:
            addressed, made = self.now.shared.defs.addressed, self.buffer.carrier.allocations
            self.ends = ends_besides(self.program, addressed, made, self.now.events.all)
            present = self.ends.ways | present
        for again in (False, True):
            chosen: list[dict[int, bool]] = [{}]
            if again:
                chosen = cases(self.program, self.flow, self.now.events.all)
            chosen = [{**case, **present} for case in chosen]
            events = [*self.now.events.all, *map(nothing_at, self.now.shown)]
            sides = views(self.program, self.flow, events, levels, chosen)
            if untold := [one for one in sides if isinstance(one, Untold)]:
                raise Unplaceable(*rows_untold(self.program, self.buffer, untold))
            self.now.views, self.now.insertions, self.now.lifted = [v for v in sides if isinstance(v, View)], [], 0
            self.now.held_leaving = set()
            try:
                self.insert(variable)
                self.releases.free_what_would_be_lost(lazy)
            except Unplaceable as reason:
                failure = failure or reason.with_traceback(None)
                continue
            guards = sum(i.kind == "guard" for i in self.now.insertions)
            found.append(
                (
                    (guards, self.now.lifted, len(self.now.insertions)),
                    self.now.views,
                    self.now.insertions,
                    self.now.held_leaving,
                )
            )
            if not guards and not self.now.lifted:
                break
        if not found:
            assert failure is not None
            raise failure
        _, self.now.views, self.now.insertions, self.now.held_leaving = min(found, key=lambda one: one[0])

    def insert(self, variable: Variable) -> None:
        renewing = self.releases.renew()
        if not self.now.events.pending_kept:
            self.releases.free_after_last_use()
        self.acquire()
        if variable.kind == "local":
            self.releases.free_at_scope_end(variable)
        self.releases.free_before_receives()
        self.now.insertions = self.releases.doing_something(renewing)

    def tested(self, allocations: Sequence[Allocation], lazy: Collection[int]) -> bool:
        """The program looks at what malloc returned, other than to give up when there is no memory, or to free it."""
        wrappers = {f for a in allocations for f in a.wrappers}
        for n, argument in index_of(self.program).frees:
            wrappers.update(deallocation(self.program, n, argument).wrappers)
        return any(self.graph.nodes[n].frame not in wrappers and n not in lazy for n in self.now.null_tests)

    def own_tests(
        self, allocations: Sequence[Allocation], points: Collection[tuple[int, str]] | None
    ) -> frozenset[int]:
        """Nodes at which the program tests what a call that stays has returned, before any hand-over.

        points: where the buffer changes hands; None: OPI_Alloc does not stand after the calls.
        """
        frames = {f for a in allocations for f in a.kept}
        inside = {n for frame in frames for n in self.flow.by_frame[frame]}
        if points is None or self.buffer.carrier.rows or not all(a.kept for a in allocations):
            return frozenset(inside)
        stores = {m for a in allocations for m in a.stores}
        fresh = {n for n in self.now.null_tests if any(self.program.dominates(m, n) for m in stores)}
        return frozenset(inside | (fresh & self.unmoved(allocations, points)))

    def unswapped(self, allocations: Sequence[Allocation], points: Collection[tuple[int, str]]) -> frozenset[int]:
        """Tests of what the program has allocated, before the pointer changes places or the buffer changes hands."""
        stores = {m for a in allocations for m in a.stores}
        fresh = {n for n in self.now.null_tests if any(self.program.dominates(m, n) for m in stores)}
        swapped = ((n, "before") for swap in self.buffer.swaps for n in (swap.start, *swap.nodes))
        return frozenset(fresh & self.unmoved(allocations, (*points, *swapped)))

    def unmoved(self, allocations: Sequence[Allocation], points: Collection[tuple[int, str]]) -> frozenset[int]:
        """Tests that find the pointer as the program set it: nothing was put in on any way to them since then."""
        stores = {m for a in allocations for m in a.stores}
        put_in = self.behind_put_in("alloc", "guard", "free")  # right after a store, too
        work = [*(n for n, _ in points if n not in stores), *put_in]
        later = {*(n for n, when in points if when == "before"), *put_in}
        while work:
            for s in self.flow.succs[work.pop()]:
                if s not in later and s not in stores and s < len(self.graph.nodes):
                    later.add(s)
                    work.append(s)
        return frozenset(set(self.now.null_tests) - later)

    def behind_put_in(self, *kinds: str) -> list[int]:
        """The nodes that come right behind calls of these kinds (``Insertion``) that are put in."""
        return [n for _, n in self.put_in(*kinds) if n < len(self.graph.nodes)]

    def put_in(self, *kinds: str) -> Iterator[Edge]:
        """Where calls of these kinds are put in, or of any."""
        for insertion in (i for i in self.now.insertions if not kinds or i.kind in kinds):
            for frame in self.flow.frames_of[insertion.function]:
                level = (frame, insertion.stmt)
                entering, leaving = self.flow.boundary(level, self.flow.succs, self.flow.preds)
                yield from entering if insertion.where == "before" else leaving

    # --- acquires --------------------------------------------------------------------------------------------------

    def acquire(self) -> None:
        for _ in range(ROUNDS):
            state = self.now.solve()
            problems = state.problems()
            if not problems:
                return
            event = problems[0]
            if not any(put_in(event, state) for put_in in (self.alloc, self.lift, self.ahead, self.guard)):
                raise self.now.fail(not_there(self.program, self.buffer, event.node), event.node)
        raise self.now.fail("the calls that allocate the buffer cannot be placed")

    def alloc(self, event: Event, state: State) -> bool:
        """OPI_Alloc where nothing is held, before the statement (or the loop around it) that wants the buffer."""
        return self.first(event, state, self.now.anchors.befores(event.node, self.now.has_site))

    def ahead(self, event: Event, state: State) -> bool:
        """Before a loop around it with a site: what is received there is the next turn's memory."""
        return self.may_be_ahead and self.first(event, state, self.now.anchors.loops(event.node, self.now.has_site))

    def first(self, event: Event, state: State, levels: Sequence[Level]) -> bool:
        for level in levels:
            candidate = self.now.insertion(event, level, "before", "alloc")
            if candidate is not None and candidate not in self.now.insertions and self.accept(event, state, candidate):
                self.now.insertions.append(candidate)
                return True
        return False

    def accept(self, event: Event, state: State, candidate: Insertion, instead: Sequence[Insertion] = ()) -> bool:
        trial = self.now.solve([*(i for i in self.now.insertions if i not in instead), candidate])
        return event not in trial.problems() and not self.now.worse(state, trial)

    def lift(self, event: Event, state: State) -> bool:
        """An OPI_Alloc that stands in one branch only moves in front of what holds both."""
        for old in reversed(self.now.insertions):
            if old.kind != "alloc" or old.where != "before":
                continue
            source = next((e for e in self.now.events.all if self.covered(e, old)), None)
            if source is None:
                continue
            for level in self.now.anchors.above(source.node, old.function, old.stmt):
                candidate = self.now.insertion(source, level, "before", "alloc")
                if candidate is None or candidate in self.now.insertions:
                    continue
                inside = [i for i in self.now.insertions if i.kind == "alloc" and self.holds(candidate, i)]
                if self.accept(event, state, candidate, inside):
                    self.now.lifted += 1
                    self.now.insertions = [i for i in self.now.insertions if i not in inside]
                    self.now.insertions.append(candidate)
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
            self.now.within(event.node, (frame, insertion.stmt)) for frame in self.flow.frames_of[insertion.function]
        )

    def guard(self, event: Event, state: State) -> bool:
        """OPI_Alloc where the pointer is NULL: where paths disagree and no one place serves them all."""
        for level in self.now.anchors.befores(event.node, self.now.has_site):
            candidate = self.now.insertion(event, level, "before", "guard")
            if candidate is None or candidate in self.now.insertions:
                continue
            trial = self.now.solve([*self.now.insertions, candidate])
            if event not in trial.problems() and not self.now.worse(state, trial):
                self.now.insertions.append(candidate)
                return True
        return False

    def at(self, n: int) -> str:
        """The line of a node, for what is told."""
        return line_of(node_span(self.program, n))

    # --- the check of the whole ------------------------------------------------------------------------------------

    def check(self, state: State, variable: Variable) -> None:
        """What was placed, once more: raises Unplaceable when something is not right after all."""
        if any(self.ends.meets(self.graph, u, v) for u, v in self.put_in()):
            raise self.now.fail("a call would be put in where the program ends")
        for event in state.problems():
            raise self.now.fail(
                f"`{self.buffer.name}` may not have its memory at {self.at(event.node)}", event.node, Reason.UNPAIRED
            )
        for event in state.held_receives():
            if state.events[event] & HELD:
                raise self.now.fail(
                    f"`{self.buffer.name}` may still be held at {self.at(event.node)}", event.node, Reason.UNPAIRED
                )
        for event, bits in state.events.items():
            if bits & (PENDING if event.kind == LEAVE else OTHER if event.kind in _OF_THE_BUFFER else 0):
                raise self.now.fail(
                    f"`{self.buffer.name}` may point to other memory at {self.at(event.node)}", event.node
                )
        for insertion in (i for i, bits in state.insertions.items() if bits & OTHER):
            other = next((e.node for e in self.now.events.all if e.kind == LEAVE), None)
            where = "" if other is None else f", which {self.at(other)} sets to other memory,"
            does, name = "freed" if insertion.kind == "free" else "allocated", self.buffer.name
            raise self.now.fail(f"`{name}`{where} may not be this buffer's where it would be {does}", other)
        swapped = {n for swap in self.buffer.swaps for n in (swap.start, swap.nodes[1])}
        for event, bits in state.events.items():
            if event.node in swapped and bits & (PENDING | RAW):
                raise self.now.fail(
                    "the pointer may not be set where it changes places with another", event.node, Reason.UNPAIRED
                )
        for insertion, bits in state.insertions.items():
            if insertion.kind == "alloc" and bits & ~(NONE | RAW):
                raise self.now.fail("the buffer may be allocated twice", None, Reason.UNPAIRED)
            if bits & RAW and self.buffer.carrier.kind == "array":
                raise self.now.fail("the buffer's declaration is jumped over", None, Reason.UNPAIRED)
        if self.buffer.carrier.kind == "array" and any(s & RAW for s in state.events.values() if s & RAW):
            for event, bits in state.events.items():
                if bits & RAW and event.kind not in (BIRTH, COMPLETE):
                    raise self.now.fail("the buffer's declaration is jumped over", event.node, Reason.UNPAIRED)
        if variable.kind == "local" and variable.function in self.flow.frames_of:
            block = self.now.anchors.declaring_block(variable.function, variable.key)
            assert block is not None
            if self.releases.leftover(variable, block):
                raise left_over(self.program, self.buffer, variable)


def left_over(program: Program, buffer: Buffer, variable: Variable) -> Unplaceable:
    """A buffer may be held where its local pointer goes out of scope: it would be lost there."""
    name, args, base = variable.name, program.values.args, program.values.symbols.base
    freed = {base(args[n][i]) for n, i in index_of(program).frees if i < len(args.get(n, ()))}
    message = f"`{name}` may be held where it goes out of scope in `{program.functions[variable.function].name}`"
    if freed.isdisjoint((*buffer.objects, None)):
        message += f", and nothing frees it; it needs a `free({name})` where it is not read any more"
    return Unplaceable(Reason.UNPAIRED, message, ((variable.span, "declared here"),))
