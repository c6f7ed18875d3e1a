"""The accesses to memory that one node makes, and the arrays that its addresses stay inside."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform import budget
from opi_xform.calls.calls import Calls
from opi_xform.effects.model import ArgRegion
from opi_xform.graph.graph import Node
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.accesses import Access, Spread, row_and_padding
from opi_xform.memory.extent import extent_of
from opi_xform.memory.poly import ONE, Poly
from opi_xform.memory.values import Values
from opi_xform.values.made_datatypes import MadeTypes


class Touches(MadeTypes):
    """Notes accesses in ``Values``.  Raises budget.TooLargeError where there are too many."""

    def __init__(
        self, variables: Mapping[str, ast.Variable], calls: Calls, values: Values, families: Mapping[int, int]
    ) -> None:
        super().__init__(variables, calls, values, families)
        self.family_of = {h: family for family in families.values() for h in calls.objects.table[family].members}
        self.noted = 0  # accesses

    def access(
        self, node: Node, o: int, kind: str, lo: Poly | None, length: Poly | None, must: bool, why: str = ""
    ) -> None:
        self.note(1)
        within, padding = row_and_padding(node.action)
        self.values.accesses.add(Access(node.number, o, kind, lo, length, must, why, within, padding))
        if o in self.family_of:  # by an address that no row is known of: it may be any
            self.access(node, self.family_of[o], kind, None, None, False, why)

    def anywhere(self, node: Node, objects: frozenset[int], kind: str, why: str = "") -> None:
        """An access to one of these objects, at a place that is not known."""
        objects = objects.union(self.family_of[o] for o in objects if o in self.family_of)
        if len(objects) < 2:
            for o in objects:
                self.access(node, o, kind, None, None, False, why)
            return
        self.note(len(objects))
        within, padding = row_and_padding(node.action)
        accesses = self.values.accesses
        accesses.add(Spread(node.number, accesses.group(objects), kind, why, within, padding))

    def note(self, touched: int) -> None:
        self.noted += touched
        if self.noted > budget.ACCESSES:
            raise budget.TooLargeError([f.function for f in self.calls.graph.frames], budget.TOUCHED)

    def touch(
        self,
        node: Node,
        address: Poly,
        operand: ins.Operand,
        frame: int,
        kind: str,
        length: Poly | None,
        must: bool,
        why: str = "",
    ) -> frozenset[int]:
        """Records an access through ``address``; returns the objects that it may concern."""
        address = self.symbols.not_null(address)
        base = self.symbols.base(address)
        if base is not None:
            self.access(
                node, base, kind, self.symbols.offset(address) if length is not None else None, length, must, why
            )
            return frozenset({base})
        # An address that is a number here is NULL, or none of the program's.
        known = address.constant is not None
        targets = self.pts.operand(frame, operand) if known else self.pts.accessed(frame, operand)
        self.anywhere(node, targets, kind, why)
        return targets

    def followed(self, node: Node, address: Poly) -> Poly:
        """An address that is read from or written to, so that it is not NULL."""
        there = self.symbols.not_null(address)
        if there != address:
            for s in address.symbols():
                if s in self.symbols.present:
                    self.values.followed.setdefault(s, []).append(node.number)
        return there

    def array(self, node: Node, frame: int, operand: ins.Operand) -> None:
        """Notes the array at a constant place that a subscript stays inside: all of one with several dimensions."""
        parts: list[tuple[int, Poly, ins.Operand]] = []
        at: ins.Operand = operand
        while isinstance(at, ins.PtrAdd):
            if not isinstance(at.index, ins.Const):
                parts.append((at.scale, self.value(node, frame, at.index), at.index))
            at = at.base
        if len(parts) == 1:
            self.values.indexed[node.number] = parts[0]
        found = self.around(node, frame, operand)
        if found is not None:
            self.values.arrays[node.number] = found

    def element(self, node: Node, frame: int, operand: ins.Operand, value: Poly) -> None:
        """Notes a pointer to an element of an array that is a part of an object."""
        value = self.symbols.not_null(value)
        base = self.symbols.base(value)
        if base is not None and isinstance(operand, ins.PtrAdd) and self.symbols.offset(value).constant is None:
            found = self.around(node, frame, operand)
            subscript: ins.Operand = operand
            while isinstance(subscript, ins.PtrAdd) and not subscript.row:
                subscript = subscript.base
            if found is not None and isinstance(subscript, ins.PtrAdd):
                element = (*found, subscript.scale)
                self.values.elements.setdefault((base, self.symbols.offset(value)), set()).add(element)

    def around(self, node: Node, frame: int, operand: ins.Operand) -> tuple[int, int] | None:
        """(first byte, size) of the array at a constant place that an address was made from by a subscript."""
        found: tuple[int, int] | None = None
        while isinstance(operand, ins.PtrAdd) and (operand.row or found is None):
            if operand.row:
                address = self.symbols.not_null(self.value(node, frame, operand.base))  # it has elements
                start = self.symbols.resolve(self.symbols.offset(address)).constant
                if start is not None:
                    found = (start, operand.row)
            operand = operand.base
        return found

    def length(self, region: ArgRegion, arg: int, values: tuple[Poly, ...], call: ins.CallInstr) -> Poly | None:
        """The product of a region's factors in bytes; None when one is not known."""
        if region.length is None:
            return None
        out = ONE
        for f in region.length:
            size: int | None = None
            if f.kind == "const":
                size = f.value
            elif f.kind == "arg" and f.value < len(values):
                out = out * values[f.value]
                continue
            elif f.kind == "extent" and f.value < len(values):
                bytes_ = extent_of(self.values, call.args[f.value], values[f.value])
                if bytes_ is None:
                    return None
                out = out * bytes_
                continue
            elif f.kind == "elem":
                type_ = call.call.args[arg].type
                size = type_.elem.size if type_.elem is not None else None
            if size is None:
                return None
            out = out.scaled(size)
        return out
