"""Pointers in arrays of structs, in tables inside structs, and in tables on the heap, as arrays of pointers.

``nb[d].out``, ``m->out[d]`` and ``out[d]`` with ``double **out = malloc(…)`` are what ``out[d]`` is for ``double
*out[6]``: one pointer per index, at equal distances, in one object.  Where only loads and stores of these pointers
reach their places, they become an array of pointers, whose rows are then looked at as always (``memory/families``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from math import gcd

from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.types import LONG, Type
from opi_xform.memory.objects import Object
from opi_xform.ownership.buffers.members import Finder
from opi_xform.ownership.buffers.same_member import alike
from opi_xform.ownership.model.buffers import Member, Program
from opi_xform.ownership.model.lvalues import POINTER_BYTES
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """Where a table's pointers are: ``first + k * stride``, inside ``size`` bytes from ``start`` (None: to the end).

    width: bytes of each (``number_tables`` has others than pointers).
    """

    start: int
    size: int | None
    stride: int
    first: int
    width: int = POINTER_BYTES

    def meets(self, lo: int, length: int) -> bool:
        """Some of the bytes belong to one of the pointers."""
        if length <= 0 or lo + length <= self.start or (self.size is not None and lo >= self.start + self.size):
            return False
        at = (lo - self.first) % self.stride
        return at < self.width or at + length > self.stride

    def near(self, lo: int, length: int | None) -> bool:
        """Bytes of the array that the pointers are in."""
        before = length is not None and lo + length <= self.start
        return not before and (self.size is None or lo < self.start + self.size)


class TableFinder(Finder):
    """One use: ``tables``."""

    def tables(self, elsewhere: Collection[int]) -> Iterator[tuple[Member, Type, dict[int, ins.Operand]]]:
        """(the table, its type as a variable, the new addresses of its loads and stores)."""
        found: list[tuple[Member, Type]] = []
        addresses: dict[str, dict[int, ins.Operand]] = {}
        for info in self.table:
            if info.number in self.spoiled or not self.values.accesses.any(info.number) or not self.single(info):
                continue
            for shape in self.shapes(info):
                made = self.table_of(info, shape)
                if made is not None and not set(made[2]) & set(elsewhere):
                    found.append(made[:2])
                    addresses[made[0].key] = made[2]
        for member, type_ in self.consistent(found):
            yield member, type_, addresses[member.key]

    def shapes(self, info: Object) -> list[Shape]:
        """The tables that subscripts show."""
        out: dict[Shape, None] = {}
        for a in self.touching(info.number):
            action = self.graph.nodes[a.node].action
            if not isinstance(action, (ins.Load, ins.Store)) or not self.plain(action.type) or a.lo is None:
                continue
            lo = self.symbols.resolve(a.lo)
            if lo.constant is not None or not self.exact(a.node, info.number):
                continue
            stride = gcd(*(c for m, c in lo.terms if m))
            start, size = self.stretches.stretch(a, None, POINTER_BYTES)
            if stride < POINTER_BYTES or stride % POINTER_BYTES:
                continue
            rest = next((c for m, c in lo.terms if not m), 0)
            out[Shape(start, size, stride, start + (rest - start) % stride)] = None
        return list(out)

    def table_of(self, info: Object, shape: Shape) -> tuple[Member, Type, dict[int, ins.Operand]] | None:
        cells: dict[int, int | None] = {}  # node -> constant index, None: the subscript
        zeroed: list[tuple[int, int, int]] = []
        types: list[Type] = []
        for a in self.touching(info.number):
            action = self.graph.nodes[a.node].action
            lo = None if a.lo is None else self.symbols.resolve(a.lo)
            length = None if a.length is None else a.length.constant
            at = None if lo is None else lo.constant
            whole = length == POINTER_BYTES and self.exact(a.node, info.number)
            pointer = whole and isinstance(action, (ins.Load, ins.Store)) and self.plain(action.type)
            if at is not None and length is not None:
                if a.kind == "W" and self.clears(a.node) and shape.near(at, length):
                    zeroed.append((a.node, at, length))
                elif shape.meets(at, length):
                    if not pointer or (at - shape.first) % shape.stride:
                        return None
                    cells[a.node] = (at - shape.first) // shape.stride
                continue
            stretch = self.stretches.stretch(a, at, length)
            if not shape.near(*stretch):
                continue
            if lo is None or length is None or at is not None or stretch != (shape.start, shape.size):
                if stretch[1] is None or shape.meets(stretch[0], stretch[1]):
                    return None
                continue
            place = (next((c for m, c in lo.terms if not m), 0) - shape.first) % shape.stride
            if any(c % shape.stride for m, c in lo.terms if m):
                return None
            if place or not pointer:
                if place < POINTER_BYTES or place + length > shape.stride:
                    return None
                continue
            cells[a.node] = None
        for n in cells:
            action = self.graph.nodes[n].action
            assert isinstance(action, (ins.Load, ins.Store))
            if not self.clears_it(n):
                types.append(action.type)
        if not types or any(not alike(types[0], t) for t in types):
            return None
        return self.finished(info, shape, cells, zeroed, types[0])

    def finished(
        self,
        info: Object,
        shape: Shape,
        cells: dict[int, int | None],
        zeroed: list[tuple[int, int, int]],
        type_: Type,
    ) -> tuple[Member, Type, dict[int, ins.Operand]] | None:
        nodes = sorted(cells)
        ends = shape.first + POINTER_BYTES if shape.size is None else shape.start + shape.size
        made = self.made(info, shape.first, nodes, zeroed, (shape.start, ends))
        if made is None:
            return None
        count = self.counted(info, shape)
        key = f"{made.key}*{shape.stride}"
        addresses: dict[int, ins.Operand] = {}
        for n in nodes:
            addresses[n] = self.address(info, key, shape, n, cells[n], count)
        size = count * POINTER_BYTES if count else None
        table = Type("array", f"{type_.spelling}[]", size, elem=type_, count=count or None)
        return replace(made, key=key, stride=shape.stride, count=count), table, addresses

    def counted(self, info: Object, shape: Shape) -> int:
        """How many pointers the table has; 0 when that is not known."""
        size = self.stretches.total(info) if shape.size is None and info.kind == "heap" else shape.size
        return 0 if size is None else size // shape.stride

    def address(self, info: Object, key: str, shape: Shape, n: int, index: int | None, count: int) -> ins.Operand:
        """Where a load or store finds its place in the array that stands for the table."""
        node = self.graph.nodes[n]
        action = node.action
        assert isinstance(action, (ins.Load, ins.Store))
        function = self.graph.frames[node.frame].function
        e = self.written.of(function, action)
        array = ins.AddrVar(key, action.span if e is None else e.span)
        if index is not None:
            return ins.PtrAdd(array, ins.Const(index), shape.width, count * shape.width)
        found = self.values.indexed.get(n)
        rest: int | None = None
        if found is not None and found[0] == shape.stride:
            offset = self.symbols.offset(self.values.operands[n][0]) - found[1].scaled(shape.stride)
            rest = self.symbols.resolve(offset).constant
        if found is None or rest is None or (rest - shape.first) % shape.stride:
            # `p->out`: the distance from the first one
            first = ins.PtrAdd(self.start_of(info, action.span), ins.Const(shape.first), 1)
            bytes_ = ins.Op("ptrdiff", (action.address, first), LONG)
            operand: ins.Operand = ins.Op("/", (bytes_, ins.Const(shape.stride)), LONG)
        else:
            more = (rest - shape.first) // shape.stride
            operand = found[2] if more == 0 else ins.Op("+", (found[2], ins.Const(more)), LONG)
        return ins.PtrAdd(array, operand, shape.width, count * shape.width)

    def start_of(self, info: Object, span: Span) -> ins.Operand:
        """The address of an object, which functions that are given it do not name."""
        if info.kind == "heap":
            return ins.AddrHeap(info.node)
        assert info.variable is not None
        return ins.AddrVar(info.variable, span) if info.frame < 0 else ins.AddrLocal(info.variable, info.frame)


def find_tables(program: Program, elsewhere: Collection[int]) -> list[tuple[Member, Type, dict[int, ins.Operand]]]:
    """``elsewhere``: loads and stores of pointers that are variables of their own."""
    return list(TableFinder(program).tables(elsewhere))
