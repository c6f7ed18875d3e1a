"""Parts of lowering that have a name of their own: each on the construct that it is about."""

from __future__ import annotations

import pytest
from core_support import called_in, last, lowered

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import COMPARISONS, MIRRORED, NEGATED
from opi_xform.ir.lowering import shapes
from opi_xform.ir.lowering.lengths import Lengths
from opi_xform.ir.lowering.memalign import ALIGNED, given_memory, memory_tested
from opi_xform.ir.lowering.truths import as_choice, compared_with_zero, negated, plainer, truths_of
from opi_xform.ir.lowering.turned import turned_loop
from opi_xform.ir.operands import operands_of, parts_of
from opi_xform.ir.span import NOWHERE
from opi_xform.ir.types import INT, LONG, Type

HEAD = """
int posix_memalign(void **, size_t, size_t); int g(int); int a, b, c; int t[4], m[3][5]; int *q; double x;
struct s { int n; int *at; int few[2]; } v, *p; union u { int n; int *at; } w; volatile int vol;
"""


def expr(text: str) -> ast.Expr:
    return last(f"{HEAD}int f(int n) {{ (void)0; return {text}; }}")


def condition(text: str) -> ast.Expr:
    """As it is written: where it stands in an ``if``, the front end has asked already."""
    return last(f"{HEAD}int f(int n) {{ void *mine; double *d; return {text}; }}")


# --- conditions joined by & and | -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a < b) & (b == c)", ["<", "=="]),
        ("(a < b) | !c", ["<", "!"]),
        ("((a < b) & (b < c)) | (c > a)", ["<", "<", ">"]),
        ("a & b", None),
        ("(a < b) & c", None),
        ("(a < b) & (g(a) > 1)", None),
        ("(a < b) ^ (b < c)", None),
    ],
)
def test_truths_that_are_joined(text: str, expected: list[str] | None) -> None:
    found = truths_of(expr(text))
    assert (None if found is None else [e.op for e in found if isinstance(e, ast.Binary | ast.Unary)]) == expected


@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("!(a < b)", ">="),
        ("!!(a < b)", "<"),
        ("(a < b) != 0", "<"),
        ("(a == b) == 0", "!="),
        ("!((a > b) == 0)", ">"),
        ("!(x < 1.0)", "!"),  # NaN
        ("(a && b) != 0", "&&"),
        ("(a & b) != 0", "!="),
        ("!a", "!"),
        ("a == 0", "=="),
        ("(a < b) != 1", "!="),
    ],
)
def test_conditions_in_other_words(text: str, op: str) -> None:
    found = plainer(expr(text))
    assert isinstance(found, ast.Binary | ast.Unary | ast.Logical)
    assert found.op == op


@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("!q", "!"),
        ("q == 0", "=="),
        ("0 != q", "!="),
        ("(q == 0) != 0", "=="),
        ("!(q == 0)", "!="),
        ("(long)!q", "!"),
        ("q == p->at", ""),
        ("!a", ""),
        ("a < b", ""),
        ("q", ""),
    ],
)
def test_tests_of_pointers_that_are_kept_are_choices(text: str, op: str) -> None:
    found = as_choice(condition(text))
    assert isinstance(found, ast.Conditional) == bool(op)
    if isinstance(found, ast.Conditional):
        assert isinstance(found.cond, ast.Binary | ast.Unary)
        assert found.cond.op == op
        assert [e.value for e in (found.then, found.other) if isinstance(e, ast.IntLit)] == [1, 0]


@pytest.mark.parametrize(
    ("text", "branches"),
    [
        ("return q == 0;", 1),
        ("int none = !q; return none;", 1),
        ("n = q != 0; return n;", 1),
        ("n += q != 0; return n;", 0),
        ("return q == p->at;", 0),
    ],
)
def test_which_way_was_taken_tells_what_a_test_found(text: str, branches: int) -> None:
    body = lowered(f"{HEAD}int f(int n) {{ {text} }}")
    assert sum(isinstance(i, ins.Branch) for block in body.blocks for i in block) == branches


