"""What pointers of whole programs may point to: one way for an address to travel a case."""

from __future__ import annotations

import pytest
from core_support import Found, program

from opi_xform.graph.graph import MAIN


def targets(found: Found, name: str) -> set[str]:
    """What a variable of the program may point to, by name: `?` for what is outside, `heap` for what was allocated."""
    key, at = found.key(name), found.program
    frames = [f.number for f in at.graph.frames if not f.function or key.startswith(f.function) or f.function == MAIN]
    objects = {o for frame in frames for o in at.points_to.variable(frame, key)}
    return {"heap" if at.values.objects.table[o].kind == "heap" else at.values.objects.table[o].name for o in objects}


CASES = {
    "assigned": ("int a, b; int *p, *q; p = &a; q = p; q = &b; p[0] = q[0];", {"p": {"a"}, "q": {"a", "b"}}),
    "never assigned": ("static int *p; int a; a = p != 0;", {"p": set()}),
    "stored and loaded": ("int a; int *x, *q, **pp; pp = &x; *pp = &a; q = *pp;", {"x": {"a"}, "q": {"a"}}),
    "stored through either": (
        "int a; int *x, *y, *z, **pp; pp = argc > 1 ? &x : &y; *pp = &a; z = 0;",
        {"x": {"a"}, "y": {"a"}, "z": set()},
    ),
    "members of a struct are one": (
        "int a, b; struct { int *s, *r; } t; int *p; t.s = &a; t.r = &b; p = t.s;",
        {"p": {"a", "b"}},
    ),
    "inside counts as the whole": ("int a[8]; int *p; for (p = a + 2; p < a + 8; p++) *p = 0;", {"p": {"a"}}),
    "copied by memcpy": (  # what is copied as bytes may be of the outside as well
        "int a; int *x[2], *y[2], *q; x[0] = &a; memcpy(y, x, sizeof x); q = y[1];",
        {"q": {"a", "?"}},
    ),
    "through an integer": ("int a; long n; int *p; n = (long)&a; p = (int *)n; *p = 1;", {"p": {"a"}}),
    "allocated": ("int *p, *q; p = malloc(8); q = malloc(8); *p = *q;", {"p": {"heap"}, "q": {"heap"}}),
}


@pytest.mark.parametrize("name", CASES)
def test_one_way_to_travel(name: str) -> None:
    text, expected = CASES[name]
    found = program(f"int main(int argc, char **argv) {{ {text} return 0; }}")
    for variable, objects in expected.items():
        assert targets(found, variable) == objects, variable


def test_two_allocations_are_two_objects() -> None:
    found = program("int main(void) { int *p, *q; p = malloc(8); q = malloc(8); *p = *q; return 0; }")
    p, q = (found.program.points_to.variable(0, found.key(name)) for name in "pq")
    assert p
    assert q
    assert p.isdisjoint(q)


def test_copies_of_a_function_are_apart() -> None:
    """What one call passes does not come back from the other."""
    found = program(
        "static int *same(int *x) { return x; }"
        " int main(void) { int a, b; int *p, *q; p = same(&a); q = same(&b); *p = *q; return 0; }"
    )
    assert targets(found, "p") == {"a"}
    assert targets(found, "q") == {"b"}


def test_what_is_given_to_unknown_code_is_outside() -> None:
    """Unknown code may store what it reaches where it reaches; what it gives may be any of that."""
    found = program(
        "void unknown(int **); int *given(void); int main(void)"
        " { int a, b; int *x, *y, *p; x = &a; unknown(&x); y = &b; p = given(); *p = *y; return 0; }"
    )
    assert targets(found, "x") == {"?", "a", "x"}
    assert targets(found, "p") == {"?", "a", "x"}
    assert targets(found, "y") == {"b"}


def test_a_call_through_a_pointer_reaches_the_functions_that_it_may_hold() -> None:
    found = program(
        "static int *one(int *x) { return x; } static int *none(int *x) { return 0; }"
        " int main(int argc, char **argv)"
        " { int a; int *p; int *(*f)(int *) = argc > 1 ? one : none; p = f(&a); if (p) *p = 1; return 0; }"
    )
    assert "a" in targets(found, "p")


def test_what_can_be_reached_through_what_is_stored() -> None:
    found = program("int main(void) { int a; int *x, **y, ***z; x = &a; y = &x; z = &y; ***z = 1; return 0; }")
    at = found.program.points_to
    a, x, y = (found.object(name) for name in "axy")
    assert at.reachable(frozenset({y})) == {y, x, a}
    assert at.contents([y]) == {x}
    assert at.contents([x, y]) == {a, x}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int *p; p = malloc(8); *p = 1;", {"p"}),
        ("int *p, *q; p = malloc(8); q = p; *q = 1;", {"p", "q"}),
        ("int *p; int **t; t = malloc(16); p = malloc(8); t[0] = p; *t[0] = 1;", {"p", "allocation 2"}),
        ("int *p; p = malloc(8); unknown(p);", None),
    ],
)
def test_where_an_address_may_be(text: str, expected: set[str] | None) -> None:
    """None: also where nobody looks."""
    found = program(f"void unknown(int *); int main(void) {{ {text} return 0; }}")
    at = found.program
    (o,) = (o for o in at.points_to.variable(0, found.key("p")) if at.values.objects.table[o].kind == "heap")
    holding = at.points_to.holding(o)
    names = None if holding is None else {at.values.objects.table[h].name for h in holding}
    assert names == expected
