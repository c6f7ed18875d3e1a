"""Functions that make a table of rows in one block, and functions that free one.

``void **rows(size_t nr, size_t nc, size_t size)`` allocates a table of ``nr`` pointers and one block of ``nr * nc *
size`` bytes, and sets row ``i`` to the place ``i * nc * size`` bytes into the block.  Only functions are known that do
this in these words and nothing else, but what they do for want of memory: then they return NULL or end the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from opi_xform.divide.flat.telling import flattened, only_tells
from opi_xform.ir import ast
from opi_xform.ir.types import Type
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Maker:
    """rows: the factor that says how many.  row: the factors of a row's bytes.  A factor is a parameter or a constant.

    zeros: the block holds zeros.  ends: for want of memory the program ends.
    """

    rows: ast.Expr
    row: tuple[ast.Expr, ...]
    zeros: bool
    ends: bool


class _OtherError(Exception):
    """It is another function."""


def maker(function: ast.Function, functions: Mapping[str, ast.Function]) -> Maker | None:
    """What a function makes; None where it is none that makes a table of rows in one block.

    functions: those of the program.
    """
    try:
        return _Making(function, functions).run()
    except _OtherError:
        return None


class _Making:
    """One function: ``run``."""

    def __init__(self, function: ast.Function, functions: Mapping[str, ast.Function]) -> None:
        self.function = function
        self.functions = functions
        self.tables: set[str] = set()  # the variables that hold the table
        self.block = ""  # the one that holds the block
        self.rows: ast.Expr | None = None
        self.row: tuple[ast.Expr, ...] = ()
        self.zeros = False
        self.ends: bool | None = None  # None: nothing is done for want of memory
        self.before: Sequence[ast.Expr] = ()  # the factors of a block that comes before its table
        self.first = False  # the table's first row is the block
        self.set = False  # all rows are set

    def run(self) -> Maker | None:
        if self.function.refused or any(not _number(self.function.variables[key].type) for key in self.function.params):
            return None
        returned = False
        before: ast.Stmt | None = None
        for s in flattened(self.function.body.body):
            if returned:
                raise _OtherError
            match s:
                case ast.DeclStmt(variables=keys, sizes=()):
                    for key in keys:
                        self.declared(self.function.variables[key])
                case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=key), value=value)) if (
                    self.is_counter(key) and _constant(value) is not None
                ):
                    pass  # of a `while` that comes next
                case ast.ExprStmt(expr=ast.Assign(op="", target=target, value=value)):
                    self.assigned(target, value)
                case ast.If(cond=cond, then=then, other=None):
                    self.without_memory(cond, then)
                case ast.For():
                    self.loop(s.init, s.cond, s.step, list(flattened((s.body,))))
                case ast.While(cond=cond, body=body):
                    done = list(flattened((body,)))
                    last = done.pop() if done else None
                    self.loop(before, cond, last.expr if isinstance(last, ast.ExprStmt) else None, done)
                case ast.Return(value=value) if value is not None:
                    returned = self.is_table(value)
                    if not returned:
                        raise _OtherError
                case _:
                    raise _OtherError
            before = s
        if not returned or not self.set or self.rows is None:
            raise _OtherError
        if any(isinstance(f, ast.VarRef) and f.var not in self.function.params for f in (self.rows, *self.row)):
            raise _OtherError
        return Maker(self.rows, self.row, self.zeros, bool(self.ends))

    def is_counter(self, key: str) -> bool:
        """A number of the function's own."""
        v = self.function.variables.get(key)
        return v is not None and key not in self.function.params and v.kind == "local" and _number(v.type)

    def is_table(self, e: ast.Expr) -> bool:
        e = _bare(e)
        return isinstance(e, ast.VarRef) and e.var in self.tables

    def declared(self, v: ast.Variable) -> None:
        if v.kind != "local" or v.type.volatile or v.type.atomic or v.type.is_array:
            raise _OtherError
        if v.init is not None:
            if v.type.is_pointer and isinstance(_bare(v.init), ast.Call):
                self.allocated(v.key, v.init)
            elif self.is_table(v.init) and v.type.elem is not None and v.type.elem.is_pointer:
                self.tables.add(v.key)  # nothing sets it to anything else: that would be another table
            elif not (isinstance(v.init, ast.IntLit) and v.type.kind == "int"):
                raise _OtherError

    def assigned(self, target: ast.Expr, value: ast.Expr) -> None:
        """An allocation, or the first row."""
        if isinstance(target, ast.VarRef):
            self.allocated(target.var, value)
        elif self.is_first(target) and not self.first and not self.set:
            if self.block:
                if not _is(_bare(value), self.block):
                    raise _OtherError
            else:
                self.bytes_of_block(value)
            self.first = True
        else:
            raise _OtherError

    def is_first(self, e: ast.Expr) -> bool:
        """The table's first element."""
        e = _bare(e)
        if isinstance(e, ast.Index):
            return self.is_table(e.base) and _constant(e.index) == 0
        return isinstance(e, ast.Deref) and self.is_table(e.operand)

    def allocated(self, key: str, value: ast.Expr) -> None:
        """A variable is set to new memory: the table, or the block."""
        if key not in self.function.variables or key in self.function.params:
            raise _OtherError
        elem = self.function.variables[key].type.elem
        if elem is not None and elem.is_pointer and not self.tables:
            self.tables.add(key)
            _, factors = _allocation(value)
            numbers = [f for f in factors if _constant(f) is None]
            sizes = [f for f in factors if isinstance(f, ast.SizeOf)]
            if len(sizes) != 1 or sizes[0].value != elem.size or len(factors) != 2 or len(numbers) > 1:
                raise _OtherError
            self.rows = next(f for f in factors if f is not sizes[0])
            if self.block:
                self.row_of(self.before)
        elif not self.block and not self.first and elem is not None and not elem.is_pointer:
            self.block = key
            if self.rows is not None:
                self.bytes_of_block(value)
            else:
                self.zeros, self.before = _allocation(value)
        else:
            raise _OtherError

    def bytes_of_block(self, value: ast.Expr) -> None:
        """The block is allocated: as many bytes as there are rows, times those of a row."""
        self.zeros, factors = _allocation(value)
        self.row_of(factors)

    def row_of(self, factors: Sequence[ast.Expr]) -> None:
        """The block has these factors: what is left of them without the rows is a row's."""
        left = list(factors)
        found = next((f for f in left if self.rows is not None and _same(f, self.rows)), None)
        if found is None:
            raise _OtherError
        left.remove(found)
        self.row = tuple(left)

    def without_memory(self, cond: ast.Expr, then: ast.Stmt) -> None:
        """``if ((t = malloc(n)) == NULL)``, and what is done then."""
        tested = _tested(cond)
        if isinstance(tested, ast.Assign) and not tested.op:
            self.assigned(tested.target, tested.value)
            tested = tested.target
        tested = _bare(tested) if tested is not None else None
        mine = isinstance(tested, ast.VarRef) and tested.var in (*self.tables, self.block)
        if tested is None or not (mine or (self.first and self.is_first(tested))):
            raise _OtherError
        done = list(flattened((then,)))
        last = done[-1] if done else None
        returns = isinstance(last, ast.Return) and last.value is not None and _constant(_bare(last.value)) == 0
        ends = only_tells(done[:-1] if returns else done, self.functions, self.owns)
        if ends is None or not (ends or returns) or self.ends not in (None, ends):
            raise _OtherError
        self.ends = ends

    def owns(self, e: ast.Expr) -> bool:
        """The table, its block or its first row."""
        e = _bare(e)
        return self.is_table(e) or _is(e, self.block) or (self.first and self.is_first(e))

    def loop(
        self, init: ast.Stmt | None, cond: ast.Expr | None, step: ast.Expr | None, body: Sequence[ast.Stmt]
    ) -> None:
        """All rows are set, or all but the first."""
        counter, begin = self.counter(init)
        if self.rows is None or self.set or not self.row or not isinstance(cond, ast.Binary) or cond.op != "<":
            raise _OtherError
        if not _is(_wide(cond.left), counter) or not _same(_wide(cond.right), self.rows):
            raise _OtherError
        if not isinstance(step, ast.IncDec) or step.op != "++" or not _is(step.operand, counter) or len(body) != 1:
            raise _OtherError
        match body[0]:
            case ast.ExprStmt(expr=ast.Assign(op="", target=ast.Index(base=base, index=index), value=value)):
                if not self.is_table(base) or not _is(_wide(index), counter):
                    raise _OtherError
                self.place(value, counter, begin)
            case _:
                raise _OtherError
        if begin and not self.first:
            raise _OtherError
        self.set = True

    def counter(self, init: ast.Stmt | None) -> tuple[str, int]:
        """The counter of a loop, and its first value: 0 or 1."""
        key, begin = "", None
        match init:
            case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=key), value=value)):
                begin = _constant(value)
            case ast.DeclStmt(variables=(key,)):
                first = self.function.variables[key].init
                begin = None if first is None else _constant(first)
            case _:
                raise _OtherError
        var = self.function.variables.get(key)
        if var is None or key in self.function.params or not _number(var.type) or begin not in (0, 1):
            raise _OtherError
        assert begin is not None
        return key, begin

    def place(self, value: ast.Expr, counter: str, begin: int) -> None:
        """Where a row begins: in the block, or in the row before, a row's bytes further on."""
        e = _bare(value)
        match e:
            case ast.AddrOf(operand=ast.Index(base=base, index=index) as at):
                unit = at.type.size
            case ast.Binary(op="+", left=left, right=right):
                base, index = (left, right) if left.type.is_pointer or left.type.is_array else (right, left)
                elem = base.type.elem
                unit = 1 if elem is not None and elem.kind == "void" else None if elem is None else elem.size
            case _:
                raise _OtherError
        base = _bare(base)
        if not unit:
            raise _OtherError
        wanted = list(self.row)
        if _is(base, self.block) or (self.first and self.is_first(base)):
            if not begin and not _is(base, self.block):
                raise _OtherError
            factors = _factors(index)
            own = next((f for f in factors if _is(f, counter)), None)
            if own is None:
                raise _OtherError
            factors.remove(own)
        elif begin and isinstance(base, ast.Index) and self.is_table(base.base):
            before = _wide(base.index)
            if not isinstance(before, ast.Binary) or before.op != "-" or not _is(_wide(before.left), counter):
                raise _OtherError
            if _constant(before.right) != 1:
                raise _OtherError
            factors = _factors(index)
        else:
            raise _OtherError
        if _measure(factors, unit) != _measure(wanted, 1):
            raise _OtherError


