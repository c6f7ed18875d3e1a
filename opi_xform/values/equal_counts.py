"""Two loops that count the same: what one of them added up is what the other one adds up.

One function adds up how many elements there will be: ``for (c…) if (has[c]) total += ny[c] * nz[c] * 2;``.  Another
one packs them, ``for (c…) if (has[c]) for (k…) for (j…) for (i = 0; i < 2; i++) buf[n++] = …``, and sends ``total`` of
them.  No closed form tells either number.  Yet both loops run as often, under the same conditions, with the same steps:
each step is written in terms of the loop's own number of turns, and of memory that is the same in both.

A loop inside that runs max(0, t) turns counts as t turns.  Where that makes a step smaller than it is, no more is said
than is so.  It makes it larger only where two numbers that are multiplied are negative (assumption A3).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import Loop, LoopNest
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import NEGATED
from opi_xform.memory.least import way, wraps
from opi_xform.memory.poly import ONE, ZERO, Poly, number, symbol
from opi_xform.memory.symbols import WRAPS
from opi_xform.memory.values import Comparison, HeaderPhi, Values
from opi_xform.record import dataclass
from opi_xform.values.trip_counts import nominal_trips

MOST_STEPS, MOST_LOOPS, MOST_LEVELS = 32, 4, 6

Guard = tuple[str, Poly]
Form = tuple[object, ...]  # a value told by what it is made of, the loop's own number of turns without a name


@dataclass(frozen=True, slots=True)
class Step:
    """In a turn in which all ``guards`` hold (difference, operator: with zero), ``factor`` times max(0, t) for each of
    ``turns`` is added.
    """

    guards: frozenset[Guard]
    factor: Poly
    turns: tuple[Poly, ...] = ()

    @property
    def nominal(self) -> Poly:
        """The same with t for each max(0, t)."""
        out = self.factor
        for t in self.turns:
            out = out * t
        return out


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A condition under which a value that is merged in ``block`` is another one than on the other way there.

    holds: the test that parts the ways holds then.
    """

    guard: Guard
    block: int
    holds: bool


@dataclass(frozen=True, slots=True)
class Total:
    """What a counter is when its loop has been left, beyond what it was before: ``added``.

    form: how often the loop runs, and its steps.  sizes: numbers that are multiplied with one another; if one is
    negative, ``added`` may be less than the steps tell.  exact: it is just what the steps tell.  alone: the number of
    turns of a loop inside may be negative, and is multiplied with none that may be so.
    """

    loop: int
    added: Poly
    form: Form
    sizes: frozenset[Poly]
    exact: bool
    alone: bool


