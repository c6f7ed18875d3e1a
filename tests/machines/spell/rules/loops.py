"""Loops in other forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opi_xform.ir import ast, walk
from tests.machines.spell.source import (
    Change,
    Place,
    Source,
    Spot,
    changed,
    decayed,
    declared,
    has_effect,
    is_stable,
    jumps,
)
from tests.machines.spell.table import rewriting


@dataclass(frozen=True, slots=True)
class Counted:
    """``for (int i = first; i < end; i++) body``, all of it written there.  ``key``, ``name``: the variable's."""

    spot: Spot
    loop: ast.For
    key: str
    name: str
    first: ast.Expr
    end: ast.Expr
    declares: bool


def counted(s: Source) -> Iterator[Counted]:
    """The loops that count up by one to a bound that stays; their body does not change the counter."""
    for spot in s.of(ast.For):
        match spot.stmt:
            case (
                ast.For(
                    init=init,
                    cond=ast.Binary(op="<", left=ast.VarRef(var=key), right=end) as cond,
                    step=ast.IncDec(op="++", operand=ast.VarRef(var=stepped)) as step,
                    body=body,
                ) as loop
            ) if key == stepped and s.may_edit(cond, end, step, body):
                pass
            case _:
                continue
        match init:
            case ast.DeclStmt(variables=(one,)) if one == key and (first := s.variables[key].init) is not None:
                declares = True
            case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=var), value=first)) if var == key:
                declares = False
            case _:
                continue
        if s.may_edit(first) and key not in changed(body, spot.function) and is_stable(end, body, s, spot.function):
            yield Counted(spot, loop, key, s.variables[key].name, first, end, declares)


def _parts(s: Source, loop: ast.For) -> tuple[str, str, str] | None:
    """The texts of the head of a loop, all of which are there."""
    if loop.init is None or loop.cond is None or loop.step is None or not s.may_edit(loop.cond, loop.step, loop.body):
        return None
    if not s.may_edit(loop.init):
        return None
    init = s.text(loop.init).rstrip("; ")
    return init, s.text(loop.cond), s.text(loop.step)


@rewriting("loops")
def for_as_while(s: Source) -> Iterator[Change]:
    """A ``for`` loop without ``continue`` becomes a ``while`` loop in a block."""
    for spot in s.of(ast.For):
        assert isinstance(spot.stmt, ast.For)
        parts = _parts(s, spot.stmt)
        if parts and not jumps(spot.stmt.body, ast.Continue):
            init, cond, step = parts
            yield (s.edit(spot.stmt, f"{{ {init}; while ({cond}) {{ {s.marked(spot.stmt.body)} {step}; }} }}"),)


@rewriting("loops")
def for_as_do(s: Source) -> Iterator[Change]:
    """A ``for`` loop without ``continue`` becomes ``if (c) do … while (c);`` in a block."""
    for spot in s.of(ast.For):
        assert isinstance(spot.stmt, ast.For)
        parts = _parts(s, spot.stmt)
        if parts and not jumps(spot.stmt.body, ast.Continue):
            init, cond, step = parts
            body = f"{{ {s.marked(spot.stmt.body)} {step}; }}"
            yield (s.edit(spot.stmt, f"{{ {init}; if ({cond}) do {body} while ({cond}); }}"),)


@rewriting("loops")
def for_with_break(s: Source) -> Iterator[Change]:
    """The condition of a ``for`` loop becomes an ``if`` with a ``break`` in its body."""
    for spot in s.of(ast.For):
        assert isinstance(spot.stmt, ast.For)
        parts = _parts(s, spot.stmt)
        if parts:
            init, cond, step = parts
            body = s.marked(spot.stmt.body)
            yield (s.edit(spot.stmt, f"for ({init}; ; {step}) {{ if (!({cond})) break; {body} }}"),)


@rewriting("loops")
def while_as_for(s: Source) -> Iterator[Change]:
    """``while (c)`` becomes ``for (; c; )``."""
    for spot in s.of(ast.While):
        assert isinstance(spot.stmt, ast.While)
        if s.may_edit(spot.stmt.cond, spot.stmt.body):
            yield (s.edit(spot.stmt, f"for (; {s.text(spot.stmt.cond)}; ) {s.marked(spot.stmt.body)}"),)


