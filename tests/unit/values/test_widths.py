"""What is lost where a number becomes another one, and arithmetic on constants."""

from __future__ import annotations

import pytest
from core_support import program
from hypothesis import given
from hypothesis import strategies as st

from opi_xform.ir import instr as ins
from opi_xform.ir.types import INT, LONG, Type
from opi_xform.memory.poly import number
from opi_xform.memory.symbols import Symbols
from opi_xform.values.arithmetic.folding import exactly, folded, wrapped
from opi_xform.values.arithmetic.widths import Widths

UNSIGNED = Type("int", "unsigned", 4, signed=False)
CHAR = Type("int", "char", 1)


@pytest.mark.parametrize(
    ("body", "same"),
    [
        ("if (a > 100) f(); if (a > 100) g();", True),
        ("if ((int)a > 100) f(); if ((int)a > 100) g();", True),
        ("if ((int)a > 100) f(); if (a > 100) g();", False),
        ("int k = a; if (k > 100) f(); if (a > 100) g();", False),
        ("int k = a; if (k > 100) f(); if ((int)a > 100) g();", True),
        ("if ((unsigned)a > 100) f(); if ((int)a > 100) g();", False),
        ("if ((int)a + 1L > 100) f(); if (a + 1 > 100) g();", False),
        ("if ((int)a % 7 > 3) f(); if (a % 7 > 3) g();", False),
        ("if ((int)u > 100) f(); if (u > 100) g();", False),
        ("if ((long)k > 100) f(); if (k > 100) g();", True),
        ("int k = a; long m = k * 8ul; if (m > 100) f(); m = a * 8ul; if (m > 100) g();", False),
        ("int k = a; void *p = (void *)(long)k; if (p) f(); p = (void *)a; if (p) g();", False),
        ("int k = a; char *p = &v[0][k]; long m = p - v[0]; if (m > 9) f(); if (a > 9) g();", False),
        ("unsigned long w = a; long m = (long)w; if (m > 9) f(); if (w > 9) g();", False),
    ],
)
def test_two_conditions_on_one_number(body: str, same: bool) -> None:
    """They compare the same numbers where the number has lost bits in both of them, or in none."""
    top = "long get(void); unsigned more(void); void f(void); void g(void);\nint main(int k, char **v)\n"
    text = f"{top}{{\nlong a = get(); unsigned u = more();\n{body}\n}}\n"
    found = program(text.replace("int k = a", "k = a")).program.values.conditions
    first, second = ((c.left, c.right) for _, c in sorted(found.items()))
    assert (first == second) is same


def test_a_loop_is_believed_to_run_as_often_as_its_number_says() -> None:
    """The bound of a loop is a length: it is the number of 64 bits."""
    top = "long get(void); void f(void);\nint main(void)\n"
    found = program(top + "{\nlong a = get(); int k = a;\nfor (int i = 0; i < k; i++)\n    f();\n}\n").program.values
    (condition,) = found.conditions.values()
    (s,) = condition.right.symbols()
    assert found.symbols.table[s].kind == "opaque"  # what get() returned


def test_what_changes_in_a_loop_may_fall_out_of_its_test() -> None:
    """Then the test is none by what changes: it is on an int of a long, and not on the long."""
    top = "long get(void); void f(void); void g(void);\nint main(void)\n"
    loop = "for (int j = 0; j < 3; j++) { if (j + k > 5 + j) break; f(); }"
    found = program(f"{top}{{\nlong a = get(); int k = a;\n{loop}\nif (a > 5) g();\n}}\n").program.values
    _, inside, behind = (c for _, c in sorted(found.conditions.items()))
    assert inside.left - inside.right != behind.left - behind.right


@given(st.integers(1, 99), st.integers(-99, 99))
def test_a_length_is_believed(factor: int, more: int) -> None:
    """However a number travels that may have lost bits, a length that is made of it is made of the one it was."""
    symbols = Symbols()
    widths = Widths({}, symbols)
    word = symbols.of("opaque", ("word",), frozenset())
    assert widths.believed(word) == word
    widths.note(LONG, INT, word)
    cut = widths.in_type(INT, word)
    assert cut != word
    size = widths.in_type(UNSIGNED, cut.scaled(factor) + number(more))
    assert widths.believed(size.scaled(8) + cut) == word.scaled(8 * factor + 1) + number(8 * more)


@pytest.mark.parametrize(
    ("operand", "type_"),
    [
        (ins.Op("cast", (ins.Const(1),), INT), INT),
        (ins.Op("cast", (ins.Op("cast", (ins.Const(1),), INT),), LONG), INT),
        (ins.Op("cast", (ins.Op("cast", (ins.Const(1),), LONG),), INT), INT),
        (ins.Op("cast", (ins.Op("cast", (ins.Const(1),), UNSIGNED),), INT), INT),
        (ins.Op("+", (ins.Const(1), ins.Const(2)), LONG), LONG),
        (ins.Const(1), None),
        (ins.Temp(3), CHAR),
        (ins.Temp(4), None),
    ],
)
def test_types_of_operands(operand: ins.Operand, type_: Type | None) -> None:
    widths = Widths({}, Symbols())
    widths.temps[0, 3] = CHAR
    assert widths.of(0, operand) == type_


@given(st.integers(-(1 << 70), 1 << 70), st.sampled_from([INT, LONG, UNSIGNED, CHAR]))
def test_a_number_in_a_type_is_the_same_modulo_its_width(value: int, type_: Type) -> None:
    bits = 8 * (type_.size or 0)
    found = wrapped(value, type_)
    assert (found - value) % (1 << bits) == 0
    assert type_.holds(found)


@given(st.integers(-99, 99), st.integers(-99, 99).filter(bool))
def test_quotient_and_rest(a: int, b: int) -> None:
    q, r = folded("/", [a, b]), folded("%", [a, b])
    assert q is not None
    assert r is not None
    assert q * b + r == a
    assert abs(r) < abs(b)
    assert r * a >= 0  # of the sign of the dividend


def test_what_is_no_polynomial() -> None:
    assert exactly("/", []) is None
    assert folded("/", [1, 0]) is None
    assert folded("<<", [1, 70]) is None


@pytest.mark.parametrize(("type_", "lost"), [("double", 0), ("float", 0), ("long", 1)])
def test_a_whole_number_of_a_floating_one_is_the_same_in_each_type(type_: str, lost: int) -> None:
    """That of a function which is not known, or is followed, or made by one of two ways."""
    top = f"{type_} get(void); void f(void);\nstatic {type_} half(int k)\n{{\nif (k > 4) return get();\nreturn 1;\n}}\n"
    for made in ("get()", "half(k)"):
        text = f"{top}int main(int k, char **v)\n{{\nint a = (int){made}; if (a > 100) f();\n}}\n"
        assert bool(program(text).program.values.narrowed) is bool(lost)
