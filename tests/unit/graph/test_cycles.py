"""Functions that lead to a call of themselves, and what they lead to."""

from __future__ import annotations

import pytest
from core_support import unit

from opi_xform.graph.cycles import Cycles, cycles
from opi_xform.ir.lowering.statements import lower

CASES = {
    "none": ("void a(void) {} void b(void) { a(); }", "", ""),
    "itself": ("void a(void) { a(); } void b(void) { a(); }", "a", "a"),
    "what it calls is below": ("void c(void) {} void a(int n) { c(); if (n) a(n - 1); }", "a", "ac"),
    "two by turns": ("void b(int); void a(int n) { if (n) b(n - 1); } void b(int n) { a(n); }", "ab", "ab"),
    "by its address": ("void has_called(void (*)(void)); void a(void) { has_called(a); }", "a", "a"),
    "who calls them is not": ("void a(int n) { if (n) a(n - 1); } void d(void) { a(3); }", "a", "a"),
}


def found(text: str) -> Cycles:
    u = unit(text)
    bodies = {f.name: lower(f, u.globals) for f in u.functions.values()}
    keys = {name: key for key, name in ((f.key, f.name) for f in u.functions.values())}
    result = cycles([keys[n] for n in sorted(bodies)], lambda key: bodies[u.functions[key].name], lambda call: ())
    return Cycles(
        frozenset(u.functions[k].name for k in result.cyclic), frozenset(u.functions[k].name for k in result.below)
    )


@pytest.mark.parametrize("name", CASES)
def test_cycles(name: str) -> None:
    text, cyclic, below = CASES[name]
    assert found(text) == Cycles(frozenset(cyclic), frozenset(below))


def test_a_call_through_a_pointer_leads_where_it_may() -> None:
    u = unit("void (*p)(void); void a(void) { p(); }")
    (f,) = u.functions.values()
    body = lower(f, u.globals)
    assert cycles([f.key], lambda _: body, lambda call: [f.key]).cyclic == {f.key}
    assert cycles([f.key], lambda _: body, lambda call: ()).cyclic == frozenset()
    assert cycles([f.key], lambda _: None, lambda call: [f.key]).cyclic == frozenset()  # a body that is not known
