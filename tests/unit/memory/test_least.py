"""The smaller one of two numbers, told from the program's text."""

from __future__ import annotations

import pytest
from core_support import Found, program

from opi_xform.ir import instr as ins
from opi_xform.memory.least import either, least, wraps

FRAME = "int unknown(void); int mark; int main(int n, char **v) {{ int m = unknown(), a; {} mark = a; return 0; }}"


def smaller(found: Found) -> list[str] | None:
    """The two numbers of which ``mark`` gets the smaller one."""
    values = found.program.values
    (value,) = found.marked()
    if value.single is None:
        return None
    pair = least(found.program.graph, found.program.nest, values, value.single)
    return None if pair is None else sorted(found.show(p) for p in pair)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = n < m ? n : m;", True),
        ("a = n <= m ? n : m;", True),
        ("a = n > m ? m : n;", True),
        ("a = n; if (a > m) a = m;", True),
        ("a = n > m ? n : m;", False),  # the greater one
        ("a = n < m ? n : 7;", False),
        ("a = n == m ? n : m;", False),
        ("a = m; for (int i = 0; i < n; i++) a = unknown();", False),
    ],
)
def test_of_two_numbers(text: str, expected: bool) -> None:
    assert (smaller(program(FRAME.format(text))) is not None) == expected


def test_both_numbers_are_told() -> None:
    found = program(FRAME.format("a = n + 3 < 8 ? n + 3 : 8;"))
    pair = smaller(found)
    assert pair is not None
    assert "8" in pair
    (value,) = found.marked()
    ((s, arms),) = either(found.program.graph, found.program.nest, found.program.values, value.scaled(2))
    assert s == value.single
    assert sorted(found.show(p) for p in arms) == pair


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unsigned k = 5; a = 0; while (k < (unsigned)m) { k++; a = 1; }", True),  # m may be negative
        ("unsigned k = 5; a = 0; if (k < (unsigned)m) a = 1;", False),  # not m: a number of its own
        ("unsigned k = 5; a = 0; if (k < 7u) a = 1;", False),
        ("a = 0; if (m < n) a = 1;", False),  # signed
    ],
)
def test_comparisons_that_may_wrap(text: str, expected: bool) -> None:
    found = program(FRAME.format(text))
    values = found.program.values
    tests = [values.conditions[n.number] for n in found.nodes(ins.Branch) if n.number in values.conditions]
    answers = [wraps(found.program.graph, found.program.nest, values, test) for test in tests]
    assert answers == [expected]
