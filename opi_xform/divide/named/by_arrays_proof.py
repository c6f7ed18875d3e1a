"""That blocks for parts in arrays (``by_arrays.py``) are what the program had, proved of the program with these blocks.

Both programs do the same, step by step, as long as each access in the new one lies in its block: a part's elements are
elements of the old block, and no two parts have one in common.  So it is proved that all do.  What is asked besides of
the old program's pointers, an address as a number or which of two comes first, nobody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from opi_xform.divide.check import stays_inside
from opi_xform.divide.find import allocated, divisible
from opi_xform.divide.flow import Trouble, harmless, operands
from opi_xform.divide.passages.proof import told_one_by_one
from opi_xform.graph.graph import Lost
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import zero_constant
from opi_xform.memory.accesses import Access
from opi_xform.memory.objects import Object
from opi_xform.memory.poly import ZERO, Poly, symbol
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lvalues import POINTER_BYTES
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.split_rows import split_row
from opi_xform.record import dataclass

MOST = 16  # ways to say how long a row is


@dataclass(frozen=True, slots=True)
class Made:
    """Where rows are allocated: the row's number, the loop that counts it (-1: none), bytes."""

    row: Poly
    loop: int
    size: Poly


class RowsProof:
    """One use: ``run``.  keys: the tables, in the program with blocks."""

    def __init__(self, program: Program, keys: Sequence[str]) -> None:
        self.program = program
        self.keys = keys
        self.here = program.variables[keys[0]].span
        self.symbols = program.values.symbols
        self.table = program.values.objects.table

    def run(self) -> None:
        """Raises Trouble."""
        program = self.program
        if not (divisible(program) and told_one_by_one(program)):
            raise Trouble(self.here, "")
        found = [self.family(key) for key in self.keys]
        heaps = frozenset(o for _, family in found for o in family.members)
        unseen = program.values.escaped.keys() | program.values.foreign.keys() | program.values.lazy
        for array, family in found:
            if not unseen.isdisjoint((array.number, family.number, *family.members)):
                raise Trouble(self.here, "has an address that goes where it is not followed")
        self.pointers(heaps)
        for array, family in found:
            made = self.made(array, family)
            self.elements(array)
            self.accesses(family, made)

    def family(self, key: str) -> tuple[Object, Object]:
        """The array, and what its elements own.  Raises Trouble.

        One that functions get may count as another variable (``ownership/buffers/tables.py``), of all its elements.
        """
        members = [m for m in self.program.members.values() if m.object == ("variable", key)]
        keys = {key, *(m.key for m in members if m.stride == POINTER_BYTES and m.offset == 0 and not m.twins)}
        arrays = [o for o in self.table if o.kind == "variable" and o.variable in keys]
        arrays = [o for o in arrays if index_of(self.program).accesses.any(o.number)]
        families = [o for o in self.table if o.kind == "family" and arrays and o.variable == arrays[0].variable]
        if len(keys) <= len(members) or len(arrays) != 1 or len(families) != 1 or arrays[0].frame != families[0].frame:
            raise Trouble(self.here, "has parts that are not all named by these arrays alone")
        return arrays[0], families[0]

    def made(self, array: Object, family: Object) -> list[Made]:
        """Its elements are set to fresh blocks, and to nothing else.  Raises Trouble."""
        program, graph = self.program, self.program.graph
        out: list[Made] = []
        for n in index_of(program).accesses.nodes(array.number):
            action = graph.nodes[n].action
            if not program.values.accesses.touches(n, (array.number,), "W"):
                continue
            if not isinstance(action, ins.Store):
                raise Trouble(node_span(program, n), "changes pointers to parts")
            held = program.points_to.operand(graph.nodes[n].frame, action.value) & frozenset(family.members)
            address = program.values.operands[n][0]
            if len(held) != 1 or self.symbols.base(address) != array.number:
                raise Trouble(node_span(program, n), "sets a pointer to a part to something else")
            node = self.table[next(iter(held))].node
            offset = self.symbols.resolve(self.symbols.offset(address))
            if any(c % POINTER_BYTES for _, c in offset.terms):
                raise Trouble(node_span(program, n), "sets a pointer to a part to something else")
            row = Poly(tuple((m, c // POINTER_BYTES) for m, c in offset.terms))
            size = allocated(program, node, handed=True)
            out.append(Made(row, self.counted(graph.nodes[n].block, row), size))
            if self.symbols.scope(size) - {out[-1].loop}:
                raise Trouble(node_span(program, n), "allocates a part of a length that changes")
        if len(out) != len(family.members):
            raise Trouble(self.here, "has parts that are not all named by these arrays alone")
        return out

    def counted(self, block: int, row: Poly) -> int:
        """The loop of which a row's number is the turn's, but for a constant."""
        for loop in self.program.nest.chain(block):
            if (row - symbol(self.symbols.count(loop))).constant is not None:
                return loop
        return -1

    def elements(self, array: Object) -> None:
        """The array is read and written one pointer at a time.  Raises Trouble."""
        graph = self.program.graph
        for n in index_of(self.program).accesses.nodes(array.number):
            action = graph.nodes[n].action
            if not isinstance(action, (ins.Load, ins.Store)) or not action.type.is_pointer:
                raise Trouble(node_span(self.program, n), "touches pointers to parts in a way that is not followed")

    # --- pointers ---------------------------------------------------------------------------------------------------

    def pointers(self, heaps: frozenset[int]) -> None:
        """An address in a part is only added to, passed on, and used; or compared with NULL.  Raises Trouble."""
        program = self.program
        for node in program.graph.nodes:
            given, frame = operands(node)
            held = [i for i, e in enumerate(given) if not program.points_to.operand(frame, e).isdisjoint(heaps)]
            if any(self.told(frame, e, heaps) for e in given):
                raise Trouble(node_span(program, node.number), "compares or converts an address in it")
            if not held:
                continue
            match node.action:
                case ins.Escape() | ins.SwitchOn() | Lost():
                    raise Trouble(node_span(program, node.number), "does with it what is not understood")
                case ins.CallInstr(callee=callee) if node.number not in program.graph.followed:
                    effect = program.effects.get(callee.key) if isinstance(callee, ins.AddrFunc) else None
                    if effect is None or not harmless(effect, held) or effect.returns_arg is not None:
                        text = "gives an address in it to a call of which that is not known to be harmless"
                        raise Trouble(node_span(program, node.number), text)
                case _:
                    pass

    def told(self, frame: int, operand: ins.Operand, heaps: frozenset[int]) -> bool:
        """Something is made of an address in a part that is no address in it."""
        return any(self.held(frame, e, heaps) for e in _computed_from(operand))

    def held(self, frame: int, e: ins.Operand, heaps: frozenset[int]) -> bool:
        return not self.program.points_to.operand(frame, e).isdisjoint(heaps)

    # --- accesses ---------------------------------------------------------------------------------------------------

    def accesses(self, family: Object, made: Sequence[Made]) -> None:
        """Each stays in its block.  Raises Trouble."""
        program = self.program
        freeing = {n for n, _ in index_of(program).frees}
        allocating = {n for o in family.members for n in self.table[o].nodes}
        for o in (family.number, *family.members):
            for n, accesses in sorted(index_of(program).accesses.of(o).items()):
                if n in freeing or n in allocating:
                    continue
                if o != family.number or not all(self.inside(n, a, made) for a in accesses):
                    raise Trouble(node_span(program, n), "touches it, and is not known to stay in one part")

    def inside(self, n: int, a: Access, made: Sequence[Made]) -> bool:
        found = None if a.lo is None or a.length is None else split_row(self.program, a.object, a.lo)
        if found is None or a.length is None:
            return False
        row, at = self.symbols.resolve(found[0]), self.symbols.resolve(found[1])
        access = (at, self.symbols.resolve(a.length))
        known = [one for one in made if one.loop >= 0 or one.row.constant is None or one.row == row]
        if row.constant is None or not known:
            known = list(made)
        return all(
            any(stays_inside(self.program, n, access, (ZERO, size)) for size in self.of_row(one, row)) for one in known
        )

    def of_row(self, one: Made, row: Poly) -> Iterator[Poly]:
        """How many bytes a row was given, in the symbols that its length may have elsewhere."""
        if not self.symbols.scope(one.size):
            yield one.size
            return
        count = self.symbols.count(one.loop)
        turn = row - (one.row - symbol(count))

        def of(p: Poly) -> Poly:
            return self.symbols.resolve(self.symbols.resolve(p).substitute(lambda s: turn if s == count else None))

        moving = [s for s in one.size.symbols() if one.loop in self.symbols.table[s].scope]
        ways: list[dict[int, Poly]] = [{}]
        for s in moving:
            known = [turn] if s == count else [symbol(t) for t in self.loads(s, of)]
            ways = [{**way, s: value} for way in ways for value in known][:MOST]
        for way in ways:
            yield self.symbols.resolve(one.size.substitute(way.get))

    def loads(self, s: int, of: Callable[[Poly], Poly]) -> Iterator[int]:
        """What reads, in another row, what a symbol reads: of memory in the state that it had then."""
        info = self.symbols.table[s]
        if info.kind != "load":
            return
        address, states, *kind = info.key
        assert isinstance(address, Poly)
        assert isinstance(states, tuple)
        if any(self.symbols.scope(state) for state in states):
            return  # which may be another one for each row
        wanted = of(address)
        for key, number_ in self.symbols.index["load"].items():
            there = key[0]
            assert isinstance(there, Poly)
            if key[1:] == (states, *kind) and self.symbols.resolve(there) == wanted:
                yield number_


def _computed_from(operand: ins.Operand) -> Iterator[ins.Operand]:
    """Operands of which more than an address in the same block is made, or whether it is NULL."""
    stack = [operand]
    while stack:
        e = stack.pop()
        match e:
            case ins.PtrAdd(base=base, index=index):
                yield index
                stack += [base, index]
            case ins.Op(op="cast", args=args, type=type_) if type_.is_pointer:
                stack += args
            case ins.Op(op=("==" | "!="), args=args) if any(zero_constant(x) for x in args):
                stack += args
            case ins.Op(op="not", args=args):
                stack += args
            case ins.Op(args=args) | ins.Nondet(args=args):
                yield from args
                stack += args
            case _:
                pass