def freer(function: ast.Function) -> bool:
    """It frees the first row of its only parameter, then that itself, and does nothing else but ask for NULL."""
    if len(function.params) != 1 or function.refused:
        return False
    names, unset = {function.params[0]}, set[str]()
    freed: list[str] = []
    ended = False
    for s in flattened(function.body.body):
        if ended:
            return False
        match s:
            case ast.DeclStmt(variables=keys, sizes=()):
                for key in keys:
                    v = function.variables[key]
                    if v.kind != "local" or not v.type.is_pointer or v.type.volatile or v.type.atomic:
                        return False
                    at = None if v.init is None else _bare(v.init)
                    if at is not None and not (isinstance(at, ast.VarRef) and at.var in names):
                        return False
                    (unset if at is None else names).add(key)
            case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=key), value=value)) if key in unset:
                at = _bare(value)
                if not isinstance(at, ast.VarRef) or at.var not in names:
                    return False
                names.add(key)
            case ast.If(cond=cond, then=then, other=None) if _part(_tested(cond), names) == "table" and _leaves(then):
                pass
            case ast.Return(value=None):
                ended = True
            case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=key), value=value)) if (
                key in names and freed == ["row", "table"] and _constant(_bare(value)) == 0
            ):
                pass  # its own name of what is gone
            case _:
                parts = _frees(s, names)
                if parts is None:
                    return False
                freed += parts
    return freed == ["row", "table"]