@rewriting("loops")
def body_in_braces(s: Source) -> Iterator[Change]:
    """The single statement of a loop gets braces."""
    for spot in s.spots:
        around = spot.above[0] if spot.above else None
        body = around.body if isinstance(around, (ast.For, ast.While)) else None
        if spot.stmt is body and not isinstance(spot.stmt, ast.Block):
            yield (s.edit(spot.stmt, f"{{ {s.text(spot.stmt)} }}"),)


@rewriting("loops")
def counter_outside(s: Source) -> Iterator[Change]:
    """The variable of a loop is declared in front of it, in a block."""
    for spot in s.of(ast.For):
        match spot.stmt:
            case ast.For(init=ast.DeclStmt(variables=(key,)) as init):
                variable = s.variables[key]
                first = variable.init
                if first is None or not s.may_edit(init, first):
                    continue
                text, loop = s.text(init).rstrip("; "), s.text(spot.stmt)
                declaration = declared(decayed(variable.type), variable.name)
                if declaration and loop.count(text) == 1:
                    rest = loop.replace(text, f"{variable.name} = {s.text(first)}")
                    yield (s.edit(spot.stmt, f"{{ {declaration}; {rest} }}"),)
            case _:
                pass


@rewriting("loops")
def counter_long(s: Source) -> Iterator[Change]:
    """The ``int`` that a loop declares and uses only in sums, comparisons and subscripts becomes a ``long``."""
    for c in counted(s):
        uses = [p for p in s.places if isinstance(p.expr, ast.VarRef) and p.expr.var == c.key]
        plain = (ast.Index, ast.IncDec, ast.Binary, ast.Cast)
        is_int = c.declares and c.loop.init is not None and s.text(c.loop.init).startswith("int ")
        if is_int and all(isinstance(p.parent, plain) and not _in_call(p) for p in uses):
            yield (s.edit(c.loop.init, "long " + s.text(c.loop.init)[len("int ") :]),)


def _in_call(place: Place) -> bool:
    return any(isinstance(e, ast.Call) for e in place.above)


@rewriting("loops")
def step_as_sum(s: Source) -> Iterator[Change]:
    """The step or statement ``i++`` becomes ``i = i + 1``."""
    yield from _steps(s, "{name} = {name} {op} 1")


@rewriting("loops")
def step_compound(s: Source) -> Iterator[Change]:
    """The step or statement ``i++`` becomes ``i += 1``."""
    yield from _steps(s, "{name} {op}= 1")


@rewriting("loops")
def step_before(s: Source) -> Iterator[Change]:
    """The step or statement ``i++`` becomes ``++i``."""
    yield from _steps(s, "{op}{op}{name}")


def _steps(s: Source, form: str) -> Iterator[Change]:
    for place in s.places:
        match place.expr:
            case ast.IncDec(op=op, operand=ast.VarRef() as name) as e if place.parent is None and s.may_edit(name):
                if isinstance(place.spot.stmt, (ast.For, ast.ExprStmt)) and s.text(e) != "++" + s.text(name):
                    yield (s.edit(e, form.format(name=s.text(name), op=op[0])),)
            case _:
                pass


@rewriting("loops")
def end_unequal(s: Source) -> Iterator[Change]:
    """``i < 8`` of a loop that begins at 0 and counts by one becomes ``i != 8``."""
    for c in counted(s):
        match c:
            case Counted(first=ast.IntLit(value=first), end=ast.IntLit(value=end)) if first <= end:
                assert c.loop.cond is not None
                yield (s.edit(c.loop.cond, f"{c.name} != {s.atom(c.end)}"),)
            case _:
                pass


def elementwise(s: Source, c: Counted) -> tuple[ast.Expr, ast.Assign] | None:
    """The array and the assignment of a loop whose body is ``a[i] = e``, with an ``e`` that reads no ``a``."""
    body = c.loop.body
    if isinstance(body, ast.Block) and len(body.body) == 1:
        body = body.body[0]
    match body:
        case ast.ExprStmt(
            expr=ast.Assign(op="", target=ast.Index(base=ast.VarRef() as base, index=ast.VarRef(var=var)), value=value)
        ) if var == c.key and not has_effect(value) and s.may_edit(base, value):
            if not any(isinstance(e, ast.VarRef) and e.var == base.var for e in walk.within(value)):
                assert isinstance(body.expr, ast.Assign)
                return base, body.expr
    return None


