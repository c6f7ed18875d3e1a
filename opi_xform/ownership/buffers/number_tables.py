"""Arrays of integers in structs as variables of their own: ``h->nbr[d]`` beside ``h->req[d]``.

What is known of a neighbour's rank or of a count stays known then where the rest of the struct changes, as with single
integers (``Finder.numbers``).  Every access to the array has to be a load or a store of one element, or a call that is
given the address of one at a constant place, or the whole array, by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import gcd

from opi_xform.graph.graph import Action, Graph
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.memory.accesses import Access
from opi_xform.memory.objects import Object
from opi_xform.ownership.buffers.tables import Shape, TableFinder
from opi_xform.ownership.model.buffers import Program
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class NumberTable:
    """``raw``: nobody knows its first contents, which are zeros otherwise.

    addresses: of its loads and stores, by node; arguments: of calls, by node and place.
    """

    key: str
    name: str
    type: Type
    raw: bool
    addresses: dict[int, ins.Operand]
    arguments: dict[tuple[int, int], ins.Operand]

    def with_it(self, n: int, action: Action) -> Action:
        """A node as it is with the table as a variable."""
        if isinstance(action, (ins.Load, ins.Store)):
            return replace(action, address=self.addresses[n])
        assert isinstance(action, ins.CallInstr)
        return replace(action, args=tuple(self.arguments.get((n, i), x) for i, x in enumerate(action.args)))

    @property
    def nodes(self) -> list[int]:
        return sorted({*self.addresses, *(n for n, _ in self.arguments)})


class NumberTables(TableFinder):
    """One use: ``found``."""

    def found(self) -> Iterator[NumberTable]:
        for info in self.table:
            if info.number in self.spoiled or not self.values.accesses.any(info.number) or not self.single(info):
                continue
            for shape, type_ in self.number_shapes(info):
                made = self.number_table(info, shape, type_)
                if made is not None:
                    yield made

    def number_shapes(self, info: Object) -> list[tuple[Shape, Type]]:
        """The arrays that subscripts show, with the type that they are read or written as."""
        out: dict[Shape, Type] = {}
        for a in self.touching(info.number):
            action = self.graph.nodes[a.node].action
            if not isinstance(action, (ins.Load, ins.Store)) or not _plain_number(action.type) or a.lo is None:
                continue
            lo, width = self.symbols.resolve(a.lo), action.type.size
            if lo.constant is not None or width is None or not self.exact(a.node, info.number):
                continue
            stride = gcd(*(c for m, c in lo.terms if m))
            start, size = self.stretches.stretch(a, None, width)
            if size is None or stride < width or stride % width or size % stride:
                continue
            rest = next((c for m, c in lo.terms if not m), 0)
            out.setdefault(Shape(start, size, stride, start + (rest - start) % stride, width), action.type)
        return list(out.items())

    def number_table(self, info: Object, shape: Shape, type_: Type) -> NumberTable | None:
        assert shape.size is not None
        count = shape.size // shape.stride
        key = f"{info.name}+{shape.first}*{shape.stride}#{info.number}"
        addresses: dict[int, ins.Operand] = {}
        arguments: dict[tuple[int, int], ins.Operand] = {}
        for a in self.touching(info.number):
            lo = None if a.lo is None else self.symbols.resolve(a.lo)
            length = None if a.length is None else a.length.constant
            at = None if lo is None else lo.constant
            start, size = self.stretches.stretch(a, at, length)
            if not shape.near(start, size) or (size is not None and not shape.meets(start, size)):
                continue
            inside = size is not None and shape.start <= start and start + size <= shape.start + shape.size
            if lo is None or length is None or not inside or any(c % shape.stride for m, c in lo.terms if m):
                return None
            place = (next((c for m, c in lo.terms if not m), 0) - shape.first) % shape.stride
            if place >= shape.width and place + length <= shape.stride:
                continue  # another member of the same struct
            action = self.graph.nodes[a.node].action
            index = None if at is None else (at - shape.first) // shape.stride
            whole = not place and length == shape.width
            if isinstance(action, (ins.Load, ins.Store)):
                same = _plain_number(action.type) and action.type.signed == type_.signed
                if not whole or not same or not self.exact(a.node, info.number):
                    return None
                addresses[a.node] = self.address(info, key, shape, a.node, index, count)
            elif isinstance(action, ins.CallInstr) and index is not None:
                given = self.given(a, action)
                if not given or place or not (whole or shape.stride == shape.width):
                    return None
                array = ins.AddrVar(key, action.span)
                for i in given:
                    arguments[a.node, i] = ins.PtrAdd(array, ins.Const(index), shape.width, count * shape.width)
            else:
                return None
        begin, raw = self.first(info, shape.start, shape.start + shape.size)
        if begin is None or not addresses:
            return None
        table = Type("array", f"{type_.spelling}[]", count * shape.width, elem=type_, count=count)
        return NumberTable(key, f"{info.name}+{shape.first}", table, raw, addresses, arguments)

    def given(self, a: Access, call: ins.CallInstr) -> list[int]:
        """The arguments of a call that are the address of an access."""
        values = [self.symbols.not_null(v) for v in self.values.args.get(a.node, ())]
        return [
            i
            for i, v in enumerate(values[: len(call.args)])
            if self.symbols.base(v) == a.object and self.symbols.offset(v) == a.lo
        ]


def _plain_number(type_: Type) -> bool:
    return type_.kind == "int" and not type_.volatile and not type_.atomic and bool(type_.size)


def number_tables(program: Program) -> list[NumberTable]:
    """All of a program."""
    return list(NumberTables(program).found())


def promoted(
    graph: Graph, variables: Mapping[str, ast.Variable], tables: Sequence[NumberTable]
) -> tuple[Graph, dict[str, ast.Variable]]:
    """A graph and its variables with the tables as variables."""
    more = dict(variables)
    nodes = list(graph.nodes)
    for table in tables:
        span = nodes[table.nodes[0]].action.span  # type: ignore[union-attr]
        more[table.key] = ast.Variable(table.key, table.name, table.type, "extern" if table.raw else "static", span)
        for n in table.nodes:
            nodes[n] = replace(nodes[n], action=table.with_it(n, nodes[n].action))
    return replace(graph, nodes=tuple(nodes)), more
