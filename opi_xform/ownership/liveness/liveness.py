"""What liveness says of each use of one buffer object.

A send may give when nothing is live after it; a receive may take when nothing is live after it but what it brings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import combinations, product

from islpy import Set

from opi_xform.budget import CUT_OFF
from opi_xform.codes import Reason
from opi_xform.memory.poly import number
from opi_xform.ownership.liveness.buffer_events import PADDING, SIGNS, Assumed, BufferEvents
from opi_xform.ownership.liveness.failures import FAILURES
from opi_xform.ownership.liveness.findings import Finding, Judged
from opi_xform.ownership.liveness.holding import Holding
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Use
from opi_xform.record import dataclass
from opi_xform.regions.live import Live
from opi_xform.regions.sets import ROUGHLY, BudgetExceeded

LARGE = 20_000  # nodes of a program from which on buffers are many, and what most of them take is for nothing


@dataclass(frozen=True, slots=True)
class _Solved:
    """What one question to the region analysis brought: live regions (None: the integer sets took too long), and what
    was found out on the way (see ``BufferEvents`` and ``Judge``).
    """

    found: dict[int, Set] | None
    at_entry: Set
    signs: bool
    bounded: bool
    a2: frozenset[int]


Alike = tuple[object, ...]
"""What the liveness of an object depends on, beside the program."""


class Judge(BufferEvents):
    """Liveness of one object.  ``findings`` per (node, argument) of its uses.

    initial: contents from before the first write are read.  zeros: so are the zeros of calloc, which OPI_Calloc brings
    (at the allocation, and nowhere else).  exceeded: the integer sets took too long.
    signs: the signs of sizes that are multiplied matter, and are not known (assumption A3).  bounded: of some loops
    more is known where what they write is told by their ends, too.  asked: further nodes after which live regions are
    wanted.
    """

    asked: tuple[int, ...] = ()
    ahead_only = False  # only what can be reached from the uses is looked at: of first contents nothing is known then

    def __init__(
        self,
        program: Program,
        buffer: Buffer,
        o: int,
        strict: bool,
        packed: Collection[Place] = frozenset(),
        told_only: bool = False,
    ) -> None:
        super().__init__(program, buffer, o, strict, packed, told_only)
        self.holding = Holding(program, self.regions, self.indexed, self.uses)
        self.bounded = False
        self.behind: dict[int, bool] = {}  # by swap: whether the slot is live after it, as far as is proved
        self.findings: dict[tuple[int, int], Finding] = {}
        self.initial = self.zeros = self.unwritten = self.cleared = False
        self.exceeded = False
        self.solved: dict[object, _Solved] = {}  # by what was asked
        self.steps = 0  # that all of it took
        try:
            self.liveness()
        except BudgetExceeded:
            self.exceeded = True

    @staticmethod
    def alike(buffer: Buffer, o: int, strict: bool, packed: Collection[Place], told_only: bool = False) -> Alike:
        """Judges of one program for which this is the same find the same."""
        uses = tuple((u.node, u.argument, u.side, u.lo, u.length, u.row) for u in buffer.uses if u.object == o)
        rows = (buffer.carrier.rows, buffer.carrier.row_bytes)
        return (o, strict, frozenset(packed), uses, rows, buffer.swaps, buffer.replacing, told_only)

    def under_another_name(self, buffer: Buffer) -> Judge:
        """The same for a buffer that is ``alike``: what was asked of one is known of the other."""
        out = copy(self)
        out.buffer = buffer
        out.a2, out.findings, out.behind = set(self.a2), dict(self.findings), dict(self.behind)
        return out

    def liveness(self) -> None:
        """Findings on what is proved; where that is not enough, on as little as possible that is assumed.

        Each attempt stands by itself.  One that takes too long proves nothing, and says nothing of the others.
        """
        first = self.tried(frozenset())
        if first is None and self.told_only:
            raise BudgetExceeded
        if self.bounded and not (first and first.fine() and not first.zeros):
            self.told = True
            again = self.tried(frozenset())
            if again is None:
                self.told = False
            else:
                first = again
        last = first
        ways = [] if self.strict or (first and first.fine()) else self.ways()
        told = [False, True] if self.bounded and not self.told else [self.told]  # what took too long need not do so now
        for assumed, self.told in product(ways, told):
            found = self.tried(assumed)
            if found is None:
                continue
            last = found
            for key, finding in found.findings.items():
                if finding.ok and (first is None or self.helped(first, found) or not first.findings[key].ok):
                    found.findings[key] = replace(finding, assumptions=(*finding.assumptions, *sorted(assumed)))
            if found.fine():
                break
        if last is None:
            raise BudgetExceeded
        self.initial, self.zeros, self.findings = last.initial, last.zeros, last.findings
        self.unwritten, self.cleared = last.unwritten, last.cleared

    @staticmethod
    def helped(first: Judged, found: Judged) -> bool:
        """What is assumed changes what is known of the first contents."""
        return (first.initial, first.zeros) != (found.initial, found.zeros)

    def ways(self) -> list[Assumed]:
        """What may be assumed, the least first."""
        offered = [*([PADDING] if self.padded else []), *([SIGNS] if self.signs else [])]
        return [frozenset(c) for n in range(1, len(offered) + 1) for c in combinations(offered, n)]

    def tried(self, assumed: Assumed) -> Judged | None:
        """What is found on so much that is assumed; None: the integer sets took too long, however rough they are.

        In a large program exact sets are worth no more at first than rough ones are.  Where rough ones get to no end
        with that, exact ones would not with more of it, and are given up.
        """
        regions = self.regions
        if regions.rough:
            return self.attempted(assumed) or self.tried_ahead(assumed)
        if self.told_only:
            found = self.attempted(assumed)
            if found is None:
                regions.be_rough()
            return found
        large = len(self.program.graph.nodes) > LARGE
        regions.be_exact(ROUGHLY if large else 1)
        found = self.attempted(assumed)
        if found is None:
            regions.be_rough()
            rough = self.attempted(assumed) or self.tried_ahead(assumed)
            if rough is None or not large:
                return rough
            regions.be_exact()
            ahead_only, self.ahead_only = self.ahead_only, False
            self.solved = {key: one for key, one in self.solved.items() if one.found is not None}
            found = self.attempted(assumed)
            if found is None:
                regions.be_rough()
                self.ahead_only = ahead_only
                return self.attempted(assumed)
        regions.be_exact()
        return found

    def attempted(self, assumed: Assumed) -> Judged | None:
        """What is found, where the integer sets do not take too long."""
        try:
            with self.regions.budget():
                return self.judged(assumed)
        except BudgetExceeded:
            self.regions.context.reset_operations()
            return None

    def tried_ahead(self, assumed: Assumed) -> Judged | None:
        """The same, with what no message of the buffer's start leads to left aside: other messages are not judged."""
        if self.ahead_only or self.indexed is not None or self.swaps or self.told_only or not self.leaves_aside():
            return None
        self.ahead_only = True
        found = self.attempted(assumed)
        said = found.findings.values() if found is not None and not found.initial else ()
        self.ahead_only = any(f.ok or f.reason is not Reason.BUDGET for f in said)
        return found if self.ahead_only else None

    # --- verdicts ------------------------------------------------------------------------------------------------

    def live(
        self,
        converted: Collection[Place] | None,
        only: Collection[int] | None = None,
        assumed: Assumed = frozenset(),
        renewed: frozenset[int] = frozenset(),
    ) -> tuple[dict[int, Set], Set]:
        """Live regions after the sites and births, and at the program's start; ``only``: as if nothing else read.

        renewed: with ``converted``, the nodes before which the buffer gets new memory.
        """
        places = None if converted is None else frozenset(converted).intersection(u.place for u in self.uses)
        replacing = None if places is None else places & self.replacing
        nodes = None if only is None else frozenset(only)
        key = (
            places,
            replacing,
            nodes,
            assumed,
            self.told,
            self.regions.rough,
            renewed,
            self.ahead_only,
            self.real_sources,
        )
        known = self.solved.get(key)
        if known is None:
            known = self.solved[key] = self.solve(places, nodes, assumed, renewed)
        self.assumed = assumed
        self.signs, self.bounded = self.signs or known.signs, self.bounded or known.bounded
        self.a2 |= known.a2
        if known.found is None:
            raise BudgetExceeded
        return known.found, known.at_entry

    def solve(
        self,
        converted: Collection[Place] | None,
        only: Collection[int] | None,
        assumed: Assumed,
        renewed: frozenset[int] = frozenset(),
    ) -> _Solved:
        """What ``live`` tells, looked for."""
        telescopes = self.telescopes(assumed) if converted is None else []
        info = self.values.objects.table[self.o]
        found, at_entry = None, self.regions.none
        try:
            with self.regions.budget():
                events = self.events(converted, only, assumed, renewed)
            ahead = self.ahead() if self.ahead_only else None
            if ahead is not None:
                events = {n: e for n, e in events.items() if self.program.graph.nodes[n].block in ahead}
            live = Live(
                self.program.graph,
                self.program.nest,
                self.values,
                self.regions,
                telescopes,
                events,
                self.queries(),
                self.indexed,
                entry=info.kind == "variable" and info.frame < 0,  # else it is born on the way
                only=self.bytes(),
            )
            try:
                found = live.solve()
            finally:
                self.steps += live.steps + (CUT_OFF if found is None else 0)
            at_entry = live.at_entry
            if ahead is not None:
                at_entry = self.regions.all
                asked = (*self.births, *self.use_nodes)
                found |= {n: at_entry for n in asked if self.program.graph.nodes[n].block not in ahead}
        except BudgetExceeded:
            pass
        self.regions.context.reset_operations()  # what follows has a budget of its own
        signs = self.signs or any(telescope.signs for telescope, _ in telescopes)
        bounded = any(telescope.bounded for telescope, _ in telescopes)
        return _Solved(found, at_entry, signs, bounded, frozenset(self.a2))

    def queries(self) -> Sequence[int]:
        """The nodes after which live regions are wanted."""
        return (*self.use_nodes, *self.births, *self.swaps, *self.asked)

    def bytes(self) -> Set | None:
        """The bytes that matter, where these are not all."""
        return None

    def leaves_aside(self) -> bool:
        """Something is read or written to which no message of the buffer's start leads."""
        nodes, ahead = self.program.graph.nodes, self.ahead()
        happening = (*self.accesses, *self.use_nodes)
        return any(nodes[n].block not in ahead for n in happening)

    def ahead(self) -> set[int]:
        """The blocks that can be reached from messages that begin where the buffer does, and from what else is asked
        about: no other one matters there.
        """
        nodes, succs = self.program.graph.nodes, self.program.graph.succs
        seen = {nodes[n].block for n in (*(u.node for u in self.uses if u.lo == number(0)), *self.asked)}
        work = sorted(seen)
        while work:
            fresh = [b for b in succs[work.pop()] if b not in seen]
            seen.update(fresh)
            work.extend(fresh)
        return seen

    def judged(self, assumed: Assumed) -> Judged:
        found, at_entry = self.live(None, assumed=assumed)
        findings: dict[tuple[int, int], Finding] = {}
        received = any(u.side == "recv" for u in self.uses)
        if not assumed:
            self.behind = {n: n not in found or not found[n].is_empty() for n in self.swaps}
        for u in self.uses:
            live = found.get(u.node)
            if live is None:
                findings[(u.node, u.argument)] = Finding(False, Reason.NOT_ANALYSED)
                continue
            if self.ahead_only and u.lo != number(0):
                findings[(u.node, u.argument)] = Finding(False, Reason.BUDGET)
                continue
            live = self.here(u, live)
            assumptions: tuple[str, ...] = ()
            if self.strict:
                pass  # no receive is taken to bring anything
            elif self.swaps:  # what is known of the other buffer
                assumptions = ("A1", "A2")
            elif received and not (u.side == "send" and live.is_empty() and not self.mixed()):
                assumptions = ("A1", "A2") if self.a2 else ("A1",)
            assumptions += (FAILURES,) if assumptions and self.failures.handled else ()
            receives = u.side == "recv" or u.op.replaces  # what a replace brings is live after its send, too
            if receives and (self.failures.looked_at(u) or (self.strict and self.failures.handled)):
                findings[(u.node, u.argument)] = Finding(False, Reason.NULL_SOURCE)
                continue
            replacing = False
            if receives:
                rest = self.not_brought(u, live)
                reason = Reason.READ_LATER
                if not rest.is_empty() and not self.strict:
                    region = self.message(u)
                    if region is not None and live.subtract(region).is_empty():
                        reason = Reason.NULL_SOURCE
                        replacing = self.may_replace(u)
                live = self.regions.none if replacing else rest
            else:
                reason = Reason.READ_LATER
            if live.is_empty():
                findings[(u.node, u.argument)] = Finding(True, assumptions=assumptions, replacing=replacing)
            else:
                findings[(u.node, u.argument)] = Finding(False, reason)
        zeros = any(n in found and not found[n].is_empty() for n in self.zeroed)
        initial, unwritten = self.reads_initial(found, at_entry), self.reads_unwritten(found)
        kept = any(f.replacing for f in findings.values())
        begins = kept and initial and self.begins_with_zeros()
        return Judged(initial and not begins, zeros, unwritten, kept and (unwritten or begins), findings)

    def may_replace(self, u: Use) -> bool:
        """Whether a receive can keep what is there from MPI_PROC_NULL: two ways, as if it stood after a test.

        From a real rank it brings all that is read; from MPI_PROC_NULL, which ends no life here, nothing happens.
        """
        null = self.program.constants.get("MPI_PROC_NULL")
        known = bool(u.op.opi_recv_replace) and null is not None and self.source(u) is not None
        return known and not self.swaps and not self.program.alone

    def begins_with_zeros(self) -> bool:
        """The object is there from the start of the program, full of zeros, and every function of it is known."""
        info = self.values.objects.table[self.o]
        if info.kind != "variable" or info.variable is None or info.frame >= 0 or self.births:
            return False
        return self.program.complete and self.program.variables[info.variable].init is None

    def reads_initial(self, found: Mapping[int, Set], at_entry: Set) -> bool:
        """First contents: whether bytes are live at the start of a life that defines them (zeros, an initialiser).

        Those of calloc are not asked for: OPI_Calloc stands in its place, and then the bytes are there.
        """
        info = self.values.objects.table[self.o]
        if info.kind == "variable" and info.frame < 0 and not at_entry.is_empty():
            return True
        given = (n for n, defined in self.births.items() if defined and n not in self.zeroed)
        return any(n in found and not found[n].is_empty() for n in given)

    def reads_unwritten(self, found: Mapping[int, Set]) -> bool:
        """Whether bytes are live at the start of a life that defines none of them."""
        blank = (n for n, defined in self.births.items() if not defined)
        return any(n in found and not found[n].is_empty() for n in blank)

    def needed(self, u: Use, found: Mapping[int, Set]) -> bool:
        """Whether bytes that a use does not bring are live after it."""
        live = self.here(u, found.get(u.node, self.regions.none))
        return not (self.not_brought(u, live) if u.side == "recv" or u.op.replaces else live).is_empty()

    def not_brought(self, u: Use, live: Set) -> Set:
        """What is live after a receive that it does not bring."""
        brought = self.brought(u)
        return live if brought is None else self.under(u.node, live.subtract(brought))

    def all_but_null(self, u: Use) -> bool:
        """It is only that receives may be from MPI_PROC_NULL that something is needed after one: to tell of it."""
        peer = u.buffer.peer
        if u.side != "recv" or self.strict or peer is None or not self.null.possible(u.node, peer):
            return False
        self.real_sources = True
        try:
            found, _ = self.live(None, None, frozenset({PADDING, SIGNS}))
            with self.regions.budget():
                return not self.needed(u, found)
        except BudgetExceeded:
            return False
        finally:
            self.real_sources = False

    def mixed(self) -> bool:
        return any(u.side == "recv" for u in self.uses) and any(u.side == "send" for u in self.uses)

    def here(self, u: Use, live: Set) -> Set:
        """Restricted to parameters with which the use is executed."""
        if self.indexed is not None and u.row is not None:
            live = live.intersect(self.indexed.at(self.regions, u.node, u.row))
        return self.under(u.node, live)

    def under(self, n: int, live: Set) -> Set:
        """Restricted to parameters with which a node is executed."""
        return self.holding.under(n, live)

    def beyond(
        self, converted: Collection[Place], renewed: frozenset[int] = frozenset()
    ) -> dict[tuple[int, int], Finding]:
        """Capacity: receives after which bytes beyond the region taken may be touched before the next hand-over.

        renewed: nodes before which there is new memory, too.
        """
        taken = [u for u in self.uses if u.side == "recv" and u.place in converted]
        try:
            with self.regions.budget():
                return self.touched_beyond(taken, converted, renewed)
        except BudgetExceeded:
            return {(u.node, u.argument): Finding(False, Reason.CAPACITY) for u in taken}

    def touched_beyond(
        self, taken: list[Use], converted: Collection[Place], renewed: frozenset[int]
    ) -> dict[tuple[int, int], Finding]:
        waiting = []
        for u in taken:
            size = self.size()
            if size is not None and u.lo is not None and u.length is not None:
                covered = self.region(u.node, u.lo, u.length, True)
                if covered is not None and self.here(u, self.bound.subtract(covered)).is_empty():
                    continue
            waiting.append(u)
        out = self.touched(waiting, converted, frozenset(), renewed)
        resting = {key for key, found in self.findings.items() if SIGNS in found.assumptions}
        if resting.isdisjoint(out):
            return out
        again = self.touched(waiting, converted, frozenset([SIGNS]), renewed)
        return {key: found for key, found in out.items() if key not in resting or key in again}

    def touched(
        self, waiting: list[Use], converted: Collection[Place], assumed: Assumed, renewed: frozenset[int]
    ) -> dict[tuple[int, int], Finding]:
        """The receives after which bytes beyond what they bring may be touched, on so much that is assumed."""
        out: dict[tuple[int, int], Finding] = {}
        if not waiting:
            return out
        found, _ = self.live(converted, assumed=assumed, renewed=renewed)
        for u in waiting:
            region = self.message(u)
            touched = self.here(u, found.get(u.node, self.regions.none))
            if region is not None:
                touched = touched.subtract(region)
            if not touched.is_empty():
                out[(u.node, u.argument)] = Finding(False, Reason.CAPACITY)
        return out