class Sums:
    """The counters of a program that add up what no closed form tells, found when they are asked for."""

    def __init__(self, graph: Graph, nest: LoopNest, values: Values) -> None:
        self.graph = graph
        self.nest = nest
        self.values = values
        self.symbols = values.symbols
        self.ends: dict[tuple[int, bool], frozenset[int]] = {}  # see ``ending``

    def not_more(self, phi: HeaderPhi) -> list[tuple[Poly, frozenset[Poly]]]:
        """Numbers that are not more than what the counter has grown by when its loop has been left, each with the sizes
        that must not be negative.  Only numbers that are known whenever the loop is come to.
        """
        mine = self.total(phi)
        if mine is None:
            return []
        header = self.nest.loops[phi.loop].header
        out: list[tuple[Poly, frozenset[Poly]]] = []
        for other in self.by_form.get(mine.form, ()):
            if other.loop in self.nest.chain(header) or not other.exact:
                continue
            if self.known_at(other.added, self.nest.loops[other.loop].header, header):
                out.append((other.added, mine.sizes))
            for block, s in self.meeting.get(other.added, ()):
                if self.known_at(symbol(s), block, header):
                    out.append((symbol(s), mine.sizes))
        return out

    def not_less(self, phi: HeaderPhi) -> list[tuple[Poly, frozenset[Poly], Otherwise | None]]:
        """Numbers that are not less than what the counter has grown by when its loop has been left, each with the sizes
        that must not be negative, and with the condition under which it need not be so.  As for ``not_more``.
        """
        mine = self.total(phi)
        if mine is None or mine.alone:
            return []
        header = self.nest.loops[phi.loop].header
        out: list[tuple[Poly, frozenset[Poly], Otherwise | None]] = []
        for other in self.by_form.get(mine.form, ()):
            if other.loop in self.nest.chain(header) or not other.exact:
                continue
            if self.known_at(other.added, self.nest.loops[other.loop].header, header):
                out.append((other.added, mine.sizes, None))
            for block, s in self.meeting.get(other.added, ()):
                found = self.another(block, s, other.added)
                if found is not None and all(self.known_at(p, block, header) for p in (symbol(s), found.guard[1])):
                    out.append((symbol(s), mine.sizes, found))
        return out

    def another(self, block: int, s: int, value: Poly) -> Otherwise | None:
        """The condition under which what is merged there is another number than ``value``."""
        found = self.ways(block, s)
        if found is None:
            return None
        test, holds, fails = found
        difference = self.symbols.resolve(test.left - test.right)
        if (holds == value) == (fails == value):
            return None
        if any(self.symbols.table[x].kind == "object" for x in difference.symbols()):
            return None
        op = NEGATED[test.op] if holds == value else test.op
        return Otherwise((op, difference), block, holds != value)

    def coming(self, other: Otherwise, s: int, header: int) -> Poly | None:
        """What a number is where the condition holds, if it is merged in the same block; before ``header`` runs."""
        if not self.known_at(symbol(s), other.block, header):
            return None
        found = self.ways(other.block, s)
        if found is None:
            return None
        _, holds, fails = found
        return holds if other.holds else fails

    def known_at(self, value: Poly, made: int, header: int) -> bool:
        """The value, which block ``made`` or the loop that begins there makes, has been made in the same turns."""
        around = frozenset(self.nest.chain(header)) - {self.nest.of[header]}
        return self.symbols.scope(value) <= around and made != header and self.nest.dominates(made, header)

    @cached_property
    def meeting(self) -> Mapping[Poly, list[tuple[int, int]]]:
        """By what a counter has grown: values that are this number, or zero or less, by the way that was taken; with
        the blocks where these ways meet.
        """
        totals = {total.added for found in self.by_form.values() for total in found}
        out: dict[Poly, list[tuple[int, int]]] = {}
        for block, found in self.values.phis.items():
            for s, incoming in found:
                numbers = {p for p in map(self.symbols.resolve, incoming) if p.constant is None or p.constant > 0}
                if len(numbers) == 1 and numbers <= totals:
                    out.setdefault(next(iter(numbers)), []).append((block, s))
        return out

    @cached_property
    def by_form(self) -> Mapping[Form, list[Total]]:
        out: dict[Form, list[Total]] = {}
        if self.graph.cyclic:
            return out  # a loop may run in several levels at once
        for loop in sorted(self.values.headers):
            for phi in self.values.headers[loop] if loop in self.symbols.exits else ():
                total = self.total(phi)
                if total is not None:
                    out.setdefault(total.form, []).append(total)
        return out

    def total(self, phi: HeaderPhi) -> Total | None:
        """What is added to a counter in all turns of its loop; None: not known, or a closed form tells it."""
        loop = self.nest.loops[phi.loop]
        left = self.symbols.known("exit", phi.loop, phi.symbol)
        if phi.cell[0] in ("v", "t") or phi.symbol in self.symbols.defs or left is None:
            return None
        trips = self.trips(loop)
        steps = self.steps(phi, MOST_LOOPS)
        if trips is None or steps is None:
            return None
        by_guards: dict[object, Poly] = {}
        sizes: set[Poly] = set()
        exact, alone = True, False
        for step in steps:
            numbers = (step.factor, *step.turns)
            unknown = [p for p in numbers if not self.symbols.is_nonneg(p)]
            large = {s for p in numbers for s in p.symbols() if self.large(s)}
            marks = large & self.ending(phi.loop, False) if large else large
            unsure = bool(marks) or any(p in unknown for p in step.turns)
            exact = exact and not unsure
            if step.turns and (step.factor.constant or 0) < 0:
                return None
            if step.turns and len(unknown) > 1:
                sizes.update(unknown)
            alone = alone or (unsure and len(unknown) < 2)
            forms = [self.guard(guard, loop) for guard in step.guards]
            if None in forms:
                return None
            guards = frozenset(forms)
            by_guards[guards] = by_guards.get(guards, ZERO) + step.nominal
        told = [(guards, self.form(p, loop, 0)) for guards, p in by_guards.items() if p.terms]
        turns = self.form(trips, loop, 0)
        if turns is None or any(form is None for _, form in told):
            return None
        added = self.symbols.resolve(symbol(left) - phi.init)
        return Total(phi.loop, added, (turns, frozenset(told)), frozenset(sizes), exact, alone)

    def trips(self, loop: Loop) -> Poly | None:
        """t, where the loop runs max(0, t) turns."""
        if len(loop.exits) != 1:
            return None
        found = nominal_trips(self.graph, self.nest, self.values, loop, loop.exits[0])
        return None if found is None else self.symbols.resolve(found)

    def ending(self, number_: int, unsigned: bool) -> frozenset[int]:
        """Numbers of unsigned types that tell how often loops inside run, where these take them for unsigned ones, or
        for signed ones: ``k < (int)u`` holds for no k where u is a mark for none, ``UINT_MAX``.
        """
        key = (number_, unsigned)
        if key not in self.ends:
            out: set[int] = set()
            for inside in sorted(self.symbols.inner[number_]):
                trips = self.trips(self.nest.loops[inside])
                if trips is not None and self.unsigned(self.nest.loops[inside]) == unsigned:
                    out.update(filter(self.large, trips.symbols()))
            self.ends[key] = frozenset(out)
        return self.ends[key]

    def unsigned(self, loop: Loop) -> bool:
        """The comparison that ends a loop is one of unsigned numbers."""
        inside, _ = loop.exits[0]
        return self.values.conditions[self.graph.blocks[inside][-1]].unsigned

    def not_negative(self, value: Poly, number_: int) -> bool:
        """Provably so, also where a number of an unsigned type becomes one of a signed type in the loop: nobody counts
        up to ``UINT_MAX``.
        """
        large = frozenset(filter(self.large, self.symbols.resolve(value).symbols()))
        if large and not large <= self.ending(number_, True) - self.ending(number_, False):
            return False
        return self.symbols.is_nonneg(value)

    # --- the steps of one turn -----------------------------------------------------------------------------------

    def steps(self, phi: HeaderPhi, levels: int) -> list[Step] | None:
        """What one turn adds; None where it is not known."""
        if len(phi.latches) != 1 or not levels:
            return None
        loop = self.nest.loops[phi.loop]
        value = self.symbols.resolve(phi.latches[0][1])
        out: list[Step] = []
        for _ in range(MOST_STEPS):
            through = [s for s in value.symbols() if self.passes(s, phi)]
            if len(through) != 1 or value.coefficient_of(through[0]) != ONE:
                return None
            found = self.expanded(value - symbol(through[0]))
            if found is None:
                return None
            out += found
            if through[0] == phi.symbol:
                return out
            back = self.before(through[0], loop, levels)
            if back is None:
                return None
            value, found = back
            out += found
        return None

    def passes(self, s: int, phi: HeaderPhi) -> bool:
        """The counter may come through this symbol on its way in the turn."""
        info, loop = self.symbols.table[s], self.nest.loops[phi.loop]
        if s == phi.symbol:
            return True
        if info.kind == "phi" and info.key[1] == phi.cell:
            return info.key[0] in loop.blocks
        if info.kind != "exit":
            return False
        number_, inside = info.key
        assert isinstance(number_, int)
        assert isinstance(inside, int)
        of = self.symbols.table[inside]
        return number_ in self.symbols.inner[phi.loop] and of.kind == "phi" and of.key[1] == phi.cell

    def before(self, s: int, loop: Loop, levels: int) -> tuple[Poly, list[Step]] | None:
        """The value in front of a branch, or of a loop inside, after which the symbol stands; and what came to it."""
        info = self.symbols.table[s]
        if info.kind == "phi":
            return self.around_branch(s, loop)
        number_, inside = info.key
        assert isinstance(number_, int)
        within = self.nest.loops[number_]
        phi = next((h for h in self.values.headers.get(number_, ()) if h.symbol == inside), None)
        trips = self.trips(within)
        if phi is None or trips is None or within.parent != loop.number:
            return None
        steps = self.steps(phi, levels - 1)
        inner = self.symbols.inner[number_]
        if steps is None or any(self.varies(step, inner) for step in steps):
            return None
        times = number(max(0, trips.constant)) if trips.constant is not None else trips
        if times.constant is not None:
            repeated = [Step(step.guards, step.factor * times, step.turns) for step in steps]
        else:
            repeated = [Step(step.guards, step.factor, (*step.turns, times)) for step in steps]
        return self.symbols.resolve(phi.init), repeated

    def varies(self, step: Step, inner: frozenset[int]) -> bool:
        values = [step.factor, *step.turns, *(p for _, p in step.guards)]
        return any(self.symbols.scope(p) & inner for p in values)

    def around_branch(self, s: int, loop: Loop) -> tuple[Poly, list[Step]] | None:
        """``if (…) n += d;``: n in front of it, and d, under the condition."""
        block = self.symbols.table[s].key[0]
        assert isinstance(block, int)
        if self.nest.of[block] != loop.number or block == loop.header:
            return None
        parted = self.ways(block, s)
        if parted is None:
            return None
        test, holds, fails = parted
        op, difference = test.op, self.symbols.resolve(test.left - test.right)
        if holds.single is not None:
            holds, fails, op = fails, holds, NEGATED[op]
        found = self.expanded(holds - fails, frozenset([(op, difference)]))
        return None if found is None else (fails, found)

    def ways(self, block: int, s: int) -> tuple[Comparison, Poly, Poly] | None:
        """What is merged where two ways meet: the comparison that parts them, the value where it holds, and the other
        one.
        """
        above = self.nest.idom[block]
        merged = next((found for phi, found in self.values.phis.get(block, ()) if phi == s), ())
        preds = [p for p in self.graph.preds[block] if p in self.values.out]
        test = self.test(above) if self.nest.of[above] == self.nest.of[block] else None
        if test is None or len(merged) != 2 or len(preds) != 2:
            return None
        ways = [way(self.graph, self.nest, above, block, p) for p in preds]
        if sorted(ways) != [0, 1]:
            return None
        holds, fails = (self.symbols.resolve(merged[ways.index(i)]) for i in (0, 1))
        return test, holds, fails

    def test(self, block: int) -> Comparison | None:
        """The comparison that decides by which of two ways control leaves the block."""
        succs = self.graph.succs[block]
        if len(succs) != 2 or succs[0] == succs[1] or not self.graph.blocks[block]:
            return None
        last = self.graph.blocks[block][-1]
        test = self.values.conditions.get(last)
        if test is None or not isinstance(self.graph.nodes[last].action, ins.Branch):
            return None
        return test if self.told_alike(test) and not wraps(self.graph, self.nest, self.values, test) else None

    def told_alike(self, test: Comparison) -> bool:
        """Whoever compares the same numbers finds the same, however it is written and of whatever type it is.

        Where a number may be ``UINT_MAX`` (a mark for none), ``x < n``, ``x + 1 <= n`` and ``(int)x < (int)n`` differ.
        So it has to stand by itself, as what it is; against a small constant, an equation is the same in all types.
        One of 64 bits that is made narrower somewhere need not be the same there at all.
        """
        left, right = self.symbols.resolve(test.left), self.symbols.resolve(test.right)
        if any(s in self.values.narrowed for s in (*left.symbols(), *right.symbols())):
            return False
        if not any(map(self.large, (*left.symbols(), *right.symbols()))):
            return True
        if any(p.single is None and any(map(self.large, p.symbols())) for p in (left, right)):
            return False
        small = any(p.constant is not None and 0 <= p.constant < WRAPS for p in (left, right))
        return test.unsigned or (test.op in ("==", "!=") and small)

    def large(self, s: int) -> bool:
        """It may be near the end of an unsigned type that sums are not made wider than."""
        info = self.symbols.table[s]
        if not info.nonneg or info.kind == "count":
            return False
        if info.kind == "load":
            size = info.key[3]
            return not isinstance(size, int) or size >= 4
        if info.kind == "exit":
            inside = info.key[1]
            assert isinstance(inside, int)
            return self.large(inside)
        if info.kind == "opaque":  # what a library's table says not to be negative is a length or a number of things
            what = info.key[1]
            return isinstance(what, tuple) and what[0] == "outside"
        return True

    def expanded(self, value: Poly, guards: frozenset[Guard] = frozenset()) -> list[Step] | None:
        """A step, with the numbers of turns of loops inside in it told by what these loops are left at."""
        out: list[Step] = []
        for monomial, c in value.terms:
            factor, turns = number(c), list[Poly]()
            for s in monomial:
                trips = self.left_at(s)
                if trips is None:
                    factor = factor * symbol(s)
                else:
                    turns.append(trips)
            out.append(Step(guards, factor, tuple(turns)))
        return out

    def left_at(self, s: int) -> Poly | None:
        """t, where the symbol is how often a loop has run: max(0, t)."""
        info = self.symbols.table[s]
        if info.kind != "exit":
            return None
        number_, inside = info.key
        assert isinstance(number_, int)
        return self.trips(self.nest.loops[number_]) if inside == self.symbols.count(number_) else None

    # --- forms ---------------------------------------------------------------------------------------------------

    def guard(self, guard: Guard, loop: Loop) -> Form | None:
        """A condition, the same for all ways to write it: ``<`` or an equation, with one sign."""
        op, p = guard
        if any(self.symbols.table[s].kind == "object" for s in p.symbols()):
            return None
        if op in (">", ">="):
            op, p = ("<" if op == ">" else "<="), -p
        if op == "<=":
            op, p = "<", p - ONE
        form, turned = self.form(p, loop, 0), self.form(-p, loop, 0)
        if form is None or turned is None:
            return None
        return (op, form) if op == "<" else (op, min(form, turned, key=repr))

    def form(self, value: Poly, loop: Loop, depth: int) -> Form | None:
        """A value by what it is made of; None where it varies in the loop in a way that has no name outside it."""
        out: list[tuple[str, Form, int]] = []
        for monomial, c in self.symbols.resolve(value).terms:
            parts: list[Form] = []
            for s in monomial:
                part = self.form_of(s, loop, depth)
                if part is None:
                    return None
                parts.append(part)
            parts.sort(key=repr)
            out.append((repr(parts), tuple(parts), c))
        return tuple((parts, c) for _, parts, c in sorted(out, key=lambda item: (item[0], item[2])))

    def form_of(self, s: int, loop: Loop, depth: int) -> Form | None:
        info = self.symbols.table[s]
        inner = self.symbols.inner[loop.number]
        if not info.scope & inner:
            return ("symbol", s)
        if s == self.symbols.count(loop.number):
            return ("turn",)
        divided = info.kind == "op" and info.key[0] in ("/", "%")
        if depth > MOST_LEVELS or not (info.kind == "load" or divided):
            return None
        out: list[object] = [info.kind]
        for part in info.key:
            items = part if isinstance(part, tuple) else (part,)
            for item in items:
                told: object = item
                if isinstance(item, Poly):
                    told = self.form(item, loop, depth + 1)
                    if told is None:
                        return None
                out.append(told)
            out.append(len(items))
        return tuple(out)
