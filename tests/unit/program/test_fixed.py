"""What is computed of parameters that are numbers is what C computes, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opi_xform.ir import instr as ins
from opi_xform.ir.types import INT, LONG, Type
from opi_xform.program.fixed import number

UNSIGNED = Type("int", "unsigned", 4, signed=False)
CHAR = Type("int", "signed char", 1)
BOOL = Type("int", "_Bool", 1, signed=False, boolean=True)
MODE = ins.Var("mode")
INTS = st.integers(-(1 << 31), (1 << 31) - 1)
OPERATORS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@given(INTS, INTS, st.sampled_from(sorted(OPERATORS)))
def test_comparisons(a: int, b: int, op: str) -> None:
    found = number(ins.Op(op, (MODE, ins.Const(b)), INT), {"mode": a})
    assert found == OPERATORS[op](a, b)


@given(INTS, INTS, st.sampled_from(("+", "-", "&", "|")))
def test_arithmetic_stays_inside_the_type_or_is_unknown(a: int, b: int, op: str) -> None:
    found = number(ins.Op(op, (MODE, ins.Const(b)), INT), {"mode": a})
    value = {"+": a + b, "-": a - b, "&": a & b, "|": a | b}[op]
    assert found in (None, value)
    assert found is None or INT.holds(found)
    if 0 <= a < 1 << 30 and 0 <= b < 1 << 30:
        assert found == value


@pytest.mark.parametrize(
    ("operand", "value"),
    [
        (ins.Op("not", (MODE,), INT), 0),
        (ins.Op("neg", (MODE,), INT), -300),
        (ins.Op("cast", (MODE,), LONG), 300),
        (ins.Op("cast", (MODE,), CHAR), None),  # 44 with most compilers
        (ins.Op("cast", (MODE,), BOOL), 1),
        (ins.Op("<", (ins.Op("neg", (MODE,), INT), ins.Const(0)), INT, unsigned=True), None),  # false in C
        (ins.Op("*", (MODE, MODE), INT), None),
        (ins.Op("+", (MODE, ins.Const((1 << 31) - 1)), INT), None),  # overflows
        (ins.Op("==", (MODE, ins.Var("other")), INT), None),
        (ins.Op("==", (MODE, ins.Const(-1, "MPI_PROC_NULL")), INT), None),  # -1 in this MPI, another number elsewhere
        (ins.Temp(3), None),
    ],
)
def test_what_is_known_of_300(operand: ins.Operand, value: int | None) -> None:
    assert number(operand, {"mode": 300}) == value
