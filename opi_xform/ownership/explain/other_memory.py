"""What lies in other memory than a message although the same words, or a pointer of the same type, may name it.

Points-to sets of a large program mix tables of pointers, lists of structs and pointers to functions.  What is told of a
message is asked here whether it can be of that message at all.  Which sites convert does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lvalues import Expressions
from opi_xform.ownership.model.names import names_of

SHOWN = 2  # names that are followed from a pointer to where it is computed

Objects = frozenset[int]


class Elsewhere:
    """One per program."""

    def __init__(self, program: Program, written: Expressions) -> None:
        self.program = program
        self.graph = program.graph
        self.names = names_of(program)
        self.written = written

    # --- tables of pointers ---------------------------------------------------------------------------------------

    def part_of(self, node: int, row: ast.Expr, objects: Objects) -> list[int]:
        """Nodes that set pointers of the table from which a call takes one to places inside blocks of its memory."""
        tables = self.tables(self.graph.nodes[node].frame, row)
        out = [n for n, (_, inside) in self.parts.items() if not objects.isdisjoint(inside)]
        return [n for n in out if not tables or not tables.isdisjoint(self.parts[n][0])]

    def tables(self, frame: int, row: ast.Expr) -> Objects:
        """The tables from which a pointer is read that a call names; none: it is not known."""
        function = self.graph.frames[frame].function
        found: set[int] = set()
        for node in self.graph.nodes:
            if node.frame == frame and isinstance(node.action, ins.Load):
                if self.written.of(function, node.action) is row:
                    found |= self.program.points_to.operand(frame, node.action.address)
        return frozenset() if UNKNOWN in found else frozenset(found)

    @cached_property
    def parts(self) -> dict[int, tuple[Objects, Objects]]:
        """Nodes that store a pointer to a place inside a block in a table, each with the table and the block."""
        out: dict[int, tuple[Objects, Objects]] = {}
        for node in self.graph.nodes:
            action = node.action
            if not isinstance(action, ins.Store) or not action.type.is_pointer:
                continue
            e = self.written.of(self.graph.frames[node.frame].function, action)
            if isinstance(e, ast.Index) and self.displaced(node.frame, action.value):
                points_to = self.program.points_to
                inside = points_to.operand(node.frame, action.value) - {UNKNOWN}
                out[node.number] = points_to.operand(node.frame, action.address), inside
        return out

    def displaced(self, frame: int, value: ins.Operand) -> bool:
        """A pointer is computed from another one."""
        for _ in range(SHOWN):
            while isinstance(value, ins.Op) and value.op == "cast":
                value = value.args[0]
            name = self.names.name(frame, value) if isinstance(value, ins.Temp) else None
            defs = self.names.defs.get(name, ()) if name is not None else ()
            action = self.graph.nodes[defs[0]].action if len(defs) == 1 else None
            if not isinstance(action, ins.Define):
                break
            value = action.value
        return isinstance(value, ins.PtrAdd) and value.index != ins.Const(0)