@pytest.mark.parametrize("op", sorted(COMPARISONS))
@pytest.mark.parametrize(("a", "b"), [(1, 2), (2, 2), (3, 2)])
def test_comparisons_of_numbers(op: str, a: int, b: int) -> None:
    """One of a comparison and its negation holds; with its sides exchanged a comparison says the same."""
    holds = {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b, "==": a == b, "!=": a != b}
    other = {"<": b < a, ">": b > a, "<=": b <= a, ">=": b >= a, "==": b == a, "!=": b != a}
    assert holds[op] is not holds[NEGATED[op]]
    assert holds[op] is other[MIRRORED[op]]


def test_comparisons_that_are_compared() -> None:
    less = ins.Op("<", (ins.Var("a"), ins.Var("b")), INT, True)
    assert negated(less) == ins.Op(">=", less.args, INT, True)
    assert negated(ins.Op("+", less.args, INT)) is None
    assert compared_with_zero("!=", less, ins.Const(0)) == less
    assert compared_with_zero("==", less, ins.Const(0)) == negated(less)
    assert compared_with_zero("<", less, ins.Const(0)) is None
    assert compared_with_zero("!=", less, ins.Const(1)) is None
    assert compared_with_zero("!=", ins.Var("a"), ins.Const(0)) is None


# --- loops with their test at the end ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if (n > 0) do { a++; n--; } while (n > 0);", True),
        ("if (n > 0) { do { a++; n--; } while (n > 0); }", True),
        ("if (n > 0) do { a++; n--; } while (n > 1);", False),
        ("if (n > 0) do { a++; n--; } while (n >= 0);", False),
        ("if (n > 0) do { a++; } while (n > 0); else b = 1;", False),
        ("if (n > 0) { do { a++; n--; } while (n > 0); b = 1; }", False),
        ("if (g(n)) do { n--; } while (g(n));", False),  # the test does something
        ("if (vol) do { n--; } while (vol);", False),
        ("if (n && a < b) do { n--; } while (n && a < b);", True),
    ],
)
def test_loops_that_are_tested_at_their_end(text: str, expected: bool) -> None:
    (function,) = [lowered(f"{HEAD}void f(int n) {{ {text} }}").function]
    found = turned_loop(function.body.body[0])
    assert (found is not None) is expected
    assert found is None or isinstance(found, ast.While)


# --- posix_memalign in a condition ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("posix_memalign((void **)&d, 64, 80) != 0", "=="),  # so there is none
        ("posix_memalign((void **)&d, 64, 80)", "=="),
        ("posix_memalign((void **)&d, 64, 80) == 0", "!="),
        ("!posix_memalign((void **)&d, 64, 80)", "!="),
        ("posix_memalign(&mine, 64, 80)", None),  # a `void *` may be what the function returns
        ("posix_memalign((void **)&p[g(1)].at, 64, 80)", None),
        ("g(1)", None),
    ],
)
def test_memory_that_a_condition_asks_for(text: str, expected: str | None) -> None:
    cond = condition(text)
    found = memory_tested(cond, (), lambda key: True)
    if expected is None:
        assert found is cond
        return
    assert isinstance(found, ast.Binary)
    assert found.op == expected
    assert given_memory(found.left)
    assert isinstance(found.left, ast.Assign)
    assert isinstance(found.left.value, ast.Call)
    assert isinstance(found.left.value.callee, ast.FuncRef)
    assert found.left.value.callee.name == ALIGNED


def test_memory_that_the_function_returns_stays_a_call() -> None:
    cond = condition("posix_memalign((void **)&d, 64, 80)")
    key = next(x.var for x in ast_walk(cond) if isinstance(x, ast.VarRef))
    assert memory_tested(cond, {key}, lambda k: True) is cond
    assert memory_tested(cond, {key}, lambda k: False) is not cond


def ast_walk(e: ast.Expr) -> list[ast.Expr]:
    from opi_xform.ir.walk import within

    return [*within(e)]


# --- lengths of variable arrays ---------------------------------------------------------------------------------------


