"""Operands in other forms: parentheses, casts, numbers, and the order of what commutes."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast
from tests.machines.spell.source import MESSAGES, Change, Source, decayed, declared, has_effect, is_number
from tests.machines.spell.table import rewriting


def is_own_name(e: ast.Expr) -> bool:
    """A number that the program itself gave a name."""
    return isinstance(e, ast.IntLit) and bool(e.name) and not e.name.startswith("MPI_") and e.name != "NULL"


@rewriting("operands")
def parenthesised(s: Source) -> Iterator[Change]:
    """``x`` becomes ``(x)``."""
    for place in s.places:
        if isinstance(place.expr, (ast.VarRef, ast.Index, ast.Member)):
            yield (s.edit(place.expr, f"({s.text(place.expr)})"),)


@rewriting("operands")
def sum_turned(s: Source) -> Iterator[Change]:
    """``a + b`` becomes ``(b + a)``."""
    yield from _turned(s, "+")


@rewriting("operands")
def product_turned(s: Source) -> Iterator[Change]:
    """``a * b`` becomes ``(b * a)``."""
    yield from _turned(s, "*")


def _turned(s: Source, sign: str) -> Iterator[Change]:
    for place in s.places:
        match place.expr:
            case ast.Binary(op=op, left=left, right=right) as e if op == sign and s.may_edit(left, right):
                if not has_effect(e):
                    yield (s.edit(e, f"({s.atom(right)} {op} {s.atom(left)})"),)
            case _:
                pass


@rewriting("operands")
def number_written_out(s: Source) -> Iterator[Change]:
    """The name of a number becomes the number."""
    for place in s.places:
        e = place.expr
        if isinstance(e, ast.IntLit) and is_own_name(e) and e.type.spelling == "int" and e.value >= 0:
            yield (s.edit(e, str(e.value)),)


@rewriting("operands")
def number_as_sum(s: Source) -> Iterator[Change]:
    """The number ``8`` becomes ``(7 + 1)``."""
    for place in s.places:
        e = place.expr
        if isinstance(e, ast.IntLit) and s.text(e) == str(e.value) and e.value > 0 and e.type.spelling == "int":
            yield (s.edit(e, f"({e.value - 1} + 1)"),)


@rewriting("casts")
def buffer_as_void(s: Source) -> Iterator[Change]:
    """The buffer of a message becomes ``(void *)buf``."""
    for place in s.places:
        if isinstance(place.parent, ast.Call) and _is_buffer(place.expr, place.parent):
            yield (s.edit(place.expr, f"(void *){s.atom(place.expr)}"),)


def _is_buffer(e: ast.Expr, call: ast.Call) -> bool:
    if not isinstance(call.callee, ast.FuncRef) or call.callee.name not in MESSAGES:
        return False
    at = (0, 5) if call.callee.name == "MPI_Sendrecv" else (0,)
    return any(e is call.args[n] for n in at)


@rewriting("casts")
def pointer_as_itself(s: Source) -> Iterator[Change]:
    """A pointer ``p`` that is an argument becomes ``(double *)p``, with its own type."""
    for place in s.places:
        e = place.expr
        if isinstance(place.parent, ast.Call) and e is not place.parent.callee and e.type.kind in ("pointer", "array"):
            named = isinstance(e, (ast.VarRef, ast.Member, ast.Index, ast.Binary, ast.AddrOf))
            if named and (written := declared(decayed(e.type), "")):
                yield (s.edit(e, f"({written.strip()}){s.atom(e)}"),)


@rewriting("casts")
def value_as_itself(s: Source) -> Iterator[Change]:
    """A number that is assigned becomes ``(double)(x)``, with its own type."""
    for place in s.places:
        match place.parent:
            case ast.Assign(value=value) if value is place.expr and is_number(value.type):
                if written := declared(decayed(value.type), ""):
                    yield (s.edit(value, f"({written.strip()}){s.atom(value)}"),)
            case _:
                pass


@rewriting("casts")
def number_of_bytes_cast(s: Source) -> Iterator[Change]:
    """What is allocated becomes ``(size_t)(…)``."""
    for place in s.places:
        match place.parent:
            case ast.Call(callee=ast.FuncRef(name="malloc" | "calloc")) as call if place.expr is not call.callee:
                yield (s.edit(place.expr, f"(size_t){s.atom(place.expr)}"),)
            case _:
                pass
