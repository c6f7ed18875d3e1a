"""Variables beside a buffer's name, and the sums that they were set to: ``int at = d * n + i; b[at] = x;``.

Whether a variable is still worth that sum where it is used, the values there tell.  Here is only seen to it that the
sum could be written in its place: its names mean the same there, and it reads no memory and calls nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from opi_xform.divide.size_text import Spot, Word, Words
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import uncast
from opi_xform.ownership.model.buffers import Program


class NamedSums:
    """Of one program."""

    def __init__(self, program: Program, read: Callable[[str], bytes]) -> None:
        self.program = program
        self.read = read

    @cached_property
    def set_at(self) -> Mapping[tuple[int, str], list[int]]:
        """By frame and local variable: the nodes that set it, in their order."""
        out: dict[tuple[int, str], list[int]] = {}
        for node in self.program.graph.nodes:
            action = node.action
            if isinstance(action, ins.Define) and isinstance(action.target, ins.Var):
                out.setdefault((node.frame, action.target.key), []).append(node.number)
        return out

    def of(self, e: ast.Expr, stmt: ast.Stmt | None, n: int, frame: int) -> tuple[ast.Expr, ins.Operand] | None:
        """What the variable ``e`` was set to last before node ``n`` of a statement; None where ``e`` is none."""
        e = uncast(e)
        if not isinstance(e, ast.VarRef) or stmt is None or self.program.variables[e.var].is_global:
            return None
        before = [m for m in self.set_at.get((frame, e.var), ()) if m != n and self.program.dominates(m, n)]
        if not before:
            return None
        value, operand = self.value(before[-1], e.var), self.operand(before[-1])
        if value is None or operand is None:
            return None
        word = Word(value, operand, before[-1], frame, value)
        words = Words(self.program, self.read, [word], {e.var})
        return (value, operand) if words.words and words.moves(word, Spot(n, frame, stmt)) else None

    def operand(self, n: int) -> ins.Operand | None:
        """What a node sets its variable to, also where a temporary stands between them."""
        graph, action = self.program.graph, self.program.graph.nodes[n].action
        found = action.value if isinstance(action, ins.Define) else None
        for m in reversed(graph.blocks[graph.nodes[n].block]):
            before = graph.nodes[m].action
            if m < n and isinstance(found, ins.Temp) and isinstance(before, ins.Define) and before.target == found:
                found = before.value
        return found

    def value(self, n: int, key: str) -> ast.Expr | None:
        """The expression that a node sets a variable to, as a statement of its own says."""
        info = self.program.graph.statement(self.program.graph.nodes[n])
        match None if info is None else info.stmt:
            case ast.DeclStmt(variables=keys) if key in keys:
                return self.program.variables[key].init
            case ast.ExprStmt(expr=ast.Assign(target=ast.VarRef(var=var), value=value, op="")) if var == key:
                return value
            case _:
                return None