def test_steps_through_an_array_of_variable_length() -> None:
    inner = Type("array", "double[m]", 0, elem=Type("float", "double", 8), vla=True)
    outer = Type("array", "double[n][m]", 0, elem=inner, vla=True)
    var = ast.Variable("a", "a", outer, "local", NOWHERE)
    lengths = Lengths()
    n, m = ins.Var("n"), ins.Var("m")
    whole = lengths.declare(var, (n, m))
    assert whole == ins.Op("*", (ins.Op("*", (n, m), LONG), ins.Const(8)), LONG)
    ref = ast.VarRef(outer, NOWHERE, "a")
    row = ast.Index(inner, NOWHERE, ref, ast.IntLit(INT, NOWHERE, 2))
    assert lengths.step(ref) == (m, 8), "a subscript steps over a row"
    assert lengths.step(row) == (ins.Const(1), 8)
    assert lengths.size(row) == ins.Op("*", (m, ins.Const(8)), LONG)
    assert lengths.size(ref) == whole
    i = ins.Var("i")
    assert lengths.scaled(ref, i, 0) == (ins.Op("*", (i, m), LONG), 8)
    assert lengths.scaled(ref, ins.Const(0), 0) == (ins.Const(0), 8)
    assert lengths.scaled(ref, i, 4) == (i, 4), "the size is known without it"
    other = ast.VarRef(outer, NOWHERE, "b")
    assert lengths.step(other) is None
    assert lengths.scaled(other, i, 0) == (i, 0)


def test_a_pointer_to_rows_of_variable_length() -> None:
    row = Type("array", "double[m]", 0, elem=Type("float", "double", 8), vla=True)
    pointer = Type("pointer", "double (*)[m]", 8, elem=row)
    lengths = Lengths()
    lengths.declare(ast.Variable("p", "p", pointer, "param", NOWHERE), (ins.Var("m"),))
    ref = ast.VarRef(pointer, NOWHERE, "p")
    assert lengths.step(ref) == (ins.Var("m"), 8)
    assert lengths.step(ast.Deref(row, NOWHERE, ref)) == (ins.Const(1), 8)


# --- shapes of expressions --------------------------------------------------------------------------------------------


def test_the_address_of_the_first_element_is_that_of_the_whole() -> None:
    base = ins.AddrVar("m", NOWHERE)
    first = ins.PtrAdd(ins.PtrAdd(base, ins.Const(0), 20, 60), ins.Const(0), 4, 20)
    assert shapes.whole(first) == base
    second = ins.PtrAdd(ins.PtrAdd(base, ins.Const(1), 20, 60), ins.Const(0), 4, 20)
    assert shapes.whole(second) == second
    assert shapes.whole(base) == base


@pytest.mark.parametrize(
    ("text", "expected"), [("(*g)(1)", True), ("(&g)(1)", True), ("g(1)", True), ("(a ? g : g)(1)", False)]
)
def test_what_a_call_names(text: str, expected: bool) -> None:
    call = expr(text)
    assert isinstance(call, ast.Call)
    assert isinstance(shapes.callee(call.callee), ast.FuncRef) is expected


@pytest.mark.parametrize(
    ("operand", "expected"),
    [
        (ins.Op("<", (ins.Temp(0), ins.Temp(1)), INT), True),
        (ins.Op("ptrdiff", (ins.Temp(0), ins.Temp(1)), LONG), True),
        (ins.Op("cast", (ins.Temp(0),), LONG), True),
        (ins.Op("+", (ins.Op("==", (ins.Temp(0), ins.Const(0)), INT), ins.Const(1)), INT), True),
        (ins.Op("+", (ins.Temp(0), ins.Const(1)), INT), False),
        (ins.Temp(0), False),
    ],
)
def test_numbers_that_may_come_from_addresses(operand: ins.Operand, expected: bool) -> None:
    assert shapes.compares(operand) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(q = t) == 0", True),
        ("(p->at = t) == 0", True),
        ("(p[a].at = t) == 0", True),
        ("(p[g(1)].at = t) == 0", False),
        ("(p[vol].at = t) == 0", False),
        ("(q += 1) == 0", False),
        ("(a = 1) == 0", False),
    ],
)
def test_assignments_that_can_be_read_again(text: str, expected: bool) -> None:
    e = expr(text)
    assert isinstance(e, ast.Binary)
    assert isinstance(e.left, ast.Assign)
    assert shapes.read_again(e.left) is expected


