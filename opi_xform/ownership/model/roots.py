"""The name that an address goes out from: the variable or member that a reader of the program would call its array.

A pointer that is only another name is followed: ``double *row = &s->u[k * n]`` goes out from ``u``, and so does what
``row_of(s, k)`` returns, and a parameter that a call gives ``s->u`` for.  Nothing that converts rests on this: it is
for reasons that are told.
"""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import children, statements, uncast, within
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lvalues import function_expressions
from opi_xform.record import dataclass

STEPS = 8  # names that are followed
STORED = "m"

Root = tuple[str, str, int]  # ("v", the key of a variable, its frame) or (STORED, ``member_key``, -1)
Given = ast.Expr | None  # what a pointer is set to; None: it is moved


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an address goes out from, with the expression that says so.

    inside: it is another place than the one that the name stands for, or one of several pointers by that name; moved:
    it is computed from that pointer.  frame: in which the expression stands.
    """

    root: Root
    base: ast.Expr
    inside: bool
    moved: bool
    frame: int


class Roots:
    """One per program: ``of``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.assigned: dict[str, dict[str, list[Given]]] = {}
        self.entered: dict[tuple[int, str, int], int] = {}  # (frame, file, place of the call) -> the callee's frame
        for frame in self.graph.frames:
            if frame.call >= 0:
                action = self.graph.nodes[frame.call].action
                if isinstance(action, ins.CallInstr):
                    span = action.call.span
                    self.entered.setdefault((frame.parent, span.file, span.begin), frame.number)
        self.rows: dict[str, str] = {}  # a member that is a table of pointers into another one -> that one
        for key in dict.fromkeys(frame.function for frame in self.graph.frames):
            if key in program.functions:
                self.find_rows(program.functions[key])

    def of(self, e: ast.Expr, frame: int) -> Origin | None:
        """Where an address goes out from."""
        inside = moved = below = False
        known: Origin | None = None
        for _ in range(STEPS):
            inside, moved, e = inside or is_inside(e), moved or is_moved(e), base_of(e)
            if isinstance(e, ast.Member):
                if known is not None and below and self.of_one_call(e):
                    return known  # the member is gone by then; each call hands out what its own was
                key = member_key(e)
                return Origin((STORED, self.rows.get(key, key), -1), e, inside, moved, frame)
            if isinstance(e, ast.Call):
                found, below = self.returned(e, frame), True
            elif isinstance(e, ast.VarRef):
                owner = -1 if self.program.variables[e.var].is_global else frame
                known = Origin(("v", e.var, owner), e, inside, moved, frame)
                found = self.given(e.var, frame)
            else:
                break
            if found is None:
                break
            e, frame, elsewhere = found
            inside, moved = inside or elsewhere, moved or elsewhere
        return known

    def given(self, key: str, frame: int) -> tuple[ast.Expr, int, bool] | None:
        """What a local pointer is another name of: an address, its frame, and whether it points elsewhere."""
        variable = self.program.variables[key]
        if frame < 0 or variable.is_global or not variable.type.is_pointer:
            return None
        every = self.sets(self.graph.frames[frame].function).get(key, [])
        values = [v for v in every if v is not None and not is_zero(v)]
        if variable.kind == "param":
            call = self.graph.frames[frame].call
            function = self.program.functions[self.graph.frames[frame].function]
            action = self.graph.nodes[call].action if call >= 0 else None
            if values or key not in function.params or not isinstance(action, ins.CallInstr):
                return None
            index = function.params.index(key)
            if index >= len(action.call.args):
                return None
            return action.call.args[index], self.graph.frames[frame].parent, None in every
        names = {_name(base_of(v)) for v in values}
        if len(names) != 1 or "" in names:
            return None
        return values[0], frame, None in every or any(map(is_moved, values))

    def returned(self, call: ast.Call, frame: int) -> tuple[ast.Expr, int, bool] | None:
        """What a function of the program returns, where it is NULL or one address."""
        inner = self.entered.get((frame, call.span.file, call.span.begin))
        if inner is None:
            return None
        every = self.sets(self.graph.frames[inner].function).get("", [])
        found = [e for e in every if e is not None and not is_zero(e)]
        return (found[0], inner, False) if len(found) == 1 else None

    def of_one_call(self, e: ast.Member) -> bool:
        """A member of a local struct or union, which another call of its function has anew."""
        inner: ast.Expr = e
        while isinstance(inner, ast.Member) and inner.base.type.record:
            inner = inner.base
        return isinstance(inner, ast.VarRef) and self.program.variables[inner.var].kind == "local"

    def sets(self, function: str) -> dict[str, list[Given]]:
        """What each pointer of a function is set to; by '' what it returns."""
        known = self.assigned.get(function)
        if known is None:
            known = self.assigned[function] = {}
            found = self.program.functions.get(function)
            for key, value in _sets(found) if found is not None else ():
                known.setdefault(key, []).append(value)
        return known

    def find_rows(self, function: ast.Function) -> None:
        """``s->rows[i] = &s->data[i * n]``."""
        for e in function_expressions(function):
            if isinstance(e, ast.Assign) and not e.op and e.target.type.is_pointer and isinstance(e.target, ast.Index):
                table, data = base_of(e.target), base_of(e.value)
                if isinstance(table, ast.Member) and isinstance(data, ast.Member) and is_inside(e.value):
                    self.rows[member_key(table)] = member_key(data)


