"""Whether a store of floating numbers leaves all integers and addresses in memory as they are.

C's effective types say so (6.5p7): what was last stored as a double is read as a double, as characters, or not at all.
Allocated memory may change its type, but only with a store: where a double lies now, no integer is read before one is
stored.  A program that does read one has no defined behaviour, and compilers use that.

Real programs break this rule openly, by a cast, and C itself has one exception, the union.  Where a program has a cast,
an assignment, an argument or a union that brings both kinds together, or is compiled so that the rule does not hold,
it is not used at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from opi_xform.ir import ast
from opi_xform.ir.types import Record, Type
from opi_xform.ir.walk import statements, uncast, within, within_statement

UNKNOWN = Type("unknown", "")  # of a member that is initialised, or a parameter without a prototype
FLOATING = "float"
WHOLE = "whole"


def kinds(type_: Type | None, records: Mapping[str, Record]) -> frozenset[str]:
    """What may be stored in something of this type: floating numbers, and whole ones or addresses.

    Characters are neither: they may be read and written as part of anything.
    """
    found: set[str] = set()
    work, seen = [type_], set[str]()
    while work:
        inner = work.pop()
        while inner is not None and inner.is_array:
            inner = inner.elem
        if inner is None:
            continue
        if inner.kind == "float":
            found.add(FLOATING)
        elif is_whole(inner):
            found.add(WHOLE)
        elif inner.kind == "record" and inner.record not in seen:
            seen.add(inner.record)
            record = records.get(inner.record)
            work += [f.type for f in record.fields] if record is not None else ()
    return frozenset(found)


def is_whole(type_: Type) -> bool:
    """An address, or an integer that is no character."""
    return type_.kind == "pointer" or (type_.kind == "int" and type_.size != 1)


def is_apart(type_: Type) -> bool:
    """A store of this type is one of a floating number, and of nothing that others may change meanwhile."""
    return type_.kind == "float" and bool(type_.size) and not (type_.volatile or type_.atomic)


def floats_apart(
    functions: Iterable[ast.Function],
    variables: Mapping[str, ast.Variable],
    records: Mapping[str, Record],
) -> bool:
    """No text of the program makes floating numbers and whole ones, or addresses, of the same memory."""
    if any(r.union and _mixed(kinds(f.type, records) for f in r.fields) for r in records.values()):
        return False
    for function in functions:
        known = {**variables, **function.variables}
        if any(_meets(to, of.type, records) or _of_anything(to, of) for to, of in _views(function, known)):
            return False
    given = [(v.type, v.init) for v in variables.values() if v.init is not None]
    inner = (e for _, init in given for e in within(init))
    views = ((e.type, e.operand) for e in inner if isinstance(e, ast.Cast))
    return not any(_meets(to, of.type, records) or _of_anything(to, of) for to, of in (*given, *views))


def _mixed(members: Iterable[frozenset[str]]) -> bool:
    """One member has floating numbers, and another one the others."""
    found = list(members)
    for i, one in enumerate(found):
        others = frozenset[str]().union(*found[:i], *found[i + 1 :])
        if (FLOATING in one and WHOLE in others) or (WHOLE in one and FLOATING in others):
            return True
    return False


def _of_anything(to: Type, of: ast.Expr) -> bool:
    """A pointer to anything, or to characters, is taken for one to numbers (``double *a = p`` clears what it is given).

    Not so what a function returns, as malloc does, nor NULL.
    """
    of = uncast(of)
    if isinstance(of, ast.Call) or of.type.elem is None or (isinstance(of, ast.IntLit) and of.value == 0):
        return False
    anything = of.type.is_pointer and (of.type.elem.kind == "void" or of.type.elem.size == 1)
    if to is UNKNOWN:
        return anything and of.type.elem.kind == "void"
    if not to.is_pointer or to.elem is None:
        return False
    return anything and (to.elem.kind == "float" or (to.elem.kind == "int" and is_whole(to.elem)))


def _meets(to: Type, of: Type, records: Mapping[str, Record]) -> bool:
    """An address of the one kind is taken for one of the other kind."""
    if not (to.is_pointer and (of.is_pointer or of.is_array)) or to.elem is None or of.elem is None:
        return False
    a, b = kinds(to.elem, records), kinds(of.elem, records)
    if to.elem.kind == of.elem.kind == "record" and to.elem.record == of.elem.record:
        return False
    return (FLOATING in a and WHOLE in b) or (WHOLE in a and FLOATING in b)


def _views(function: ast.Function, variables: Mapping[str, ast.Variable]) -> Iterator[tuple[Type, ast.Expr]]:
    """What is taken for what: (the type that it is given, the value)."""
    for e in within_statement(function.body, variables):
        match e:
            case ast.Cast(type=to, operand=inner):
                yield to, inner
                while isinstance(inner, ast.Cast):  # `(int *)(void *)&x`
                    inner = inner.operand
                yield to, inner
            case ast.Assign(op="", target=target, value=value):
                yield target.type, value
            case ast.Call(callee=callee, args=args):
                known = _parameters(callee.type)
                yield from zip(known or (UNKNOWN,) * len(args), args, strict=False)
            case ast.InitList(items=items):
                yield from ((UNKNOWN, item) for item in items)
            case _:
                pass
    for s, _ in statements(function.body):
        match s:
            case ast.Return(value=ast.Expr() as result) if function.type.elem is not None:
                yield function.type.elem, result
            case ast.DeclStmt(variables=keys):
                for key in keys:
                    var = variables.get(key)
                    if var is not None and var.init is not None:
                        yield var.type, var.init
            case _:
                pass


def _parameters(callee: Type) -> tuple[Type, ...]:
    function = callee.elem if callee.is_pointer and callee.elem is not None else callee
    return function.params or ()
