"""The table of symbols: equal things are one symbol, what is learnt later, and what is not negative."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opi_xform.memory.environment import Environment
from opi_xform.memory.objects import Objects
from opi_xform.memory.poly import ZERO, Poly, number, symbol
from opi_xform.memory.symbols import WRAPS, Symbols, goes_round
from opi_xform.memory.values import Values

NONE: frozenset[int] = frozenset()


def nest() -> Symbols:
    """Loop 0 with loop 1 inside, and loop 2 beside them."""
    return Symbols((frozenset({0, 1}), frozenset({1}), frozenset({2})))


def test_equal_things_are_one_symbol() -> None:
    symbols = Symbols()
    first = symbols.get("load", (7, 1), NONE)
    assert symbols.get("load", (7, 1), NONE) == first
    assert symbols.get("load", (7, 2), NONE) != first
    assert symbols.get("phi", (7, 1), NONE) != first
    assert symbols.known("load", 7, 1) == first
    assert symbols.known("load", 7, 3) is None
    assert [s.number for s in symbols.table] == [0, 1, 2]


def test_the_scope_of_a_value_is_that_of_its_symbols() -> None:
    symbols = nest()
    a = symbols.of("opaque", ("a",), frozenset({0}))
    b = symbols.of("opaque", ("b",), frozenset({2}))
    assert symbols.scope(a * a + number(3)) == {0}
    assert symbols.scope(a * b) == {0, 2}
    assert symbols.scope(number(3)) == NONE


def test_the_object_of_an_address() -> None:
    symbols = Symbols()
    b, c = symbols.of("object", (4,), NONE), symbols.of("object", (5,), NONE)
    i = symbols.of("opaque", ("i",), NONE)
    assert symbols.base(b + i.scaled(8)) == 4
    assert symbols.offset(b + i.scaled(8)) == i.scaled(8)
    assert symbols.base(i) is None
    assert symbols.base(b + c) is None
    assert symbols.base(b.scaled(2)) is None
    assert symbols.base(b * i) is None
    assert symbols.base(b + c - b) == 5


def test_a_pointer_that_is_followed_is_no_null() -> None:
    symbols = Symbols()
    b = symbols.of("object", (4,), NONE)
    merged = symbols.get("phi", (3,), NONE)
    assert symbols.not_null(symbol(merged)) == symbol(merged)
    symbols.present[merged] = b
    assert symbols.not_null(symbol(merged) + number(8)) == b + number(8)
    assert symbols.not_null(b) == b


def test_closed_forms_are_put_in_one_after_another() -> None:
    symbols = nest()
    i, j = symbols.get("phi", ("i",), frozenset({0})), symbols.get("phi", ("j",), frozenset({0}))
    k = symbol(symbols.count(0))
    symbols.defs[i] = k.scaled(2) + number(1)
    symbols.defs[j] = symbol(i).scaled(3)
    assert symbols.resolve(symbol(j) - number(3)) == k.scaled(6)
    unknown = symbols.of("opaque", (), NONE)
    assert symbols.resolve(unknown) == unknown


def test_rows_can_be_kept() -> None:
    symbols = Symbols()
    i = symbols.of("opaque", ("i",), NONE)
    row = symbols.get("row", (0,), NONE)
    symbols.defs[row] = i.scaled(80)
    assert symbols.resolve(symbol(row) + number(8)) == i.scaled(80) + number(8)
    assert symbols.resolve(symbol(row) + number(8), keep_rows=True) == symbol(row) + number(8)


def test_what_a_loop_leaves_behind() -> None:
    symbols = nest()
    inner = symbols.of("opaque", ("inner",), frozenset({0, 1}))
    outer = symbols.of("opaque", ("outer",), frozenset({0}))
    left = symbols.leave(inner + outer, 1)
    assert left != inner + outer
    assert left - outer == symbols.leave(inner, 1)
    assert symbols.scope(left) == {0}
    assert symbols.scope(symbols.leave(left, 0)) == NONE
    assert symbols.leave(inner, 2) == inner


def test_the_closed_form_of_what_a_loop_leaves_behind() -> None:
    symbols = nest()
    i = symbols.get("phi", ("i",), frozenset({1}))
    left = symbols.leave(symbol(i), 1)
    assert symbols.resolve(left) == left  # nothing is known of it yet
    symbols.defs[i] = symbol(symbols.count(1)).scaled(4)
    turns = symbols.leave(symbol(symbols.count(1)), 1)
    assert symbols.resolve(left) == turns.scaled(4)
    assert symbols.scope(turns) == {0}, "the inner loop may run more often in another turn of the outer one"


def test_turns_that_are_known_not_to_differ() -> None:
    symbols = nest()
    assert symbols.around(1) == {0, 1}
    symbols.turns[1] = NONE
    assert symbols.around(1) == NONE


@given(st.integers(-100, 100), st.integers(-100, 100), st.integers(-100, 100))
def test_not_negative_means_so_for_all_values(a: int, b: int, c: int) -> None:
    symbols = Symbols()
    size, any_number = symbols.of("opaque", ("n",), NONE, True), symbols.of("opaque", ("m",), NONE)
    value = size.scaled(a) + any_number.scaled(b) + number(c)
    assert symbols.is_nonneg(value) == (a >= 0 and b == 0 and c >= 0)


def test_comparisons_modulo_the_types_width() -> None:
    symbols = Symbols()
    n, m = symbols.of("opaque", ("n",), NONE, True), symbols.of("opaque", ("m",), NONE, True)
    any_number = symbols.of("opaque", ("k",), NONE)
    count = symbol(symbols.count(0))
    assert not symbols.modulo(n, m)
    assert symbols.modulo(n, any_number), "it may be negative"
    assert symbols.modulo(n + number(64), n), "the sum may have wrapped"
    assert symbols.modulo(n + number(WRAPS), m), "a summand that is meant to wrap"
    assert not symbols.modulo(count + number(64), count)
    assert symbols.may_wrap(n + number(1))
    assert not symbols.may_wrap(count + number(1))
    assert not symbols.may_wrap(any_number)


def test_counters_that_begin_near_the_types_end() -> None:
    assert goes_round(number((1 << 32) - 1))
    assert goes_round(number((1 << 64) - 1))
    assert not goes_round(number(1 << 32))
    assert not goes_round(number(-1))
    assert not goes_round(ZERO)


def test_the_first_escape_of_an_object_is_told() -> None:
    values = Values(Symbols(), Objects({}), Environment([0]))
    values.escape(4, 10, "first")
    values.escape(4, 20, "second")
    values.escape(5, 30, "another")
    assert values.escaped == {4: (10, "first"), 5: (30, "another")}
    assert values.given_away == values.escaped


def test_values_that_are_settled_stay_what_they_are() -> None:
    symbols = Symbols()
    i = symbols.get("phi", (), NONE)
    symbols.defs[i] = number(3)
    symbols.settled = True
    assert symbols.resolve(symbol(i)) == number(3)
    assert symbols.resolved == {symbol(i): number(3)}
    assert isinstance(symbols.resolve(symbol(i)), Poly)
