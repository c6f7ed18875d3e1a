"""Numbers that are not negative, and so no MPI_PROC_NULL: shown by what they are made of.

Unlike ``Symbols.is_nonneg`` this does not trust a type: an unsigned number of 32 bits may stand for a negative one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opi_xform.calls.calls import region_args
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import within
from opi_xform.memory.poly import ONE, ZERO, Poly, number, symbol
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.inequalities import Prover, of_condition, unequal
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.stretches import stretches_of

MOST, DEEPEST = 4000, 4  # symbols looked at for one answer, questions within questions: beyond that nothing is shown
STEPS = 30  # of a proof from facts
WRITTEN = -2  # in the place of a node: it stands for what a call writes, and is no number that it writes
PROOF = 100  # symbols that could be looked at in the time of a proof from facts


def not_negative(program: Program, node: int, value: Poly) -> bool:
    """A value is not negative where a node runs."""
    return _ranks_of(program).nonneg_at(node, value)


@once
def _ranks_of(program: Program) -> Ranks:
    return Ranks(program)


_Fact = tuple[Poly, frozenset[int]]  # with its symbols
_Premises = tuple[tuple[Poly, ...], frozenset[int]]


class Ranks:
    """Lower bounds of values.  facts: polynomials that are not negative, about the symbols as they are now."""

    def __init__(self, program: Program, facts: tuple[Poly, ...] = (), within: Ranks | None = None) -> None:
        self.program = program
        self.facts = facts
        self.depth: int = 0 if within is None else within.depth + 1
        self.steps: list[int] = [0] if within is None else within.steps
        self.around: Ranks | None = None if within is None else within.root
        self.facts_of: dict[int, tuple[Poly, ...]] = {} if within is None else within.facts_of
        self.graph = program.graph
        self.values = program.values
        self.symbols = program.values.symbols
        self.effects = program.effects
        self.known: dict[int, int | None] = {}
        self.proofs: dict[Poly, bool] = {}
        # Of the root: the facts as they are put to the proofs; few sets of facts are asked for many values.
        self.told: dict[tuple[Poly, ...], list[_Fact]] = {}
        self.each: dict[Poly, _Fact] = {}
        self.provers: dict[_Premises, Prover] = {}
        self.open: set[int] = set()
        self.found: dict[tuple[int, int | None], list[tuple[int, Poly]] | None] = {}
        self.writes: dict[int, list[tuple[int, list[tuple[int, int | None]]]]] = {}  # ``all_written``, of the root
        self.stretches = stretches_of(program)
        self.below: dict[tuple[str, int], str]  # what is greater than what, by function and argument
        if within is None:
            self.below = {(e.below, i): e.name for e in program.effects.values() if e.below for i in e.nonnegative}
        else:
            self.below = within.below

    @property
    def root(self) -> Ranks:
        return self if self.around is None else self.around

    @property
    def with_facts(self) -> dict[tuple[Poly, ...], Ranks]:
        """Of the root: those with facts.  They are kept with the program, since each of them refers to the root."""
        found: dict[tuple[Poly, ...], Ranks] = self.program.findings.setdefault((Ranks, self), {})
        return found

    def nonneg_at(self, node: int, value: Poly) -> bool:
        """The value is not negative where the node runs: of itself, or by the conditions on every way to the node."""
        if self.nonneg(value):
            return True
        facts = self.facts_at(node)
        if not facts:
            return False
        if self.depth or self.open:
            return Ranks(self.program, facts, self).nonneg(value)
        known = self.with_facts
        there = known.get(facts)
        if there is None:
            there = known[facts] = Ranks(self.program, facts, self)
        self.steps[0] = 0
        return there.nonneg(value)

    def facts_at(self, n: int) -> tuple[Poly, ...]:
        """Polynomials that are not negative where a node runs, told by comparisons (unsigned: of plain numbers)."""
        graph, guarded, idom = self.graph, index_of(self.program).guarded, self.program.nest.idom
        block = guarded[graph.nodes[n].block]
        inside: list[int] = []
        while block > 0 and block not in self.facts_of:
            inside.append(block)
            block = guarded[idom[block]]
        found = self.facts_of.get(block, ())
        for block in reversed(inside):
            parent = idom[block]
            last = graph.blocks[parent][-1]
            told = of_condition(self.program, last, graph.succs[parent][0] == block)
            if not told and not self.values.conditions[last].unsigned:
                told = unequal(self.program, parent, block)
            found = tuple(dict.fromkeys((*told, *found)))
            self.facts_of[block] = found
        return found

    def nonneg(self, value: Poly) -> bool:
        """The value is never negative."""
        if not self.open and not self.depth:
            self.steps[0] = 0
        least = self.least(value)
        if least is not None and least >= 0:
            return True
        return bool(self.facts) and self.proved(value)

    def proved(self, value: Poly) -> bool:
        """It follows from the facts."""
        value = self.symbols.resolve(value).substitute(self.from_rank)
        if value in self.proofs:
            return self.proofs[value]
        self.steps[0] += PROOF
        if self.steps[0] > MOST:
            return False
        told = self.root.told.get(self.facts)
        if told is None:
            told = self.root.told[self.facts] = [self.fact(f) for f in self.facts]
        facts = _about(value, told)
        known = {s for p in (value, *facts) for s in p.symbols()}
        plain = frozenset(s for s in known if (low := self.of_symbol(s)) is not None and low >= 0)
        found = self.prover(facts, plain).proves(value)
        if found or not self.open:
            self.proofs[value] = found
        return found

    def fact(self, given: Poly) -> _Fact:
        found = self.root.each.get(given)
        if found is None:
            p = self.symbols.resolve(given).substitute(self.from_rank)
            found = self.root.each[given] = p, frozenset(p.symbols())
        return found

    def prover(self, facts: list[Poly], plain: frozenset[int]) -> Prover:
        """Proofs from these facts; plain: numbers that are not negative."""
        premises = tuple(facts), plain
        found = self.root.provers.get(premises)
        if found is None:
            found = self.root.provers[premises] = Prover(facts, plain, STEPS)
        return found

    def least(self, value: Poly) -> int | None:
        """A number that the value is never below; None: none is known."""
        value = self.symbols.resolve(value)
        value = value.substitute(self.from_rank)
        out = 0
        for monomial, c in value.terms:
            if monomial == ():
                out += c
                continue
            if c < 0:
                most = self.most(monomial[0]) if len(monomial) == 1 else None
                if most is None:
                    return None
                out += c * most
                continue
            product = c
            for s in monomial:
                low = self.of_symbol(s)
                if low is None or (low < 0 and len(monomial) > 1):
                    return None
                product *= low
            out += product
        return out

    def from_rank(self, s: int) -> Poly | None:
        """The size of a communicator as its rank, one, and what is left, which is not negative."""
        info = self.symbols.table[s]
        if info.kind != "op" or info.key[0] != "output" or len(info.key) != 4:
            return None
        _, name, index, inputs = info.key
        lower = self.below.get((str(name), int(str(index))))
        rank = None if lower is None else self.symbols.known("op", "output", lower, index, inputs)
        if rank is None:
            return None
        left = self.symbols.get("op", ("ranks above", s), info.scope, True)
        return symbol(rank) + ONE + symbol(left)

    def of_symbol(self, s: int) -> int | None:
        if s in self.known:
            return self.known[s]
        if self.depth and not self.facts and (known := self.root.known.get(s)) is not None:
            return known
        self.steps[0] += 1
        if s in self.open or len(self.open) > 60 or self.depth > DEEPEST or self.steps[0] > MOST:
            return None
        self.open.add(s)
        found = self.looked_at(s)
        self.open.discard(s)
        if not self.open or found is not None:  # what was not found inside a circle may be found outside it
            self.known[s] = found
            if found is not None and not self.facts:
                self.root.known[s] = found
        return found

    def looked_at(self, s: int) -> int | None:
        info = self.symbols.table[s]
        match info.kind:
            case "count":
                return 0
            case "exit":
                inside = info.key[1]
                assert isinstance(inside, int)
                return self.of_symbol(inside)
            case "phi":
                return self.merged(s)
            case "load":
                _, _, kind, size, signed = info.key
                if kind == "bool" or (kind == "int" and not signed and isinstance(size, int) and size < 4):
                    return 0
                return self.least_stored(info.key)
            case "opaque":
                return self.written(info.key)
            case "op":
                return self.computed(info.key)
            case _:
                return None

    def most(self, s: int) -> int | None:
        """A number that a symbol is never above: the largest of some constants."""
        seen, work = {s}, [s]
        found: list[int] = []
        while work:
            at = work.pop()
            info = self.symbols.table[at]
            values: Iterable[Poly] = ()
            if info.kind == "phi":
                values = self.values.joins.get(at, ())
            elif info.kind == "load":
                found_there = self.stored(info.key) or []
                if any(n == WRITTEN for n, _ in found_there):
                    return None
                values = [value for _, value in found_there]
            if not values:
                return None
            for value in values:
                inside = self.symbols.resolve(value).single
                if value.constant is not None:
                    found.append(value.constant)
                elif inside is None:
                    return None
                elif inside not in seen:
                    seen.add(inside)
                    work.append(inside)
        return max(found, default=None)

    def least_stored(self, key: tuple[object, ...]) -> int | None:
        found = self.stored(key)
        if found is None:
            return None
        out = 0
        for n, value in found:
            constant = value.constant
            low = constant if constant is not None else self.least(value) if not self.facts else None
            if low is None and n >= 0 and Ranks(self.program, (), self).nonneg_at(n, value):
                low = 0
            if low is None:
                return None
            out = min(out, low)
        return out

    def stored(self, key: tuple[object, ...]) -> list[tuple[int, Poly]] | None:
        """All numbers that are ever in the array or struct that a load reads, with the nodes that store them (-1: there
        from the start; WRITTEN: a call writes numbers there that are not below this one); None where anything else may
        write there.
        """
        address, _, kind, size, _ = key
        assert isinstance(address, Poly)
        o = self.symbols.base(address)
        if o is None or o in self.values.escaped or o in self.values.foreign or kind != "int":
            return None
        place = (o, self.symbols.resolve(self.symbols.offset(address)).constant)
        if place not in self.found:
            self.found[place] = None  # what is stored there may come from there
            self.found[place] = self.all_stored(*place, size)
        return self.found[place]

    def all_stored(self, o: int, at: int | None, size: object) -> list[tuple[int, Poly]] | None:
        """``at``: of the number at a constant place."""
        info = self.values.objects.table[o]
        if info.kind not in ("variable", "heap") or (info.type is not None and info.type.is_scalar):
            return None
        if info.kind == "heap" and not all(map(self.fresh, info.nodes)):
            return None
        if info.variable is not None and self.program.variables[info.variable].kind == "param":
            return None  # a struct is given by value: no store shows what is in it
        out: list[tuple[int, Poly]] = [(-1, ZERO)]
        init = self.program.variables[info.variable].init if info.variable is not None and info.frame < 0 else None
        for item in [] if init is None else [init, *within(init)]:
            if isinstance(item, ast.IntLit):
                out.append((-1, number(item.value)))
            elif not isinstance(item, ast.InitList):
                return None
        for n, there in self.root.all_written(o):
            if at is not None and isinstance(size, int):
                there = [(lo, n) for lo, n in there if lo < at + size and (n is None or at < lo + n)]
                if any((at - lo) % size for lo, _ in there):
                    return None
            if not there:
                continue
            action = self.graph.nodes[n].action
            if isinstance(action, ins.CallInstr) and (least := self.least_written(o, n, action, size)) is not None:
                out.append((WRITTEN, number(least)))
                continue
            if not isinstance(action, ins.Store) or action.type.kind != "int" or action.type.size != size:
                return None
            out.append((n, self.values.operands[n][1]))
        return out

    def all_written(self, o: int) -> list[tuple[int, list[tuple[int, int | None]]]]:
        """Where an object is ever written, by node: it is asked for each place in the object."""
        found = self.writes.get(o)
        if found is None:
            by_node = index_of(self.program).accesses.of(o).items()
            found = [(n, [self.stretches.of(a) for a in accesses if a.kind == "W"]) for n, accesses in by_node]
            found = self.writes[o] = [(n, there) for n, there in found if there]
        return found

    def least_written(self, o: int, n: int, call: ins.CallInstr, size: object) -> int | None:
        """A number that nothing is below which a call writes into an object, in elements of a size."""
        if not isinstance(call.callee, ins.AddrFunc) or call.callee.key in self.graph.lowered:
            return None
        effect = self.effects.get(call.callee.key)
        if effect is None or effect.flows or effect.calls:
            return None
        frame, lows = self.graph.nodes[n].frame, []
        for region in effect.all_writes:
            for i in region_args(region.arg, region.rest, call):
                if region.indirect or o in self.program.points_to.accessed(frame, call.args[i]):
                    elem = call.call.args[i].type.elem
                    fits = elem is not None and elem.kind == "int" and elem.size == size and not region.indirect
                    lows.append(self.output(effect.name, i) if fits else None)
        known = [low for low in lows if low is not None]
        return min(known) if known and len(known) == len(lows) else None

    def fresh(self, n: int) -> bool:
        """An allocation's memory holds nothing, or zeros: not what other memory held."""
        call = self.graph.nodes[n].action
        named = isinstance(call, ins.CallInstr) and isinstance(call.callee, ins.AddrFunc)
        effect = self.effects.get(call.callee.key) if named else None  # type: ignore[union-attr]
        spec = None if effect is None else effect.allocates
        return spec is not None and spec.copies_from is None and not spec.contents

    def merged(self, s: int) -> int | None:
        """The least of what comes together; what a turn adds to the value of the turn before is left out."""
        joined = self.values.joins.get(s)
        if joined is None:
            return None
        if self.facts:  # which are of this turn, and of this way
            return Ranks(self.program, (), self).of_symbol(s)
        out: int | None = None
        for value in joined:
            added = self.symbols.resolve(value) - symbol(s)
            if s not in set(added.symbols()) and self.nonneg(added):
                continue
            low = self.least(value)
            if low is None:
                return None
            out = low if out is None else min(out, low)
        return out

    def covers(self, value: Poly, divisor: Poly) -> bool:
        """The value is not negative as the divisor is not: where one divides by it, it is not 0 either."""
        divisor = self.symbols.resolve(divisor)
        low, s = self.least(value), divisor.single
        if low is None or s is None or divisor != symbol(s):
            return False
        least = self.of_symbol(s)
        return least is not None and low + max(0, self.symbols.resolve(value).coefficient(s)) * max(0, 1 - least) >= 0

    def written(self, key: tuple[object, ...]) -> int | None:
        """What a call wrote, of which the table says that it is not negative."""
        what = key[1] if len(key) == 2 else None
        if not isinstance(key[0], int) or not isinstance(what, tuple) or what[0] != "output":
            return None
        call = self.graph.nodes[key[0]].action
        named = isinstance(call, ins.CallInstr) and isinstance(call.callee, ins.AddrFunc)
        return self.output(call.callee.key, what[1]) if named else None  # type: ignore[union-attr]

    def output(self, name: object, index: object) -> int | None:
        effect = self.effects.get(str(name))
        if effect is None or index not in effect.nonnegative:
            return None
        return 1 if index in effect.positive else 0

    def computed(self, key: tuple[object, ...]) -> int | None:
        name = key[0]
        if name == "ranks above":
            return 0
        if name == "output":
            return self.output(key[1], key[2])
        if name in ("<", ">", "<=", ">=", "==", "!=", "not"):
            return 0
        if name == "cast":
            _, kind, size, signed, _value = key
            if kind == "bool" or (kind == "int" and not signed and isinstance(size, int) and size < 4):
                return 0
            return None
        if len(key) != 3 or not isinstance(key[2], tuple) or not all(isinstance(p, Poly) for p in key[2]):
            return None
        there = [self.nonneg(p) for p in key[2]]
        match name:
            case "%" if key[1]:  # modulo a number that is not negative as it is
                return 0 if there[1] else None
            case ">>":
                return 0 if all(there) else None
            case "%":
                return 0 if there[0] or (there[1] and self.covers(*key[2])) else None
            case "&":
                return 0 if any(there) else None
            case "/" | "|" | "^":
                return 0 if all(there) else None
            case "<<":  # of a signed number, which does not overflow
                return 0 if all(there) and not key[1] else None
            case _:
                return None


def _about(value: Poly, facts: Sequence[_Fact]) -> list[Poly]:
    """The facts that have to do with a value: they share a symbol with it, or with one that does."""
    symbols, out, rest = set(value.symbols()), list[Poly](), facts
    while True:
        more, left = list[_Fact](), list[_Fact]()
        for fact in rest:
            (left if symbols.isdisjoint(fact[1]) else more).append(fact)
        if not more:
            return out
        out += [fact for fact, _ in more]
        symbols.update(*(own for _, own in more))
        rest = left
