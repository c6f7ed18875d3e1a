"""Which bytes of one object are live after each point of interest: the region analysis.

Backward over the program graph with loops collapsed.  Inside a loop, the live region at the start of iteration k is

    live(k) = gen(k)  u  (live(k+1) n through(k))  u  (live after the exit n through_exit(k))

with all three sets functions of k, so that the live region of the whole loop is a union over k of what passes through
the iterations before: exact for affine subscripts, an over-approximation elsewhere.  A state maps each place where
control can go to the bytes that pass from there unharmed; the key None holds bytes that are live for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from islpy import Set

from opi_xform.ir import instr as ins
from opi_xform.ir.loops import LoopNest
from opi_xform.memory.poly import Poly, number, symbol
from opi_xform.memory.regions import START, Regions
from opi_xform.memory.telescope import Telescope
from opi_xform.memory.values import Comparison, Values
from opi_xform.program.graph import Graph


class Rows(Protocol):
    """For an array of buffers: the view of the one row that the sets are about."""

    def specialise(self, node: int, value: Poly) -> Poly: ...

    def specialise_at(self, block: int, value: Poly) -> Poly: ...

    def in_loop(self, regions: Regions, node: int) -> Set | None: ...


Edge = tuple[int, int]
LATCH: Edge = (-1, -1)
State = Mapping[Edge | None, Set]


@dataclass(frozen=True, slots=True)
class Event:
    """What a node does to the live region, backward: first ``kill`` leaves it, then ``use`` joins it."""

    kill: Set | None
    use: Set | None


@dataclass(frozen=True, slots=True)
class _Summary:
    """A loop from iteration ``START`` on: what it reads first, and what passes through to each exit."""

    gen: Set
    through: Mapping[Edge, Set]


@lru_cache(maxsize=2)
def region_items(nest: LoopNest) -> tuple[dict[int, list[tuple[int, int]]], dict[int, dict[int, int]]]:
    """For each loop (and -1 for the whole): its own blocks and inner loops in topological order, (block, inner loop).

    The second result tells by which block such an item of a region is found, from any block in it.
    """
    items: dict[int, list[tuple[int, int]]] = {}
    item_of: dict[int, dict[int, int]] = {}
    for block in range(len(nest.of)):
        inner = -1
        for loop in (*nest.chain(block), -1):
            if inner < 0:
                items.setdefault(loop, []).append((block, -1))
            elif nest.loops[inner].header == block:
                items.setdefault(loop, []).append((block, inner))
            item_of.setdefault(loop, {})[block] = block if inner < 0 else nest.loops[inner].header
            inner = loop
    return items, item_of


class Live:
    """The live region of one object.  ``events[n]``: of node n, in execution order."""

    def __init__(
        self,
        graph: Graph,
        nest: LoopNest,
        values: Values,
        regions: Regions,
        telescopes: Sequence[tuple[Telescope, Set | None]],
        events: Mapping[int, Sequence[Event]],
        queries: Iterable[int],
        indexed: Rows | None = None,
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
        self.at_entry = regions.none
        self.busy = self.busy_loops()
        self.summaries: dict[int, _Summary] = {}
        self.found: dict[int, Set] = {}
        self.conditions: dict[int, tuple[Set, Set] | None] = {}
        self.items, self.item_of = region_items(nest)

    def busy_loops(self) -> set[int]:
        blocks = {self.graph.nodes[n].block for n in [*self.events, *self.queries]}
        out: set[int] = set()
        for b in blocks:
            out.update(self.nest.chain(b))
        return out

    def solve(self) -> dict[int, Set]:
        """The live region after each query node.  Raises regions.BudgetExceeded."""
        with self.regions.budget():
            order: list[int] = [loop.number for loop in self.nest.loops if loop.number in self.busy]
            for loop in reversed(order):
                self.summaries[loop] = self.summarise(loop)
            self.absolute(-1, {})
        return self.found  # and at_entry

    # --- one region, backward ------------------------------------------------------------------------------------

    def sweep(self, loop: int, sinks: Mapping[Edge, State], observe: bool) -> dict[Edge | int, State]:
        """States at the entry of every item of a loop's body, and on every edge that enters an inner loop's exit.

        ``sinks``: states at LATCH and on each exit edge.  With ``observe``, queries are answered.
        """
        entry: dict[Edge | int, State] = {}
        header = self.nest.loops[loop].header if loop >= 0 else -1
        blocks = self.nest.loops[loop].blocks if loop >= 0 else None
        where = self.item_of.get(loop, {})

        def on_edge(source: int, target: int) -> State:
            if target == header:
                return sinks.get(LATCH, {})
            if blocks is not None and target not in blocks:
                return sinks.get((source, target), {})
            state = entry.get(where[target], {})
            return self.merged_values(state, source, target)

        for block, inner in reversed(self.items.get(loop, [])):
            if inner < 0:
                state = self.through_block(block, [on_edge(block, s) for s in self.graph.succs[block]], observe)
            else:
                after = {edge: on_edge(*edge) for edge in self.nest.loops[inner].exits}
                for edge, s in after.items():
                    entry[edge] = s
                state = self.through_loop(inner, after)
            entry[block] = state
        return entry

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

    def through_block(self, block: int, after: list[State], observe: bool) -> State:
        nodes = self.graph.blocks[block]
        state = self.branch(nodes[-1] if nodes else -1, block, after)
        for n in reversed(nodes):
            if observe and n in self.queries:
                live = state.get(None, self.regions.none)
                self.found[n] = self.found[n].union(live) if n in self.found else live
            for event in reversed(self.events.get(n, ())):
                state = self.apply(event, state)
        return state

    def apply(self, event: Event, state: State) -> State:
        out = dict(state)
        if event.kill is not None:
            for key, s in state.items():
                out[key] = s.subtract(event.kill).coalesce()
        if event.use is not None:
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
            pair = self.condition(last)
            if pair is not None:
                guards = list(pair)
        elif isinstance(action, ins.SwitchOn):
            guards = list(self.cases(last, action))
        out: dict[Edge | None, Set] = {}
        keys: list[Edge | None] = []
        for state in after:
            keys.extend(k for k in state if k not in keys)
        for key in keys:
            sets = [state.get(key) for state in after]
            first = sets[0]
            if first is not None and all(s is first for s in sets):
                out[key] = first
                continue
            total: Set | None = None
            for s, guard in zip(sets, guards, strict=True):
                if s is None or s.is_empty():
                    continue
                part = s if guard is None else s.intersect(guard)
                total = part if total is None else total.union(part)
            if total is not None:
                out[key] = total.coalesce()
        return out

    def condition(self, node: int) -> tuple[Set, Set] | None:
        if node not in self.conditions:
            comparison = self.values.conditions.get(node)
            self.conditions[node] = self.guards(node, comparison) if comparison is not None else None
        return self.conditions[node]

    def guards(self, node: int, c: Comparison) -> tuple[Set, Set] | None:
        """Offsets where the comparison holds, and where it does not; None where C's comparison is not the integers'."""
        if c.unsigned and not (self.symbols.is_nonneg(c.left) and self.symbols.is_nonneg(c.right)):
            return None
        difference = c.left - c.right
        if any(self.symbols.table[s].kind == "object" for s in difference.symbols()):
            return None
        left, right = self.symbols.resolve(c.left), self.symbols.resolve(c.right)
        here = None
        if self.indexed is not None:
            here = self.indexed.in_loop(self.regions, node)
            left, right = self.indexed.specialise(node, left), self.indexed.specialise(node, right)
        holds, fails = self.regions.compare(c.op, left, right), self.regions.compare(_NEGATED[c.op], left, right)
        if here is not None and (left != self.symbols.resolve(c.left) or right != self.symbols.resolve(c.right)):
            elsewhere = self.regions.all.subtract(here)  # other iterations: not about this row, either way
            holds, fails = holds.union(elsewhere), fails.union(elsewhere)
        return holds, fails

    def cases(self, node: int, action: ins.SwitchOn) -> list[Set | None]:
        value = self.values.switches[node]
        out: list[Set | None] = []
        rest = self.regions.all
        for case in action.cases:
            if case is None:
                out.append(None)
                continue
            low = self.regions.compare(">=", value, number(case[0]))
            here = low.intersect(self.regions.compare("<=", value, number(case[1])))
            rest = rest.subtract(here)
            out.append(here)
        return [rest if g is None else g for g in out]

    # --- loops ---------------------------------------------------------------------------------------------------

    def leaving(self, loop: int) -> Set | None:
        """What a loop's symbols are called after it: each exit symbol equals the one inside."""
        pairs = self.symbols.exits.get(loop, {})
        out: Set | None = None
        for outer, inside in sorted(pairs.items())[:24]:
            if self.symbols.definition(outer) is not None:
                closed = self.symbols.resolve(symbol(outer))
                left = closed
            else:
                left = symbol(outer)
            same = self.regions.compare("==", left, symbol(inside))
            out = same if out is None else out.intersect(same)
        return out

    def summarise(self, loop: int) -> _Summary:
        regions = self.regions
        info = self.nest.loops[loop]
        k = self.symbols.count(loop)
        scope = self.symbols.inner[loop]
        leaving = self.leaving(loop)
        sinks: dict[Edge, State] = {LATCH: {LATCH: regions.all}}
        for edge in info.exits:
            sinks[edge] = {edge: regions.all if leaving is None else leaving}
        state = self.sweep(loop, sinks, False).get(info.header, {})
        state = {key: regions.forget_scope(s, scope, k) for key, s in state.items()}
        before = self.before(loop, state.get(LATCH, regions.none))
        name = regions.parameter((k,))
        nonneg = regions.build([f"{name} >= {START}"], {name: (k,), START: ()})

        def over_k(s: Set) -> Set:
            return regions.drop(s.intersect(nonneg).intersect(before), [name]).coalesce()

        gen = over_k(state[None]) if None in state else regions.none
        through = {edge: over_k(state[edge]) if edge in state else regions.none for edge in info.exits}
        return _Summary(gen, through)

    def before(self, loop: int, through: Set) -> Set:
        """Offsets that pass from iteration k back to iteration START: unharmed by every one before k."""
        regions = self.regions
        k = regions.parameter((self.symbols.count(loop),))
        stopped = regions.all.subtract(through)
        stopped = regions.rename(stopped, k, "j")
        span = regions.parse(f"{START}, j, {k}", f"{START} <= j < {k}")
        return regions.all.subtract(regions.drop(stopped.intersect(span), ["j"])).coalesce()

    def through_loop(self, loop: int, after: Mapping[Edge, State]) -> State:
        """The state before a loop, from those on its exit edges."""
        regions = self.regions
        gone = frozenset(self.symbols.exits.get(loop, {}))
        out: dict[Edge | None, Set] = {}
        written = self.written(loop) if loop in self.busy else {}
        summary = self.summaries.get(loop)
        for edge, state in after.items():
            for key, s in state.items():
                for region in written.get(edge, ()):
                    s = s.subtract(region)
                if summary is not None:
                    s = s.intersect(self.starting(summary.through[edge], number(0)))
                s = regions.forget(s, gone)
                out[key] = out[key].union(s).coalesce() if key in out else s.coalesce()
        if summary is not None:
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
        todo: list[tuple[int, Mapping[Edge, State]]] = [(loop, after)]
        children: dict[int, list[int]] = {}
        for info in self.nest.loops:
            children.setdefault(info.parent, []).append(info.number)
        asked = {self.graph.nodes[n].block for n in self.queries}
        while todo:
            loop, after = todo.pop()
            sinks: dict[Edge, State] = {}
            if loop >= 0:
                sinks = self.inside(loop, after)
            entry = self.sweep(loop, sinks, True)
            if loop < 0:
                self.at_entry = entry.get(0, {}).get(None, regions.none)
            for child in children.get(loop, ()):
                info = self.nest.loops[child]
                if asked & info.blocks:
                    todo.append((child, {edge: entry[edge] for edge in info.exits if edge in entry}))

    def inside(self, loop: int, after: Mapping[Edge, State]) -> dict[Edge, State]:
        """True live regions at the end of iteration k and on the exit edges, in the loop's own symbols."""
        regions = self.regions
        k = symbol(self.symbols.count(loop))
        gone = frozenset(self.symbols.exits.get(loop, {}))
        leaving = self.leaving(loop)
        summary = self.summaries[loop]
        latch = self.starting(summary.gen, k + number(1))
        sinks: dict[Edge, State] = {}
        for edge, state in after.items():
            live = state.get(None)
            if live is None:
                continue
            passed = regions.forget(live.intersect(self.starting(summary.through[edge], k + number(1))), gone)
            latch = latch.union(passed)
            here = live if leaving is None else live.intersect(leaving)
            sinks[edge] = {None: regions.forget(here, gone)}
        sinks[LATCH] = {None: latch.coalesce()}
        return sinks


_NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
