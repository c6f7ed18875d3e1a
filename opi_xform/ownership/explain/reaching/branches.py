"""Which nodes no process runs both, as the two arms of `if (rank == 0)`, or not one after the other, as the loop behind
`h = height;` in `while (h < height)`: what one does is no reason at the other.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import combinations

from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Monomial, Poly, number, symbol
from opi_xform.once import once
from opi_xform.ownership.explain.reaching.numbers import Test, asked_for, fixed_by, made_of, number_of
from opi_xform.ownership.explain.reaching.ways import in_turn
from opi_xform.ownership.liveness.equalities import Equal, Equalities, both
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.inequalities import not_zero
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.object_index import index_of
from opi_xform.record import dataclass

MOST = 25_000  # nodes that may run after one, through which ways are followed: with more of them LONGEST is passed; and
# blocks of which it is asked who comes there
LONGEST = 300_000  # what is known of numbers along all ways from one node, added up: a few hundredths of a second
PRINTED = 8  # nodes through which a number comes to a print
TESTS = 24  # that are looked at around a node

_ALL = frozenset({-1, 0, 1})
_SIGNS = {
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
    "==": frozenset({0}),
    "!=": frozenset({-1, 1}),
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
}
NO_TURNS = frozenset[int]()
Guard = tuple[int, bool]  # a node that branches, and whether its condition holds


@dataclass(frozen=True, slots=True)
class Around:
    """What is certain in a block.  number: the same for blocks of which the same is certain.  alike: the tests, by the
    terms of their differences: only those of the same terms can contradict each other.  fixed: ``fixed_by`` them.
    """

    number: int
    tests: tuple[Test, ...]
    alike: Mapping[tuple[Monomial, ...], list[Test]]
    fixed: Mapping[int, int]


class Branches:
    """One per program: ``excluded``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.certain: dict[tuple[int, frozenset[int]], Around] = {}  # by the branch around, and turns
        self.kinds: dict[tuple[Test, ...], Around] = {}
        self.apart: dict[tuple[int, int], bool] = {}  # ``excluded``, by what is around
        self.others: dict[int, frozenset[int]] = {}  # ``of_others``, likewise
        self.computed: dict[Poly, tuple[frozenset[int], int | None]] = {}
        self.loops: dict[int, frozenset[int]] = {}  # ``changing``
        self.writing: dict[int, frozenset[int]] = {}  # by object: loops in which something writes to it
        self.dead: dict[int, bool] = {}
        self.later: dict[int, Container[int]] = {}
        self.sets: dict[int, list[tuple[int, int]]] = {}  # by block: ``setting``
        self.equalities = Equalities(program, names_of(program))

    def excluded(self, n: int, other: int, turns: frozenset[int] = NO_TURNS) -> bool:
        """No process runs both nodes: what is tested around one is not so around the other, for the whole run.

        turns: loops, where it is asked for one turn of each only.
        """
        nodes = self.program.graph.nodes
        return self.exclude(self.around(nodes[n].block, turns), self.around(nodes[other].block, turns))

    def exclude(self, a: Around, b: Around) -> bool:
        """No process runs two blocks, by what is certain in them."""
        if not a.tests or not b.tests:
            return False
        known = self.apart.get((a.number, b.number))
        if known is None:
            known = any(both_never(one, other) for one in a.tests for other in b.alike.get(_monomials(one[0]), ()))
            known = self.apart[a.number, b.number] = known or self.other_number(a, b) or self.other_number(b, a)
        return known

    def of_others(self, n: int) -> frozenset[int]:
        """Blocks to which no process comes that runs a node, by what is tested around both; none of a large program."""
        graph = self.program.graph
        mine = self.around(graph.nodes[n].block)
        known = self.others.get(mine.number)
        if known is None:
            blocks = graph.blocks if mine.tests and len(graph.blocks) <= MOST else ()
            found = (i for i, nodes in enumerate(blocks) if nodes and self.exclude(mine, self.around(i)))
            known = self.others[mine.number] = frozenset(found)
        return known

    def other_number(self, a: Around, b: Around) -> bool:
        """What is tested around a block is not so for the numbers that tests around another one leave."""
        return bool(a.fixed) and any(self.not_for(a.fixed, test) for test in b.tests)

    def not_for(self, fixed: Mapping[int, int], test: Test) -> bool:
        """A test does not come out so for some numbers."""
        asked = self.computed.get(test[0])
        if asked is None:
            asked = self.computed[test[0]] = asked_for(self.program.values.symbols, test[0])
        related, value = asked
        if not related.isdisjoint(fixed):
            value = number_of(self.program.values.symbols, test[0], fixed)
        return value is not None and _sign(value) not in test[1]

    def never(self, block: int) -> bool:
        """No process runs a block: two tests that are around it, in one turn of the loops that change what they
        compare, contradict each other; or one asks whether a rank, or a size, is less than 0.
        """
        known = self.dead.get(block)
        if known is None:
            tests = tuple(self.found(block))
            known = any(signs.isdisjoint(self.possible(p)) for p, signs in tests)
            known = self.dead[block] = known or any(both_never(one, other) for one, other in combinations(tests, 2))
        return known

    def possible(self, p: Poly) -> Collection[int]:
        """The signs that a difference may have, by what is never negative."""
        is_nonneg = self.program.values.symbols.is_nonneg
        for value, sign in ((p, 1), (-p, -1)):
            if is_nonneg(value):
                return (sign,) if is_nonneg(value - number(1)) else (0, sign)
        return _ALL

    def other_rank(self, n: int, call: int) -> bool:
        """A node runs on no rank that is the root of a collective call."""
        program = self.program
        op, args = names_of(program).operations.get(call), program.values.args.get(call, ())
        if op is None or op.comm is None or op.root is None or max(op.comm, op.root) >= len(args):
            return False
        symbols = program.values.symbols
        rank = symbols.known("op", "output", "MPI_Comm_rank", 1, (args[op.comm],))
        if rank is None or (args[op.root].constant or 0) < 0:  # MPI_ROOT, say, is the root itself
            return False
        difference = symbols.resolve(symbol(rank) - args[op.root])
        tested, is_root = self.tested(program.graph.nodes[n].block), (difference, _SIGNS["=="])
        return any(both_never(is_root, test) for test in tested) or self.not_for(fixed_by(tested), is_root)

    def behind(self, start: int) -> Container[int]:
        """Nodes that may run after another one: numbers that are set on the way tell which outcomes tests have.

        All nodes, where that takes too long.
        """
        known = self.later.get(start)
        if known is None:
            known = self.later[start] = self.followed(start)
        return known

    def followed(self, start: int) -> Container[int]:
        """Blocks in their order, which is one of a depth-first search: most are passed once."""
        graph = self.program.graph
        if self.far(graph.nodes[start].block):
            return range(len(graph.nodes))
        whole, part = set[int](), set[int]()  # blocks; nodes of the first one
        before: dict[int, Equal] = {}
        first, left = graph.nodes[start].block, LONGEST
        work = [(first, start)]
        while work:
            block, after = heappop(work)
            known: Equal = before.get(block, {}) if after < 0 else {}
            nodes = [n for n in graph.blocks[block] if n > after]
            if after < 0:
                whole.add(block)
            else:
                part.update(nodes)
            passed = 0
            for place, n in self.setting(block):
                if n > after:
                    place -= len(graph.blocks[block]) - len(nodes)
                    left -= (place - passed) * (len(known) + 1)
                    known = self.equalities.step(graph.nodes[n], known)
                    left -= len(known) + 1
                    passed = place + 1
            left -= (len(nodes) - passed) * (len(known) + 1)
            if left < 0:
                return range(len(graph.nodes))
            last = graph.nodes[graph.blocks[block][-1]] if graph.blocks[block] else None
            taken = None
            if last is not None and isinstance(last.action, ins.Branch) and len(graph.succs[block]) == 2:
                taken = self.equalities.taken(last.frame, last.action.cond, known)
            for i, s in enumerate(graph.succs[block]):
                if taken == (i != 0):
                    continue
                new = both(before[s], known) if s in before else known
                if s not in before or (new is not before[s] and new != before[s]):
                    before[s] = new
                    if (s, -1) not in work:
                        heappush(work, (s, -1))
        return part.union(*(graph.blocks[block] for block in whole))

    def far(self, first: int) -> bool:
        """More nodes may run after a block than ways are followed through, whatever the tests on the way say."""
        graph, seen, work = self.program.graph, {first}, [first]
        left = MOST - len(graph.blocks[first])
        while work and left >= 0:
            for s in graph.succs[work.pop()]:
                if s not in seen:
                    seen.add(s)
                    work.append(s)
                    left -= len(graph.blocks[s])
        return left < 0

    def setting(self, block: int) -> list[tuple[int, int]]:
        """The nodes of a block that set names, each with its place in it; the others change nothing that is known."""
        found = self.sets.get(block)
        if found is None:
            nodes = self.program.graph.nodes
            places = enumerate(self.program.graph.blocks[block])
            found = self.sets[block] = [(i, n) for i, n in places if self.equalities.defined(nodes[n])]
        return found

    def tested(self, block: int, turns: frozenset[int] = NO_TURNS) -> tuple[Test, ...]:
        """What is certain in a block of values that never change, or not in one turn of some loops: differences, each
        with the signs it may have.
        """
        return self.around(block, turns).tests

    def around(self, block: int, turns: frozenset[int] = NO_TURNS) -> Around:
        """The same, as it is asked for often."""
        key = index_of(self.program).guarded[block], turns  # which decide what is tested around it
        known = self.certain.get(key)
        if known is None:
            tests = tuple(t for t in self.found(block) if self.scope(t) <= turns)
            known = self.kinds.get(tests)
            if known is None:
                alike: dict[tuple[Monomial, ...], list[Test]] = {}
                for test in tests:
                    alike.setdefault(_monomials(test[0]), []).append(test)
                known = self.kinds[tests] = Around(len(self.kinds), tests, alike, fixed_by(tests))
            self.certain[key] = known
        return known

    def found(self, block: int) -> Iterator[Test]:
        for guard in self.guards(block):
            yield from self.told(guard)

    def guards(self, block: int) -> Iterator[Guard]:
        """The nodes whose branches decide whether a block runs, the nearest first, each with its outcome."""
        graph, guarded = self.program.graph, index_of(self.program).guarded
        at = guarded[block]
        for _ in range(TESTS):
            if not at:
                return
            parent = self.program.nest.idom[at]
            yield graph.blocks[parent][-1], graph.succs[parent][0] == at
            at = guarded[parent]

    def less_sure(self, n: int, other: int) -> tuple[bool, bool, bool]:
        """Of nodes that a process may come to from one: those with the least of it are told first."""
        around = self.program.nest.chain(self.program.graph.nodes[n].block)
        other_turn = not in_turn(self.program, n, other, around)
        return self.in_other_arm(n, other), other_turn or self.only_perhaps(n, other), self.only_shown(n, other)

    def in_other_arm(self, n: int, other: int) -> bool:
        """Two nodes are in the two arms of one branch: a process that runs one comes to the other in another turn of a
        loop, if it does.
        """
        nodes = self.program.graph.nodes
        mine = dict(self.guards(nodes[n].block))
        opposite = (at for at, outcome in self.guards(nodes[other].block) if mine.get(at, outcome) != outcome)
        return any(self.decides(at, n) and self.decides(at, other) for at in opposite)

    def only_perhaps(self, n: int, other: int) -> bool:
        """Each of two nodes runs only where a test says so that is none around the other one, and both tests ask for
        what is computed from one number, a rank, say: one process need not run both.
        """
        nodes = self.program.graph.nodes
        mine, others = (tuple(self.guards(nodes[m].block)) for m in (n, other))
        sides = ([g for g in mine if g not in others], [g for g in others if g not in mine])
        asked = [self.asked(g for g in side if self.decides(g[0], n)) for side in sides]
        return not asked[0].isdisjoint(asked[1])

    def only_shown(self, n: int, other: int) -> bool:
        """A node reads for a print alone, under a test that is none around the first one, as `if (debug)`: what
        computes with the same memory is told before it.
        """
        nodes, names = self.program.graph.nodes, names_of(self.program)
        mine, work = set(self.guards(nodes[n].block)), [other]
        if not any(g not in mine and self.decides(g[0], n) for g in self.guards(nodes[other].block)):
            return False
        for m in work:
            action = nodes[m].action
            if isinstance(action, ins.CallInstr):
                effect = names.effect(action)
                if effect is None or effect.format is None or effect.format.scans:
                    return False
            elif isinstance(action, ins.Load) if m == other else isinstance(action, ins.Define):
                uses = [u for name in names.defined(nodes[m]) for u in names.uses.get(name, ())]
                if not uses or len(work) > PRINTED:
                    return False
                work += [u for u in uses if u not in work]
            else:
                return False
        return True

    def asked(self, guards: Iterable[Guard]) -> set[int]:
        """The numbers from which those are computed that branches ask for."""
        values = self.program.values
        tests = (test for guard in guards for test in self.told(guard))
        return {s for p, _ in tests for s in made_of(values.symbols, values.joins, p)}

    def decides(self, at: int, n: int) -> bool:
        """A branch is no test of a loop, and in no loop that is not around a node."""
        graph, nest = self.program.graph, self.program.nest
        block = graph.nodes[at].block
        around = set(nest.chain(graph.nodes[n].block))
        return around.issuperset(nest.chain(block)) and not nest.left(block, graph.succs[block])

    def told(self, guard: Guard) -> Iterator[Test]:
        """What the outcome of a branch tells of numbers."""
        symbols, test = self.program.values.symbols, self.program.values.conditions[guard[0]]
        if test.unsigned and test.op not in ("==", "!="):
            return
        signs = _SIGNS[test.op] if guard[1] else _ALL - _SIGNS[test.op]
        difference = symbols.resolve(test.left - test.right)
        for p in [difference] if 0 in signs else dict.fromkeys(not_zero(symbols, difference)):
            yield p, signs if p == difference else _SIGNS["!="]

    def scope(self, test: Test) -> frozenset[int]:
        """The loops from turn to turn of which what is tested may change."""
        return frozenset(loop for s in test[0].symbols() for loop in self.changing(s))

    def changing(self, s: int) -> frozenset[int]:
        """The loops of a symbol, but for those in which nothing writes to the memory that it is read from."""
        known = self.loops.get(s)
        if known is None:
            symbols = self.program.values.symbols
            info = symbols.table[s]
            address = info.key[0] if info.kind == "load" else None
            o = symbols.base(address) if isinstance(address, Poly) and info.scope else None
            known = info.scope
            if isinstance(address, Poly) and o is not None:
                known &= symbols.scope(symbols.resolve(address)) | self.written(o)
            self.loops[s] = known
        return known

    def written(self, o: int) -> frozenset[int]:
        """The loops in which something writes to an object."""
        known = self.writing.get(o)
        if known is None:
            nodes = self.program.graph.nodes
            blocks = {nodes[a.node].block for a in self.program.values.accesses.written(o) if a.node < len(nodes)}
            known = frozenset(loop for block in blocks for loop in self.program.nest.chain(block))
            self.writing[o] = known
        return known


def both_never(one: Test, other: Test) -> bool:
    """Two differences do not have their signs at the same time."""
    (a, signs), (b, found) = one, other
    if _monomials(a) != _monomials(b):
        return False  # neither their difference nor their sum is a number
    return _never((a - b).constant, signs, found) or _never((a + b).constant, signs, {-s for s in found})


def _monomials(p: Poly) -> tuple[Monomial, ...]:
    """What a polynomial adds up, but for factors and its constant."""
    return tuple([m for m, _ in p.terms if m])


def _never(more: int | None, signs: Collection[int], others: Collection[int]) -> bool:
    """There are no two numbers with signs of both kinds, the first of which is so much more."""
    if more is None:
        return False
    pairs = {(_sign(b + more), _sign(b)) for b in {-more - 1, -more, 1 - more, -1, 0, 1}}
    return not any(a in signs and b in others for a, b in pairs)


def _sign(n: int) -> int:
    return (n > 0) - (n < 0)


@once
def branches_of(program: Program) -> Branches:
    return Branches(program)
