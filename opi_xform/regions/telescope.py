"""Intervals that a loop is sure to write, told from one iteration to the next.

When each iteration writes exactly the bytes between the place of this iteration and the place of the next, the whole
loop writes from the first place to the last, whatever the places are: ``buf[n++] = x`` under conditions, ``*p++``,
cursors that advance by what was packed, and ``buf[i*m + j]`` with symbolic m, where the places are products that
integer sets cannot express.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import Loop, LoopNest
from opi_xform.memory.poly import ONE, Poly, number, symbol
from opi_xform.memory.values import HeaderPhi, Values
from opi_xform.regions.interchanged import Interval, Pairs, interchanged
from opi_xform.regions.signs import negative
from opi_xform.values.equal_counts import Sums
from opi_xform.values.facts import Facts
from opi_xform.values.trip_counts import nominal_trips, turns_made

Edge = tuple[int, int]


def _sizes(pair: tuple[Poly, Poly]) -> list[Poly]:
    """The sizes that are multiplied: those of a product one by one, each as often as it is there."""
    out: list[Poly] = []
    for p in pair:
        single = p.terms[0][0] if len(p.terms) == 1 and len(p.terms[0][0]) > 1 else ()
        out += map(symbol, single) if single else [p]
    return out


class Telescope:
    """Certain writes of one object, loop by loop.  ``writes[block]``: (lo, length) of certain writes, any order.

    ``births``: blocks in which the object begins a new life.  ``excluded``: loops whose iterations write to different
    rows of an array of buffers.  ``assume_signs``: of two sizes that are multiplied one is not negative (assumption
    A3); ``signs`` tells whether this made a difference.  ``bounds``: told by what ends the loops inside, too
    (``by_bounds``); ``bounded`` tells whether that is something else.  ``sums``: what other loops have counted.
    ``facts``: what is known in a block, for what gets less in each turn of a loop.
    """

    def __init__(
        self,
        graph: Graph,
        nest: LoopNest,
        values: Values,
        writes: Mapping[int, Sequence[tuple[Poly, Poly]]],
        births: frozenset[int],
        excluded: frozenset[int] = frozenset(),
        assume_signs: bool = False,
        bounds: bool = False,
        sums: Sums | None = None,
        facts: Facts | None = None,
    ) -> None:
        self.graph = graph
        self.nest = nest
        self.values = values
        self.symbols = values.symbols
        self.writes = writes
        self.births = births
        self.excluded = excluded
        self.assume_signs = assume_signs
        self.signs = False
        self.bounds = bounds
        self.bounded = False
        self.sums = sums
        self.facts = facts
        self.cache: dict[int, dict[Edge, list[Interval]]] = {}
        self.children: dict[int, list[int]] = {}  # loops that write, by the loop around
        self.blocks: dict[int, list[int]] = {}  # by loop: where it writes, inner loops left out
        for block in sorted(writes):
            self.blocks.setdefault(nest.of[block], []).append(block)
        for number_ in sorted({loop for block in writes for loop in nest.chain(block)}):
            self.children.setdefault(nest.loops[number_].parent, []).append(number_)

    def exits(self, loop: int) -> dict[Edge, list[Interval]]:
        """For each edge that leaves ``loop``: intervals written by then, in terms of what is known outside."""
        order: list[int] = []
        stack = [loop]
        while stack:
            at = stack.pop()
            order.append(at)
            stack.extend(self.children.get(at, ()))
        for at in reversed(order):
            if at not in self.cache:
                self.cache[at] = self.compute(self.nest.loops[at])
        return self.cache[loop]

    def compute(self, loop: Loop) -> dict[Edge, list[Interval]]:
        found: dict[Edge, list[Interval]] = {edge: [] for edge in loop.exits}
        if self.births & loop.blocks or loop.number in self.excluded:
            return found  # what one iteration wrote is not in the next one's object
        inside = self.runs(self.body(loop))
        for interval in inside:
            self.by_count(loop, interval, found)
        for phi in self.values.headers.get(loop.number, []) if inside else ():
            if phi.cell[0] not in ("v", "t"):
                self.by_counter(loop, phi, inside, found)
        self.by_digits(loop, found)
        for intervals in found.values():
            self.by_bounds(loop, intervals)
        return found

    def body(self, loop: Loop) -> list[Interval]:
        """What one iteration is sure to write, block by block."""
        out: list[Interval] = []
        for block in self.blocks.get(loop.number, ()):
            for lo, length in self.writes.get(block, ()):
                resolved = self.symbols.resolve(lo)
                out.append(Interval(block, resolved, resolved + self.symbols.resolve(length)))
        for child in self.children.get(loop.number, ()):
            info = self.nest.loops[child]
            edges = self.cache[child]
            if not edges:
                continue
            first, *others = edges.values()
            for interval in first:
                given = interval.given
                for other in others:
                    same = next((o for o in other if o.lo == interval.lo and o.hi == interval.hi), None)
                    if same is None:
                        break
                    given |= same.given
                else:
                    lo, hi = self.symbols.resolve(interval.lo), self.symbols.resolve(interval.hi)
                    out.append(Interval(info.header, lo, hi, given))
        return out

    def runs(self, inside: list[Interval]) -> list[Interval]:
        """The intervals and their contiguous unions, each with the last block on the way that all its parts need."""
        out: list[Interval] = []
        for start in inside:
            run = start
            out.append(run)
            for _ in range(len(inside)):
                following = next(
                    (i for i in inside if i.lo == run.hi and i.hi != run.hi and self.ordered(i.block, run.block)), None
                )
                if following is None:
                    break
                run = Interval(max(run.block, following.block), run.lo, following.hi, run.given | following.given)
                out.append(run)
        return out

    def ordered(self, a: int, b: int) -> bool:
        return self.nest.dominates(a, b) or self.nest.dominates(b, a)

    # --- loops that count ----------------------------------------------------------------------------------------

    def by_count(self, loop: Loop, interval: Interval, found: dict[Edge, list[Interval]]) -> None:
        lo, hi, block = interval.lo, interval.hi, interval.block
        if not all(self.nest.dominates(block, latch) for latch in loop.latches):
            return
        k = self.symbols.count(loop.number)
        inner = self.symbols.inner[loop.number]
        for p in (lo, hi):
            if any(s != k and self.symbols.table[s].scope & inner for s in p.symbols()):
                return

        def at(p: Poly, count: Poly) -> Poly:
            return p.substitute(lambda s: count if s == k else None)

        following = symbol(k) + ONE
        up = at(lo, following) == hi
        if not up and at(hi, following) != lo:
            return
        length = hi - lo
        given = self.outside(loop, interval.given)
        if given is None:
            return
        for edge in loop.exits:
            whole = self.nest.dominates(block, edge[0])
            for trips, exact in self.trip_counts(loop, edge):
                if whole:
                    trips = trips + ONE
                needed = given if exact else self.requiring(loop, given, trips, length)
                if up:
                    first, last = at(lo, number(0)), at(lo, trips)
                else:
                    first, last = at(hi, trips), at(hi, number(0))
                found[edge].append(Interval(loop.header, first, last, needed))

    def trip_counts(self, loop: Loop, edge: Edge) -> list[tuple[Poly, bool]]:
        """What the iteration number can be called when the loop is left by ``edge``; whether it is just that.

        The exit symbol itself, and t where the exit condition says that it is max(0, t): then an interval of t times a
        length is that of the loop, or empty, unless both t and the length are negative.
        """
        k = self.symbols.count(loop.number)
        out = [(self.symbols.leave(symbol(k), loop.number), True)]
        nominal = nominal_trips(self.graph, self.nest, self.values, loop, edge)
        if nominal is not None:
            out.append((nominal, self.symbols.is_nonneg(nominal)))
        return out

    def by_digits(self, loop: Loop, found: dict[Edge, list[Interval]]) -> None:
        """Loops inside one another, in any order."""
        for lo, hi, pairs in interchanged(self, loop):
            given: Pairs = frozenset()
            for trips, others in pairs:
                given = self.requiring(loop, given, trips, others)
            for edge in loop.exits:
                found[edge].append(Interval(loop.header, lo, hi, given))

    def by_bounds(self, loop: Loop, intervals: list[Interval]) -> None:
        """The intervals told by what ends the loops inside: where they run max(0, t) turns, by t instead.

        It is the same where t is not negative; else it is shorter, unless more turns would make it so.  Only of what
        begins at one place in all turns of the loop around, or behind loops in the same turn: else it is part of what
        that one writes.
        """
        around = self.symbols.inner[loop.parent] if loop.parent >= 0 else frozenset[int]()
        ends = [(self.symbols.resolve(i.lo), self.symbols.resolve(i.hi)) for i in intervals]
        told = set(ends)
        for interval, (lo, hi) in zip(list(intervals), ends, strict=True):
            given = interval.given
            if any(self.symbols.table[s].scope & around and self.bound(s) is None for s in lo.symbols()):
                continue
            for s in sorted(set(hi.symbols()) - set(lo.symbols())):
                trips, factor = self.bound(s), hi.coefficient_of(s)
                if trips is not None and factor is not None:
                    given = given if self.symbols.is_nonneg(trips) else self.requiring(loop, given, trips, factor)
                    hi = hi + factor * (trips - symbol(s))
            ways = [Interval(interval.block, lo, hi, given), self.behind(loop, interval.block, lo, hi, given)]
            for way in ways:
                if way is None or (way.lo, way.hi) in told:
                    continue
                told.add((way.lo, way.hi))
                self.bounded = True
                if self.bounds:
                    intervals.append(way)

    def behind(self, loop: Loop, block: int, lo: Poly, hi: Poly, given: Pairs) -> Interval | None:
        """The interval after what earlier loops wrote, its beginning told by their ends, too: ``p`` went on there.

        Where each of them runs t turns, and not 0 instead of less, it is the same place.  Else nothing may be said of
        another one: the length has to be t for each of them, multiplied with a number that is not negative; of two t
        one is not negative, so that the interval is empty.
        """
        trips = {s: t for s in sorted(set(lo.symbols())) if (t := self.bound(s)) is not None}
        unsure = [t for t in dict.fromkeys(trips.values()) if not self.symbols.is_nonneg(t)]
        times: Poly | None = hi - lo
        if not trips or any(self.bound(s) is not None for s in (hi - lo).symbols()):
            return None
        for t in unsure:
            times = None if times is None else times.quotient(t)
        if times is None or (unsure and not self.symbols.is_nonneg(times)):
            return None
        for t, other in combinations(unsure, 2):
            given = self.requiring(loop, given, t, other)
        first = self.symbols.resolve(lo.substitute(trips.get))
        return Interval(block, first, first + hi - lo, given)

    def bound(self, s: int) -> Poly | None:
        """t, where the symbol is how often a loop has run: max(0, t)."""
        return turns_made(self.graph, self.nest, self.values, s)

    def requiring(self, loop: Loop, given: Pairs, trips: Poly, length: Poly) -> Pairs:
        """``given``, and that not both ``trips`` and ``length`` are negative."""
        if self.symbols.is_nonneg(length):
            return given
        varies = self.symbols.scope(length) & self.symbols.inner[loop.number]
        pair = (trips, trips if varies else length)
        if sum(self.negative(loop, p) for p in _sizes(pair)) > 1:
            return given | {pair}
        self.signs = True
        return given if self.assume_signs else given | {pair}

    def negative(self, loop: Loop, size: Poly) -> bool:
        """The program itself gives it a negative number, as far as that is known where the loop is come to."""

        def nonneg(p: Poly) -> bool:
            return self.facts is not None and self.facts.at(loop.header).nonneg(p)

        return negative(self.graph, self.values, size, nonneg)

    def outside(self, loop: Loop, given: Pairs) -> Pairs | None:
        """The conditions as they hold after the loop; None where they vary from turn to turn."""
        inner = self.symbols.inner[loop.number]
        return None if any(self.symbols.scope(p) & inner for pair in given for p in pair) else given

    # --- loops that append ---------------------------------------------------------------------------------------

    def by_counter(self, loop: Loop, phi: HeaderPhi, inside: list[Interval], found: dict[Edge, list[Interval]]) -> None:
        for scale, shift in self.places(loop, phi, inside):

            def place(value: Poly, scale: int = scale, shift: Poly = shift) -> Poly:
                return value.scaled(scale) + shift

            chain = _Chain(self, loop, phi, place, [i for i in inside if self.outside(loop, i.given) is not None])
            if not all(chain.covers(value, latch) for latch, value in phi.latches):
                continue
            for edge in loop.exits:
                value = self.at_exit(phi, edge)
                if value is None or not chain.covers(value, edge[0]):
                    value = symbol(phi.symbol)
                end = self.symbols.leave(value, loop.number)
                given = frozenset(chain.given)
                found[edge].append(Interval(loop.header, place(phi.init), place(end), given))
                if value == symbol(phi.symbol):
                    ends = [place(phi.init + added) for added in self.counted(loop, phi)]
                    found[edge] += [Interval(loop.header, place(phi.init), hi, given) for hi in ends]

    def counted(self, loop: Loop, phi: HeaderPhi) -> list[Poly]:
        """Numbers from loops before this one that the counter has grown by, or by more, when its loop has been left."""
        out: list[Poly] = []
        for added, sizes in () if self.sums is None else self.sums.not_more(phi):
            if any(self.negative(loop, p) for p in sizes):
                continue
            self.signs = self.signs or bool(sizes)
            if self.assume_signs or not sizes:
                out.append(added)
        return out

    def at_exit(self, phi: HeaderPhi, edge: Edge) -> Poly | None:
        value = self.values.out.at_end(edge[0], phi.cell)
        if value is None:
            return None
        _, base = self.values.cells[phi.symbol]
        if base >= 0:
            return self.symbols.offset(value) if self.symbols.base(value) == base else None
        return value

    def places(self, loop: Loop, phi: HeaderPhi, inside: list[Interval]) -> list[tuple[int, Poly]]:
        """Ways in which a write's start depends on the counter: (bytes per count, offset)."""
        related = {phi.symbol}
        for _, value in phi.latches:
            related |= self.related(value, loop)
        inner = self.symbols.inner[loop.number]
        out: list[tuple[int, Poly]] = []
        for interval in inside:
            for s in sorted(related):
                scale = interval.lo.coefficient(s)
                shift = interval.lo - symbol(s).scaled(scale)
                if scale <= 0 or any(self.symbols.table[x].scope & inner for x in shift.symbols()):
                    continue
                if (scale, shift) not in out:
                    out.append((scale, shift))
        return out[:8]

    def related(self, value: Poly, loop: Loop) -> set[int]:
        """Symbols of the loop that the counter passes through on its way."""
        out: set[int] = set()
        stack = list(self.symbols.resolve(value).symbols()) + list(value.symbols())
        while stack:
            s = stack.pop()
            if s in out or not self.symbols.table[s].scope & self.symbols.inner[loop.number]:
                continue
            out.add(s)
            for incoming in self.incoming(s):
                stack.extend(incoming.symbols())
        return out

    def incoming(self, s: int) -> list[Poly]:
        info = self.symbols.table[s]
        if info.kind == "phi":
            block = info.key[0]
            assert isinstance(block, int)
            for number_, values in self.values.phis.get(block, ()):
                if number_ == s:
                    return list(values)
        if info.kind == "exit":
            inner_loop, inside = info.key
            assert isinstance(inner_loop, int)
            assert isinstance(inside, int)
            return [h.init for h in self.values.headers.get(inner_loop, []) if h.symbol == inside]
        return []


