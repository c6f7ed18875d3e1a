"""Lowers statement nodes, children before parents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opi_xform.frontend.clang.libclang import Kind, TranslationUnit, evaluate, text
from opi_xform.frontend.clang.names import Names
from opi_xform.frontend.clang.source import after_semicolon, closing, find_top, skip_space, tokens
from opi_xform.frontend.clang.tree import Places, Tree
from opi_xform.frontend.lower.exprs import Expressions
from opi_xform.frontend.lower.refusals import refusal
from opi_xform.ir.ast import (
    Assign,
    Block,
    Break,
    Case,
    Cast,
    Comma,
    Conditional,
    Continue,
    DeclStmt,
    DoWhile,
    Expr,
    ExprStmt,
    For,
    Goto,
    If,
    IntLit,
    Label,
    Null,
    OpaqueStmt,
    Return,
    Stmt,
    Switch,
    Variable,
    VarRef,
    While,
)
from opi_xform.ir.lowering.memalign import memory_tested
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ir.walk import within

_LOOPS = (Kind.WHILE_STMT, Kind.DO_STMT, Kind.FOR_STMT)
# What `NULL` is made of, and a declaration that gives it.
_NULL = (Kind.TYPE_REF, Kind.UNEXPOSED_EXPR, Kind.PAREN_EXPR, Kind.CSTYLE_CAST_EXPR, Kind.INTEGER_LITERAL)
_INT = Type("int", "int", 4)
_NESTED = 8  # blocks and branches inside one another in a statement expression
_ENDS_WITH_SEMICOLON = {
    Kind.DO_STMT,
    Kind.GOTO_STMT,
    Kind.INDIRECT_GOTO_STMT,
    Kind.CONTINUE_STMT,
    Kind.BREAK_STMT,
    Kind.RETURN_STMT,
    Kind.ASM_STMT,
    Kind.MS_ASM_STMT,
}


class Statements:
    """Lowers the statement nodes of one function.  ``out[i]`` is node i's statement."""

    def __init__(self, unit: TranslationUnit, tree: Tree, places: Places, names: Names, ex: Expressions) -> None:
        self._lib = unit.lib
        self._tree = tree
        self._places = places
        self._names = names
        self._ex = ex
        self.out: dict[int, Stmt] = {}
        self.declared: dict[int, tuple[str, ...]] = {}  # DeclStmt node -> keys of its local variables
        self.sizes: dict[int, tuple[tuple[int, Expr], ...]] = {}  # DeclStmt node -> DeclStmt.sizes
        self.bodies: dict[int, tuple[Expr, ...]] = {}
        self._returned: set[str] = set()  # variables that `return` statements name, which come last in the text
        self._handlers: dict[int, Callable[[int, list[int]], Stmt | None]] = {
            Kind.COMPOUND_STMT: self._block,
            Kind.DECL_STMT: lambda i, k: DeclStmt(self._span(i), self.declared.get(i, ()), self.sizes.get(i, ())),
            # A statement with attributes (#pragma unroll, [[fallthrough]]): they change nothing here.
            Kind.UNEXPOSED_STMT: lambda i, k: self.statement(k[0]) if len(k) == 1 else None,
            Kind.NULL_STMT: lambda i, k: Null(self._span(i)),
            Kind.IF_STMT: self._if,
            Kind.FOR_STMT: self._for,
            Kind.WHILE_STMT: lambda i, k: (
                While(self._span(i, k[1]), self._ex.expr(k[0]), self.statement(k[1])) if len(k) == 2 else None
            ),
            Kind.DO_STMT: lambda i, k: (
                DoWhile(self._span(i), self.statement(k[0]), self._ex.expr(k[1])) if len(k) == 2 else None
            ),
            Kind.SWITCH_STMT: lambda i, k: (
                Switch(self._span(i, k[1]), self._ex.expr(k[0]), self.statement(k[1])) if len(k) == 2 else None
            ),
            Kind.CASE_STMT: self._case,
            Kind.DEFAULT_STMT: self._case,
            Kind.LABEL_STMT: self._label,
            Kind.GOTO_STMT: self._goto,
            Kind.BREAK_STMT: lambda i, k: Break(self._span(i)),
            Kind.CONTINUE_STMT: lambda i, k: Continue(self._span(i)),
            Kind.RETURN_STMT: self._return,
        }

    def lower(self, i: int) -> None:
        kind = self._tree.kind[i]
        kids = [k for k in self._tree.kids[i] if Kind.UNEXPOSED_EXPR <= self._tree.kind[k] <= Kind.LAST_STMT]
        handler = self._handlers.get(kind)
        found = handler(i, kids) if handler is not None else None
        if found is None:
            reason = {
                Kind.ASM_STMT: "inline asm",
                Kind.MS_ASM_STMT: "inline asm",
                Kind.INDIRECT_GOTO_STMT: "computed goto",
            }.get(kind) or ("OpenMP" if 232 <= kind <= 320 else "unknown statement")  # type: ignore[call-overload]
            self._ex.refusals.append(refusal(self._places, i, reason))
            found = OpaqueStmt(self._span(i), reason, self.expressions_in(kids))
        self.out[i] = found

    def statement(self, k: int) -> Stmt:
        """Child ``k`` as a statement."""
        found = self.out.get(k)
        if found is None:
            span = self._span(k, semicolon=True)
            found = self.out[k] = self._unfolded(self._ex.expr(k), span) or ExprStmt(span, self._ex.expr(k))
        return found

    def _unfolded(self, expression: Expr, span: Span) -> Stmt | None:
        """A statement expression whose value nobody reads, perhaps after a comma (glibc's ``assert``), as a block."""
        before: list[Stmt] = []
        while True:
            if isinstance(expression, Comma):
                before.append(ExprStmt(span, expression.left))
                expression = expression.right
            elif isinstance(expression, Cast) and expression.type.kind == "void":
                expression = expression.operand
            else:
                break
        node = self._ex.blocks.get(id(expression))
        if node is None:
            return None
        inner = next((self.out[k] for k in self._tree.kids[node] if k in self.out), None)
        if inner is None:
            return None
        self._ex.refusals[:] = [r for r in self._ex.refusals if r.node != node]
        return Block(span, (*before, inner))

    def value(self, i: int, variables: dict[str, Variable]) -> Expr | None:
        """``({ int a = x; int b = y; a < b ? a : b; })`` as ``a = x, b = y, a < b ? a : b``; None where it is more.

        ``if (c) a = 1;`` in it is ``c ? (a = 1, 0) : 0``.  Variables lose their initialisers; nothing declares them.
        """
        body = next((self.out[k] for k in self._tree.kids[i] if k in self.out), None)
        if not isinstance(body, Block) or not body.body or not isinstance(body.body[-1], ExprStmt):
            return None
        declared: list[Variable] = []
        parts = self._parts(body, variables, declared, _NESTED)
        if parts is None or parts[-1].type.kind in ("void", "record"):
            return None
        variables.update({variable.key: replace(variable, init=None) for variable in declared})
        out = parts[-1]
        for part in reversed(parts[:-1]):
            out = Comma(out.type, self._places.span(i), part, out)
        return out

    def _parts(
        self, stmt: Stmt, variables: dict[str, Variable], declared: list[Variable], nested: int
    ) -> list[Expr] | None:
        """A statement as expressions, one after the other; None where it is more."""
        match stmt:
            case Null():
                return []
            case ExprStmt(expr=e):
                return [e]
            case DeclStmt(variables=keys) if not stmt.sizes:
                found: list[Expr] = []
                for variable in (variables[key] for key in keys):
                    if variable.kind != "local" or not variable.type.is_scalar:
                        return None
                    declared.append(variable)
                    if variable.init is not None:
                        name = VarRef(variable.type, variable.init.span, variable.key)
                        found.append(Assign(variable.type, variable.init.span, "", name, variable.init))
                return found
            case Block(body=body) if nested:
                inner = [self._parts(s, variables, declared, nested - 1) for s in body]
                return None if None in inner else [e for part in inner if part is not None for e in part]
            case If(cond=cond, then=then, other=other) if nested:
                zero = IntLit(_INT, cond.span, 0)
                arms = [self._parts(s, variables, declared, nested - 1) if s is not None else [] for s in (then, other)]
                if None in arms:
                    return None
                yes, no = (self._arm(arm or [], zero) for arm in arms)
                return [Conditional(_INT, stmt.span, cond, yes, no)]
            case _:
                return None

    def _arm(self, parts: list[Expr], zero: IntLit) -> Expr:
        out: Expr = zero
        for part in reversed(parts):
            out = Comma(_INT, part.span, part, out)
        return out

    def expressions_in(self, kids: list[int]) -> tuple[Expr, ...]:
        """The outermost expressions below these nodes, in source order."""
        found: list[Expr] = []
        work = list(reversed(kids))
        while work:
            k = work.pop()
            kind = self._tree.kind[k]
            if Kind.UNEXPOSED_EXPR <= kind <= Kind.LAST_EXPR:
                found.append(self._ex.expr(k))
            else:
                work.extend(reversed(self._tree.kids[k]))
        return tuple(found)

    # --- places -----------------------------------------------------------------------------------

    def _span(self, i: int, last: int | None = None, semicolon: bool = False) -> Span:
        """The written place of statement ``i``, to the end of child statement ``last`` and with its ``;``."""
        places = self._places
        end = places.end[i]
        file = places.file[i]
        if last is not None and places.file[last] is file:
            end = max(end, self.statement(last).span.end)
        if file is not None and (semicolon or self._tree.kind[i] in _ENDS_WITH_SEMICOLON):
            end = after_semicolon(file.data, end)
        return places.span(i, end)

    # --- handlers ---------------------------------------------------------------------------------

    def _block(self, i: int, kids: list[int]) -> Stmt:
        return Block(self._places.span(i), tuple(self.statement(k) for k in kids))

    def _if(self, i: int, kids: list[int]) -> Stmt | None:
        if len(kids) not in (2, 3):
            return None
        other = self.statement(kids[2]) if len(kids) == 3 else None
        cond = memory_tested(self._ex.expr(kids[0]), self._returned, lambda key: self._only_there(i, key))
        return If(self._span(i, kids[-1]), cond, self.statement(kids[1]), other)

    def _only_there(self, i: int, key: str) -> bool:
        """Before node ``i`` nothing but its declaration names the local variable, and gives it NULL at most.

        The tree tells, and not the text: a macro may set a variable that its use does not name.
        """
        kind, cursor = self._tree.kind, self._tree.cursor
        if Kind.LABEL_STMT in kind or any(kind[k] in _LOOPS for k in self._tree.around(i)):
            return False  # what is behind the `if` may run before it, too
        declared = [k for k in range(i) if kind[k] == Kind.VAR_DECL and self._names.target(cursor[k]).key == key]
        if len(declared) != 1 or self._names.target(cursor[declared[0]]).kind != "local":
            return False
        first = self._tree.below(declared[0])
        if not all(kind[k] in _NULL and (kind[k] != Kind.INTEGER_LITERAL or evaluate(cursor[k]) == 0) for k in first):
            return False
        named = (k for k in range(i) if kind[k] == Kind.DECL_REF_EXPR)
        return all(self._names.referenced(cursor[k]).key != key for k in named)

    def _return(self, i: int, kids: list[int]) -> Stmt:
        value = self._ex.expr(kids[0]) if kids else None
        if value is not None:  # nodes are lowered from the last to the first: those after an `if` are known there
            self._returned.update(e.var for e in within(value) if isinstance(e, VarRef))
        return Return(self._span(i), value)

    def _case(self, i: int, kids: list[int]) -> Stmt | None:
        if not kids:
            return None
        body = self.statement(kids[-1])
        values = [self._ex.expr(k) for k in kids[:-1]]
        if self._tree.kind[i] == Kind.DEFAULT_STMT:
            return Case(self._span(i, kids[-1]), None, None, body)
        if not values or not all(isinstance(v, IntLit) for v in values):
            return None
        numbers = [v.value for v in values if isinstance(v, IntLit)]
        return Case(self._span(i, kids[-1]), numbers[0], numbers[-1], body)

    def _label(self, i: int, kids: list[int]) -> Stmt | None:
        if len(kids) != 1:
            return None
        name = text(self._lib.clang_getCursorSpelling(self._tree.cursor[i]))
        return Label(self._span(i, kids[0]), name, self.statement(kids[0]))

    def _goto(self, i: int, kids: list[int]) -> Stmt | None:
        for k in self._tree.kids[i]:
            if self._tree.kind[k] == Kind.LABEL_REF:
                return Goto(self._span(i), text(self._lib.clang_getCursorSpelling(self._tree.cursor[k])))
        return None

    def _for(self, i: int, kids: list[int]) -> Stmt | None:
        if not kids:
            return None
        slots = self._slots(i, kids[:-1])
        if slots is None:
            return None
        init, cond, step = slots
        return For(
            self._span(i, kids[-1]),
            self.statement(init) if init is not None else None,
            self._ex.expr(cond) if cond is not None else None,
            self._ex.expr(step) if step is not None else None,
            self.statement(kids[-1]),
        )

    def _slots(self, i: int, parts: list[int]) -> tuple[int | None, int | None, int | None] | None:
        """Which of ``for (init; cond; step)`` each child is: empty slots leave nothing among the children (trap 2)."""
        if len(parts) == 3:
            return parts[0], parts[1], parts[2]
        if not parts:
            return None, None, None
        made = self._places.made_by[i]
        if made is None:
            file = self._places.file[i]
            filled = _filled(file.data, self._places.begin[i]) if file is not None else None
        elif made.definition is not None and made.definition.body.count("for") == 1:
            body = " ".join(made.definition.body).encode()
            filled = _filled(body, next(b for b, e, _ in tokens(body, 0, len(body)) if body[b:e] == b"for"))
        else:
            filled = None
        if filled is None:
            return None
        if len(filled) != len(parts):
            return None  # a slot holds a macro that expands to nothing
        slots: list[int | None] = [None, None, None]
        for slot, part in zip(filled, parts, strict=True):
            slots[slot] = part
        return slots[0], slots[1], slots[2]


def _filled(data: bytes, begin: int) -> list[int] | None:
    """Which of the three slots of the ``for`` at ``begin`` hold something."""
    opening = skip_space(data, begin + len(b"for"))
    if data[begin : begin + 3] != b"for" or data[opening : opening + 1] != b"(":
        return None
    first = find_top(data, opening + 1, len(data), b";")
    second = find_top(data, first + 1, len(data), b";") if first is not None else None
    closed = closing(data, opening)
    if first is None or second is None or closed is None:
        return None
    bounds = ((opening + 1, first), (first + 1, second), (second + 1, closed - 1))
    return [n for n, (a, b) in enumerate(bounds) if skip_space(data, a) < b]
