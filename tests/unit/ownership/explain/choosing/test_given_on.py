"""``opi_xform.ownership.explain.choosing.given_on``: where a message's memory goes, by the text alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.codes import Reason
from opi_xform.frontend import parse_unit
from opi_xform.ir import ast
from opi_xform.ir.calls import callers_of, calls_of
from opi_xform.ownership.explain.choosing.given_on import given_on, several_given
from opi_xform.ownership.model.lines import told

BEGIN = "void give(double *b);\nstruct s { double *x; void (*f)(double *); };\nvoid f(struct s *h, double *p) {\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("give(p);\nh->f(p);", "`p` is given to what `h->f` points to at line 5, and could not show which"),
        ("h->f(p);\ngive(p);\nh->f(p);", "`p` is given to what `h->f` points to at line 6"),  # afterwards first
        ("h->f(p);\ngive(p);", "`p` is given to what `h->f` points to at line 4"),
        ("give(p);\nh->x = p;", "line 5 keeps `p` in `h->x`, and what other functions do with it was not looked for"),
        ("give(p);\nh->f(0);\nh->x = 0;", ""),
        ("give(h->x);\nh->f(p);", ""),  # by no variable of the function
    ],
)
def test_where_memory_goes(tmp_path: Path, body: str, expected: str) -> None:
    path = tmp_path / "a.c"
    path.write_text(BEGIN + body + "\n}\n")
    (function,) = (f for f in parse_unit(str(path)).functions.values() if f.name == "f")
    (call,) = (c for c in calls_of(function) if isinstance(c.callee, ast.FuncRef))
    refusal = given_on(function, call, call.args[0])
    message = "" if refusal is None else told(refusal.message, str(path))
    assert (refusal is None or refusal.reason is Reason.ESCAPE, bool(message)) == (True, bool(expected))
    assert message.startswith(expected)


SENDS = "void give(double *b);\nvoid f(double *p, int n) { give(p); if (n) f(p, n - 1); }\n"


@pytest.mark.parametrize(
    ("callers", "expected"),
    [
        ("double x[4], y[4];\nint main(void) { f(x, 1);\nf(y, 1); }", "with `x` at line 4 and with `y` at line 5"),
        ("double x[4];\nint main(void) { f(x, 1);\nf(x, 1); }", ""),  # the call of itself hands on what it was given
        (
            "double x[4];\nvoid g(double *q) { f(q, 1); }\nvoid h(double *r) { f(r, 2); }\n"
            "int main(void) { g(x); h(x); }",
            "",
        ),
        (
            "double x[4], y[4];\nvoid g(double *q) { f(q, 1); }\nvoid h(double *r) { f(r, 2); }\n"
            "int main(void) { g(x); h(y); }",
            "with `q` at line 4 and with `r` at line 5",
        ),
    ],
)
def test_what_callers_give(tmp_path: Path, callers: str, expected: str) -> None:
    path = tmp_path / "a.c"
    path.write_text(SENDS + callers + "\n")
    functions = parse_unit(str(path)).functions
    (function,) = (f for f in functions.values() if f.name == "f")
    call = next(c for c in calls_of(function) if isinstance(c.callee, ast.FuncRef) and c.callee.name == "give")
    refusal = several_given(function, call.args[0], callers_of(functions))
    message = "" if refusal is None else told(refusal.message, str(path))
    assert message.partition(" is called ")[2] == expected
