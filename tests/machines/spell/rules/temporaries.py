"""Values and addresses under local names."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast
from tests.machines.spell.rules.loops import counted
from tests.machines.spell.source import (
    MESSAGES,
    Change,
    Source,
    changed,
    decayed,
    declared,
    has_effect,
    mentioned,
)
from tests.machines.spell.table import rewriting


@rewriting("temporaries")
def value_first(s: Source) -> Iterator[Change]:
    """``x = e;`` becomes ``T t = e; x = t;`` in a block."""
    for spot in s.of(ast.ExprStmt):
        match spot.stmt:
            case ast.ExprStmt(expr=ast.Assign(target=target, value=value)) if s.may_edit(value, target):
                name = s.unused("value")
                declaration = declared(decayed(value.type), name)
                if declaration and value.type.is_scalar and not has_effect(target):
                    new = s.text(spot.stmt).removesuffix(";")
                    at, end = (x - spot.stmt.span.begin for x in (value.span.begin, value.span.end))
                    yield (s.braced(spot, f"{declaration} = {s.text(value)};", f"{new[:at]}{name}{new[end:]};"),)
            case _:
                pass


@rewriting("temporaries")
def argument_first(s: Source) -> Iterator[Change]:
    """A number that is an argument of a message is a local first."""
    for spot, call in s.calls(*MESSAGES):
        for arg in call.args:
            name = s.unused("argument")
            if arg.type.kind == "int" and arg.type.spelling == "int" and not has_effect(*call.args):
                at, end = (x - spot.stmt.span.begin for x in (arg.span.begin, arg.span.end))
                text = s.text(spot.stmt)
                yield (s.braced(spot, f"int {name} = {s.text(arg)};", f"{text[:at]}{name}{text[end:]}"),)


@rewriting("temporaries")
def buffer_named(s: Source) -> Iterator[Change]:
    """The buffer of a message has a local name for the call."""
    for spot, call in s.calls(*MESSAGES):
        for at in (0, 5) if len(call.args) > 10 else (0,):
            arg, name = call.args[at], s.unused("buffer")
            if isinstance(arg, (ast.VarRef, ast.Member, ast.Index)) and (
                declaration := declared(decayed(arg.type), name)
            ):
                begin, end = (x - spot.stmt.span.begin for x in (arg.span.begin, arg.span.end))
                text = s.text(spot.stmt)
                yield (s.braced(spot, f"{declaration} = {s.text(arg)};", f"{text[:begin]}{name}{text[end:]}"),)


@rewriting("temporaries")
def array_named_in_loop(s: Source) -> Iterator[Change]:
    """An array has a local name for a loop without calls."""
    for c in counted(s):
        inside = {e.expr.var: e for e in s.places if isinstance(e.expr, ast.VarRef) and _in(e.expr, c.loop)}
        for key in sorted(mentioned(c.loop, c.spot.function) & set(inside)):
            type_ = s.variables[key].type
            if not (type_.is_array or type_.is_pointer) or "MPI_" in s.text(c.loop):
                continue
            places = [p for p in s.places if isinstance(p.expr, ast.VarRef) and p.expr.var == key]
            places = [p for p in places if _in(p.expr, c.loop)]
            if type_.is_pointer and key in changed(c.loop, c.spot.function):
                continue
            name = s.unused("local")
            declaration = declared(decayed(type_), name)
            if not declaration or not all(isinstance(p.parent, ast.Index) and p.is_read for p in places):
                continue
            text, start = s.text(c.loop), c.loop.span.begin
            for p in sorted(places, key=lambda p: -p.expr.span.begin):
                text = text[: p.expr.span.begin - start] + name + text[p.expr.span.end - start :]
            yield (s.braced(c.spot, f"{declaration} = {s.variables[key].name};", text),)


def _in(e: ast.Expr, stmt: ast.Stmt) -> bool:
    return stmt.span.file == e.span.file and stmt.span.begin <= e.span.begin and e.span.end <= stmt.span.end


@rewriting("temporaries")
def condition_first(s: Source) -> Iterator[Change]:
    """The condition of an ``if`` is a local first."""
    for spot in s.of(ast.If):
        assert isinstance(spot.stmt, ast.If)
        if s.may_edit(spot.stmt.cond):
            name, cond = s.unused("chosen"), spot.stmt.cond
            text, start = s.text(spot.stmt), spot.stmt.span.begin
            new = text[: cond.span.begin - start] + name + text[cond.span.end - start :]
            yield (s.braced(spot, f"int {name} = ({s.marked(cond)}) != 0;", new),)


@rewriting("temporaries")
def compound_as_assignment(s: Source) -> Iterator[Change]:
    """``x += e`` becomes ``x = x + e``."""
    for place in s.places:
        match place.expr:
            case ast.Assign(op=op, target=target, value=value) as e if op and s.may_edit(target, value):
                if not has_effect(target) and place.parent is None:
                    yield (s.edit(e, f"{s.text(target)} = {s.text(target)} {op} {s.atom(value)}"),)
            case _:
                pass


@rewriting("temporaries")
def assignment_as_compound(s: Source) -> Iterator[Change]:
    """``x = x + e`` becomes ``x += e``."""
    for place in s.places:
        match place.expr:
            case ast.Assign(op="", target=target, value=ast.Binary(op="+", left=left, right=right)) as e:
                same = s.may_edit(target, left, right) and s.text(left) == s.text(target) and left.type == target.type
                if same and not has_effect(target):
                    yield (s.edit(e, f"{s.text(target)} += {s.text(right)}"),)
            case _:
                pass


@rewriting("temporaries")
def subscript_first(s: Source) -> Iterator[Change]:
    """The subscript of an array that a statement sets is a local first."""
    for spot in s.of(ast.ExprStmt):
        match spot.stmt:
            case ast.ExprStmt(expr=ast.Assign(target=ast.Index(index=index) as target)) if s.may_edit(target, index):
                if index.type.spelling in ("int", "long") and not has_effect(target):
                    name = s.unused("at")
                    text, start = s.text(spot.stmt), spot.stmt.span.begin
                    new = text[: index.span.begin - start] + name + text[index.span.end - start :]
                    yield (s.braced(spot, f"{index.type.spelling} {name} = {s.text(index)};", new),)
            case _:
                pass