def base_of(e: ast.Expr) -> ast.Expr:
    """What an address is computed from, as written: ``a`` of ``&a[i][1]``, ``s->b`` of ``s->b + n``."""
    while True:
        match e:
            case ast.Cast(operand=inner) | ast.AddrOf(operand=inner) | ast.Deref(operand=inner):
                e = inner
            case ast.Index(base=inner):
                e = inner
            case ast.Member(base=inner) if is_part(e):
                e = inner
            case ast.Binary(op="+" | "-", left=left, right=right) if e.type.is_pointer or e.type.is_array:
                e = left if left.type.is_pointer or left.type.is_array else right
            case _:
                return e


def read_from_memory(e: ast.Expr) -> ast.Expr | None:
    """The pointer in an address that is read from memory: ``a[i]`` of ``&a[i][0]``."""
    while True:
        match e:
            case ast.Cast(operand=inner) | ast.AddrOf(operand=inner):
                e = inner
            case ast.Index() | ast.Member() | ast.Deref() if e.type.is_pointer:
                return e
            case ast.Index(base=inner) | ast.Binary(left=inner):
                e = inner
            case _:
                return None


def leftmost(e: ast.Expr) -> ast.Expr:
    """What an argument begins with: `p` in `&p[k]` and `p + k + 1`."""
    while isinstance(e, (ast.AddrOf, ast.Index, ast.Cast, ast.Binary)):
        e = e.operand if isinstance(e, (ast.AddrOf, ast.Cast)) else e.base if isinstance(e, ast.Index) else e.left
    return e


def member_key(e: ast.Member) -> str:
    """A member by its name and its struct: that of another struct is another one."""
    return f"{e.base.type.record}.{e.field}"


def is_inside(e: ast.Expr) -> bool:
    """An address is another place than the one that its name stands for, or one of several pointers by that name."""
    start = _started(e)
    return start is None or isinstance(start, (ast.Index, ast.Binary))


def is_moved(e: ast.Expr) -> bool:
    """An address is computed from a pointer: it is not the pointer itself."""
    start = _started(e)
    return start is None or isinstance(start, ast.Binary)


def _started(e: ast.Expr) -> ast.Expr | None:
    """What stands for the place where an address begins; None where an index moves it from there."""
    while True:
        match e:
            case ast.Cast(operand=inner):
                e = inner
            case ast.AddrOf(operand=ast.Index(base=base, index=index)):
                if not is_zero(index):
                    return None
                e = base
            case ast.AddrOf(operand=inner) | ast.Deref(operand=inner):
                e = inner
            case ast.Member(base=inner) if is_part(e):
                e = inner
            case _:
                return e


@once
def roots_of(program: Program) -> Roots:
    return Roots(program)


def is_part(e: ast.Expr) -> bool:
    """A member that no address goes out from: it is a part of what lies where its struct does, ``a[i].red``."""
    return isinstance(e, ast.Member) and not (e.type.is_pointer or e.type.is_array)


def is_zero(e: ast.Expr) -> bool:
    """It is the number 0 whatever its variables are: ``0``, ``0 * n``, ``0 * n + 0``."""
    work = [e]
    while work:
        e = uncast(work.pop())
        match e:
            case ast.IntLit(value=0):
                continue
            case ast.Binary(op="+" | "-", left=left, right=right):
                work += [left, right]
            case ast.Binary(op="*", left=left, right=right):
                one, other = (left, right) if _is_literal_zero(left) else (right, left)
                if not _is_literal_zero(one) or not _is_number(other):
                    return False
            case _:
                return False
    return True


def _is_literal_zero(e: ast.Expr) -> bool:
    e = uncast(e)
    return isinstance(e, ast.IntLit) and e.value == 0


def _is_number(e: ast.Expr) -> bool:
    """It is computed from integers that nobody changes meanwhile, and changes none."""
    numbers = (ast.VarRef, ast.IntLit, ast.Cast, ast.Binary)
    return all(
        isinstance(x, numbers) and x.type.kind == "int" and not x.type.volatile and not x.type.atomic for x in within(e)
    )


def variables_in(e: ast.Expr) -> Iterator[str]:
    work = [e]
    while work:
        item = work.pop()
        if isinstance(item, ast.VarRef):
            yield item.var
        work.extend(children(item))


def is_set_inside(function: ast.Function, key: str) -> bool:
    """A pointer of a function is set to a place after the one that some name stands for, or is moved."""
    return any(v is None or is_moved(v) for k, v in _sets(function) if k == key)


def _sets(function: ast.Function) -> Iterator[tuple[str, Given]]:
    for variable in function.variables.values():
        if variable.init is not None and variable.type.is_pointer:
            yield variable.key, variable.init
    for e in function_expressions(function):
        match e:
            case ast.Assign(op=op, target=ast.VarRef(var=key), value=value) if e.type.is_pointer:
                base = base_of(value)
                yield key, None if op or (isinstance(base, ast.VarRef) and base.var == key) else value
            case ast.IncDec(operand=ast.VarRef(var=key)) if e.type.is_pointer:
                yield key, None
            case ast.AddrOf(operand=ast.VarRef(var=key)) if e.operand.type.is_pointer:
                yield key, e  # whoever has the address may set it
    for s, _ in statements(function.body):
        if isinstance(s, ast.Return) and s.value is not None:
            yield "", s.value


def _name(e: ast.Expr) -> str:
    match e:
        case ast.VarRef(var=key):
            return key
        case ast.Member():
            return f".{member_key(e)}"
        case ast.Call(callee=ast.FuncRef(name=name)):
            return f"{name}()"
        case _:
            return ""
