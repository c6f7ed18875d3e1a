"""Places that are told by what other loops have counted, and by the way on which they were set."""

from __future__ import annotations

import pytest
from core_support import program

from opi_xform.divide.passages.counted import Counted
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly

HEAD = "static int a, b, size, mark;\n"


def found(early: str, late: str) -> tuple[Counted, int, list[Poly]]:
    """What `b - a - size` is seen as, after a function that sets them on one of two ways."""
    text = f"{HEAD}static void place(int n) {{ if (n == 3) {{ {early} return; }} {late} }}\n"
    body = "size = argc + 7; place(argc); int d = b - a - size; mark = d; return 0;"
    text += f"int main(int argc, char **argv) {{ {body} }}"
    whole = program(text).program
    sets = [n for n in whole.graph.nodes if isinstance(n.action, ins.Define) and isinstance(n.action.target, ins.Var)]
    last = next(n.number for n in reversed(sets) if whole.variables[n.action.target.key].name == "d")
    return Counted(whole), last, list(whole.values.operands[last])


@pytest.mark.parametrize(
    ("early", "late", "expected"),
    [
        ("a = 4; b = 4 + size;", "a = 9; b = 9 + size;", True),
        ("a = 4; b = 5 + size;", "a = 9; b = 9 + size;", True),
        ("a = 4; b = 3 + size;", "a = 9; b = 9 + size;", False),
        ("a = 4; b = 4 + size;", "a = 9; b = 8 + size;", False),
        ("a = 4; b = 4;", "a = 9; b = 9 + size;", False),
    ],
)
def test_on_both_ways(early: str, late: str, expected: bool) -> None:
    counted, n, values = found(early, late)
    assert any(counted.proves(n, value, ()) for value in values) == expected
