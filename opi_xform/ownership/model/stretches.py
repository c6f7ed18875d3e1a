"""The bytes of an object that an access stays inside: told by the array in it that a subscript is of."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.calls.calls import is_message
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.fixed import OPEN, bound
from opi_xform.memory.accesses import Access
from opi_xform.memory.objects import Object
from opi_xform.memory.poly import ZERO, Poly, symbol
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.inequalities import facts_at


class Stretches:
    """Asked by access."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.values = program.values
        self.symbols = program.values.symbols
        self.table = program.values.objects.table
        # by the identity of an access, which it keeps, and what is known of its place
        self.known: dict[tuple[int, int | None, int | None], tuple[Access, tuple[int, int | None]]] = {}
        self.elements: dict[tuple[int, Poly], set[tuple[int, int, int]]] = {}
        for (o, offset), arrays in program.values.elements.items():
            self.elements.setdefault((o, _moving(self.symbols.resolve(offset))), set()).update(arrays)

    def of(self, a: Access) -> tuple[int, int | None]:
        """Bytes that an access of the program stays inside: (first, number; None: to the end)."""
        if a.lo is None:
            return self.anywhere(a.object)
        return self.stretch(a, a.lo.constant, None if a.length is None else a.length.constant)

    def stretch(self, a: Access, lo: int | None, length: int | None) -> tuple[int, int | None]:
        """The same; lo, length: where it begins, how many bytes it has, as far as these are known to be numbers."""
        if lo is not None and length is not None:
            return lo, length
        found = self.known.get((id(a), lo, length))
        if found is None:
            found = self.known[id(a), lo, length] = a, self.found(a, lo, length)
        return found[1]

    def found(self, a: Access, lo: int | None, length: int | None) -> tuple[int, int | None]:
        """The same, where one of the two is not known."""
        found = self.values.arrays.get(a.node)
        if found is not None and a.lo is not None:
            return self.closed(found, a.object)
        action = self.graph.nodes[a.node].action
        if lo is not None and isinstance(action, ins.CallInstr):
            size = self.argument(a, action, lo)
            if size is not None:
                return lo, size
        if lo is None and a.lo is not None and length is not None:
            known = self.elements.get((a.object, _moving(self.symbols.resolve(a.lo))), set())
            at = self.symbols.resolve(a.lo) - _moving(self.symbols.resolve(a.lo))
            within = [e for e in known if at.constant is not None and e[0] <= at.constant < e[0] + e[1]]
            if len({e[:2] for e in within}) == 1 and all(_inside(action, length, element) for _, _, element in within):
                return self.closed(within[0][:2], a.object)
        part = self.values.parts.get((a.node, a.object), (0, -1))
        if lo is None and a.lo is not None and length is not None and part[1] >= 0:
            return self.closed(part, a.object)
        return self.walked(a) or self.anywhere(a.object)

    def walked(self, a: Access) -> tuple[int, int] | None:
        """What an access comes by in the turns of a loop, where tests bound their number (``*w++ = x;``)."""
        lo, length = self.symbols.resolve(a.lo or ZERO), None if a.length is None else a.length.constant
        counts = [s for s in lo.symbols() if self.symbols.table[s].kind == "count"]
        step = lo.coefficient(counts[0]) if len(counts) == 1 else 0
        first = (lo - symbol(counts[0]).scaled(step)).constant if step > 0 else None
        if first is None or length is None:
            return None
        for fact in facts_at(self.program, a.node):
            left = self.symbols.resolve(fact) + symbol(counts[0])
            if left.constant is not None and left.constant >= 0:
                return first, left.constant * step + length
        return None

    def anywhere(self, o: int) -> tuple[int, int | None]:
        """The bytes of an object, where nothing is known of the place in it."""
        info = self.table[o]
        return 0, self.total(info) if info.kind == "variable" else None

    def place(self, a: Access) -> tuple[int, int] | None:
        """The same of an access; None: up to an end that is not known."""
        first, length = self.of(a)
        return None if length is None else (first, length)

    def whole(self, o: int) -> tuple[int, int] | None:
        """All bytes of an object; None: how many it has is not known."""
        first, length = self.anywhere(o)
        return None if length is None else (first, length)

    def touched(self, n: int, kind: str) -> Iterator[tuple[int, tuple[int, int] | None]]:
        """The objects that a node reads or writes, and in which of their bytes (None: that is not known)."""
        for record in self.values.accesses.records.get(n, ()):
            if record.kind == kind:
                objects = (record.object,) if isinstance(record, Access) else record.group.order
                for o in objects:
                    yield o, self.place(record) if isinstance(record, Access) else self.whole(o)

    def closed(self, found: tuple[int, int], o: int) -> tuple[int, int | None]:
        """An array at the end of a struct goes on to the end of the object."""
        if found[1] < OPEN:
            return found
        total = self.total(self.table[o])
        return found[0], None if total is None else total - found[0]

    def total(self, info: Object) -> int | None:
        """Bytes of an object, where that is a number."""
        if info.kind != "heap":
            return info.type.size if info.kind == "variable" and info.type is not None else None
        if len(info.nodes) != 1:
            return None
        action = self.graph.nodes[info.node].action
        values = self.values.args.get(info.node, ())
        effect = None
        if isinstance(action, ins.CallInstr) and isinstance(action.callee, ins.AddrFunc):
            effect = self.program.effects.get(action.callee.key)
        made = effect.allocates if effect is not None else None
        if made is None or made.size is None:
            return None
        size = 1
        for factor in made.size:
            value = factor.value if factor.kind == "const" else None
            if factor.kind == "arg" and factor.value < len(values):
                value = values[factor.value].constant
            if value is None:
                return None
            size *= value
        return size

    def argument(self, a: Access, action: ins.CallInstr, lo: int) -> int | None:
        """The size of the array that an MPI call is given by name: it does not look after that.

        A message may go on after it, in the next row or member.
        """
        effect = self.program.effects.get(called_key(action))
        if effect is None or effect.mpi is None:
            return None
        sizes: set[int | None] = set()
        for i, (written, value) in enumerate(zip(action.call.args, self.values.args.get(a.node, ()), strict=False)):
            if self.symbols.base(value) == a.object and self.symbols.offset(value).constant == lo:
                named = written.type.is_array and not is_message(effect, i)
                sizes.add((bound(written) or None) if named else None)
        return next(iter(sizes)) if len(sizes) == 1 else None


@once
def stretches_of(program: Program) -> Stretches:
    """Those of a program, made once."""
    return Stretches(program)


def _inside(action: object, length: int, element: int) -> bool:
    """What is touched through a pointer to an element of so many bytes is part of one element, by its own type.

    A call may go on after the array, and so may what is touched as another struct.
    """
    match action:
        case ins.Load(member=member) | ins.Store(member=member):
            return length < element if member else length <= element
        case ins.CopyBytes():
            return length <= element
        case _:
            return False


def exactly(a: Access) -> tuple[int, int] | None:
    """(first byte, bytes) of an access, where these are numbers."""
    lo = None if a.lo is None else a.lo.constant
    length = None if a.length is None else a.length.constant
    return None if lo is None or length is None else (lo, length)


def _moving(offset: Poly) -> Poly:
    """The part of an offset that is no constant."""
    return Poly(tuple((m, c) for m, c in offset.terms if m))
