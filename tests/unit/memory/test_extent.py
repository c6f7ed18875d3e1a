"""Bytes of datatypes: predefined ones, and those that a program makes of others without gaps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opi_xform.ir import instr as ins
from opi_xform.memory.environment import Environment
from opi_xform.memory.extent import derived, extent, extent_of, gaps, lowest_bit, relative, struct, told
from opi_xform.memory.objects import Objects
from opi_xform.memory.poly import Poly, number, symbol
from opi_xform.memory.symbols import Symbols
from opi_xform.memory.values import Values

DOUBLE, CHAR, INT = (ins.Const(n, name) for n, name in enumerate(("MPI_DOUBLE", "MPI_CHAR", "MPI_INT"), 100))
HOLES = ins.Const(103, "MPI_DOUBLE_INT")
HANDLES = {100: 8, 101: 1, 102: 4}


def known() -> Values:
    values = Values(Symbols(), Objects({}), Environment([0]))
    values.handles.update(HANDLES)
    return values


def made(name: str, *args: ins.Operand | int) -> int | None:
    """Bytes of the datatype that a call makes; a number is an argument that is a number."""
    operands = [ins.Const(a) if isinstance(a, int) else a for a in args]
    values = [number(a.value) if isinstance(a, ins.Const) else symbol(0) for a in operands]
    found = derived(known(), name, operands, values, lambda argument, index: None)
    return None if found is None else found.constant


@pytest.mark.parametrize(
    ("operand", "size"),
    [(DOUBLE, 8), (CHAR, 1), (INT, 4), (HOLES, None), (ins.Const(7), None), (ins.Var("type"), None)],
)
def test_predefined_datatypes(operand: ins.Operand, size: int | None) -> None:
    assert extent(operand) == size


def test_what_is_said_of_gaps() -> None:
    assert gaps(HOLES) == "`MPI_DOUBLE_INT` has gaps: 12 bytes of data in every 16"
    assert gaps(ins.Var("type")).startswith("the datatype may have gaps")


@pytest.mark.parametrize(
    ("call", "size"),
    [
        (("MPI_Type_contiguous", 3, DOUBLE, ins.Var("new")), 24),
        (("MPI_Type_contiguous", 3, HOLES, ins.Var("new")), None),
        (("MPI_Type_vector", 3, 2, 2, INT, ins.Var("new")), 24),
        (("MPI_Type_vector", 1, 2, 0, INT, ins.Var("new")), 8),  # one block, whatever its stride is
        (("MPI_Type_vector", 1, 2, 0, HOLES, ins.Var("new")), None),
        (("MPI_Type_vector", 3, 2, 5, INT, ins.Var("new")), None),  # blocks of 2 ints, 5 apart
        (("MPI_Type_dup", DOUBLE, ins.Var("new")), 8),
        (("MPI_Type_create_resized", DOUBLE, 0, 8, ins.Var("new")), 8),
        (("MPI_Type_create_resized", DOUBLE, 0, 16, ins.Var("new")), None),
        (("MPI_Type_create_resized", DOUBLE, 8, 8, ins.Var("new")), None),
        (("MPI_Type_indexed", 1, 0, 0, DOUBLE, ins.Var("new")), None),
    ],
    ids=lambda call: "-".join(str(getattr(a, "name", a)) for a in call[:-1]) if isinstance(call, tuple) else None,
)
def test_made_datatypes(call: tuple[Any, ...], size: int | None) -> None:
    assert made(*call) == size


def test_a_handle_in_a_variable_is_known_by_its_symbol() -> None:
    values = known()
    handle = values.symbols.of("opaque", ("handle",), frozenset())
    assert extent_of(values, ins.Var("type"), handle) is None
    assert handle.single is not None
    values.extents[handle.single] = number(24)
    assert extent_of(values, ins.Var("type"), handle) == number(24)


def blocks(*members: tuple[int, int, ins.Const]) -> int | None:
    """Bytes of a struct type with members (length, displacement, type)."""

    def read(argument: int, index: int) -> Poly:
        part = members[index][argument - 1]
        return number(part if isinstance(part, int) else part.value)

    found = struct(known(), len(members), read)
    return None if found is None else found.constant


@pytest.mark.parametrize(
    ("members", "size"),
    [
        ([(2, 0, DOUBLE), (4, 16, INT)], 32),
        ([(1, 0, INT), (1, 8, DOUBLE)], None),  # four bytes between the two
        ([(1, 0, DOUBLE), (1, 8, INT)], None),  # the MPI makes it longer at its end
        ([(1, 4, INT), (1, 0, INT)], None),  # not in the order of the message
        ([(1, 0, CHAR), (7, 1, CHAR)], 8),
    ],
)
def test_struct_types_without_gaps(members: list[tuple[int, int, ins.Const]], size: int | None) -> None:
    assert blocks(*members) == size


def test_displacements_that_are_constants() -> None:
    values = known()
    unknown = values.symbols.of("opaque", ("address",), frozenset())
    assert relative(values, 2, 2, lambda argument, index: number(8 * index))
    assert not relative(values, 2, 2, lambda argument, index: unknown if index else number(0))
    assert not relative(values, None, 2, lambda argument, index: number(0))


@pytest.mark.parametrize(
    ("name", "argument", "answer"),
    [
        ("MPI_Type_size", 1, 8),
        ("MPI_Type_get_extent", 1, 0),  # the lower bound
        ("MPI_Type_get_extent", 2, 8),
        ("MPI_Type_lb", 1, 0),
        ("MPI_Type_ub", 1, 8),
        ("MPI_Type_size", 0, None),
        ("MPI_Pack_size", 1, None),
    ],
)
def test_what_a_query_tells(name: str, argument: int, answer: int | None) -> None:
    found = told(known(), name, argument, [DOUBLE], [number(100)])
    assert (None if found is None else found.constant) == answer


@given(st.lists(st.integers(1, 1 << 20), min_size=1, max_size=4))
def test_the_lowest_bit_divides_every_term(coefficients: list[int]) -> None:
    value = Poly(tuple(((s,), c) for s, c in enumerate(coefficients)))
    bit = lowest_bit(value)
    assert all(c % bit == 0 for c in coefficients)
    assert any(c % (2 * bit) for c in coefficients)
