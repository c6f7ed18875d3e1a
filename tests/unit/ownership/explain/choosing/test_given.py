"""``opi_xform.ownership.explain.choosing.given_on``: which buffers callers name, by the text alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.codes import Reason
from opi_xform.frontend import parse_unit
from opi_xform.ir.calls import callers_of, calls_of
from opi_xform.ownership.explain.choosing.given_on import moved_in_text, several_given
from opi_xform.ownership.model.lines import told

BEGIN = "void give(double *b);\nstruct s { double *x; };\n"


def words(folder: Path, program: str) -> str:
    """What is told of the call of ``give``; '' for nothing."""
    path = folder / "a.c"
    path.write_text(BEGIN + program)
    functions = parse_unit(str(path)).functions
    (found,) = ((f, c) for f in functions.values() for c in calls_of(f) if c.callee.name == "give")  # type: ignore[attr-defined]
    refusal = several_given(found[0], found[1].args[0], callers_of(functions))
    if refusal is None:
        return ""
    assert refusal.reason is Reason.SEVERAL_BUFFERS
    return told(refusal.message, str(path))


@pytest.mark.parametrize(
    ("function", "one", "other"),
    [
        ("void f(int n, double *p) { give(p); }\nvoid g(double *x, double *y) { f(1, x);\nf(2, y); }", "x", "y"),
        (
            "void f(int n, double *p) { give(p + n); }\nvoid g(double *x, double *y) { f(1, &x[2]);\nf(2, y + 1); }",
            "x",
            "y",
        ),
        (
            "void f(int n, void *p) { give((double *)p); }\nvoid g(struct s *t, double *y) { f(1, t->x);\nf(2, y); }",
            "t->x",
            "y",
        ),
    ],
)
def test_two_names_are_told(tmp_path: Path, function: str, one: str, other: str) -> None:
    apart = f"with `{one}` at line 4 and with `{other}` at line 5"
    assert words(tmp_path, function) == f"`p` may be one of several buffers: `f` is called {apart}"


@pytest.mark.parametrize(
    "function",
    [
        "void f(double *p) { give(p); }\nvoid g(double *x) { f(x); f(x + 1); }",  # one name
        "void f(double *p) { give(p); }",  # nobody calls it
        "void f(double *p) { p = 0; give(p); }\nvoid g(double *x, double *y) { f(x); f(y); }",  # set anew
        "void h(double **);\nvoid f(double *p) { h(&p); give(p); }\nvoid g(double *x, double *y) { f(x); f(y); }",
        "void f(void) { double p[3]; give(p); }",  # none of the callers'
    ],
)
def test_nothing_is_told(tmp_path: Path, function: str) -> None:
    assert words(tmp_path, function) == ""


def test_structs_that_callers_give_are_told(tmp_path: Path) -> None:
    function = "void f(struct s *p) { give(p->x); }\nvoid g(struct s *t) { struct s u;\nf(&u);\nf(t); }"
    apart = "with `u` at line 5 and with `t` at line 6"
    assert words(tmp_path, function) == f"`p->x` may be that of several structs: `f` is called {apart}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("while (n--) { give(p);\np += n; }", (Reason.CARRIER, "the pointer is moved at line 5")),
        ("p++;\ngive(p);", (Reason.CARRIER, "the pointer is moved at line 4")),
        ("give(p);\np++;", None),  # it is moved afterwards alone
        ("while (n--) { give(l->next->x);\nl = l->next; }", (Reason.SEVERAL_BUFFERS, "line 5 goes on from `l`")),
        ("give(l->x);\nl = l->next;", None),
        ("l = m;\ngive(l->x);", None),
    ],
)
def test_a_pointer_that_its_function_moves(tmp_path: Path, body: str, expected: tuple[Reason, str] | None) -> None:
    path = tmp_path / "a.c"
    text = BEGIN.replace("double *x;", "double *x; struct s *next;")
    path.write_text(f"{text}void f(int n, double *p, struct s *l, struct s *m)\n{{ {body} }}\n")
    functions = parse_unit(str(path)).functions
    (found,) = ((f, c) for f in functions.values() for c in calls_of(f) if c.callee.name == "give")  # type: ignore[attr-defined]
    refusal = moved_in_text(found[0], found[1].args[0])
    if expected is None:
        assert refusal is None
    else:
        assert refusal is not None
        assert refusal.reason is expected[0]
        assert told(refusal.message, str(path)).startswith(expected[1])
