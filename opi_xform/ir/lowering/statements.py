"""From statements to basic blocks of instructions; expressions are in lower_exprs.py.

Written as generators that yield the sub-trees they need lowered, run by ``_run`` with an explicit stack: a program's
nesting never meets Python's recursion limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.cells import cells
from opi_xform.ir.lowering.expressions import Expressions, Lowering
from opi_xform.ir.lowering.shapes import compares
from opi_xform.ir.lowering.truths import as_choice
from opi_xform.ir.lowering.turned import turned_loop
from opi_xform.ir.types import INT, LONG, Type
from opi_xform.ir.walk import statements

MOST_TESTS = 16
"""Cases of a ``switch`` that are tests one after the other; one with more of them is a choice of its own."""
Label = tuple[int, int] | None


def lower(function: ast.Function, globals_: Mapping[str, ast.Variable]) -> ins.Lowered:
    """The control flow of one function.  Constructs that refuse a function are named in ``Lowered.refused``."""
    return _Lowerer(function, globals_).lower()


def _run(start: Lowering) -> Any:
    stack = [start]
    value: Any = None
    while stack:
        try:
            child = stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            value = stop.value
        else:
            stack.append(child)
            value = None
    return value


class _Lowerer(Expressions):
    def __init__(self, function: ast.Function, globals_: Mapping[str, ast.Variable]) -> None:
        super().__init__(function, globals_)
        self.breaks: list[int] = []
        self.continues: list[int] = []
        self.labels: dict[str, int] = {}
        self.cases: list[list[tuple[Label, int]]] = []

    def lower(self) -> ins.Lowered:
        for key in self.function.params:
            _run(self.measure(self.function.variables[key]))
        _run(self.statement(self.function.body, -1, True, "body"))
        return ins.Lowered(
            self.function,
            tuple(tuple(b) for b in self.blocks),
            tuple(self.succs),
            tuple(self.stmts),
            self.refused,
            self.temps,
        )

    def statement(self, s: ast.Stmt, parent: int, in_block: bool, role: str) -> Lowering:
        self.stmts.append(ins.StmtInfo(s, parent, in_block, role))
        me = len(self.stmts) - 1
        outer, self.stmt = self.stmt, me
        match s:
            case ast.Block():
                for item in s.body:
                    yield self.statement(item, me, True, "item")
            case ast.ExprStmt():
                yield self.effect(s.expr)
            case ast.DeclStmt():
                sizes = list(s.sizes)
                for number, key in enumerate(s.variables):
                    while sizes and sizes[0][0] <= number:
                        yield self.effect(sizes.pop(0)[1])
                    yield self.declare(self.variable(key))
                for _, size in sizes:
                    yield self.effect(size)
            case ast.If() if (turned := turned_loop(s)) is not None:
                yield self.loop(turned, me)
            case ast.If(cond=ast.IntLit() as test, other=None) if test.value != 0:
                yield self.statement(s.then, me, False, "then")  # always: no branch
            case ast.If():
                yield self.if_(s, me)
            case ast.DoWhile(body=body, cond=ast.IntLit(value=0)) if not any(map(_leaves, statements(body))):
                yield self.statement(body, me, False, "body")  # once: no loop
            case ast.For() | ast.While() | ast.DoWhile():
                yield self.loop(s, me)
            case ast.Switch():
                yield self.switch(s, me)
            case ast.Case():
                target = self.block()
                self.close(target)
                self.at = target
                if self.cases:
                    label = None if s.low is None else (s.low, s.high if s.high is not None else s.low)
                    self.cases[-1].append((label, target))
                else:
                    self.refused = self.refused or "case label outside its switch"
                yield self.statement(s.body, me, in_block, "item")
            case ast.Break():
                if self.breaks:
                    self.close(self.breaks[-1])
                self.at = self.block()
            case ast.Continue():
                if self.continues:
                    self.close(self.continues[-1])
                self.at = self.block()
            case ast.Return():
                value = None
                if s.value is not None:
                    value = yield self.value(as_choice(s.value))
                    value = self.viewed(s.value, value, self.function.type.elem or s.value.type)
                self.emit(ins.ReturnInstr(s.span, me, value))
                self.close()
                self.at = self.block()
            case ast.Goto():
                self.close(self.label(s.label))
                self.at = self.block()
            case ast.Label():
                target = self.label(s.label)
                self.close(target)
                self.at = target
                self.pass_(target)
                yield self.statement(s.body, me, in_block, "item")
            case ast.Null():
                pass
            case ast.OpaqueStmt():
                self.refused = self.refused or s.reason
                values = []
                for child in s.children:
                    values.append((yield self.value(child)))
                self.emit(ins.Escape(s.span, me, s.reason, tuple(values)))
            case _:
                self.refused = self.refused or f"statement {type(s).__name__}"
        self.stmt = outer

    def pass_(self, block: int) -> None:
        """Every way back to a loop's start, or to a label, has an instruction of that statement there."""
        if not self.blocks[block]:
            stmt = self.stmts[self.stmt].stmt
            self.blocks[block].append(ins.passing(stmt.span, self.stmt, self.temp()))

    def label(self, name: str) -> int:
        if name not in self.labels:
            self.labels[name] = self.block()
        return self.labels[name]

    def declare(self, var: ast.Variable) -> Lowering:
        if var.kind == "local-static":
            return
        zeroed = isinstance(var.init, (ast.InitList, ast.StringLit))
        size = yield self.measure(var)
        self.emit(ins.Birth(var.span, self.stmt, var.key, zeroed, size if var.type.is_array else None))
        for part in cells(self.function, var) if var.type.kind in ("array", "record") else ():
            self.emit(ins.Birth(var.span, self.stmt, part.key, False))
            if zeroed:
                self.emit(ins.Define(var.span, self.stmt, ins.Var(part.key), ins.Const(0), part.type))
        if var.init is not None:
            yield self.initialise(var, ins.AddrVar(var.key, var.span), var.init, var.type)

    def measure(self, var: ast.Variable) -> Lowering:
        """The lengths in the type of a variable are what they are here, whatever their numbers become; its bytes."""
        counts: list[ins.Operand] = []
        for e in var.lengths:
            value = yield self.value(e)
            counts.append(value if isinstance(value, ins.Const) else self.defined(var, value, e.type))
        size = self.lengths.declare(var, counts) if counts else None
        return None if size is None else self.defined(var, size, LONG)

    def defined(self, var: ast.Variable, value: ins.Operand, type_: Type) -> ins.Temp:
        name = self.temp()
        self.emit(ins.Define(var.span, self.stmt, name, value, type_))
        return name

    def if_(self, s: ast.If, me: int) -> Lowering:
        then, other, join = self.block(), self.block(), self.block()
        yield self.condition(s.cond, then, other)
        self.at = then
        yield self.statement(s.then, me, False, "then")
        self.close(join)
        self.at = other
        if s.other is not None:
            yield self.statement(s.other, me, False, "else")
        self.close(join)
        self.at = join

    def loop(self, s: ast.For | ast.While | ast.DoWhile, me: int) -> Lowering:
        if isinstance(s, ast.For) and s.init is not None:
            yield self.statement(s.init, me, False, "init")
            self.stmt = me
        head, body, step, after = self.block(), self.block(), self.block(), self.block()
        if isinstance(s, ast.DoWhile):
            self.close(body)
        else:
            self.close(head)
            self.at = head
            if s.cond is None:
                body = head  # `for (;;) { if (!c) break; …`: the test stands at the head, as in `for (; c;)`
            else:
                yield self.condition(s.cond, body, after)
            self.pass_(head)
        self.at = body
        self.breaks.append(after)
        self.continues.append(step)
        yield self.statement(s.body, me, False, "body")
        self.stmt = me
        self.close(step)
        self.at = step
        if isinstance(s, ast.DoWhile):
            yield self.condition(s.cond, body, after)
            self.pass_(step)
        else:
            if isinstance(s, ast.For) and s.step is not None:
                yield self.effect(s.step)
            self.close(head)
        self.breaks.pop()
        self.continues.pop()
        self.at = after

    def switch(self, s: ast.Switch, me: int) -> Lowering:
        value = yield self.value(s.cond)
        start, after = self.at, self.block()
        self.cases.append([])
        self.breaks.append(after)
        self.at = self.block()
        yield self.statement(s.body, me, False, "body")
        self.close(after)
        self.breaks.pop()
        cases = self.cases.pop()
        self.at = start
        if not any(label is None for label, _ in cases):
            cases.append((None, after))
        if _as_tests(s.cond.type, value, [label for label, _ in cases]):
            self.tests(s, me, value, cases)
        else:
            self.emit(ins.SwitchOn(s.cond.span, me, value, tuple(label for label, _ in cases)))
            self.close(*(target for _, target in cases))
        self.at = after

    def tests(self, s: ast.Switch, me: int, value: ins.Operand, cases: list[tuple[Label, int]]) -> None:
        """A ``switch`` is ``if (x == a) … else if (x == b) …``: what holds after each is known as of these."""
        for label, target in cases:
            if label is not None:
                following = self.block()
                equal = self.binary("==", value, ins.Const(label[0]), s.cond.type, s.cond.type, INT, s.cond.span)
                self.emit(ins.Branch(s.cond.span, me, equal))
                self.close(target, following)
                self.at = following
        self.close(next(target for label, target in cases if label is None))


def _as_tests(type_: Type, value: ins.Operand, labels: Sequence[Label]) -> bool:
    """Few numbers, each by itself, and all of them of the type that is tested, which is no constant, and no address."""
    if type_.kind != "int" or type_.holds_address or isinstance(value, ins.Const) or compares(value):
        return False
    few = len(labels) <= MOST_TESTS
    return few and all(label is None or (label[0] == label[1] and type_.holds(label[0])) for label in labels)


def _leaves(found: tuple[ast.Stmt, ast.Stmt | None]) -> bool:
    return isinstance(found[0], (ast.Break, ast.Continue))
