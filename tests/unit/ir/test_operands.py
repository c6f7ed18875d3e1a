"""Operands: what they are made of, what instructions evaluate, and what is put in the place of a variable."""

from __future__ import annotations

import pytest
from core_support import lowered
from hypothesis import given
from hypothesis import strategies as st

from opi_xform.ir import instr as ins
from opi_xform.ir.operands import (
    assigned,
    compared,
    handle,
    is_null,
    null_test,
    operands_of,
    parts_of,
    temps_in,
    used_temps,
    with_operands,
)
from opi_xform.ir.span import NOWHERE
from opi_xform.ir.types import INT, Type
from opi_xform.ir.walk import same

DOUBLE = Type("float", "double", 8)

leaves = st.one_of(
    st.builds(ins.Const, st.integers(-3, 3)),
    st.builds(ins.Var, st.sampled_from("abc")),
    st.builds(ins.Temp, st.integers(0, 4)),
)
operands: st.SearchStrategy[ins.Operand] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(ins.Op, st.just("+"), st.tuples(inner, inner), st.sampled_from([INT, DOUBLE])),
        st.builds(ins.Op, st.just("neg"), st.tuples(inner), st.just(INT)),
        st.builds(ins.PtrAdd, inner, inner, st.just(8)),
    ),
    max_leaves=6,
)


@given(operands)
def test_parts_are_counted_once(operand: ins.Operand) -> None:
    """An operand of n operators with two arguments each has 2 n + 1 parts."""
    parts = list(parts_of(operand))
    assert parts[0] is operand
    inner = sum(2 if isinstance(x, ins.PtrAdd) else len(x.args) for x in parts if isinstance(x, ins.Op | ins.PtrAdd))
    assert len(parts) == inner + 1


@given(operands)
def test_temporaries_are_those_among_the_parts(operand: ins.Operand) -> None:
    every = sorted(x.number for x in parts_of(operand) if isinstance(x, ins.Temp))
    assert sorted(temps_in(operand)) == every
    assert set(temps_in(operand, floating=True)) <= set(every)


def test_a_temporary_that_becomes_a_floating_number_only_is_left_out() -> None:
    operand = ins.Op("cast", (ins.Temp(1),), DOUBLE)
    assert list(temps_in(operand)) == [1]
    assert list(temps_in(operand, floating=True)) == []
    address = ins.PtrAdd(ins.Var("p"), operand, 8)
    assert list(temps_in(address, floating=True)) == [1]  # an address is exact


@given(operands)
def test_variables_are_replaced_where_they_stand(operand: ins.Operand) -> None:
    """Each ``b`` becomes a temporary, nothing else changes; nothing to replace changes nothing."""
    new = ins.Temp(99)
    (value,) = operands_of(
        with_operands(ins.Define(NOWHERE, 0, ins.Temp(0), operand, INT), {("b", NOWHERE.begin): new})
    )
    before, after = list(parts_of(operand)), list(parts_of(value))
    assert len(before) == len(after)
    for x, y in zip(before, after, strict=True):
        if isinstance(x, ins.Var):
            assert y == (new if x.key == "b" else x)
        elif not isinstance(x, ins.Op | ins.PtrAdd):
            assert y == x
    (unchanged,) = operands_of(with_operands(ins.Define(NOWHERE, 0, ins.Temp(0), operand, INT), {}))
    assert same(unchanged, operand)


@given(operands, operands)
def test_same_is_equality(left: ins.Operand, right: ins.Operand) -> None:
    assert same(left, right) == (left == right)
    assert same((left, right), (left, right))
    assert not same((left,), (left, right))


def test_same_is_not_deep() -> None:
    """Trees far deeper than Python's stack are compared."""
    one: ins.Operand = ins.Var("a")
    other: ins.Operand = ins.Var("a")
    for _ in range(20_000):
        one, other = ins.Op("neg", (one,), INT), ins.Op("neg", (other,), INT)
    assert same(one, other)
    assert not same(one, ins.Op("neg", (other,), INT))


NULL = ins.Const(0)
P = ins.Var("p")


@pytest.mark.parametrize(
    ("cond", "null"),
    [
        (P, False),
        (ins.Op("not", (P,), INT), True),
        (ins.Op("==", (P, NULL), INT), True),
        (ins.Op("!=", (NULL, P), INT), False),
        (ins.Op("not", (ins.Op("!=", (P, NULL), INT),), INT), True),
        (ins.Op("not", (ins.Op("not", (P,), INT),), INT), False),
        (ins.Op("==", (ins.Op("cast", (NULL,), INT), P), INT), True),
    ],
)
def test_tests_against_null(cond: ins.Operand, null: bool) -> None:
    assert null_test(cond) == (P, null)


def test_other_comparisons_are_no_test_against_null() -> None:
    cond = ins.Op("<", (P, NULL), INT)
    assert null_test(cond) == (cond, False)
    assert is_null(ins.Op("cast", (ins.Op("cast", (NULL,), INT),), INT))
    assert not is_null(ins.Const(1))
    assert not is_null(P)


def test_handles_are_far_from_numbers_and_apart() -> None:
    names = ["MPI_DOUBLE", "MPI_INT", "MPI_COMM_WORLD", "MPI_PROC_NULL", "A", "B", "AB", "BA"]
    numbers = [handle(name) for name in names]
    assert len(set(numbers)) == len(names)
    assert all(n <= -(1 << 40) for n in numbers)


def test_what_a_function_sets() -> None:
    """By assignment, or through an address that it takes; what it only reads is not among them."""
    body = lowered("void use(int *); int f(int a, int b, int c) { int d; a = b; use(&c); d = a; return d; }")
    variables = body.function.variables
    assert {variables[key].name for key in assigned(body)} == {"a", "c", "d"}


def test_a_condition_in_a_variable_is_looked_through() -> None:
    """``t = a < b; if (t)``: the branch is on a < b, unless something in between changes a."""
    less = ins.Op("<", (ins.Var("a"), ins.Var("b")), INT)
    told = [ins.Define(NOWHERE, 0, ins.Var("t"), less, INT)]
    changed = [*told, ins.Define(NOWHERE, 0, ins.Var("a"), ins.Const(1), INT)]
    assert compared(told, ins.Var("t"), lambda key: True) == less
    assert compared(told, ins.Op("!=", (ins.Var("t"), NULL), INT), lambda key: True) == less
    assert compared(changed, ins.Var("t"), lambda key: True) == ins.Var("t")
    assert compared(told, ins.Var("t"), lambda key: key != "a") == ins.Var("t")
    assert compared([], ins.Var("t"), lambda key: True) == ins.Var("t")


def test_temporaries_that_something_is_computed_from() -> None:
    """The value of a call is kept in a temporary; it is used where an expression goes on with it."""
    used = used_temps(lowered("int g(void); int f(void) { return g() + 1; }"))
    idle = used_temps(lowered("int g(void); int f(void) { g(); return 1; }"))
    assert len(used) == 1
    assert idle == frozenset()
