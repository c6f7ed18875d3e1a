"""Whether each access of a buffer lies in the part that its address is made from."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeGuard, cast

from opi_xform.divide.flow import Name, Pointers, Trouble
from opi_xform.divide.layout import Layout, Reading
from opi_xform.divide.mentions import Place, mentions_of
from opi_xform.ir import instr as ins
from opi_xform.memory.accesses import Access
from opi_xform.memory.least import either
from opi_xform.memory.poly import ONE, Poly, number, symbol
from opi_xform.once import once_each
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.inequalities import Prover, facts_at
from opi_xform.ownership.model.object_index import index_of
from opi_xform.values.hull import hulls
from opi_xform.values.trip_counts import turns_made

MOST_TURNS = 4  # facts about turns of loops that are multiplied with one another


class Checking:
    """Whether accesses lie in the part that the mention names which their addresses are made from."""

    def __init__(
        self,
        program: Program,
        flow: Pointers,
        readings: Mapping[Place, Sequence[Reading]],
        layout: Layout,
    ) -> None:
        self.program = program
        self.flow = flow
        self.layout = layout
        self.numbers = {(place, r.node): r.part for place, found in readings.items() for r in found}

    def frees(self, places: Collection[Place]) -> None:
        """It is freed by its own name only, in statements that can be repeated (``places``).  Raises Trouble."""
        for n, argument in index_of(self.program).frees:
            root = freed(self.program, self.flow, n, argument)
            if root is not None and not (is_place(root) and root in places):
                raise Trouble(node_span(self.program, n), "frees it in a way that is not followed")

    def this_life(self, o: int, nodes: Iterable[int]) -> None:
        """Sizes that change from turn to turn of a loop are those of the memory that is there.  Raises Trouble."""
        scope = self.changing(o)
        made = self.program.values.objects.table[o].node
        if not scope:
            return
        for n in nodes:
            if n != made and not self.before(made, n, scope):
                raise Trouble(node_span(self.program, n), "may find memory there that was allocated for another size")

    def changing(self, o: int) -> frozenset[int]:
        """Loops in whose turns the sizes may differ."""
        symbols = self.program.values.symbols
        scope: frozenset[int] = frozenset()
        for at in self.layout.bounds[o]:
            scope |= symbols.scope(at)
        return scope

    def access(self, a: Access) -> None:
        """Raises Trouble."""
        n, symbols = a.node, self.program.values.symbols
        span = node_span(self.program, n)
        if a.lo is None or a.length is None:
            raise Trouble(span, "touches it at a place that is not known, or a number of bytes")
        if self.is_free(n):
            return
        lo, length = symbols.resolve(a.lo), symbols.resolve(a.length)
        roots = self.roots(a)
        if not roots:
            raise Trouble(span, "touches it through a pointer that is not followed")
        for root in roots:
            for part in self.named(root, n):
                self.same_turn(root, part, n, a.object)
                begin, end = self.layout.limits(a.object, part)
                if not stays_inside(self.program, n, (lo, length), (begin, end)):
                    raise Trouble(span, "touches it, and is not known to stay in one part")

    def is_free(self, n: int) -> bool:
        return any(n == node for node, _ in index_of(self.program).frees)

    def roots(self, a: Access) -> list[Place | Name]:
        """What the address of an access was made from; [] when that is not known."""
        action = self.program.graph.nodes[a.node].action
        roots, n = self.flow.roots, a.node
        match action:
            case ins.Load() | ins.Store():
                found = [roots.get((n, 0))]
            case ins.CopyBytes():
                found = [roots.get((n, 0 if a.kind == "W" else 1))]
            case ins.CallInstr():
                symbols = self.program.values.symbols
                args = [symbols.not_null(v) for v in self.program.values.args.get(n, ())]
                found = [
                    roots.get((n, i))
                    for i, v in enumerate(args)
                    if symbols.base(v) == a.object and symbols.offset(v) == a.lo
                ]
            case _:
                found = []
        out = [root for root in found if root is not None]
        return out if len(out) == len(found) else []

    def named(self, root: Place | Name, n: int) -> list[Poly]:
        """The parts that an address at a node may be in."""
        out: dict[Poly, None] = {}
        seen: set[Place | Name] = set()
        work: list[tuple[Place | Name, int]] = [(root, n)]
        while work:
            root, at = work.pop()
            if is_place(root):
                known = self.numbers.get((root, at))
                if known is None:
                    raise Trouble(node_span(self.program, at), "touches it in a way that is not followed")
                out[known] = None
            elif root not in seen:
                seen.add(root)
                work.extend((source, node) for node, source in self.flow.made.get(cast(Name, root), ()))
        return list(out)

    def same_turn(self, root: Place | Name, part: Poly, n: int, o: int) -> None:
        """A part's number, or its size, that changes from turn to turn of a loop is that of this turn.  Raises Trouble.

        Each pointer on the way was set in this turn, or moved on since: of several places that set it, one comes before
        the others and before its use.
        """
        scope = self.program.values.symbols.scope(part) | self.changing(o)
        if not scope:
            return
        seen: set[tuple[Place | Name, int]] = set()
        work = [(root, n)]
        while work:
            root, at = work.pop()
            if is_place(root) or (root, at) in seen:
                continue
            seen.add((root, at))
            setting = self.flow.made.get(cast(Name, root), [])
            first = next((d for d, _ in setting if all(d == m or self.before(d, m, scope) for m, _ in setting)), None)
            if first is None or not self.before(first, at, scope):
                message = "touches it through a pointer that may be one of an earlier turn of the loop"
                raise Trouble(node_span(self.program, n), message)
            work.extend((source, node) for node, source in setting)

    def before(self, a: int, b: int, loops: frozenset[int]) -> bool:
        """Node a runs before node b in each turn of the loops, around both, in which b runs."""
        graph, nest = self.program.graph, self.program.nest
        one, two = graph.nodes[a].block, graph.nodes[b].block
        if any(one not in nest.loops[lp].blocks or two not in nest.loops[lp].blocks for lp in loops):
            return False
        return graph.blocks[one].index(a) < graph.blocks[two].index(b) if one == two else nest.dominates(one, two)


def freed(program: Program, flow: Pointers, n: int, argument: int) -> Place | Name | None:
    """What a node that frees is given, of functions that only free: what the outermost one is called with."""
    root, freeing = flow.roots.get((n, argument)), mentions_of(program).freeing
    at = root
    while at is not None and not is_place(at):
        frame, made = cast(Name, at)[0], flow.made.get(cast(Name, at), [])
        if frame < 0 or program.graph.frames[frame].function not in freeing or len(made) != 1:
            return root
        at = made[0][1]
    return at


def stays_inside(program: Program, n: int, access: tuple[Poly, Poly], part: tuple[Poly, Poly]) -> bool:
    """An access of node n, (begin, length), lies in a part, (begin, end)."""
    (lo, length), (begin, end) = access, part
    start, rest = lo - begin, end - lo - length
    if all(c is not None and c >= 0 for c in (start.constant, rest.constant)):
        return True
    prover = prover_at(program, n, (length - ONE,))
    start, rest = (exits_as_counts(program, prover, p) for p in (start, rest))
    if all(prover.proves(p) or nested_at(program, n).proves(p) for p in (start, rest)):
        return True
    return _in_stretch(program, n, prover, access, part)


def _in_stretch(program: Program, n: int, prover: Prover, access: tuple[Poly, Poly], part: tuple[Poly, Poly]) -> bool:
    """The stretch in which the access lies, in loops over a box or over tiles of it, is inside the part."""
    found = hulls(index_of(program).facts, program.graph.nodes[n].block, *access)
    begin, end = part
    low = any(h.lo is not None and prover.proves(h.lo - begin) for h in found)
    return low and any(h.hi is not None and prover.proves(end - h.hi) for h in found)


def is_place(root: Place | Name) -> TypeGuard[Place]:
    """A mention, no name."""
    return isinstance(root[0], str)


def prover_at(program: Program, n: int, more: Sequence[Poly]) -> Prover:
    symbols = program.values.symbols
    counts = frozenset(info.number for info in symbols.table if info.kind == "count")
    facts = [symbols.resolve(f) for f in (*facts_at(program, n), *more)]
    facts += [*smaller(program, facts), *one_of_numbers(program, facts)]
    return _prover(program, (tuple(f for f in facts if f.constant is None), counts))


@once_each
def _prover(_program: Program, given: tuple[tuple[Poly, ...], frozenset[int]]) -> Prover:
    """Many nodes have the same facts (and counts), and what follows from them depends on nothing else."""
    return Prover(*given)


def smaller(program: Program, facts: Sequence[Poly]) -> list[Poly]:
    """Of numbers in facts that are the smaller one of two: that they are not greater than either."""
    found = (pair for f in facts for pair in either(program.graph, program.nest, program.values, f))
    return [program.values.symbols.resolve(arm - symbol(s)) for s, pair in dict(found).items() for arm in pair]


def one_of_numbers(program: Program, facts: Sequence[Poly]) -> list[Poly]:
    """Of what is one of several numbers, whichever way was taken: that it is none below them and none above."""
    out: list[Poly] = []
    for s in sorted({s for f in facts for s in f.symbols()}):
        known = [program.values.symbols.resolve(v).constant for v in program.values.joins.get(s, ())]
        numbers = [c for c in known if c is not None]
        if numbers and len(numbers) == len(known):
            out += [symbol(s) - number(min(numbers)), number(max(numbers)) - symbol(s)]
    return out


def nested_at(program: Program, n: int) -> Prover:
    """Of what holds at a node that which the loops around it tell, with its products: places in several loops."""
    symbols, nest = program.values.symbols, program.nest
    counts = frozenset(symbols.count(loop) for loop in nest.chain(program.graph.nodes[n].block))
    facts = [symbols.resolve(f) for f in facts_at(program, n)]
    turns = [f for f in dict.fromkeys(facts) if not counts.isdisjoint(f.symbols()) and len(f.terms) > 1]
    turns = [f for f in turns if all(symbols.table[s].kind != "exit" for s in f.symbols())][:MOST_TURNS]
    return _prover(program, ((*turns, *(a * b for a, b in itertools.combinations(turns, 2))), counts))


def exits_as_counts(program: Program, prover: Prover, p: Poly) -> Poly:
    """A value, where it counts the turns that a loop has run that was left: by how often that loop runs, if that is no
    negative number there and the same each time.
    """
    symbols = program.values.symbols

    def turns(s: int) -> Poly | None:
        trips = turns_made(program.graph, program.nest, program.values, s)
        return trips if trips is not None and not symbols.scope(trips) and prover.proves(trips) else None

    return p.substitute(turns)
