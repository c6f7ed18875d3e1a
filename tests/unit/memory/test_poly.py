"""Polynomials: the laws of a ring, and substitution, by evaluating."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opi_xform.memory.poly import ONE, ZERO, Poly, number, symbol

SYMBOLS = 4
points = st.tuples(*[st.integers(-9, 9)] * SYMBOLS)


@st.composite
def polys(draw: st.DrawFn) -> Poly:
    out = ZERO
    for _ in range(draw(st.integers(0, 4))):
        term = number(draw(st.integers(-5, 5)))
        for s in draw(st.lists(st.integers(0, SYMBOLS - 1), max_size=3)):
            term = term * symbol(s)
        out = out + term
    return out


def evaluate(p: Poly, at: tuple[int, ...]) -> int:
    total = 0
    for monomial, c in p.terms:
        for s in monomial:
            c *= at[s]
        total += c
    return total


@given(polys(), polys(), polys())
def test_ring_laws(a: Poly, b: Poly, c: Poly) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + ZERO == a
    assert a - a == ZERO
    assert ZERO - (ZERO - a) == a
    assert -a == ZERO - a
    assert a * b == b * a
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a * ONE == a
    assert a * ZERO == ZERO


@given(polys(), polys(), st.integers(-4, 4), points)
def test_operations_are_those_of_numbers(a: Poly, b: Poly, factor: int, at: tuple[int, ...]) -> None:
    assert evaluate(a + b, at) == evaluate(a, at) + evaluate(b, at)
    assert evaluate(a * b, at) == evaluate(a, at) * evaluate(b, at)
    assert evaluate(a.scaled(factor), at) == factor * evaluate(a, at)
    assert a.scaled(factor) == a * number(factor)


@given(polys(), polys(), points)
def test_substitution_replaces_the_value(a: Poly, b: Poly, at: tuple[int, ...]) -> None:
    replaced = a.substitute(lambda s: b if s == 1 else None)
    assert evaluate(replaced, at) == evaluate(a, (at[0], evaluate(b, at), *at[2:]))


@given(polys())
def test_substitution_of_nothing_is_the_same_object(a: Poly) -> None:
    """``Symbols.resolve`` ends on identity."""
    assert a.substitute(lambda s: None) is a


@given(polys(), polys())
def test_one_form_for_one_value(a: Poly, b: Poly) -> None:
    assert (a == b) == ((a - b).constant == 0)
    assert list(a.terms) == sorted(a.terms)
    assert all(c for _, c in a.terms)


def test_what_a_polynomial_says_of_itself() -> None:
    x, y = symbol(1), symbol(2)
    assert number(7).constant == 7
    assert ZERO.constant == 0
    assert x.constant is None
    assert (x + number(3)).constant_term == 3
    assert x.constant_term == 0
    assert x.single == 1
    assert x.scaled(2).single is None
    assert (x * y).single is None
    assert (x.scaled(5) + x * y).coefficient(1) == 5
    assert (x * x).coefficient(1) == 0
    assert set((x * y + number(1)).symbols()) == {1, 2}