@rewriting("loops")
def loop_backwards(s: Source) -> Iterator[Change]:
    """A loop that sets ``a[i]`` for each ``i``, from nothing of ``a``, counts down."""
    for c in counted(s):
        if c.declares and c.loop.init is not None and elementwise(s, c):
            end, first = s.atom(c.end), s.atom(c.first)
            head = f"for (int {c.name} = {end} - 1; {c.name} >= {first}; {c.name}--)"
            if s.text(c.loop.init).startswith("int "):
                yield (s.edit(c.loop, f"{head} {s.text(c.loop.body)}"),)


@rewriting("loops")
def pointer_walks(s: Source) -> Iterator[Change]:
    """A loop that sets ``a[i]`` for each ``i`` from 0 sets ``*w++``, where ``w`` begins as ``a``."""
    for c in counted(s):
        found = elementwise(s, c)
        if found and isinstance(c.first, ast.IntLit) and c.first.value == 0:
            base, assign = found
            walker = s.unused("walker")
            if declaration := declared(decayed(base.type), walker):
                loop = s.text(c.loop)
                at = assign.target.span.begin - c.loop.span.begin
                end = assign.target.span.end - c.loop.span.begin
                new = f"{loop[:at]}*{walker}++{loop[end:]}"
                yield (s.edit(c.loop, f"{{ {declaration} = {s.text(base)}; {new} }}"),)


@rewriting("loops")
def loop_as_memcpy(s: Source) -> Iterator[Change]:
    """A loop that copies ``a[i] = b[i]`` for each ``i`` from 0 becomes a ``memcpy``."""
    for c in counted(s):
        found = elementwise(s, c)
        if not found or not (isinstance(c.first, ast.IntLit) and c.first.value == 0):
            continue
        base, assign = found
        match assign.value:
            case ast.Index(base=ast.VarRef() as other, index=ast.VarRef(var=var)) as value if var == c.key:
                same = value.type.kind == base.type.elem.kind if base.type.elem else False
                fixed = isinstance(c.end, ast.IntLit) and c.end.value > 0
                if same and fixed and value.type.size == assign.target.type.size and c.declares:
                    size = f"{s.atom(c.end)} * sizeof {s.text(base)}[0]"
                    new = f"memcpy({s.text(base)}, {s.text(other)}, {size});"
                    yield (s.edit(c.loop, new), *s.including(s.file(c.loop.span), "string.h"))
            case _:
                pass


@rewriting("loops")
def loop_in_two(s: Source) -> Iterator[Change]:
    """A loop over 0 … n - 1 of a known n becomes one over the first half and one over the rest."""
    for c in counted(s):
        match c:
            case Counted(first=ast.IntLit(value=0), end=ast.IntLit(value=end), declares=True) if end > 3:
                if "/*@" in s.text(c.loop) or jumps(c.loop.body, ast.Break, ast.Return, ast.Label):
                    continue
                assert c.loop.cond is not None
                body = s.text(c.loop.body)
                one = f"for (int {c.name} = 0; {c.name} < {end // 2}; {c.name}++) {body}"
                two = f"for (int {c.name} = {end // 2}; {c.name} < {s.atom(c.end)}; {c.name}++) {body}"
                yield (s.edit(c.loop, f"{{ {one} {two} }}"),)
            case _:
                pass


@rewriting("loops")
def end_kept(s: Source) -> Iterator[Change]:
    """The bound of a loop is read once, into a local of its own."""
    for c in counted(s):
        name = s.unused("end")
        if c.end.type.kind == "int" and (declaration := declared(decayed(c.end.type), name)):
            loop = s.text(c.loop)
            at, end = (x - c.loop.span.begin for x in (c.end.span.begin, c.end.span.end))
            yield (s.edit(c.loop, f"{{ const {declaration} = {s.text(c.end)}; {loop[:at]}{name}{loop[end:]} }}"),)


@rewriting("loops")
def turn_left_out(s: Source) -> Iterator[Change]:
    """A loop whose body is ``if (c) A`` becomes one with ``if (!(c)) continue; A``."""
    for spot in s.of(ast.For):
        match spot.stmt:
            case ast.For(body=ast.Block(body=(ast.If(cond=cond, then=then, other=None),)) as body):
                if s.may_edit(body, cond, then):
                    yield (s.edit(body, f"{{ if (!({s.text(cond)})) continue; {s.marked(then)} }}"),)
            case _:
                pass
