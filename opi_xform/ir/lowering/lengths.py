"""Arrays of variable length: bytes between their elements and rows, as operands."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import zero_constant
from opi_xform.ir.types import LONG, Type


class Lengths:
    """What the declarations of one function made of the lengths in them.

    Of each variable: elements in what a subscript steps over, for the first subscript, the second and so on (of an
    array those in all of it come first), which of them is the first subscript's, and the bytes of one element.
    """

    def __init__(self) -> None:
        self._steps: dict[str, tuple[tuple[ins.Operand, ...], int, int]] = {}

    def declare(self, var: ast.Variable, counts: Sequence[ins.Operand]) -> ins.Operand | None:
        """counts: of the arrays of ``var.lengths``.  The bytes of all of them, where these have a size."""
        element = var.type.elem if var.type.is_pointer else var.type
        for _ in counts:
            element = element.elem if element is not None else None
        if element is None or not element.size:
            return None
        steps: list[ins.Operand] = [ins.Const(1)]
        for count in reversed(counts):
            steps.append(count if steps[-1] == ins.Const(1) else ins.Op("*", (count, steps[-1]), LONG))
        bytes_ = ins.Op("*", (steps[-1], ins.Const(element.size)), LONG)
        self._steps[var.key] = (tuple(reversed(steps)), 0 if var.type.is_pointer else 1, element.size)
        return bytes_

    def step(self, e: ast.Expr) -> tuple[ins.Operand, int] | None:
        """Elements, and bytes of one, in what the address ``e`` leads to, of a type of variable length."""
        depth = 0
        while True:
            match e:
                case ast.VarRef() if e.var in self._steps:
                    steps, first, size = self._steps[e.var]
                    return (steps[first + depth], size) if 0 <= first + depth < len(steps) else None
                case ast.Index(base=inner) | ast.Deref(operand=inner):
                    e, depth = inner, depth + 1
                case ast.AddrOf(operand=inner):
                    e, depth = inner, depth - 1
                case ast.Cast(operand=inner) if not e.explicit:
                    e = inner
                case ast.Binary(op="+" | "-", left=inner) if _leads_somewhere(inner.type):
                    e = inner
                case _:
                    return None

    def size(self, e: ast.Expr) -> ins.Operand | None:
        """``sizeof e``, of a type of variable length."""
        found = self.step(ast.AddrOf(e.type, e.span, e))
        return None if found is None else ins.Op("*", (found[0], ins.Const(found[1])), LONG)

    def scaled(self, e: ast.Expr, index: ins.Operand, size: int) -> tuple[ins.Operand, int]:
        """The step of ``index`` from the address ``e``, as a number of elements and the bytes of one (0: not known).

        size: of what ``e`` leads to, where its type has one.
        """
        found = self.step(e) if size == 0 else None
        if found is None:
            return index, size
        step, size = found
        return (index if step == ins.Const(1) or zero_constant(index) else ins.Op("*", (index, step), LONG)), size


def _leads_somewhere(type_: Type) -> bool:
    return type_.is_pointer or type_.is_array
