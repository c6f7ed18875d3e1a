"""Subscripts, pointers and members in other forms."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast
from opi_xform.ir.types import Type
from tests.machines.spell.source import MESSAGES, Change, Place, Source
from tests.machines.spell.table import rewriting


def _is_zero(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.IntLit) and expr.value == 0


def _points_to_objects(type_: Type) -> bool:
    """A pointer or array with elements of a known size."""
    elem = type_.elem
    return type_.kind in ("pointer", "array") and elem is not None and elem.kind != "function" and bool(elem.size)


def _is_pointer_argument(place: Place) -> bool:
    call, e = place.parent, place.expr
    return isinstance(call, ast.Call) and e is not call.callee and _points_to_objects(e.type)


def _subscripts(s: Source) -> Iterator[ast.Index]:
    """Those that are written with the array first."""
    for place in s.places:
        e = place.expr
        if isinstance(e, ast.Index) and s.may_edit(e.base, e.index) and e.base.span.end <= e.index.span.begin:
            yield e


@rewriting("subscripts")
def index_as_sum(s: Source) -> Iterator[Change]:
    """``a[i]`` becomes ``(*(a + i))``."""
    for e in _subscripts(s):
        yield (s.edit(e, f"(*({s.atom(e.base)} + {s.atom(e.index)}))"),)


@rewriting("subscripts")
def index_turned(s: Source) -> Iterator[Change]:
    """``a[i]`` becomes ``i[a]``."""
    for e in _subscripts(s):
        yield (s.edit(e, f"{s.atom(e.index)}[{s.text(e.base)}]"),)


@rewriting("subscripts")
def index_of_first(s: Source) -> Iterator[Change]:
    """``a[0]`` becomes ``(*a)``."""
    for e in _subscripts(s):
        if _is_zero(e.index):
            yield (s.edit(e, f"(*{s.atom(e.base)})"),)


@rewriting("subscripts")
def sum_as_index(s: Source) -> Iterator[Change]:
    """``*(p + i)`` becomes ``p[i]``."""
    for place in s.places:
        match place.expr:
            case ast.Index(base=base, index=index) as e if s.text(e).startswith("*") and s.may_edit(base, index):
                yield (s.edit(e, f"{s.atom(base)}[{s.text(index)}]"),)
            case _:
                pass


@rewriting("subscripts")
def star_as_index(s: Source) -> Iterator[Change]:
    """``*p`` becomes ``p[0]``."""
    for place in s.places:
        match place.expr:
            case ast.Deref(operand=inner) as e if s.is_star(e) and s.may_edit(inner):
                if _points_to_objects(inner.type):
                    yield (s.edit(e, f"{s.atom(inner)}[0]"),)
            case _:
                pass


@rewriting("subscripts")
def address_of_first(s: Source) -> Iterator[Change]:
    """The argument ``a`` becomes ``&a[0]``."""
    for place in s.places:
        if isinstance(place.expr, (ast.VarRef, ast.Member, ast.Index)) and _is_pointer_argument(place):
            yield (s.edit(place.expr, f"&{s.atom(place.expr)}[0]"),)


@rewriting("subscripts")
def address_of_first_left_out(s: Source) -> Iterator[Change]:
    """``&a[0]`` becomes ``a``."""
    for place in s.places:
        match place.expr:
            case ast.AddrOf(operand=ast.Index(base=base, index=index)) as e if _is_zero(index):
                if not isinstance(place.parent, ast.SizeOf) and s.may_edit(base):
                    yield (s.edit(e, s.atom(base)),)
            case _:
                pass


@rewriting("subscripts")
def address_as_sum(s: Source) -> Iterator[Change]:
    """``&a[i]`` becomes ``(a + i)``."""
    for place in s.places:
        match place.expr:
            case ast.AddrOf(operand=ast.Index(base=base, index=index)) as e if s.may_edit(base, index):
                if base.span.end <= index.span.begin:
                    yield (s.edit(e, f"({s.atom(base)} + {s.atom(index)})"),)
            case _:
                pass


@rewriting("subscripts")
def sum_as_address(s: Source) -> Iterator[Change]:
    """The address ``a + i`` becomes ``(&a[i])``."""
    for place in s.places:
        match place.expr:
            case ast.Binary(op="+", left=left, right=right) as e if s.may_edit(left, right):
                if _points_to_objects(left.type):
                    yield (s.edit(e, f"(&{s.atom(left)}[{s.text(right)}])"),)
            case _:
                pass


@rewriting("subscripts")
def nothing_added(s: Source) -> Iterator[Change]:
    """The argument ``a`` becomes ``a + 0``."""
    for place in s.places:
        if isinstance(place.expr, (ast.VarRef, ast.Member)) and _is_pointer_argument(place):
            yield (s.edit(place.expr, f"{s.atom(place.expr)} + 0"),)


@rewriting("subscripts")
def arrow_as_dot(s: Source) -> Iterator[Change]:
    """``p->m`` becomes ``(*p).m``."""
    for place in s.places:
        match place.expr:
            case ast.Member(base=ast.Deref(operand=pointer), field=field) as e if s.is_arrow(e):
                if s.may_edit(pointer):
                    yield (s.edit(e, f"(*{s.atom(pointer)}).{field}"),)
            case _:
                pass


@rewriting("subscripts")
def dot_as_arrow(s: Source) -> Iterator[Change]:
    """``s.m`` becomes ``(&s)->m``."""
    for place in s.places:
        match place.expr:
            case ast.Member(base=ast.VarRef() as base, field=field) as e if not s.is_arrow(e) and s.may_edit(base):
                yield (s.edit(e, f"(&{s.atom(base)})->{field}"),)
            case _:
                pass


@rewriting("subscripts")
def two_as_one(s: Source) -> Iterator[Change]:
    """``a[i][j]`` of an array of arrays, none of which is a message of its own, becomes ``(&a[0][0])[i * m + j]``.

    A subscript does not leave its row (C 6.5.6): where rows are messages, the other words would say something else.
    """
    sent = {e.var for e in _row_messages(s)}
    for e in _subscripts(s):
        match e.base:
            case ast.Index(base=ast.VarRef(var=var) as base, index=first) as row if var not in sent and s.may_edit(
                base, first
            ):
                m = row.type.count if row.type.is_array else None
                if m and e.type.is_scalar and not e.type.is_pointer:
                    index = f"{s.atom(first)} * {m} + {s.atom(e.index)}"
                    yield (s.edit(e, f"(&{s.text(base)}[0][0])[{index}]"),)
            case _:
                pass


def _row_messages(s: Source) -> Iterator[ast.VarRef]:
    """Arrays of arrays of which a message, or a function of the program, is given one: ``a[i]``, ``&a[i][0]``."""
    known = {*MESSAGES, *(function.key for function in s.functions)}
    for place in s.places:
        e = place.expr
        above = [x for x in place.above if not isinstance(x, ast.Cast)]
        if isinstance(e, ast.VarRef) and len(above) > 1 and _is_row(above[0]):
            if len(above) > 3 and isinstance(above[1], ast.Index) and isinstance(above[2], ast.AddrOf):
                above = above[2:]
            match above[1]:
                case ast.Call(callee=ast.FuncRef(name=name)) if name in known:
                    yield e
                case _:
                    pass


def _is_row(e: ast.Expr) -> bool:
    return isinstance(e, (ast.Index, ast.Deref)) and e.type.is_array


@rewriting("subscripts")
def index_in_macro(s: Source) -> Iterator[Change]:
    """``a[i * m + j]`` becomes ``a[AT(i, j)]``, with a macro that knows ``m``."""
    for place in s.places:
        match place.expr:
            case ast.Index(index=ast.Binary(op="+", left=ast.Binary(op="*", left=i, right=m), right=j) as index) if (
                s.may_edit(index, i, m, j) and isinstance(m, (ast.VarRef, ast.IntLit))
            ):
                name = s.unused("AT")
                macro = f"#define {name}(i, j) ((i) * {s.atom(m)} + (j))"
                new = f"{name}({s.text(i)}, {s.text(j)})"
                if s.atom(m) not in ("i", "j"):
                    yield (s.above(place.spot.function, macro), s.edit(index, new))
            case _:
                pass
