"""Which bytes of one object are live after each point of interest: the region analysis.

Backward over the program graph with loops collapsed.  Inside a loop, the live region at the start of iteration k is

    live(k) = gen(k)  u  (live(k+1) n through(k))  u  (live after the exit n through_exit(k))

with all three sets functions of k, so that the live region of the whole loop is a union over k of what passes through
the iterations before: exact for affine subscripts, an over-approximation elsewhere.  A state maps each place where
control can go to the bytes that pass from there unharmed; the key None holds bytes that are live for good.

Not by ``dataflow.solver``: these states have no bound (k bytes, for each k), and a way round a loop need not end.

All that a state holds may be too much, and never too little: what is live, and what may pass.  So a state may be made
simpler by a superset (``Bearing``).  What an event or a loop writes is taken off as it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

import islpy as isl
from islpy import Set

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly, number, symbol
from opi_xform.memory.stretches import Region, stretches_of
from opi_xform.memory.values import Values
from opi_xform.record import dataclass
from opi_xform.regions.bearing import Bearing
from opi_xform.regions.guards import Guards, Rows
from opi_xform.regions.sets import START, BudgetExceeded, Regions, without
from opi_xform.regions.telescope import Telescope

PARAMETERS = 128
"""Numbers that one region may depend on.  What isl does with more takes time that its operations do not count."""

Edge = tuple[int, int]
LATCH: Edge = (-1, -1)
State = Mapping[Edge | None, Set]


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a node does to the live region, backward: first ``kill`` leaves it, then ``use`` joins it."""

    kill: Set | None
    use: Set | None


@dataclass(frozen=True, slots=True)
class _Summary:
    """A loop from iteration ``START`` on: what it reads first, and what passes through to each exit."""

    gen: Set
    through: Mapping[Edge, Set]