def _leaves(s: ast.Stmt) -> bool:
    return all(isinstance(inner, ast.Return) and inner.value is None for inner in flattened([s]))


def _frees(s: ast.Stmt, names: set[str]) -> list[str] | None:
    """What a statement frees; None where it does anything else.

    It may ask first whether there is a table, or a row: `free` of NULL does nothing.
    """
    freed: list[str] = []
    stack = [(s, "")]
    while stack:
        s, asked = stack.pop()
        match s:
            case ast.If(cond=cond, then=then, other=None) if (part := _part(_there(cond), names)) and asked != "row":
                stack += [(inner, part) for inner in reversed([*flattened([then])])]
            case ast.ExprStmt(expr=ast.Call(callee=ast.FuncRef(name="free"), args=(given,))):
                part = _part(given, names)
                # Where the first row is asked for, the table may be freed or not.
                if not part or (asked == "row" and part != "row"):
                    return None
                freed.append(part)
            case _:
                return None
    return freed


def _part(e: ast.Expr | None, names: set[str]) -> str:
    """Whether it is the table, or its first row; else nothing."""
    match None if e is None else _bare(e):
        case ast.VarRef(var=key) if key in names:
            return "table"
        case ast.Index(base=base, index=index) if _constant(index) == 0 and _among(base, names):
            return "row"
        case ast.Deref(operand=base) if _among(base, names):
            return "row"
        case _:
            return ""


