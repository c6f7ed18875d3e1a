"""Loops that fill and copy arrays, with the counters and pointers that programs keep for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opi_xform.ir import ast, walk
from tests.machines.spell.rules.loops import Counted, counted, elementwise
from tests.machines.spell.source import Change, Place, Source, decayed, declared, is_stable, jumps
from tests.machines.spell.table import rewriting


def _filled(s: Source) -> Iterator[tuple[Counted, ast.Expr, ast.Assign]]:
    """Loops from 0 that set ``a[i]`` for each ``i``, with ``a`` and the assignment; they have no marks in them."""
    for c in counted(s):
        found = elementwise(s, c)
        if found and isinstance(c.first, ast.IntLit) and c.first.value == 0 and "/*@" not in s.text(c.loop):
            yield c, *found


def _replaced(s: Source, c: Counted, *parts: tuple[ast.Expr, str]) -> str:
    """The text of a loop with others in the place of expressions in it."""
    text, start = s.text(c.loop), c.loop.span.begin
    for e, new in sorted(parts, key=lambda part: -part[0].span.begin):
        text = text[: e.span.begin - start] + new + text[e.span.end - start :]
    return text


@rewriting("loops")
def packed_with_counter(s: Source) -> Iterator[Change]:
    """A loop that sets ``a[i]`` for each ``i`` from 0 sets ``a[k++]``, where ``k`` begins as 0."""
    for c, base, assign in _filled(s):
        k = s.unused("at")
        new = _replaced(s, c, (assign.target, f"{s.atom(base)}[{k}++]"))
        yield (s.edit(c.loop, f"{{ int {k} = 0; {new} }}"),)


@rewriting("loops")
def counters_together(s: Source) -> Iterator[Change]:
    """A loop that sets ``a[i]`` for each ``i`` from 0 has a second counter in its head, for ``a``."""
    for c, base, assign in _filled(s):
        if c.declares and c.loop.init is not None and c.loop.step is not None:
            k, init = s.unused("at"), s.text(c.loop.init).rstrip("; ")
            loop = _replaced(
                s, c, (assign.target, f"{s.atom(base)}[{k}]"), (c.loop.step, f"{s.text(c.loop.step)}, {k}++")
            )
            if loop.count(init) == 1:
                yield (s.edit(c.loop, loop.replace(init, f"{init}, {k} = 0")),)


@rewriting("loops")
def pointer_to_end(s: Source) -> Iterator[Change]:
    """A loop that sets ``a[i]`` for each ``i`` from 0 to a number has a pointer that walks to the array's end."""
    for c, base, assign in _filled(s):
        pointer = decayed(base.type)
        w, end = s.unused("walker"), s.unused("end")
        declaration, last = declared(pointer, w), declared(pointer, end)
        if declaration and last and isinstance(c.end, ast.IntLit) and c.declares and c.loop.init is not None:
            body = s.text(c.loop.body)
            at = assign.target.span.begin - c.loop.body.span.begin
            body = body[:at] + f"*{w}" + body[assign.target.span.end - c.loop.body.span.begin :]
            a, n, init = s.atom(base), s.text(c.end), s.text(c.loop.init).rstrip("; ")
            loop = f"for (; {w} != {end}; {w}++, {c.name}++) {body}"
            yield (s.edit(c.loop, f"{{ {declaration} = {a}; {last} = {a} + {n}; {init}; {loop} }}"),)


@rewriting("loops")
def copied_by_pointers(s: Source) -> Iterator[Change]:
    """A loop that copies ``a[i] = b[i]`` for each ``i`` from 0 becomes ``while (n-- > 0) *to++ = *from++;``."""
    for c, base, assign in _filled(s):
        match assign.value:
            case ast.Index(base=ast.VarRef() as other, index=ast.VarRef(var=var)) if var == c.key and c.declares:
                to, of, left = s.unused("to"), s.unused("from"), s.unused("left")
                first, second = declared(decayed(base.type), to), declared(decayed(other.type), of)
                if first and second and c.end.type.spelling == "int":
                    begin = f"{first} = {s.text(base)}; {second} = {s.text(other)}; int {left} = {s.text(c.end)};"
                    yield (s.edit(c.loop, f"{{ {begin} while ({left}-- > 0) *{to}++ = *{of}++; }}"),)
            case _:
                pass


