"""Lvalues as written: which expression a load or store was lowered from, and what its parts are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.ir.walk import addressed, children, expressions, uncast
from opi_xform.ownership.model.buffers import Program

POINTER_BYTES = 8
UNSPELLED = "…"  # what is no lvalue
_FOLLOWED = re.compile(r"\*(\w+)|\(\*(\w+)\)|\(\*(\([^()]*\*\)&.*)\)", re.DOTALL)
_POINTER = re.compile(r"((?:(?:struct|union|enum) )?[A-Za-z_][\w ]*\*+) *(?:(?:const|restrict|__restrict)\b *)*")


class Expressions:
    """The lvalue that a load or store was lowered from.

    by_type: of several in one macro, that which has the type of the load; for reasons that are told.
    """

    def __init__(self, program: Program, by_type: bool = False) -> None:
        self.program = program
        self.by_type = by_type
        self.known: dict[str, dict[tuple[str, int, int, bool], list[ast.Expr]]] = {}

    def of(self, function: str, action: object) -> ast.Expr | None:
        if not isinstance(action, (ins.Load, ins.Store)):
            return None
        span = action.span
        found = self.of_function(function).get((span.file, span.begin, span.end, isinstance(action, ins.Store)), [])
        if len(found) > 1 and any(isinstance(e, ast.VarRef) for e in found):
            named = isinstance(action.address, ins.AddrVar)  # in a macro, where all has one place
            found = [e for e in found if isinstance(e, ast.VarRef) == named]
        if self.by_type and len(found) > 1:
            found = [e for e in found if e.type == action.type]
        same = all(alike(e, found[0]) for e in found[1:])  # an argument that a macro names several times (`assert`)
        return found[0] if found and same else None

    def of_function(self, key: str) -> dict[tuple[str, int, int, bool], list[ast.Expr]]:
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = {}
            for e in function_expressions(self.program.functions[key]):
                if isinstance(e, ast.Deref) and place(e) == place(e.operand):
                    continue  # the arrow of `p->x`
                if isinstance(e, (ast.Member, ast.Index, ast.Deref, ast.VarRef)):
                    known.setdefault((*place(e), False), []).append(e)
                elif isinstance(e, (ast.Assign, ast.IncDec)):
                    target = e.target if isinstance(e, ast.Assign) else e.operand
                    known.setdefault((*place(e), True), []).append(target)
                elif isinstance(e, ast.Call):  # `allocate(&m->out, n)` sets it, where the graph says so
                    for target in filter(None, map(addressed, e.args)):
                        known.setdefault((*place(target), True), []).append(target)
        return known


def alike(a: ast.Expr, b: ast.Expr) -> bool:
    """Two expressions with the same words, each at the same place."""
    work = [(a, b)]
    while work:
        one, other = work.pop()
        if type(one) is not type(other) or place(one) != place(other) or one.type != other.type:
            return False
        match one, other:
            case ast.VarRef(var=x), ast.VarRef(var=y):
                if x != y:
                    return False
            case ast.IntLit(value=x), ast.IntLit(value=y):
                if x != y:
                    return False
            case ast.Member(field=x), ast.Member(field=y):
                if x != y:
                    return False
            case ast.Binary(op=x), ast.Binary(op=y):
                if x != y:
                    return False
            case (ast.Index(), ast.Index()) | (ast.Deref(), ast.Deref()) | (ast.Cast(), ast.Cast()):
                pass
            case _:
                return False
        work += zip(children(one), children(other), strict=True)
    return True


def in_same_words(a: ast.Expr | None, b: ast.Expr) -> bool:
    """Two lvalues that are written alike, by variables of the same names."""
    work = [(a, b)]
    while work:
        one, other = work.pop()
        match one, other:
            case ast.Index(), ast.Index():
                work += [(one.base, other.base), (one.index, other.index)]
            case ast.Cast(), _:
                work.append((one.operand, other))
            case _, ast.Cast():
                work.append((one, other.operand))
            case ast.Binary(op=did), ast.Binary(op=does) if did == does:
                work += [(one.left, other.left), (one.right, other.right)]
            case ast.IntLit(value=v), ast.IntLit(value=w) if v == w:
                pass
            case ast.FloatLit(value=x), ast.FloatLit(value=y) if x is not None and x == y:
                pass
            case ast.Call(), ast.Call() if len(one.args) == len(other.args):
                work += [(one.callee, other.callee), *zip(one.args, other.args, strict=True)]
            case ast.FuncRef(name=called), ast.FuncRef(name=name) if called == name:
                pass
            case ast.Member(base=base, field=field), ast.Member(field=named) if field == named:
                work.append((base, other.base))
            case ast.Deref(operand=inner), ast.Deref():
                work.append((inner, other.operand))
            case ast.AddrOf(operand=inner), ast.AddrOf():
                work.append((inner, other.operand))
            case ast.MacroConst(name=written), ast.MacroConst(name=said) if written == said:
                pass
            case ast.VarRef(), ast.VarRef() if spelling(one) == spelling(other):
                pass
            case _:
                return False
    return True


def hole(e: ast.Expr, stride: int) -> ast.Index | None:
    """The subscript that tells the pointers of a table apart, as written."""
    while stride:
        match e:
            case ast.Index() if e.type.size == stride:
                return e
            case ast.Member(base=base) | ast.Index(base=base):
                e = base
            case ast.Cast(operand=inner):
                e = inner
            case _:
                return None
    return None


def fixed(e: ast.Expr) -> bool:
    """The lvalue is const, as a member of what a pointer to a const struct points to is."""
    while True:
        if e.type.const:
            return True
        match e:
            case ast.Member(base=base):
                e = base
            case ast.Index(base=base) if base.type.is_array:
                e = base
            case ast.Index(base=inner) | ast.Deref(operand=inner):
                return inner.type.elem is not None and inner.type.elem.const
            case _:
                return False


def address_of(text: str) -> str:
    """The address of an lvalue, both as texts: ``p`` of ``*p``."""
    found = _FOLLOWED.fullmatch(text)
    return (found[1] or found[2] or found[3]) if found else f"&{text}"


def settable(e: ast.Expr, text: str, cast: str) -> str | None:
    """The text of an lvalue as one that can be set; None where it is const, and there is no cast for that."""
    if not fixed(e):
        return text
    return f"(*{cast}&{text})" if cast else None


def cast_for(type_: Type, hidden: AbstractSet[str]) -> str:
    """The cast of a pointer's address that does without const; '' where its type cannot be written everywhere.

    hidden: names that may mean something else somewhere.
    """
    found = _POINTER.fullmatch(type_.spelling)
    if found is None or not hidden.isdisjoint(found[1].replace("*", " ").split()):
        return ""
    return f"({found[1]}*)"


def place(e: ast.Expr) -> tuple[str, int, int]:
    return e.span.file, e.span.begin, e.span.end


def spelling(e: ast.Expr) -> str:
    """An lvalue as people would write it."""
    match e:
        case ast.Member(base=ast.Deref(operand=inner), field=field):
            struct = spelling(inner)
            return f"({struct})->{field}" if struct.startswith("*") else f"{struct}->{field}"
        case ast.Member(base=base, field=field):
            return f"{spelling(base)}.{field}"
        case ast.Index(base=base, index=index):
            return f"{spelling(base)}[{index.value if isinstance(index, ast.IntLit) else '…'}]"
        case ast.Deref(operand=inner):
            return f"*{spelling(inner)}"
        case ast.AddrOf(operand=inner):
            return f"&{spelling(inner)}"
        case ast.Cast(operand=inner):
            return spelling(inner)
        case ast.VarRef(var=key):
            return key.rsplit("/", 1)[-1].split("@")[0].rsplit(":", 1)[-1]
        case _:
            return UNSPELLED


def null_at(init: ast.Expr | None, offset: int) -> bool:
    """A static initialiser leaves NULL in the eight bytes at an offset."""
    if init is None:
        return True
    if not isinstance(init, ast.InitList):
        return False
    for item, at in zip(init.items, init.offsets, strict=True):
        size = item.type.size
        if isinstance(item, ast.InitList):
            if not null_at(item, offset - at):
                return False
        elif size is None or (at < offset + POINTER_BYTES and at + size > offset):
            e = uncast(item)
            if not isinstance(e, ast.IntLit) or e.value != 0:
                return False
    return True


def function_expressions(function: ast.Function) -> Iterator[ast.Expr]:
    """Everything that a function evaluates, or names in a sizeof."""
    work = [*expressions(function.body), *(v.init for v in function.variables.values() if v.init is not None)]
    while work:
        e = work.pop()
        yield e
        work.extend(children(e))