class _Chain:
    """Whether the bytes between a counter's value at the header and a later one in the iteration are written."""

    def __init__(self, telescope: Telescope, loop: Loop, phi: HeaderPhi, place: object, inside: list[Interval]) -> None:
        self.t = telescope
        self.loop = loop
        self.phi = phi
        self.place = place
        self.inside = inside
        self.given: set[tuple[Poly, Poly]] = set()

    def covers(self, value: Poly, block: int) -> bool:
        """Bytes from the header's place to ``value``'s are written on every path to the end of ``block``."""
        assert callable(self.place)
        work: list[tuple[Poly, int]] = [(value, block)]
        seen: set[tuple[Poly, int]] = set()
        while work:
            value, block = work.pop()
            if (value, block) in seen:
                continue
            seen.add((value, block))
            if value == symbol(self.phi.symbol):
                continue
            earlier = self.before(value, block)
            if earlier is None:
                return False
            work.extend(earlier)
            if len(seen) > 200:
                return False
        return True

    def before(self, value: Poly, block: int) -> list[tuple[Poly, int]] | None:
        """Earlier values from whose place to this one's everything is written; None when there are none."""
        assert callable(self.place)
        s = value.single
        if s is not None:
            info = self.t.symbols.table[s]
            if info.kind == "phi" and info.key[0] in self.loop.blocks:
                at = info.key[0]
                assert isinstance(at, int)
                for number_, values in self.t.values.phis.get(at, ()):
                    if number_ == s:
                        return list(zip(values, self.merged(at), strict=True))
        # a write, or an inner loop, that ends at this place and is passed on the way
        end = self.t.symbols.resolve(self.place(value))
        for interval in self.inside:
            if interval.hi == end and self.t.nest.dominates(interval.block, block):
                start = self.counter_at(interval.lo)
                if start is not None and start != value:
                    self.given |= interval.given
                    return [(start, block)]
        return None

    def merged(self, block: int) -> list[int]:
        preds = self.t.graph.preds[block]
        return [p for p in preds if p in self.t.values.out]

    def counter_at(self, lo: Poly) -> Poly | None:
        """The counter value whose place is ``lo``."""
        assert callable(self.place)
        shift = self.place(number(0))
        scale = self.place(ONE) - shift
        size = scale.constant
        difference = lo - shift
        if not size or any(c % size for _, c in difference.terms):
            return None
        return self.unresolved(Poly(tuple((m, c // size) for m, c in difference.terms)))

    def unresolved(self, value: Poly) -> Poly:
        resolved = self.t.symbols.resolve(symbol(self.phi.symbol))
        return symbol(self.phi.symbol) if value == resolved else value