def _is_natural(e: ast.Expr) -> bool:
    """It is a number of at least 0, a variable (a rank, a size), or a sum or product of these."""
    stack = [e]
    while stack:
        match stack.pop():
            case ast.IntLit(value=value) if value >= 0:
                pass
            case ast.VarRef() | ast.FloatLit():
                pass
            case ast.Binary(op="+" | "*", left=left, right=right):
                stack += [left, right]
            case _:
                return False
    return True


def _keeps_sign(place: Place) -> bool:
    """What becomes of a counter of at least 0 is the same where it is unsigned: it is only added and multiplied."""
    inner = place.expr
    for around in place.above:
        match around:
            case ast.Index(base=base):
                return base is not inner
            case ast.Binary(type=type_) if type_.kind == "float":
                return True
            case ast.Binary(op="+" | "*") if _is_natural(around):
                inner = around
            case ast.Assign(value=value):
                return value is inner
            case _:
                return False
    return False


def _counter_of_type(s: Source, type_: str) -> Iterator[Change]:
    for c in counted(s):
        init = c.loop.init
        if not (c.declares and isinstance(c.first, ast.IntLit) and isinstance(c.end, ast.IntLit) and c.end.value > 0):
            continue
        uses = [p for p in s.places if isinstance(p.expr, ast.VarRef) and p.expr.var == c.key]
        inside = [p for p in uses if c.loop.body.span.begin <= p.expr.span.begin < c.loop.body.span.end]
        names = len(re.findall(rf"\b{c.name}\b", s.text(c.loop.body)))
        if init is None or not s.text(init).startswith("int ") or names != len(inside) or not inside:
            continue
        if all(_keeps_sign(p) for p in inside):
            header = s.including(s.file(c.loop.span), "stddef.h") if type_ == "size_t" else ()
            yield (s.edit(init, type_ + s.text(init)[len("int") :]), *header)


@rewriting("loops")
def counter_size(s: Source) -> Iterator[Change]:
    """The ``int`` that a loop counts up from 0 to a number becomes a ``size_t``, where it is only added to others."""
    yield from _counter_of_type(s, "size_t")


@rewriting("loops")
def counter_unsigned(s: Source) -> Iterator[Change]:
    """The ``int`` that a loop counts up from 0 to a number becomes ``unsigned``, where it is only added to others."""
    yield from _counter_of_type(s, "unsigned")


@rewriting("subscripts")
def row_named(s: Source) -> Iterator[Change]:
    """Where a loop reads or sets ``a[e + j]`` for its counter ``j``, ``a + e`` has a name first."""
    for c in counted(s):
        if "MPI_" in s.text(c.loop) or jumps(c.loop.body, ast.Label):
            continue
        for place in s.places:
            match place.expr:
                case (
                    ast.Index(
                        base=ast.VarRef() as base, index=ast.Binary(op="+", left=left, right=ast.VarRef(var=var))
                    ) as e
                ) if var == c.key and s.may_edit(base, left):
                    row = s.unused("row")
                    declaration = declared(decayed(base.type), row)
                    inside = c.loop.body.span.begin <= e.span.begin < c.loop.body.span.end
                    stable = all(is_stable(x, c.loop, s, c.spot.function) for x in (base, left)) if inside else False
                    if declaration and inside and stable and place.spot.function is c.spot.function:
                        new = _replaced(s, c, (e, f"{row}[{c.name}]"))
                        first = f"{declaration} = &{s.text(base)}[{s.text(left)}];"
                        yield (s.edit(c.loop, f"{{ {first} {new} }}"),)
                case _:
                    pass


@rewriting("loops")
def loop_as_memset(s: Source) -> Iterator[Change]:
    """A loop that sets ``a[i] = 0`` for each ``i`` from 0 to a number becomes a ``memset``."""
    for c, base, assign in _filled(s):
        match assign.value:
            case ast.IntLit(value=0) | ast.FloatLit() if s.text(assign.value) in ("0", "0.0"):
                if isinstance(c.end, ast.IntLit) and c.end.value > 0 and c.declares:
                    new = f"memset({s.text(base)}, 0, {s.atom(c.end)} * sizeof {s.atom(base)}[0]);"
                    yield (s.edit(c.loop, new), *s.including(s.file(c.loop.span), "string.h"))
            case _:
                pass


