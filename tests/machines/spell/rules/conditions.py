"""Conditions and branches in other forms."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast, walk
from tests.machines.spell.source import Change, Place, Source, has_effect, is_stable, jumps, root_of
from tests.machines.spell.table import rewriting

TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}


def _comparisons(s: Source) -> Iterator[tuple[Place, ast.Binary]]:
    for place in s.places:
        e = place.expr
        if isinstance(e, ast.Binary) and e.op in TURNED and s.may_edit(e.left, e.right):
            yield place, e


def _whole_numbers(*parts: ast.Expr) -> bool:
    return all(part.type.kind == "int" and part.type.signed for part in parts)


@rewriting("conditions")
def comparison_turned(s: Source) -> Iterator[Change]:
    """``a < b`` becomes ``b > a``."""
    for _, e in _comparisons(s):
        if not has_effect(e):
            yield (s.edit(e, f"({s.atom(e.right)} {TURNED[e.op]} {s.atom(e.left)})"),)


@rewriting("conditions")
def comparison_negated(s: Source) -> Iterator[Change]:
    """``a < b`` of whole numbers becomes ``!(a >= b)``."""
    for _, e in _comparisons(s):
        if _whole_numbers(e.left, e.right):
            yield (s.edit(e, f"!({s.atom(e.left)} {NEGATED[e.op]} {s.atom(e.right)})"),)


@rewriting("conditions")
def less_as_less_or_equal(s: Source) -> Iterator[Change]:
    """``i < n`` of whole numbers becomes ``i <= n - 1``."""
    for _, e in _comparisons(s):
        if e.op == "<" and _whole_numbers(e.left, e.right):
            yield (s.edit(e, f"({s.atom(e.left)} <= {s.atom(e.right)} - 1)"),)


@rewriting("conditions")
def equal_to_nothing(s: Source) -> Iterator[Change]:
    """``x == 0`` becomes ``!x``."""
    for _, e in _comparisons(s):
        if e.op == "==" and isinstance(e.right, ast.IntLit) and e.right.value == 0 and e.left.type.kind != "float":
            yield (s.edit(e, f"!{s.atom(e.left)}"),)


@rewriting("conditions")
def not_as_comparison(s: Source) -> Iterator[Change]:
    """``!x`` becomes ``(x == 0)``."""
    for place in s.places:
        match place.expr:
            case ast.Unary(op="!", operand=inner) as e if s.may_edit(inner):
                yield (s.edit(e, f"({s.atom(inner)} == 0)"),)
            case _:
                pass


@rewriting("conditions")
def condition_compared(s: Source) -> Iterator[Change]:
    """``if (c)`` becomes ``if ((c) != 0)``."""
    for spot in s.of(ast.If):
        assert isinstance(spot.stmt, ast.If)
        if s.may_edit(spot.stmt.cond):
            yield (s.edit(spot.stmt.cond, f"({s.text(spot.stmt.cond)}) != 0"),)


@rewriting("conditions")
def branches_turned(s: Source) -> Iterator[Change]:
    """``if (c) A else B`` becomes ``if (!(c)) B else A``."""
    for spot in s.of(ast.If):
        match spot.stmt:
            case ast.If(cond=cond, then=then, other=other) if other is not None and s.may_edit(cond, then, other):
                new = f"if (!({s.marked(cond)})) {s.as_block(other)} else {s.as_block(then)}"
                yield (s.edit(spot.stmt, new),)
            case _:
                pass


@rewriting("conditions")
def and_as_two(s: Source) -> Iterator[Change]:
    """``if (a && b) A`` becomes ``if (a) { if (b) A }``."""
    for spot in s.of(ast.If):
        match spot.stmt:
            case ast.If(cond=ast.Logical(op="&&", left=left, right=right), then=then, other=None):
                if s.may_edit(left, right, then):
                    yield (s.edit(spot.stmt, f"if ({s.marked(left)}) {{ if ({s.marked(right)}) {s.as_block(then)} }}"),)
            case _:
                pass


@rewriting("conditions")
def two_as_and(s: Source) -> Iterator[Change]:
    """``if (a) { if (b) A }`` becomes ``if (a && b) A``."""
    for spot in s.of(ast.If):
        match spot.stmt:
            case ast.If(cond=first, then=ast.Block(body=(ast.If(cond=second, then=then, other=None),)), other=None):
                if s.may_edit(first, second, then):
                    new = f"if (({s.marked(first)}) && ({s.marked(second)})) {s.as_block(then)}"
                    yield (s.edit(spot.stmt, new),)
            case _:
                pass


@rewriting("conditions")
def branch_in_braces(s: Source) -> Iterator[Change]:
    """``if (c) A;`` becomes ``if (c) { A; }``."""
    for spot in s.spots:
        if spot.above and isinstance(spot.above[0], ast.If) and not isinstance(spot.stmt, ast.Block):
            yield (s.edit(spot.stmt, f"{{ {s.marked(spot.stmt)} }}"),)


@rewriting("conditions")
def if_as_switch(s: Source) -> Iterator[Change]:
    """``if (x == 1) A else B`` becomes a ``switch`` with a case for 1 and a default."""
    for spot in s.of(ast.If):
        match spot.stmt:
            case ast.If(cond=ast.Binary(op="==", left=left, right=ast.IntLit() as right), then=then, other=other):
                parts = [then] if other is None else [then, other]
                if left.type.kind != "int" or not s.may_edit(left, right, *parts):
                    continue
                if any(jumps(part, ast.Break, ast.Case) for part in parts):
                    continue
                rest = "" if other is None else f"default: {s.as_block(other)} break;"
                new = f"switch ({s.marked(left)}) {{ case {s.text(right)}: {s.as_block(then)} break; {rest} }}"
                yield (s.edit(spot.stmt, new),)
            case _:
                pass


@rewriting("conditions")
def choice_as_if(s: Source) -> Iterator[Change]:
    """``x = c ? a : b;`` becomes an ``if`` with two assignments."""
    for spot in s.of(ast.ExprStmt):
        match spot.stmt:
            case ast.ExprStmt(expr=ast.Assign(op="", target=target, value=ast.Conditional() as value)):
                if s.may_edit(target, value, value.cond, value.then, value.other) and not has_effect(target):
                    name = s.text(target)
                    then, other = (f"{{ {name} = {s.text(e)}; }}" for e in (value.then, value.other))
                    yield (s.edit(spot.stmt, f"if ({s.marked(value.cond)}) {then} else {other}"),)
            case _:
                pass


@rewriting("conditions")
def if_as_choice(s: Source) -> Iterator[Change]:
    """``if (c) x = a; else x = b;`` becomes ``x = c ? a : b;``."""
    for spot in s.of(ast.If):
        match spot.stmt:
            case ast.If(cond=cond, then=then, other=other) if other is not None and s.may_edit(cond):
                one, two = _assigned(s, then), _assigned(s, other)
                if one and two and s.text(one.target) == s.text(two.target) and one.target.type == two.target.type:
                    both = f"{s.atom(one.value)} : {s.atom(two.value)}"
                    yield (s.edit(spot.stmt, f"{s.text(one.target)} = ({s.text(cond)}) ? {both};"),)
            case _:
                pass


def _assigned(s: Source, stmt: ast.Stmt) -> ast.Assign | None:
    """The one assignment of a number or pointer that a branch consists of, which has no other effect."""
    while isinstance(stmt, ast.Block) and len(stmt.body) == 1:
        stmt = stmt.body[0]
    match stmt:
        case ast.ExprStmt(expr=ast.Assign(op="", target=target, value=value) as assign):
            plain = target.type.is_scalar and value.type == target.type and not has_effect(target, value)
            return assign if plain and s.may_edit(target, value) else None
        case _:
            return None


@rewriting("conditions")
def else_as_own_test(s: Source) -> Iterator[Change]:
    """``if (c) A else B`` becomes ``if (c) A`` and ``if (!(c)) B``, where A leaves what ``c`` reads."""
    for spot in s.of(ast.If):
        match spot.stmt:
            case ast.If(cond=cond, then=then, other=other) if other is not None and s.may_edit(cond, then, other):
                if is_stable(cond, then, s, spot.function) and not isinstance(cond, ast.IntLit):
                    one, two = s.as_block(then), s.as_block(other)
                    yield (s.edit(spot.stmt, f"{{ if ({s.text(cond)}) {one} if (!({s.text(cond)})) {two} }}"),)
            case _:
                pass


def _chain(s: Source, stmt: ast.Stmt) -> tuple[str, list[tuple[ast.IntLit, ast.Stmt]], ast.Stmt | None]:
    """``if (x == 0) A else if (x == 1) B else C``: ``x``, the numbers with what is done, and C."""
    tested, found, rest = "", list[tuple[ast.IntLit, ast.Stmt]](), None
    following: ast.Stmt | None = stmt
    while following is not None:
        rest = following
        match rest:
            case ast.If(
                cond=ast.Binary(op="==", left=ast.VarRef() as left, right=ast.IntLit() as right), then=then, other=other
            ) if left.type.kind == "int" and s.may_edit(left, right, then):
                if s.text(left) != (tested or s.text(left)) or any(one.value == right.value for one, _ in found):
                    break
                tested, following, rest = s.text(left), other, None
                found.append((right, then))
            case _:
                break
    return tested, found, rest


@rewriting("conditions")
def ifs_as_switch(s: Source) -> Iterator[Change]:
    """``if (x == 0) A else if (x == 1) B`` becomes a ``switch`` with a case for each."""
    for spot in s.of(ast.If):
        tested, found, rest = _chain(s, spot.stmt)
        parts = [part for _, part in found] + ([] if rest is None else [rest])
        if len(found) > 1 and s.may_edit(*parts) and not any(jumps(part, ast.Break, ast.Case) for part in parts):
            cases = [f"case {s.text(number)}: {s.as_block(part)} break;" for number, part in found]
            cases += [] if rest is None else [f"default: {s.as_block(rest)} break;"]
            yield (s.edit(spot.stmt, f"switch ({tested}) {{ {' '.join(cases)} }}"),)


def _ranks(s: Source) -> dict[str, str]:
    """Variables that ``MPI_Comm_rank`` or ``MPI_Comm_size`` sets, and nothing else, with which of the two it is."""
    found: dict[str, str] = {}
    for _, call in s.calls("MPI_Comm_rank", "MPI_Comm_size"):
        match call:
            case ast.Call(callee=ast.FuncRef(name=name), args=(_, ast.AddrOf(operand=ast.VarRef(var=var)))):
                found[var] = name if var not in found else ""
            case _:
                pass
    other = [e.target for e in _all(s) if isinstance(e, ast.Assign)]
    other += [e.operand for e in _all(s) if isinstance(e, ast.IncDec)]
    addresses = [root_of(e.operand) for e in _all(s) if isinstance(e, ast.AddrOf)]
    set_elsewhere = {root_of(e) for e in other}
    return {key: name for key, name in found.items() if key not in set_elsewhere and addresses.count(key) == 1}


def _all(s: Source) -> list[ast.Expr]:
    return [place.expr for place in s.places]


@rewriting("conditions")
def remainder_as_choice(s: Source) -> Iterator[Change]:
    """``(rank + 1) % size`` becomes ``(rank == size - 1 ? 0 : rank + 1)``, and likewise the other neighbour."""
    ranks = _ranks(s)
    for place in s.places:
        match place.expr:
            case ast.Binary(op="%", left=left, right=ast.VarRef(var=size) as n) as e if ranks.get(
                size
            ) == "MPI_Comm_size" and s.may_edit(left, n):
                of = [x for x in walk.within(left) if isinstance(x, ast.VarRef) and x.var != size]
                words = "".join(s.text(left).split()).strip("()")
                if len(of) == 1 and ranks.get(of[0].var) == "MPI_Comm_rank" and of[0].type.spelling == "int":
                    r, m = s.text(of[0]), s.text(n)
                    if words in (f"{r}+1", f"1+{r}"):
                        yield (s.edit(e, f"({r} == {m} - 1 ? 0 : {r} + 1)"),)
                    elif words in (f"{r}+{m}-1", f"{r}-1+{m}"):
                        yield (s.edit(e, f"({r} == 0 ? {m} - 1 : {r} - 1)"),)
            case _:
                pass