class Live:
    """The live region of one object.  ``events[n]``: of node n, in execution order.

    entry: the live region at the start of the program is asked for, too (``at_entry``).  only: the bytes that matter;
    all that is used lies among them, and they are the same ones throughout the program.
    """

    def __init__(
        self,
        graph: Graph,
        nest: LoopNest,
        values: Values,
        regions: Regions,
        telescopes: Sequence[tuple[Telescope, Set | None]],
        events: Mapping[int, Sequence[Transfer]],
        queries: Iterable[int],
        indexed: Rows | None = None,
        entry: bool = True,
        only: Set | None = None,
    ) -> None:
        self.graph = graph
        self.nest = nest
        self.values = values
        self.symbols = values.symbols
        self.regions = regions
        self.telescopes = telescopes
        self.events = events
        self.queries = set(queries)
        self.indexed = indexed
        self.entry = entry
        self.bytes = regions.all if only is None else only
        self.at_entry = regions.none
        self.stretches = stretches_of(graph, nest, values)
        self.tails: frozenset[int] = frozenset()  # error exits on which something happens to the object
        self.active = self.active_items()
        self.busy = {loop for loop in self.active if loop >= 0}
        self.guards = Guards(values, regions, indexed)
        self.bearing = Bearing(graph, nest, values, regions, events, self.queries, self.busy)
        self.summaries: dict[int, _Summary] = {}
        self.turned: dict[int, Set] = {}  # by loop: bytes that pass from iteration k back to iteration START
        self.found: dict[int, Set] = {}
        self.steps = 0  # items that sweeps came to, each time

    def active_items(self) -> dict[int, list[int]]:
        """By loop (-1: the whole): the places of the items in which something happens to the object, ascending."""
        blocks = {self.graph.nodes[n].block for n in [*self.events, *self.queries]}
        self.tails = self.stretches.tails_to(blocks)
        found: dict[int, set[int]] = {}
        for b in blocks:
            for loop in (*self.nest.chain(b), -1):
                found.setdefault(loop, set()).add(self.stretches.item_of[loop][b])
        return {loop: sorted(self.region(loop).at[b] for b in items) for loop, items in found.items()}

    def region(self, loop: int) -> Region:
        return self.stretches.region(loop, bool(self.tails))

    def dead(self, block: int) -> bool:
        """Nothing happens to the object from the block on: it is an error exit."""
        return block in self.stretches.tails and block not in self.tails

    def solve(self) -> dict[int, Set]:
        """The live region after each query node.  Raises regions.BudgetExceeded, also where a loop has two entries.

        What is left of such a graph where loops are collapsed has cycles, and no sweep of it ends.
        """
        if self.nest.irreducible:
            raise BudgetExceeded("a loop has two entries")
        with self.regions.budget():
            for loop in sorted(self.needed(), reverse=True):
                self.summaries[loop] = self.summarise(loop)
            self.absolute(-1, {})
        return self.found  # and at_entry

    def needed(self) -> set[int]:
        """The loops in which something happens to the object, and in or after which it matters for what is asked."""
        if self.entry:
            return self.busy
        work = sorted({self.graph.nodes[n].block for n in self.queries})
        seen = set(work)
        while work:
            fresh = [b for b in self.graph.succs[work.pop()] if b not in seen]
            seen.update(fresh)
            work.extend(fresh)
        innermost = {self.nest.of[b]: b for b in seen}  # blocks of one loop are in the same loops
        return {loop for b in innermost.values() for loop in self.nest.chain(b)} & self.busy

    # --- one region, backward ------------------------------------------------------------------------------------

    def sweep(
        self,
        loop: int,
        sinks: Mapping[Edge, State],
        observe: bool,
        reads: bool = True,
        starts: Sequence[int] = (0,),
    ) -> dict[Edge | int, State]:
        """States at the entry of a loop's body, of items on the way, and on the edges that leave inner loops.

        ``sinks``: states at LATCH and on each exit edge.  With ``observe``, queries are answered; without
        ``reads``, only what passes is looked at.  ``starts``: the places of items; they are looked at, and what comes
        after them.  A stretch in which nothing happens to the object changes no state: where its paths part, they
        meet again.
        """
        region = self.region(loop)
        active = self.active.get(loop, [])
        item_of = self.stretches.item_of.get(loop, {})
        header = self.nest.loops[loop].header if loop >= 0 else -1
        entry: dict[Edge | int, State] = {}
        states: dict[int, State] = {region.last: sinks.get(LATCH, {})}
        limits: dict[int, int] = {}

        def on_edge(source: int, target: int) -> State:
            if target == header:
                return states[region.last]
            if self.dead(target):
                return {}
            if target not in item_of:
                return sinks.get((source, target), {})
            return self.merged_values(states[region.at[item_of[target]]], source, target)

        stack = list(starts) if region.items else []
        while stack:
            i = stack[-1]
            self.steps += 1
            if i in states:
                stack.pop()
                continue
            if i not in limits:
                following = bisect_left(active, i)
                limits[i] = active[following] if following < len(active) else region.last
            onward = region.farthest(i, limits[i])
            if onward != i:
                state = states.get(onward)
                if state is None:
                    stack.append(onward)
                    continue
                limits[i] = self.untouched(region, i, onward, state)
                if limits[i] == onward:
                    states[i] = state
                continue
            block, inner = region.items[i]
            edges = self.nest.loops[inner].exits if inner >= 0 else [(block, s) for s in self.graph.succs[block]]
            missing = [region.at[item_of[t]] for _, t in edges if t != header and t in item_of and not self.dead(t)]
            missing = [k for k in missing if k not in states]
            if missing:
                stack.extend(missing)
                continue
            if inner < 0:
                states[i] = self.through_block(block, [on_edge(*edge) for edge in edges], observe, reads)
            else:
                after = {edge: on_edge(*edge) for edge in edges}
                for edge, s in after.items():
                    entry[edge] = s
                states[i] = self.through_loop(inner, after, reads)
        if 0 in states and region.items:
            entry[region.items[0][0]] = states[0]
        return entry

    def untouched(self, region: Region, i: int, onward: int, state: State) -> int:
        """Up to which item the stretch from i leaves a state alone: ``onward``, or before a symbol gets its value."""
        first = region.items[i][0]
        last = region.items[onward][0] if onward < region.last else len(self.nest.of)
        out = onward
        for s in {s for found in state.values() for s in self.regions.symbols_of(found)}:
            info = self.symbols.table[s]
            if info.kind == "phi":
                block = info.key[0]
                assert isinstance(block, int)
                if first < block <= last:
                    out = min(out, self.before_block(region, block, i) - 1)
            elif info.kind == "exit":
                loop = info.key[0]
                assert isinstance(loop, int)
                block = self.nest.loops[loop].header
                if first <= block < last:
                    out = min(out, self.before_block(region, block, i))
        return max(out, i)

    @staticmethod
    def before_block(region: Region, block: int, i: int) -> int:
        """The last item whose number is not above that of the block; not before i."""
        return max(bisect_left(region.items, (block + 1, -1)) - 1, i)

    def merged_values(self, state: State, source: int, target: int) -> State:
        """Values merged at ``target`` become what comes from ``source``."""
        phis = self.values.phis.get(target)
        if not phis or not state:
            return state
        header = next((lp for lp in self.nest.chain(target) if self.nest.loops[lp].header == target), None)
        preds = [
            p
            for p in self.graph.preds[target]
            if p in self.values.out and (header is None or p not in self.nest.loops[header].blocks)
        ]
        if source not in preds:
            return state
        at = preds.index(source)
        out: dict[Edge | None, Set] = {}
        for key, s in state.items():
            names = self.regions.monomials(s)
            used = {x for m in names.values() for x in m}
            for phi, incoming in phis:
                if phi in used:
                    s = self.regions.substitute(s, phi, incoming[at])
            out[key] = s
        return out

    def through_block(self, block: int, after: list[State], observe: bool, reads: bool) -> State:
        nodes = self.graph.blocks[block]
        state = self.branch(nodes[-1] if nodes else -1, block, after)
        for n in reversed(nodes):
            if observe and n in self.queries:
                live = state.get(None, self.regions.none)
                self.found[n] = self.found[n].union(live) if n in self.found else live
            for event in reversed(self.events.get(n, ())):
                state = self.apply(event, state, reads)
        return state

    def apply(self, event: Transfer, state: State, reads: bool) -> State:
        out = dict(state)
        if event.kill is not None:
            for key, s in state.items():
                out[key] = self.regions.unwritten(s, event.kill).coalesce()
        if event.use is not None and reads:
            old = out.get(None)
            out[None] = event.use if old is None else old.union(event.use).coalesce()
        return out

    def branch(self, last: int, block: int, after: list[State]) -> State:
        if not after:
            return {}
        if len(after) == 1:
            return after[0]
        guards: list[Set | None] = [None] * len(after)
        action = self.graph.nodes[last].action if last >= 0 else None
        if isinstance(action, ins.Branch) and len(after) == 2:
            pair = self.guards.condition(last)
            if pair is not None:
                guards = list(pair)
        elif isinstance(action, ins.SwitchOn):
            guards = list(self.guards.cases(last, action))
        out: dict[Edge | None, Set] = {}
        keys: list[Edge | None] = []
        for state in after:
            keys.extend(k for k in state if k not in keys)
        for key in keys:
            sets = [state.get(key) for state in after]
            first = sets[0]
            if first is not None and all(s is first or (s is not None and s.plain_is_equal(first)) for s in sets):
                out[key] = first
                continue
            total: Set | None = None
            for s, guard in zip(sets, guards, strict=True):
                if s is None or s.is_empty():
                    continue
                part = s if guard is None else s.intersect(guard)
                total = part if total is None else total.union(part)
            if total is not None:
                if total.dim(isl.dim_type.param) > PARAMETERS:
                    raise BudgetExceeded(f"{PARAMETERS} numbers in one region")
                out[key] = self.bearing.simpler(total.coalesce())
        return out

    # --- loops ---------------------------------------------------------------------------------------------------

    def summarise(self, loop: int) -> _Summary:
        """What the loop reads first.  What passes through it is only looked at where something is live after it."""
        header = self.nest.loops[loop].header
        exits = [edge for edge in self.nest.loops[loop].exits if not self.dead(edge[1])]
        sinks: dict[Edge, State] = {LATCH: {}, **{edge: {} for edge in exits}}
        read = self.sweep(loop, sinks, False).get(header, {}).get(None)
        if read is None or read.is_empty():
            return _Summary(self.regions.none, {})
        self.pass_through(loop, [])
        return _Summary(self.over_turns(loop, read, self.turned[loop]), {})

    def through(self, loop: int) -> Mapping[Edge, Set]:
        """What passes through a loop from iteration ``START`` on to each exit."""
        found = self.summaries[loop].through
        if not found:
            exits = [edge for edge in self.nest.loops[loop].exits if not self.dead(edge[1])]
            state = self.pass_through(loop, exits)
            none, before = self.regions.none, self.turned[loop]
            found = {e: self.over_turns(loop, state[e], before) if e in state else none for e in exits}
            self.summaries[loop] = _Summary(self.summaries[loop].gen, found)
        return found

    def pass_through(self, loop: int, exits: Sequence[Edge]) -> State:
        """What passes unharmed through iteration k, to the next one and to these exits; notes what comes to it."""
        for inner in sorted((i for i in self.symbols.inner[loop] if i in self.busy and i != loop), reverse=True):
            self.through(inner)
        leaving = self.bearing.leaving(loop) if exits else None
        sinks: dict[Edge, State] = {LATCH: {} if loop in self.turned else {LATCH: self.bytes}}
        for edge in exits:
            sinks[edge] = {edge: self.bytes if leaving is None else leaving.intersect(self.bytes)}
        state = self.sweep(loop, sinks, False, reads=False).get(self.nest.loops[loop].header, {})
        if loop not in self.turned:
            k, scope = self.symbols.count(loop), self.symbols.inner[loop]
            latch = self.regions.forget_scope(state.get(LATCH, self.regions.none), scope, k)
            self.turned[loop] = self.before(loop, latch)
        return state

    def over_turns(self, loop: int, s: Set, before: Set) -> Set:
        """A region of iteration k as one from iteration START on, of those bytes that are unharmed until then."""
        regions = self.regions
        k = self.symbols.count(loop)
        name = regions.parameter((k,))
        nonneg = regions.build([f"{name} >= {START}"], {name: (k,), START: ()})
        s = regions.forget_scope(s, self.symbols.inner[loop], k)
        return regions.drop(s.intersect(nonneg).intersect(before), [name]).coalesce()

    def before(self, loop: int, through: Set) -> Set:
        """Offsets that pass from iteration k back to iteration START: unharmed by every one before k.

        ``through`` may be too large, and so may the result.  Between the two complements nothing may be made simpler:
        what is stopped must not grow.
        """
        regions = self.regions
        k = regions.parameter((self.symbols.count(loop),))
        stopped = self.bytes.subtract(through)
        stopped = regions.rename(stopped, k, "j")
        span = regions.parse(f"{START}, j, {k}", f"{START} <= j < {k}")
        return self.bytes.subtract(regions.drop(stopped.intersect(span), ["j"])).coalesce()

    def through_loop(self, loop: int, after: Mapping[Edge, State], reads: bool) -> State:
        """The state before a loop, from those on its exit edges."""
        regions = self.regions
        gone = frozenset(self.symbols.exits.get(loop, {}))
        out: dict[Edge | None, Set] = {}
        written = self.written(loop) if loop in self.busy and any(after.values()) else {}
        summary = self.summaries.get(loop)
        for edge, state in after.items():
            for key, s in state.items():
                s = without(s, written.get(edge, ()))
                if summary is not None and not s.is_empty():  # of nothing, nothing passes: no need to look
                    s = s.intersect(self.starting(self.through(loop)[edge], number(0)))
                s = regions.forget(s, gone)
                out[key] = self.bearing.simpler(out[key].union(s).coalesce() if key in out else s.coalesce())
        if summary is not None and reads:
            gen = self.starting(summary.gen, number(0))
            out[None] = out[None].union(gen).coalesce() if None in out else gen
        return out

    def written(self, loop: int) -> dict[Edge, list[Set]]:
        """What a loop is sure to have written when it is left, beyond what the sets can tell."""
        out: dict[Edge, list[Set]] = {}
        for telescope, where in self.telescopes:
            for edge, intervals in telescope.exits(loop).items():
                for interval in intervals:
                    lo, hi = self.symbols.resolve(interval.lo), self.symbols.resolve(interval.hi)
                    given = [(self.symbols.resolve(a), self.symbols.resolve(b)) for a, b in interval.given]
                    if self.indexed is not None:
                        header = self.nest.loops[loop].header
                        at = self.indexed.specialise_at
                        lo, hi = at(header, lo), at(header, hi)
                        given = [(at(header, a), at(header, b)) for a, b in given]
                    region = self.regions.interval(lo, hi)
                    for a, b in given:
                        region = region.intersect(self.nonneg(a).union(self.nonneg(b)))
                    out.setdefault(edge, []).append(region if where is None else region.intersect(where))
        return out

    def nonneg(self, value: Poly) -> Set:
        """All offsets, where the value is not negative."""
        return self.regions.compare(">=", value, number(0))

    def starting(self, s: Set, first: Poly) -> Set:
        """A summary from iteration ``first`` on."""
        regions = self.regions
        params: dict[str, tuple[int, ...]] = {START: ()}
        place = regions.affine(first, params)
        return regions.drop(s.intersect(regions.build([f"{START} = {place}"], params)), [START])

    def absolute(self, loop: int, after: Mapping[Edge, State]) -> None:
        """Answers the queries inside a region; ``after`` holds the true live regions on its exit edges."""
        regions = self.regions
        worklist: list[tuple[int, Mapping[Edge, State]]] = [(loop, after)]
        children = self.stretches.children
        asked = {lp for n in self.queries for lp in self.nest.chain(self.graph.nodes[n].block)}
        starts: dict[int, set[int]] = {}
        for block in {self.graph.nodes[n].block for n in self.queries}:
            for lp in (*self.nest.chain(block), -1):
                starts.setdefault(lp, set()).add(self.region(lp).at[self.stretches.item_of[lp][block]])
        if self.entry:
            starts.setdefault(-1, set()).add(0)
        while worklist:
            loop, after = worklist.pop()
            sinks: dict[Edge, State] = {}
            if loop >= 0:
                sinks = self.inside(loop, after)
            entry = self.sweep(loop, sinks, True, starts=sorted(starts.get(loop, ())))
            if loop < 0:
                self.at_entry = entry.get(0, {}).get(None, regions.none)
            for child in children.get(loop, ()):
                if child in asked:
                    info = self.nest.loops[child]
                    worklist.append((child, {edge: entry[edge] for edge in info.exits if edge in entry}))

    def inside(self, loop: int, after: Mapping[Edge, State]) -> dict[Edge, State]:
        """True live regions at the end of iteration k and on the exit edges, in the loop's own symbols."""
        regions = self.regions
        k = symbol(self.symbols.count(loop))
        gone = frozenset(self.symbols.exits.get(loop, {}))
        leaving = self.bearing.leaving(loop)
        summary = self.summaries[loop]
        latch = self.starting(summary.gen, k + number(1))
        sinks: dict[Edge, State] = {}
        for edge, state in after.items():
            live = state.get(None)
            if live is None or live.is_empty():
                continue
            passed = regions.forget(live.intersect(self.starting(self.through(loop)[edge], k + number(1))), gone)
            latch = latch.union(passed)
            here = live if leaving is None else live.intersect(leaving)
            sinks[edge] = {None: regions.forget(here, gone)}
        sinks[LATCH] = {None: latch.coalesce()}
        return sinks
