"""Pointers that are an object's address or NULL, and move on in a loop."""

from __future__ import annotations

from opi_xform.memory.poly import Poly, number, symbol
from opi_xform.memory.symbols import Symbols
from opi_xform.values.unset.nullable import may_walk, walked

NONE: frozenset[int] = frozenset()


def test_an_address_or_null() -> None:
    symbols = Symbols()
    b = symbols.of("object", (4,), NONE)
    merged = symbols.get("phi", (3,), NONE)
    assert not may_walk(symbols, symbol(merged))
    symbols.present[merged] = b
    assert may_walk(symbols, symbol(merged))
    assert may_walk(symbols, symbol(merged) + number(16))
    assert not may_walk(symbols, b)


def test_how_far_it_moves() -> None:
    symbols = Symbols((frozenset({0}),))
    init = symbol(symbols.get("phi", (3,), NONE))
    s = symbols.get("phi", (5,), frozenset({0}))
    k, m = symbols.of("opaque", ("k",), frozenset({0})), symbols.of("opaque", ("m",), NONE)
    here = init + symbol(s)

    def step(*ends: Poly | None) -> Poly | None:
        return walked(symbols, s, init, ends, {0})

    assert step(here + number(8)) == number(8)
    assert step(here + number(8), here + number(8)) == number(8)
    assert step(here + m) == m
    assert step(here + number(8), here + number(16)) is None
    assert step(here + k) is None
    assert step(init) is None
    assert step(None) is None
