"""How long the request of an operation stays pending.

A request is a slot in memory.  The slot is live, in the sense of the region analysis, from the call that fills it up to
the calls that are sure to complete it: what is reached while it is live is reached while the operation may be pending.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import gcd
from typing import TypeVar

from islpy import Set

from opi_xform.effects.model import MpiOp
from opi_xform.ir.comparisons import NEGATED
from opi_xform.memory.poly import Poly
from opi_xform.memory.values import Comparison
from opi_xform.ownership.model.buffers import Use
from opi_xform.ownership.model.names import Names
from opi_xform.ownership.requests.completions import Edge, completed_by_index, completing_edges
from opi_xform.ownership.requests.in_sequence import last_waits
from opi_xform.ownership.requests.numbered import Numbered
from opi_xform.ownership.requests.slots import Slots, apart, joints_of, lost_slots, slots_of, within
from opi_xform.record import dataclass
from opi_xform.regions.live import Live, Transfer
from opi_xform.regions.sets import BudgetExceeded, Regions
from opi_xform.regions.telescope import Telescope
from opi_xform.values.joined import Joints

_S = TypeVar("_S", Slots, "Slots | None")

Waits = Collection[tuple[int, int]]
"""Operations, by the nodes that begin them, and nodes before which they are supposed to be waited for (their own:
right after them).
"""
NO_WAITS: Waits = frozenset()
_MOST_GIVEN = 16
_MOST_ASKED = 12  # nodes told apart; beyond, all that can be reached count as reached while pending


def pending_at(names: Names, use: Use, nodes: Iterable[int]) -> set[int]:
    """Which of ``nodes`` can be reached while the request of a nonblocking use may still be pending."""
    return request_pending_at(names, use.node, use.op, nodes)


def request_pending_at(names: Names, post: int, op: MpiOp, nodes: Iterable[int], waits: Waits = NO_WAITS) -> set[int]:
    """The same for any operation that the call at node ``post`` begins."""
    return {a.node for a in pending(names, post, op, [Asked(n) for n in sorted(set(nodes))], waits)}


@dataclass(frozen=True, slots=True)
class Asked:
    """Whether requests are pending at a node.  ahead: before it is executed.  slots: which requests (None: all).

    turns: a loop around the post, of which a later turn in the same run is about another buffer at this node.
    """

    node: int
    ahead: bool = False
    slots: Slots | None = None
    turns: int | None = None


def pending(names: Names, post: int, op: MpiOp, asked: Iterable[Asked], waits: Waits = NO_WAITS) -> list[Asked]:
    """Those of ``asked`` at which the request that the call at node ``post`` makes may be pending.

    waits: those that are supposed, for advice.
    """
    done = {at for waited, at in waits if waited == post}
    asked = [a for a in asked if a.node not in done and post not in done and names.follows(post, a.node)]
    slot = slots_of(names, post, op.request)
    if slot is None or not asked:
        return asked
    if not _some(names, post, slot, asked, done):
        return []
    if len(asked) == 1 or len(asked) > _MOST_ASKED:
        return asked
    return [a for a in asked if _some(names, post, slot, [a], done)]


def some_pending_at(names: Names, use: Use, nodes: Iterable[int]) -> bool:
    """Whether one of ``nodes`` can be reached while the request of a nonblocking use may still be pending."""
    asked = [Asked(n) for n in sorted(set(nodes)) if names.follows(use.node, n)]
    slot = slots_of(names, use.node, use.op.request)
    return bool(asked) and (slot is None or _some(names, use.node, slot, asked))


def _some(names: Names, post: int, slot: Slots, asked: Sequence[Asked], done: Collection[int] = ()) -> bool:
    """Whether one of ``asked`` can be reached, found out once: each name of a block of memory asks the same."""
    if done:
        return _Query(names, post, slot, asked, done).pending(asked)
    key = (post, slot, *asked)
    found = names.reached.get(key)
    if found is None:
        found = names.reached[key] = _Query(names, post, slot, asked).pending(asked)
    return found


class _Query:
    """One slot's life after one posting call."""

    def __init__(
        self, names: Names, post: int, slot: Slots, asked: Iterable[Asked], done: Collection[int] = ()
    ) -> None:
        self.names = names
        self.graph = names.graph
        self.values = names.program.values
        self.post = post
        self.slot = slot
        self.kills: dict[int, Slots] = {}
        self.lost: Mapping[int, Slots | None] = {}  # the slot is overwritten (None: somewhere in the object)
        self.edges: Mapping[Edge, tuple[Slots, ...]] = {}  # where control flow tells of a completion
        self.collect()
        self.kills.update(dict.fromkeys(done, slot))
        self.by_number = Numbered(names, post, slot, self.lost)
        known = [s for s in (*self.lost.values(), *(a.slots for a in asked)) if s is not None]
        told = [s for slots in self.edges.values() for s in slots]
        unit = 0
        for s in (slot, *self.kills.values(), *known, *told):
            for p in (s.lo, s.length):
                for _, c in p.terms:
                    unit = gcd(unit, c)
        self.regions = Regions(self.values.symbols, max(unit, 1))
        self.joints = None if self.values.symbols.scope(slot.lo) else joints_of(names)
        writes: dict[int, list[tuple[Poly, Poly]]] = {}
        for n, s in self.near(self.kills).items():
            writes.setdefault(self.graph.nodes[n].block, []).append((s.lo, s.length))
        self.telescope = Telescope(self.graph, names.program.nest, self.values, writes, frozenset())

    def near(self, found: Mapping[int, _S]) -> dict[int, _S]:
        """Those of the nodes that may be about this slot: each byte has a life of its own, so the others are nothing to
        it.
        """
        return {n: s for n, s in found.items() if not self.elsewhere(s)}

    def elsewhere(self, s: Slots | None) -> bool:
        """Other requests than this one, wherever both are in the run."""
        return s is not None and self.joints is not None and apart(self.joints, self.slot, s)

    def collect(self) -> None:
        names, o = self.names, self.slot.object
        for n, op in names.operations.items():
            done = op.completes
            if done is not None and done.which == "any":
                one = completed_by_index(names, n, done)
                if one is not None and one.object == o:
                    self.kills[n] = one
            if done is None or not done.definite or done.which not in ("one", "all"):
                continue  # a test, or a wait for some request, leaves those pending that it does not complete
            args = self.values.args.get(n, ())
            count = args[done.count] if done.count is not None and done.count < len(args) else None
            slots = slots_of(names, n, done.requests, count)
            if slots is not None and slots.object == o:
                self.kills[n] = slots
        self.kills.update(last_waits(names, o))
        self.lost = lost_slots(names, o)
        self.edges = completing_edges(names, o)

    def surely_complete(self, asked: Collection[Asked]) -> bool:
        """No path leads to a node or to a call that overwrites the request without a call that completes it.

        Quick: what it does not see, the regions may.
        """
        block = self.graph.nodes[self.post].block
        turning = self.values.symbols.scope(self.slot.lo)
        if self.joints is not None and self.completed(asked, self.joints, frozenset()):
            return True
        if self.numbered(asked):
            return True
        around = frozenset(self.names.program.nest.chain(block))
        return turning <= around and self.completed(asked, joints_of(self.names, block), around)

    def numbered(self, asked: Collection[Asked]) -> bool:
        """A counter numbers the requests, and what waits for as many as it says comes first."""
        loops = dict.fromkeys(a.turns for a in asked)
        return all(
            self.by_number.complete(
                {a.node for a in asked if a.turns == loop and a.ahead},
                {a.node for a in asked if a.turns == loop and not a.ahead},
                loop,
            )
            for loop in loops
        )

    def completed(self, asked: Collection[Asked], joints: Joints, around: frozenset[int]) -> bool:
        """``around``: the loops of which a new turn may be about another place: it does not begin before all is
        complete.
        """
        kills = {n for n, s in self.kills.items() if within(joints, self.slot, s)}
        bad = {a.node for a in asked if a.slots is None or not apart(joints, self.slot, a.slots)}
        ahead = {a.node for a in asked if a.ahead and a.node in bad}
        bad.update(n for n, s in self.lost.items() if s is None or not apart(joints, self.slot, s))
        graph, nest = self.graph, self.names.program.nest
        headers = {nest.loops[loop].header for loop in around}
        not_taken = self.not_taken(around)
        # Not by dataflow.solver: a search from one node, which ends at the first that is in the way.
        work = [(graph.nodes[self.post].block, self.post + 1)]
        seen: set[int] = set()
        while work:
            block, first = work.pop()
            for n in graph.blocks[block]:
                if n < first:
                    continue
                if n in ahead:
                    return False
                if n in kills:
                    break
                if n in bad:
                    return False
            else:
                for s in graph.succs[block]:
                    told = any(within(joints, self.slot, region) for region in self.edges.get((block, s), ()))
                    if told or s in seen or (block, s) in not_taken:
                        continue
                    if s in headers:
                        return False
                    seen.add(s)
                    work.append((s, 0))
        return True

    def pending(self, asked: Collection[Asked]) -> bool:
        """Whether one of ``asked``, or a call that overwrites the request, is reached while it may be pending."""
        if self.surely_complete(asked):
            return False
        regions = self.regions
        events: dict[int, list[Transfer]] = {}
        try:
            with regions.budget():
                for n, s in self.near(self.kills).items():
                    events.setdefault(n, []).append(Transfer(self.interval(s), None))
                for n, lost in self.near(self.lost).items():
                    used = regions.all if lost is None else self.interval(lost)
                    events.setdefault(n, []).append(Transfer(None, used))
                for a in (a for a in asked if not self.elsewhere(a.slots)):
                    event = Transfer(None, regions.all if a.slots is None else self.interval(a.slots))
                    here = events.setdefault(a.node, [])
                    here.insert(0 if a.ahead else len(here), event)
                for n, slots in self.told().items():
                    near = [Transfer(self.interval(s), None) for s in slots if not self.elsewhere(s)]
                    if near:
                        events.setdefault(n, [])[:0] = near
            live = Live(
                self.graph,
                self.names.program.nest,
                self.values,
                regions,
                [(self.telescope, None)],
                events,
                [self.post],
                entry=False,
            )
            found = live.solve()
            with regions.budget():
                rest = found.get(self.post, regions.none).intersect(self.interval(self.slot))
                for fact in self.facts():
                    rest = rest.intersect(fact)
                return not rest.is_empty()
        except BudgetExceeded:
            return True

    def told(self) -> dict[int, tuple[Slots, ...]]:
        """The completions that edges tell of, by the first node after them, where no other way leads there."""
        out: dict[int, tuple[Slots, ...]] = {}
        for (_, block), slots in self.edges.items():
            at = block
            while len(self.graph.preds[at]) == 1 and not self.graph.blocks[at] and len(self.graph.succs[at]) == 1:
                at = self.graph.succs[at][0]
            if len(self.graph.preds[at]) == 1 and self.graph.blocks[at]:
                first = self.graph.blocks[at][0]
                out[first] = (*out.get(first, ()), *slots)
        return out

    def interval(self, s: Slots) -> Set:
        return self.regions.interval(s.lo, s.lo + s.length)

    def facts(self) -> list[Set]:
        """What the branches that lead to the posting call say of its symbols."""
        symbols = self.values.symbols
        out: list[Set] = []
        for c, op in self.given():
            sound = not (c.unsigned and symbols.modulo(c.left, c.right))
            if sound and all(symbols.table[s].kind != "object" for s in (c.left - c.right).symbols()):
                out.append(self.regions.compare(op, c.left, c.right))
        return out

    def given(self) -> list[tuple[Comparison, str]]:
        """Comparisons that lead to the posting call, in the same turns of the loops around it, with what they found."""
        nest = self.names.program.nest
        chain = set(nest.chain(self.graph.nodes[self.post].block))
        out: list[tuple[Comparison, str]] = []
        at = self.graph.nodes[self.post].block
        while at != 0 and len(out) < _MOST_GIVEN:
            preds = self.graph.preds[at]
            if len(preds) == 1 and set(nest.chain(preds[0])) <= chain:
                c, succs = self.comparison(preds[0]), self.graph.succs[preds[0]]
                if c is not None and len(succs) == 2 and succs[0] != succs[1]:
                    out.append((c, c.op if succs[0] == at else NEGATED[c.op]))
            at = nest.idom[at]
        return out

    def comparison(self, block: int) -> Comparison | None:
        """That by which a block ends."""
        nodes = self.graph.blocks[block]
        return self.values.conditions.get(nodes[-1]) if nodes else None

    def not_taken(self, around: frozenset[int]) -> set[Edge]:
        """Edges after a comparison that led to the posting call, too, of values that are the same in both places."""
        symbols = self.values.symbols
        known: dict[tuple[Poly, Poly, bool], list[str]] = {}
        for c, op in self.given():
            if symbols.scope(c.left - c.right) <= around:
                known.setdefault((symbols.resolve(c.left), symbols.resolve(c.right), c.unsigned), []).append(op)
        out: set[Edge] = set()
        for block, succs in enumerate(self.graph.succs):
            again = self.comparison(block) if known and len(succs) == 2 and succs[0] != succs[1] else None
            if again is not None:
                key = (symbols.resolve(again.left), symbols.resolve(again.right), again.unsigned)
                for op in known.get(key, ()):
                    if op == again.op:
                        out.add((block, succs[1]))
                    elif op == NEGATED[again.op]:
                        out.add((block, succs[0]))
        return out