def _there(cond: ast.Expr) -> ast.Expr | None:
    """What a condition asks for: that it is not NULL."""
    match cond:
        case ast.Binary(op="!=", left=left, right=right):
            return left if _constant(right) == 0 else right if _constant(left) == 0 else None
        case _ if cond.type.is_pointer:
            return cond
        case _:
            return None


def _among(e: ast.Expr, names: set[str]) -> bool:
    """One of the variables, as a pointer to pointers."""
    elem, e = e.type.elem, _bare(e)
    return elem is not None and elem.is_pointer and isinstance(e, ast.VarRef) and e.var in names


def _number(t: Type) -> bool:
    """A whole number, of which a product does not wrap before an address would."""
    return (
        t.kind == "int"
        and not t.boolean
        and not t.volatile
        and not t.atomic
        and (t.size == 8 or (t.signed and t.size == 4))
    )


def _bare(e: ast.Expr) -> ast.Expr:
    """Without casts of a pointer to another one."""
    while isinstance(e, ast.Cast) and e.type.is_pointer:
        e = e.operand
    return e


def _wide(e: ast.Expr) -> ast.Expr:
    """Without conversions of a whole number to one of as many bytes, or more."""
    while isinstance(e, ast.Cast) and _number(e.type) and (e.operand.type.size or 9) <= (e.type.size or 0):
        e = e.operand
    return e


def _is(e: ast.Expr, key: str) -> bool:
    return isinstance(e, ast.VarRef) and e.var == key and key != ""


def _constant(e: ast.Expr) -> int | None:
    e = _wide(_bare(e))
    if isinstance(e, ast.MacroConst) and e.operand is not None:
        return _constant(e.operand)
    return e.value if isinstance(e, (ast.IntLit, ast.SizeOf)) else None


def _same(a: ast.Expr, b: ast.Expr) -> bool:
    """Two factors: one parameter, or one number."""
    if isinstance(a, ast.VarRef) and isinstance(b, ast.VarRef):
        return a.var == b.var
    return _constant(a) is not None and _constant(a) == _constant(b)


def _factors(e: ast.Expr) -> list[ast.Expr]:
    """The factors of a product."""
    out: list[ast.Expr] = []
    stack = [e]
    while stack:
        e = _wide(stack.pop())
        if isinstance(e, ast.Binary) and e.op == "*":
            stack += [e.right, e.left]
        else:
            out.append(e)
    return out


def _measure(factors: Sequence[ast.Expr], unit: int) -> tuple[int, Counter[str]]:
    """A product, as its number and its variables."""
    number, names = unit, Counter[str]()
    for f in factors:
        worth = _constant(f)
        if worth is not None:
            number *= worth
        elif isinstance(f, ast.VarRef):
            names[f.var] += 1
        else:
            raise _OtherError
    return number, names


def _allocation(value: ast.Expr) -> tuple[bool, list[ast.Expr]]:
    """Whether malloc or calloc is called, and the factors of the bytes that it is asked for."""
    call = _bare(value)
    if not isinstance(call, ast.Call) or not isinstance(call.callee, ast.FuncRef):
        raise _OtherError
    if (call.callee.name, len(call.args)) not in (("malloc", 1), ("calloc", 2)):
        raise _OtherError
    factors = [f for a in call.args for f in _factors(a)]
    if not all(isinstance(f, ast.VarRef) or _constant(f) is not None for f in factors):
        raise _OtherError
    return call.callee.name == "calloc", factors


def _tested(cond: ast.Expr) -> ast.Expr | None:
    """What a condition asks for: that it is NULL."""
    match cond:
        case ast.Unary(op="!", operand=inner):
            return inner
        case ast.Binary(op="==", left=left, right=right):
            if _constant(right) == 0:
                return left
            return right if _constant(left) == 0 else None
        case _:
            return None
