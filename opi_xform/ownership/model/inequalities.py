"""What holds where a node runs, and inequalities that follow from it.

Facts are polynomials that are not negative: conditions that every path to the node has passed, and iteration numbers.
A proof takes multiples of facts away until only terms are left of which none can be negative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opi_xform.ir.comparisons import NEGATED
from opi_xform.memory.poly import ONE, Monomial, Poly, number, symbol
from opi_xform.memory.symbols import Symbols
from opi_xform.once import once_each
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.object_index import index_of
from opi_xform.values.trip_counts import stays, turns

STEPS = 400  # of one proof: what is not found by then is not proved
MORE_FACTORS = 2
"""By how many factors products in a proof may be longer than those of the facts and of what is proved.  A fact with a
constant takes a term away and leaves a longer one, for ever; each step would take longer than the one before."""
DIVIDED = frozenset({"%", "/", "&", ">>"})
"""What one of these gives is 0 where the first operand is."""


def facts_at(program: Program, n: int) -> tuple[Poly, ...]:
    """Polynomials that are not negative whenever the node runs."""
    graph, values, nest = program.graph, program.values, program.nest
    guarded = index_of(program).guarded
    out: list[Poly] = [symbol(values.symbols.count(loop)) for loop in nest.chain(graph.nodes[n].block)]
    block = guarded[graph.nodes[n].block]
    while block > 0:
        out.extend(_entering(program, block))
        block = guarded[nest.idom[block]]
    for loop in nest.chain(graph.nodes[n].block):
        out.extend(of_turns(program, loop))
    return tuple(dict.fromkeys(out))


@once_each
def _entering(program: Program, block: int) -> tuple[Poly, ...]:
    """What the comparison tells by whose outcome a block is reached."""
    graph, parent = program.graph, program.nest.idom[block]
    told = of_condition(program, graph.blocks[parent][-1], graph.succs[parent][0] == block)
    return tuple(told or unequal(program, parent, block))


@once_each
def of_turns(program: Program, loop: int) -> tuple[Poly, ...]:
    """What holds in each turn of a loop that asks at the end of a turn whether there is another one: ``do … while (i <
    n)``.  It was asked after the turn before; and in the first turn it is so by what holds where the loop begins.
    """
    graph, values, nest = program.graph, program.values, program.nest
    found = nest.loops[loop]
    if len(found.latches) != 1 or nest.irreducible:
        return ()
    (last,) = found.latches
    leaving = [edge for edge in found.exits if edge[0] == last]
    if len(leaving) != 1 or len(graph.succs[last]) != 2 or not graph.blocks[last]:
        return ()
    condition = values.conditions.get(graph.blocks[last][-1])
    if condition is None or condition.unsigned or stays(graph, nest, values, found, leaving[0]) is None:
        return ()
    k = values.symbols.count(loop)
    out = []
    for p in of_condition(program, graph.blocks[last][-1], graph.succs[last][0] == found.header):
        if any(values.symbols.table[s].scope & values.symbols.inner[loop] for s in p.symbols() if s != k):
            return ()
        first, before = p.substitute({k: -ONE}.get), p.substitute({k: symbol(k) - ONE}.get)
        begin = [f for f in _before(program, found.header) if f.constant is None]
        counts = frozenset(values.symbols.count(outer) for outer in nest.chain(found.header))
        if first.constant is not None:
            known = first.constant >= 0
        else:
            known = Prover(begin, counts).proves(first)
        if known:
            out.append(before)
    return tuple(out)


def _before(program: Program, header: int) -> list[Poly]:
    """What comparisons tell wherever a loop begins."""
    graph, nest, guarded = program.graph, program.nest, index_of(program).guarded
    out: list[Poly] = []
    block = guarded[header]
    while block > 0:
        parent = nest.idom[block]
        out.extend(of_condition(program, graph.blocks[parent][-1], graph.succs[parent][0] == block))
        block = guarded[parent]
    return out


def unequal(program: Program, test: int, block: int) -> list[Poly]:
    """What ``i != n`` tells after it in each turn of a loop that it ends: no more turns than come to ``n``.

    Only where ``n`` is not negative: else a loop that is left in another way as well may run longer.
    """
    graph, values, nest = program.graph, program.values, program.nest
    out = []
    for number_ in nest.chain(test):
        loop = nest.loops[number_]
        for edge in loop.exits:
            if edge[0] != test or block not in loop.blocks or len(graph.succs[test]) != 2:
                continue
            found = stays(graph, nest, values, loop, edge)
            trips = turns(values, loop, *found) if found is not None and found[0] == "!=" else None
            if trips is not None and _plain(program, values.symbols.resolve(trips)):
                out.append(values.symbols.resolve(trips) - ONE - symbol(values.symbols.count(number_)))
    return out


def of_condition(program: Program, last: int, holds: bool) -> list[Poly]:
    """What a comparison tells where it holds, or does not: polynomials that are not negative."""
    condition = program.values.conditions[last]
    symbols = program.values.symbols
    left, right = symbols.resolve(condition.left), symbols.resolve(condition.right)
    if any(symbols.table[s].kind == "object" for s in (left - right).symbols()):
        return []
    if condition.unsigned and not all(_plain(program, p) for p in (left, right)):
        return []
    op = condition.op if holds else NEGATED[condition.op]
    difference = left - right
    match op:
        case "<":
            return [-difference - ONE]
        case "<=":
            return [-difference]
        case ">":
            return [difference - ONE]
        case ">=":
            return [difference]
        case "==":
            return [difference, -difference]
        case _:
            return []


def _plain(program: Program, p: Poly) -> bool:
    """A number by itself, that is not negative: nothing that may have wrapped."""
    if p.constant is not None:
        return p.constant >= 0
    s = p.single
    return s is not None and program.values.symbols.table[s].nonneg


class Prover:
    """Proves that polynomials are not negative, from facts.

    Only facts count that have to do with a polynomial: that share a number with it, or with another fact that does.
    The others can always be met by some values of their own numbers, so they tell nothing of it (but where they
    contradict one another, and the node does not run).
    """

    def __init__(self, facts: Sequence[Poly], counts: frozenset[int], limit: int = STEPS) -> None:
        """counts: symbols that are never negative, whatever the facts.  limit: steps of one proof."""
        self.facts = [f for f in facts if f.constant is None]
        self.counts = counts
        self.limit = limit
        self.groups = _groups(self.facts)
        self.parts: dict[frozenset[int], _Part] = {}

    def proves(self, p: Poly) -> bool:
        """p >= 0 follows from the facts."""
        wanted = frozenset(self.groups[s] for s in p.symbols() if s in self.groups)
        part = self.parts.get(wanted)
        if part is None:
            mine = [f for f in self.facts if self.groups[next(iter(f.symbols()))] in wanted]
            part = self.parts[wanted] = _Part(mine, self.counts, self.limit)
        return part.proves(p)


def _groups(facts: Sequence[Poly]) -> dict[int, int]:
    """A number for each symbol of facts: the same for two that one fact is of, and so on."""
    leads: dict[int, int] = {}

    def last(s: int) -> int:
        while leads.setdefault(s, s) != s:
            s = leads[s]
        return s

    for fact in facts:
        first, *others = fact.symbols()
        for s in others:
            leads[last(s)] = last(first)
        last(first)
    return {s: last(s) for s in leads}


class _Part:
    """Proves it from facts that all have to do with one another, or with what is proved."""

    def __init__(self, facts: Sequence[Poly], counts: frozenset[int], limit: int) -> None:
        self.limit = limit
        self.facts = facts
        self.lengths = [_length(f) for f in facts]
        self.most = 0  # factors of a product in the proof under way
        self.terms: dict[Monomial, list[tuple[int, int, int]]] = {}  # facts' terms: of which fact, the how many-th, c
        for i, fact in enumerate(self.facts):
            for j, (m, a) in enumerate(fact.terms):
                self.terms.setdefault(m, []).append((i, j, a))
        self.products: dict[int, list[Monomial]] = {}  # those of these terms, by their first factor (-1: none)
        for m in self.terms:
            self.products.setdefault(m[0] if m else -1, []).append(m)
        self.nonneg: set[int] = set(counts)
        self.steps = 0
        self.known: dict[Poly, bool] = {}
        self.wanted: set[int] = set()  # what a proof would have gone another way with, were it not negative
        failed: dict[int, set[int]] = {}
        changed = True
        while changed:
            changed = False
            for s in sorted({s for f in self.facts for s in f.symbols()} - self.nonneg):
                if s in failed and self.nonneg.isdisjoint(failed[s]):
                    continue  # the same steps, to the same end
                self.wanted = failed[s] = set()
                if self.proved(symbol(s)):
                    self.nonneg.add(s)
                    changed = True

    def proves(self, p: Poly) -> bool:
        """p >= 0 follows from the facts."""
        found = self.known.get(p)
        if found is None:
            found = self.known[p] = self.proved(p)
        return found

    def proved(self, p: Poly) -> bool:
        """p >= 0 follows from the facts and from the numbers that are known not to be negative so far."""
        self.steps = 0
        self.most = max(_length(p), *self.lengths, 0) + MORE_FACTORS
        seen: set[Poly] = set()
        stack = [p]
        while stack and self.steps < self.limit:
            p = stack.pop()
            if p in seen:
                continue
            seen.add(p)
            self.steps += 1
            term = self.problem(p)
            if term is None:
                return True
            monomial, c = term
            if monomial == () and len(p.terms) == 1:
                continue
            stack.extend(reversed(self.without(p, monomial, c)))
        return False

    def problem(self, p: Poly) -> tuple[Monomial, int] | None:
        """A term that may be negative; one that is no number before one that is."""
        found = []
        for m, c in p.terms:
            if c < 0:
                found.append((m, c))
            elif not self.nonneg.issuperset(m):
                found.append((m, c))
                self.wanted.update(s for s in m if s not in self.nonneg)
        return max(found, key=lambda t: (len(t[0]), t[0])) if found else None

    def without(self, p: Poly, monomial: Monomial, c: int) -> list[Poly]:
        """What is left to prove when a fact times something that is not negative takes the term away."""
        found: list[tuple[int, int, int, Monomial]] = []
        for m in (m for s in (-1, *dict.fromkeys(monomial)) for m in self.products.get(s, ())):
            rest = quotient(monomial, m)
            if rest is None:
                continue
            if self.nonneg.issuperset(rest):
                room = self.most - len(rest)
                facing = ((i, j, a) for i, j, a in self.terms[m] if (a > 0) == (c > 0))
                found += [(i, j, a, rest) for i, j, a in facing if self.lengths[i] <= room]
            else:
                self.wanted.update(s for s in rest if s not in self.nonneg)
        out = []
        for i, _, a, rest in sorted(found):
            fact = self.facts[i] * Poly(((rest, 1),)) if rest else self.facts[i]
            out.append((p if a in (1, -1) else p.scaled(abs(a))) - (fact if c in (1, -1) else fact.scaled(abs(c))))
        return sorted(out, key=lambda q: len(q.terms))


def _length(p: Poly) -> int:
    """How many factors its longest product has."""
    return max((len(m) for m, _ in p.terms), default=0)


def quotient(monomial: Monomial, by: Monomial) -> Monomial | None:
    """The product without some of its factors; None when it has not all of them."""
    rest = list(monomial)
    for s in by:
        if s not in rest:
            return None
        rest.remove(s)
    return tuple(rest)


def divided(p: Poly, by: Poly) -> Poly | None:
    """The polynomial q with p = q * by, coefficients whole; None when there is none."""
    if not by.terms:
        return None
    m, c = max(by.terms, key=lambda t: (len(t[0]), t[0]))
    out = number(0)
    while p.terms:
        top, a = max(p.terms, key=lambda t: (len(t[0]), t[0]))
        rest = quotient(top, m)
        if rest is None or a % c:
            return None
        one = Poly(((rest, a // c),))
        out = out + one
        p = p - one * by
    return out


def not_zero(symbols: Symbols, difference: Poly) -> Iterator[Poly]:
    """What is not 0 where a number is not: ``id`` where ``id % n`` is not, or where ``id & mask`` is not ``id``."""
    yield difference
    for s in set(difference.symbols()):
        info = symbols.table[s]
        if info.kind != "op" or info.key[0] not in DIVIDED or info.key[1]:  # an unsigned number may have wrapped
            continue
        parts = info.key[2]
        assert isinstance(parts, tuple)
        for p in [symbols.resolve(part) for part in (parts if info.key[0] == "&" else parts[:1])]:
            for sign in (1, -1):
                if difference.scaled(sign) == symbol(s) or difference.scaled(sign) == symbol(s) - p:
                    yield p
