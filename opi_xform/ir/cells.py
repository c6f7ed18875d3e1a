"""Whole numbers in local arrays and structs that count as variables: ``n[0]`` and ``leaving.count``.

Where a local array or struct is only named by one element or member at a time, each at a constant place, nothing but
these names reaches it.  Then each of its whole numbers is as good as a variable of its own: the same is read and
written, in the same order, and both are gone at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opi_xform.ir import ast
from opi_xform.ir.types import Type
from opi_xform.ir.walk import children, expressions

MOST_BYTES = 1024  # of such an array or struct


def cell(variable: str, offset: int) -> str:
    """The key of the number at a place of a variable."""
    return f"{variable}+{offset}"


def with_cells(function: ast.Function) -> ast.Function:
    """The function, with these numbers among its variables."""
    candidates = {key: v for key, v in function.variables.items() if _possible(v)}
    if not candidates or function.threads or function.refused:
        return function
    found = _Found(candidates)
    for root in expressions(function.body):
        found.look(root)
    for v in function.variables.values():
        if v.init is None:
            continue
        if v.key in candidates:
            found.initialised(v)
        else:
            found.look(v.init)
    made = dict(function.variables)
    for key, places in sorted(found.places.items()):
        for offset, type_ in sorted(places.items()):
            if type_.kind == "int":
                name = f"{candidates[key].name}+{offset}"  # no name in C: nothing writes it
                made[cell(key, offset)] = replace(
                    candidates[key], key=cell(key, offset), name=name, type=type_, init=None
                )
    return function if len(made) == len(function.variables) else replace(function, variables=made)


def cells(function: ast.Function, v: ast.Variable) -> list[ast.Variable]:
    """Those of a variable, in a function that has them among its variables."""
    return [other for key, other in function.variables.items() if key.startswith(f"{v.key}+")]


def _possible(v: ast.Variable) -> bool:
    plain = v.kind == "local" and not v.lengths and not v.attributes and not v.thread_local
    t = v.type
    if not plain or t.kind not in ("array", "record") or t.vla or t.size is None or not 0 < t.size <= MOST_BYTES:
        return False
    while t.is_array and t.elem is not None:
        t = t.elem
    return (t.kind == "int" and not t.volatile and not t.atomic) or t.kind == "record"


class _Found:
    """The scalars at constant places of some variables; what is named in any other way is none of them."""

    def __init__(self, candidates: dict[str, ast.Variable]) -> None:
        self.places: dict[str, dict[int, Type]] = {key: {} for key in candidates}

    def look(self, root: ast.Expr) -> None:
        work: list[tuple[ast.Expr, bool]] = [(root, False)]  # its address is taken
        while work:
            e, taken = work.pop()
            place = _place(e)
            if place is None or place[0] not in self.places:
                below = isinstance(e, (ast.AddrOf, ast.SizeOf, ast.Opaque))
                work.extend((child, below) for child in children(e))
            elif taken:
                self.places.pop(place[0])
            else:
                self.add(place[0], place[1], e.type)

    def initialised(self, v: ast.Variable) -> None:
        """By a list of scalars, each of the type of its place."""
        for item, offset in _items(v.init):
            if not isinstance(v.init, ast.InitList) or not item.type.is_scalar or isinstance(item, ast.StringLit):
                self.places.pop(v.key, None)
            elif v.key in self.places:
                self.add(v.key, offset, item.type)
            self.look(item)

    def add(self, key: str, offset: int, type_: Type) -> None:
        known = self.places[key]
        before = known.setdefault(offset, type_)
        size = type_.size or 0
        apart = all(at == offset or at + (t.size or 0) <= offset or offset + size <= at for at, t in known.items())
        alike = (before.kind, before.size, before.signed, before.boolean) == (
            type_.kind, type_.size, type_.signed, type_.boolean
        )  # fmt: skip
        steady = not type_.volatile and not type_.atomic
        if not (type_.is_scalar and size and apart and alike and steady):
            self.places.pop(key)


def _items(init: ast.Expr | None) -> Iterator[tuple[ast.Expr, int]]:
    """The scalars of an initialiser, with their places."""
    work = [] if init is None else [(init, 0)]
    while work:
        e, at = work.pop()
        if isinstance(e, ast.InitList):
            work.extend((item, at + offset) for item, offset in zip(e.items, e.offsets, strict=True))
        else:
            yield e, at


def _place(e: ast.Expr) -> tuple[str, int] | None:
    """(variable, offset) of an lvalue that is a variable, or an element or a member of one at a constant place."""
    offset = 0
    while True:
        match e:
            case ast.VarRef():
                return e.var, offset
            case ast.Member(punned=False):
                offset += e.offset
                e = e.base
            case ast.Index(base=base, index=ast.IntLit(value=k, name=name)) if base.type.is_array:
                count, size = base.type.count, e.type.size
                if count is None or size is None or not 0 <= k < count or name.startswith("MPI_"):
                    return None
                offset += k * size
                e = base
            case ast.Deref(operand=base) if base.type.is_array and base.type.count:
                e = base  # `*a` is `a[0]`
            case _:
                return None
