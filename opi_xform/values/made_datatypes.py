"""Datatypes that calls make of others, and the addresses that they are made of."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.calls.calls import Calls
from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.graph import Node
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.extent import HANDLE, derived, relative
from opi_xform.memory.poly import Poly
from opi_xform.memory.values import Values
from opi_xform.pointsto.inclusions import NOTHING
from opi_xform.values.evaluate import Evaluator


class MadeTypes(Evaluator):
    """What is known of a datatype after the call that makes it."""

    def __init__(
        self, variables: Mapping[str, ast.Variable], calls: Calls, values: Values, families: Mapping[int, int]
    ) -> None:
        super().__init__(variables, calls.objects, calls.pts, values, families)
        self.calls = calls
        self.turning: frozenset[int] = frozenset()  # blocks that are in loops

    def datatype(
        self, node: Node, call: ins.CallInstr, effect: FunctionEffect, values: tuple[Poly, ...]
    ) -> Poly | None:
        """Bytes of the datatype that a call makes, or commits, when it has no gaps."""

        def read(index: int, k: int) -> Poly | None:
            elem = call.call.args[index].type.elem
            base, offset = self.symbols.base(values[index]), self.symbols.offset(values[index]).constant
            if base is None or offset is None or elem is None or not elem.is_scalar or not elem.size:
                return None
            return self.read_cell(node, base, offset + k * elem.size, elem)

        for i in effect.retains_stored if node.frame not in self.calls.entered_again else ():
            given = self.pts.operand(node.frame, call.args[i]) if i < len(values) else NOTHING
            if self.pts.reachable(given) - given and relative(self.values, values[0].constant, i, read):
                self.values.relative.add(node.number)
        if effect.name == "MPI_Type_commit":
            before = self.handle(effect, values)
            single = None if before is None else before.single
            return None if single is None else self.values.extents.get(single)
        return derived(self.values, effect.name, call.args, values, read)

    def handle(self, effect: FunctionEffect, values: tuple[Poly, ...]) -> Poly | None:
        """What the handle that a call gives is now."""
        index = HANDLE.get(effect.name)
        if index is None or index >= len(values):
            return None
        base, offset = self.symbols.base(values[index]), self.symbols.offset(values[index]).constant
        return None if base is None or offset is None else self.look((base, offset))

    def place(self, node: Node, address: Poly) -> Poly:
        """An address as a number.  Of one of several blocks that an allocation makes, how far apart is not known."""
        base = self.symbols.base(self.as_number(node, address))
        info = self.objects.table[0 if base is None else base]
        once = len(info.nodes) == 1 and self.calls.graph.nodes[info.node].block not in self.turning
        return address if info.kind == "variable" or once else self.opaque(node, "address")
