"""Values that are joined again and again: how much greater one is than another at least."""

from __future__ import annotations

import pytest
from core_support import Found, program
from hypothesis import given, settings
from hypothesis import strategies as st

from opi_xform.ir import instr as ins
from opi_xform.values.joined import Joints

STEPS = st.lists(st.tuples(st.integers(-2, 3), st.integers(-2, 3)), min_size=1, max_size=6)


def found_in(body: str) -> Found:
    return program(f"static int mark; int size(void);\nint main(void) {{ int n = size(); {body} return 0; }}")


def joints(found: Found, start: int = -1) -> Joints:
    return Joints(found.program.graph, found.program.nest, found.program.values, start)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_the_least_is_the_sum_of_the_least_steps(steps: list[tuple[int, int]]) -> None:
    ways = " ".join(f"if (size()) n += {a}; else n += {b};" for a, b in steps)
    found = found_in(f"mark = n; {ways} mark = n;")
    first, last = found.marked()
    assert joints(found).least(last - first) == sum(min(step) for step in steps)
    assert joints(found).least(first - last) == -sum(max(step) for step in steps)


@settings(max_examples=25, deadline=None)
@given(STEPS, st.data())
def test_behind_a_block_the_ways_that_come_from_it_count(steps: list[tuple[int, int]], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(steps) - 1))
    ways = [f"if (size()) n += {a}; else n += {b};" for a, b in steps]
    a, b = steps[at]
    ways[at] = f"if (size()) {{ mark = n; n += {a}; }} else n += {b};"
    found = found_in(" ".join(ways) + " mark = n;")
    first, last = found.marked()
    block = next(n.block for n in found.program.graph.nodes if is_mark(found, n.action))
    later = sum(min(step) for step in steps[at + 1 :])
    assert joints(found, block).least(last - first) == a + later
    assert joints(found).least(last - first) == min(a, b) + later


def is_mark(found: Found, action: object) -> bool:
    return isinstance(action, ins.Define) and action.target == ins.Var(found.key("mark"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if (size()) { if (size()) n++; n++; } mark = n;", 0),
        ("if (size()) { if (size()) n++; n++; } else n += 3; mark = n;", 1),
        ("if (size()) n = size(); mark = n;", None),
        ("int k = 0; if (size()) k = 2; n += k; if (size()) n++; mark = n;", 0),
        ("while (size()) n--; mark = n;", None),
        ("if (size()) n++; while (size()) n--; mark = n;", None),
        ("for (int i = 0; i < 3; i++) n++; if (size()) n--; mark = n;", 2),
    ],
)
def test_what_is_known(body: str, expected: int | None) -> None:
    found = found_in(f"mark = n; {body}")
    first, last = found.marked()
    assert joints(found).least(last - first) == expected
