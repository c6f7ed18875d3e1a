"""What is written of an allocation is worth the same elsewhere: what others may change, and what is evaluated again."""

from __future__ import annotations

import pytest
from allocating_programs import SEND, called, program
from core_support import last
from ownership_support import Source, shared

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import within
from opi_xform.ownership.allocation.others import at_any_time, may_set
from opi_xform.ownership.allocation.repeated import (
    can_follow,
    evaluated_in,
    has_effect,
    places,
    repeatable,
    same_behind,
    same_place,
    steady,
)


@pytest.mark.parametrize(
    ("more", "at_a_call", "at_any"),
    [
        ("n = 3;", False, False),
        ("other(&n);", True, True),
        (
            "MPI_Request q; MPI_Irecv(&n, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);",
            True,
            True,
        ),
        ("memset(&n, 0, 4);", False, False),
    ],
)
def test_variables_that_others_may_set(more: str, at_a_call: bool, at_any: bool) -> None:
    found = program(f"double *b = malloc(n * 8);\n{more}\n{SEND}\nfree(b);")
    key = found.key("n")
    assert may_set(found.program, [key]) is at_a_call
    assert may_set(found.program, [key], called=False) is at_any
    objects = found.program.values.objects.by_name.get(key, [])
    assert any(o in at_any_time(found.program) for o in objects) is at_any


# --- text that stands once more ---------------------------------------------------------------------------------------

HEAD = "int g(int); int a, b, t[4]; volatile int v; struct s { double *out; } *h; extern int outside;\n"


def expr(text: str) -> ast.Expr:
    return last(f"{HEAD}int f(int n) {{ (void)0; return {text}; }}")


@pytest.mark.parametrize(
    ("text", "effect", "again"),
    [
        ("a + 1", False, True),
        ("a++", True, False),
        ("(a = 3)", True, False),
        ("g(1)", True, False),
        ("v", False, False),
        ("t[a]", False, True),
        ("(int)sizeof(a++)", True, False),
    ],
)
def test_expressions_that_can_be_evaluated_again(text: str, effect: bool, again: bool) -> None:
    assert has_effect(expr(text)) is effect
    assert repeatable(expr(text)) is again
    assert len([*evaluated_in(expr("a + b * 2"))]) == 5


def test_a_value_that_nobody_changes_meanwhile() -> None:
    found = program(f"double *b = malloc(n * calls);\nother(&calls);\n{SEND}\nfree(b);")
    refs = {
        found.program.variables[e.var].name: e for f in found.program.functions.values() for s in [f] for e in _refs(s)
    }
    assert steady(found.program, 0, refs["n"])
    assert not steady(found.program, 0, refs["calls"])


def _refs(function: ast.Function) -> list[ast.VarRef]:
    from opi_xform.ir.walk import within_statement

    return [e for e in within_statement(function.body, function.variables) if isinstance(e, ast.VarRef)]


def test_what_is_evaluated_to_find_a_place() -> None:
    e = expr("h->out == 0")
    assert isinstance(e, ast.Binary)
    assert [type(p).__name__ for p in places(e.left)] == ["VarRef"]
    index = expr("t[a + 1]")
    assert any(isinstance(p, ast.Binary) for p in places(index))


@pytest.mark.parametrize(
    ("more", "size_same", "place_same"),
    [("", True, True), ("n = 3;", False, True), ("calls++;", True, True), ("at = 1;", True, False)],
)
def test_the_text_of_a_call_is_worth_the_same_behind_it(more: str, size_same: bool, place_same: bool) -> None:
    top = f"static int at; static double *table[4]; static double *get(int k) {{ {more} return malloc(k * 8); }}"
    found = program("table[at] = get(n);\nMPI_Send(table[at], 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);", top)
    flow = shared(found).flow
    graph = found.program.graph
    (frame,) = [f.number for f in graph.frames if f.function.endswith("get")]
    entering = graph.nodes[graph.frames[frame].call].action
    assert isinstance(entering, ins.CallInstr)
    (store,) = [n.number for n in graph.nodes if isinstance(n.action, ins.Store)]
    (size,) = entering.call.args
    assert same_behind(found.program, flow, [frame], store, (), size) is size_same
    (target,) = [e for e in within_targets(found) if isinstance(e, ast.Index)]
    assert same_place(found.program, flow, [frame], store, (), target) is place_same


def within_targets(found: Source) -> list[ast.Expr]:
    out: list[ast.Expr] = []
    for s in found.program.functions["main"].body.body:
        if isinstance(s, ast.ExprStmt):
            out += [e.target for e in within(s.expr) if isinstance(e, ast.Assign)]
    return out


@pytest.mark.parametrize(
    ("more", "expected"),
    [("*d = 0", True), ("*d = v", True), ("*d = b", False), ("*d = v + (k = 3)", False), ("*d = v + k++", False)],
)
def test_memory_may_be_given_behind_its_declaration(more: str, expected: bool) -> None:
    """What stands after it in the same declaration neither names it nor changes its size."""
    body = f"int k = argc;\ndouble *b = malloc(k * 8), {more};\n{SEND}\ncalls = d != 0;\nfree(b);"
    found = program(body, "double v[9];")
    key = found.key("b")
    (setting,) = [
        n.number
        for n in found.program.graph.nodes
        if isinstance(n.action, ins.Define) and n.action.target == ins.Var(key)
    ]
    (allocating,) = called(found, "malloc")
    assert isinstance(allocating.action, ins.CallInstr)
    assert can_follow(found.program, shared(found).flow, setting, allocating.action.call.args) is expected