def test_null_and_what_may_be_null() -> None:
    assert shapes.is_null(expr("(int)(char)0"))
    assert not shapes.is_null(expr("1"))
    maybe = last(f"{HEAD}int *f(int n) {{ (void)0; return n ? (int *)malloc(n) : 0; }}")
    assert shapes.or_null(maybe) is not None
    both = last(f"{HEAD}int *f(int n) {{ (void)0; return n ? q : t; }}")
    assert shapes.or_null(both) is None


@pytest.mark.parametrize(
    ("text", "expected"), [("v.n", True), ("p->few[1]", True), ("w.n", False), ("a", False), ("t[1]", False)]
)
def test_numbers_that_are_members(text: str, expected: bool) -> None:
    e = expr(text)
    while isinstance(e, ast.Cast):
        e = e.operand
    assert shapes.is_member(e) is expected


def test_types_of_places() -> None:
    array = expr("m[1] == 0")
    assert isinstance(array, ast.Binary)
    place = array.left
    while isinstance(place, ast.Cast):
        place = place.operand
    assert shapes.decayed(place.type).is_pointer
    assert shapes.pointee_size(expr("q == 0").left.type if isinstance(expr("q == 0"), ast.Binary) else INT) == 4
    assert shapes.pointee_size(Type("pointer", "void *", 8, elem=Type("void", "void"))) == 1
    assert not shapes.steps_over_rows(place.type)
    assert shapes.is_union(expr("w.n").base.type if isinstance(expr("w.n"), ast.Member) else None)
    assert not shapes.is_union(INT)
    seen = shapes.view(ins.Temp(0), INT)
    assert isinstance(seen, ins.Op)
    assert seen.view
    assert seen.type.is_pointer
    function = Type("function", "", elem=INT, params=(INT, LONG))
    assert shapes.params(Type("pointer", "", 8, elem=function)) == (INT, LONG)


def test_one_operand() -> None:
    minus = expr("-a")
    assert isinstance(minus, ast.Unary)
    assert shapes.unary(minus, ins.Const(3)) == ins.Const(-3)
    assert shapes.unary(minus, ins.Temp(3)) == ins.Op("neg", (ins.Temp(3),), minus.type, False)
    named = ins.Const(-1, ast.PROC_NULL)
    assert shapes.unary(minus, named) != ins.Const(1), "MPI_PROC_NULL is another number with another MPI"
    assert isinstance(shapes.unary(expr("!x"), ins.Temp(3)), ins.Nondet)
    assert shapes.calls(expr("a + g(1)"))
    assert not shapes.calls(expr("a + t[1]"))


# --- opi_xform.ir.lowering.expressions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a = b;", ["Define"]),
        ("t[1] = b;", ["Store"]),
        ("a = t[1];", ["Load", "Define"]),
        ("a = g(b);", ["CallInstr", "Define"]),
        ("v = *p;", ["CopyBytes"]),
        ("*q += 2;", ["Load", "Store"]),
        ("a++;", ["Define"]),
        ("a = n && b;", ["Branch", "Define", "Define"]),
    ],
)
def test_one_effect_an_instruction(text: str, kinds: list[str]) -> None:
    body = lowered(f"{HEAD}void f(int n) {{ {text} }}")
    found = [type(i).__name__ for block in body.blocks for i in block if not isinstance(i, ins.ReturnInstr)]
    wanted = [k for k in found if k in ("Store", "Load", "CallInstr", "CopyBytes")]
    assert wanted == [k for k in kinds if k in ("Store", "Load", "CallInstr", "CopyBytes")]
    assert ("Branch" in found) == ("Branch" in kinds)


def test_addresses_have_their_scale_written_out() -> None:
    body = lowered(f"{HEAD}int f(int n) {{ return m[n][2] + q[n]; }}")
    loads = [i.address for block in body.blocks for i in block if isinstance(i, ins.Load)]
    scales = [[p.scale for p in parts_of(a) if isinstance(p, ins.PtrAdd)] for a in loads]
    assert scales == [[4, 20], [4]]
    assert called_in(body) == []
    assert all(operands_of(i) is not None for block in body.blocks for i in block)