def _counter_in(s: Source, c: Counted) -> list[ast.Expr]:
    """All uses of a loop's counter in its body, or none where not all can be edited."""
    body = c.loop.body.span
    uses = [p.expr for p in s.places if isinstance(p.expr, ast.VarRef) and p.expr.var == c.key]
    inside = [e for e in uses if e.span.file == body.file and body.begin <= e.span.begin < body.end]
    return inside if len(inside) == len(re.findall(rf"\b{c.name}\b", s.text(c.loop.body))) else []


@rewriting("loops")
def loop_unrolled(s: Source) -> Iterator[Change]:
    """A loop that sets ``a[i]`` for each ``i`` from 0 to an even number sets two of them in a turn."""
    for c, _, assign in _filled(s):
        uses = _counter_in(s, c)
        if isinstance(c.end, ast.IntLit) and c.end.value % 2 == 0 and c.declares and c.loop.init is not None and uses:
            one, at = s.text(assign), assign.span.begin
            other = one
            for e in sorted(uses, key=lambda e: -e.span.begin):
                other = f"{other[: e.span.begin - at]}({c.name} + 1){other[e.span.end - at :]}"
            head = f"for ({s.text(c.loop.init).rstrip('; ')}; {c.name} < {s.text(c.end)}; {c.name} += 2)"
            yield (s.edit(c.loop, f"{head} {{ {one}; {other}; }}"),)


@rewriting("loops")
def counted_down_in_test(s: Source) -> Iterator[Change]:
    """A loop that sets ``a[i]`` for each ``i`` from 0, from nothing of ``a``, becomes ``for (i = n; i-- > 0; )``."""
    for c, _, _ in _filled(s):
        if c.declares and c.loop.init is not None and s.text(c.loop.init).startswith("int "):
            head = f"for (int {c.name} = {s.text(c.end)}; {c.name}-- > 0; )"
            yield (s.edit(c.loop, f"{head} {s.text(c.loop.body)}"),)


def _row_of(s: Source, c: Counted, e: ast.Expr) -> str:
    """Where the elements begin of which ``e`` is that of a loop's counter, or '': ``a[i]`` of ``a[i][j]``."""
    match e:
        case ast.Index(base=base, index=ast.VarRef(var=var)) if var == c.key and s.may_edit(base):
            return s.text(base) if is_stable_place(s, c, base) else ""
        case ast.Index(base=ast.VarRef() as base, index=ast.Binary(op="+", left=left, right=ast.VarRef(var=var))) if (
            var == c.key and s.may_edit(base, left) and is_stable(left, c.loop, s, c.spot.function)
        ):
            return f"&{s.text(base)}[{s.text(left)}]"
        case _:
            return ""


def is_stable_place(s: Source, c: Counted, base: ast.Expr) -> bool:
    """It is an array, or a row of one, that stays the same one while a loop runs."""
    match base:
        case ast.VarRef():
            return True
        case ast.Index(base=ast.VarRef() as array, index=index) if array.type.is_array and base.type.is_array:
            return is_stable(index, c.loop, s, c.spot.function)
        case _:
            return False


@rewriting("loops")
def row_as_memcpy(s: Source) -> Iterator[Change]:
    """A loop that copies ``a[i][j] = b[i][j]``, or ``a[e + j] = b[j]``, for each ``j`` from 0 becomes a ``memcpy``."""
    for c in counted(s):
        body = c.loop.body
        if isinstance(body, ast.Block) and len(body.body) == 1:
            body = body.body[0]
        match body:
            case ast.ExprStmt(expr=ast.Assign(op="", target=target, value=value)) if s.may_edit(target, value):
                to, of = _row_of(s, c, target), _row_of(s, c, value)
                refs = [e for side in (target, value) for e in walk.within(side) if isinstance(e, ast.VarRef)]
                arrays = {e.var for e in refs if e.type.is_pointer or not e.type.is_scalar}
                same = target.type.spelling == value.type.spelling and target.type.is_scalar and len(arrays) == 2
                known = isinstance(c.end, ast.IntLit) and c.end.value > 0 and c.declares
                first = isinstance(c.first, ast.IntLit) and c.first.value == 0
                if to and of and same and known and first and not elementwise(s, c):
                    new = f"memcpy({to}, {of}, {s.atom(c.end)} * sizeof({target.type.spelling}));"
                    yield (s.edit(c.loop, new), *s.including(s.file(c.loop.span), "string.h"))
            case _:
                pass
