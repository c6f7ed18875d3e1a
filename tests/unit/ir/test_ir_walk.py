"""Walks over expressions and statements, the calls in a function, and what holds of an expression wherever it is."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError

import pytest
from core_support import last, unit

from opi_xform import record
from opi_xform.ir import ast
from opi_xform.ir.calls import calls_of, functions_called
from opi_xform.ir.fixed import OPEN, bound, is_fixed
from opi_xform.ir.link_guard import GUARD, guard_text, in_guard
from opi_xform.ir.record import dataclass
from opi_xform.ir.span import NOWHERE, Span
from opi_xform.ir.statics import Declared, Static
from opi_xform.ir.types import INT
from opi_xform.ir.walk import (
    addressed,
    children,
    expressions,
    mentions,
    parts,
    repeats,
    statements,
    uncast,
    with_blocks,
    within,
    within_statement,
)

HEAD = "int g(int), h(int); struct s { int a, t[3]; } v, *p; int a, b, c, t[4]; double d[2][5]; int *q;\n"


def function(body: str) -> ast.Function:
    return unit(f"{HEAD}int f(int n) {{ {body} }}").functions["f"]


def expr(text: str) -> ast.Expr:
    return last(f"{HEAD}int f(int n) {{ (void)0; return {text}; }}")


def names(found: list[ast.Expr]) -> list[str]:
    return [e.var.rpartition("/")[2].split("@")[0] for e in found if isinstance(e, ast.VarRef)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", "ab"),
        ("t[a]", "ta"),
        ("n ? a : b", "nab"),
        ("(a = b)", "ab"),
        ("a && b", "ab"),
        ("-a", "a"),
        ("a++", "a"),
        ("p->a", "p"),
        ("(a, b)", "ab"),
        ("(int)sizeof(int[a])", ""),
        ("g(a)", "a"),
    ],
)
def test_all_of_an_expression_is_walked_over_once(text: str, expected: str) -> None:
    found = names([*within(expr(text))])
    assert sorted(found) == sorted(expected)
    assert len(children(expr(text))) <= 3


def test_every_expression_of_a_statement() -> None:
    body = """
    int x = a, y;
    for (y = 0; y < b; y++) { if (g(y)) continue; else { c = y; } }
    while (t[0]) ; do { t[1] = 1; } while (t[2]);
    switch (n) { case 1: v.a = 1; break; default: ; }
    out: return t[3];
    """
    f = function(body)
    assert len([*expressions(f.body)]) == 11
    inits = [*names([*within_statement(f.body, f.variables)])]
    plain = [*names([e for root in expressions(f.body) for e in within(root)])]
    assert inits.count("a") == 1
    assert plain.count("a") == 0, "it stands in an initialiser alone"


def test_statements_with_the_one_around_them() -> None:
    f = function("if (n) { a = 1; } else b = 2; while (c) { for (;;) ; }")
    found = [*statements(f.body)]
    kinds = [type(s).__name__ for s, _ in found]
    assert kinds == ["Block", "If", "Block", "ExprStmt", "ExprStmt", "While", "Block", "For", "Null"]
    around = {id(s): parent for s, parent in found}
    for s, _ in found:
        assert all(around[id(inner)] is s for inner in parts(s))


def test_mentions_of_a_variable_with_what_is_around_them() -> None:
    e = expr("t[n] + g(n) + -n")
    (key,) = {x.var for x in within(e) if isinstance(x, ast.VarRef) and "/n@" in x.var}
    assert [type(parent).__name__ for _, parent in mentions(e, key)] == ["Index", "Call", "Unary"]
    (alone,) = mentions(expr("n"), key)
    assert alone[1] is None


def test_blocks_with_other_statements_in_them() -> None:
    f = function("if (n) { a = 1; b = 2; } while (n) { c = 3; }")
    then = f.body.body[0]
    assert isinstance(then, ast.If)
    assert isinstance(then.then, ast.Block)
    new = with_blocks(f.body, {id(then.then): then.then.body[1:]})
    count = [len([*statements(s)]) for s in (f.body, new)]
    assert count == [8, 7]
    assert new.body[1] is f.body.body[1], "what has not changed is the same object"


@pytest.mark.parametrize(("text", "expected"), [("g((long)&a)", True), ("g((long)(char *)&a)", True), ("g(a)", False)])
def test_what_an_argument_is_the_address_of(text: str, expected: bool) -> None:
    call = expr(text)
    assert isinstance(call, ast.Call)
    found = addressed(call.args[0])
    assert (found is not None and isinstance(found, ast.VarRef) and found.var == "a") is expected


@pytest.mark.parametrize("text", ["a", "(int)(long)a", "(char)(long)(int)a"])
def test_an_expression_without_casts(text: str) -> None:
    assert isinstance(uncast(expr(text)), ast.VarRef)
    assert isinstance(uncast(expr(f"-{text}")), ast.Unary), "those inside it stay"


def test_calls_of_a_function_in_source_order() -> None:
    f = function("int x = g(1); h(g(2)); return t[h(3)];")
    assert [c.callee.name for c in calls_of(f) if isinstance(c.callee, ast.FuncRef)] == ["h", "g", "h", "g"]
    assert functions_called(f) == {"g", "h"}
    assert calls_of(f) is calls_of(f)


# --- fixed values and bounds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 + 4", True),
        ("(int)sizeof(a)", True),
        ("a", False),
        ("&a == 0", True),
        ("&t[2] == 0", True),
        ("&t[a] == 0", False),
        ("t == 0", True),
        ("p->t == 0", False),
        ("&p->a == 0", False),
        ("q == 0", False),
        ("g(1)", False),
        ("d[1] == 0", True),
    ],
)
def test_values_that_are_the_same_wherever_they_are_written(text: str, expected: bool) -> None:
    assert is_fixed(expr(text)) is expected


def test_an_initialiser_that_is_not_there_is_fixed() -> None:
    assert is_fixed(None)


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("int x[6];", "x[n]", 24),
        ("double x[2][5];", "x[1][n]", 40),
        ("struct { int k; int x[3]; } y;", "y.x[n]", 12),  # a variable ends where it is declared to
        ("struct e { int k; int x[3]; } *y;", "y->x[n]", OPEN),  # memory may go on after it
        ("struct e { int x[3]; int k; } *y;", "y->x[n]", 12),
        ("struct e { union { int x[3]; double w[8]; } u; int k; } y;", "y.u.x[n]", OPEN),
    ],
)
def test_bytes_that_a_subscript_stays_inside(declared: str, text: str, expected: int) -> None:
    e = uncast(last(f"{declared} int f(int n) {{ (void)0; return {text}; }}"))
    assert isinstance(e, ast.Index)
    assert bound(e.base) == expected


# --- guards, records, statics -----------------------------------------------------------------------------------------


def test_a_guard_is_recognised_where_it_stands() -> None:
    for header in (False, True):
        code = f'int a;\n{guard_text("buf", header)}\nint b __asm__("c");\n'.encode()
        assert f"buf{GUARD}".encode() in code
        labels = [m.start() for m in re.finditer(rb"__asm__", code)]
        assert [in_guard(code, at) for at in labels] == [True, False]
    assert "weak" in guard_text("buf", True)
    assert "weak" not in guard_text("buf", False)


@dataclass(frozen=True, slots=True)
class Pair:
    first: int
    second: str = "s"


@record.dataclass(frozen=True, slots=True)
class Frozen:
    first: int


def test_records_are_compared_and_hashed_by_their_fields() -> None:
    assert Pair(1) == Pair(1, "s")
    assert Pair(1) != Pair(2)
    assert len({Pair(1), Pair(1), Pair(1, "t")}) == 2
    assert repr(Pair(1)) == "Pair(first=1, second='s')"
    with pytest.raises(AttributeError):
        Pair(1).third = 2  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        Frozen(1).first = 2  # type: ignore[misc]


def test_a_variable_is_defined_where_one_of_its_declarations_is() -> None:
    span = Span("a.c", 0, 1, 1, 1)

    def declared(definition: bool) -> Declared:
        return Declared(span, span, 0, 1, "", definition, False, True, False)

    assert not Static("a", "a", "extern", INT, "", False, (declared(False),)).defined
    assert Static("a", "a", "extern", INT, "", False, (declared(False), declared(True))).defined
    assert not NOWHERE.editable


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (;;) ;", True),
        ("while (a) ;", True),
        ("do { a++; } while (a);", True),
        ("do { a++; } while (1);", True),
        ("do { a++; } while (0);", False),
        ("if (a) a++;", False),
    ],
)
def test_loops_that_may_have_a_second_turn(body: str, expected: bool) -> None:
    assert any(repeats(s) for s, _ in statements(function(body).body)) is expected
