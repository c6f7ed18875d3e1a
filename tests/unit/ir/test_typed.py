"""What brings floating numbers and integers together in a program's text."""

import pytest

from opi_xform.ir.typed import FLOATING, WHOLE, is_apart, is_whole, kinds
from opi_xform.ir.types import INT, Field, Record, Type
from tests.core_support import around

DOUBLE = Type("float", "double", 8)
CHAR = Type("int", "char", 1)


def test_kinds_look_into_structs_and_arrays() -> None:
    inner = Record("i", "struct i", False, 16, (Field("x", DOUBLE, 0), Field("c", CHAR, 8)))
    outer = Record("o", "struct o", False, 24, (Field("i", Type("record", "i", record="i"), 0), Field("n", INT, 16)))
    records = {"i": inner, "o": outer}
    assert kinds(Type("array", "struct i[2]", elem=Type("record", "i", record="i")), records) == {FLOATING}
    assert kinds(Type("record", "o", record="o"), records) == {FLOATING, WHOLE}
    assert kinds(CHAR, records) == frozenset()


def test_what_a_store_is_of() -> None:
    assert is_apart(DOUBLE)
    assert not is_apart(Type("float", "double", 8, volatile=True))
    assert not is_apart(INT)
    assert is_whole(INT)
    assert is_whole(Type("pointer", "double *", 8, elem=DOUBLE))
    assert not is_whole(CHAR)


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("int f(double *x, void *v) { int *p = v; *x = 1; return *p; }", False),
        ("double *g; int f(int *p) { g = ((void *)0); return *p; }", True),
        ("int f(double *x) { int *p = (void *)0; *x = 1; p = 0; return p == ((void *)0); }", True),
        ("struct v { int n; double *x; }; int f(void) { struct v t = {1, (void *)0}; return t.n; }", True),
        ("void *get(void); int f(double *x) { int *p = get(); *x = 1; return *p; }", True),
        ("int f(double *x) { return *(int *)x; }", False),
        ("int f(double *x) { return *(int *)(void *)x; }", False),
        ("char f(double *x) { return *(char *)x; }", True),
        ("void f(double **x) { int **p = (int **)x; (void)p; }", True),
        ("struct s { int n; double x; }; double f(struct s *s) { return *(double *)s; }", False),
        ("struct s { double x, y; }; double f(struct s *s) { return *(double *)s; }", True),
        ("struct v { int n; double *x; }; int f(void *p) { struct v t = {1, p}; t.x[0] = 1; return t.n; }", False),
        ("union u { int n; double x; }; int f(union u *u) { return u->n; }", False),
        ("union u { char n[8]; double x; }; int f(union u *u) { return u->n[0]; }", True),
        ("union u { int n; void *x; }; int f(union u *u) { return u->n; }", True),
        ("int n; double *g = (double *)&n; int f(void) { return n; }", False),
        ("double *f(int *p) { return (double *)p; }", False),
        ("typedef int word __attribute__((may_alias)); int f(word *p) { return *p; }", False),
    ],
)
def test_a_program(text: str, apart: bool) -> None:
    assert around(text).floats_apart is apart
