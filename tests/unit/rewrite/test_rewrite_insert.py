"""Before and after: statements inserted around others, in every layout that C programs have.

``@`` encloses the anchor in the source.
"""

from __future__ import annotations

import pytest

from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import InsertStatement, Plan, ReplaceText
from opi_xform.rewrite.apply import rewrite
from opi_xform.text.errors import PlanError
from opi_xform.text.sources import Sources

FILE = "/p/a.c"


def marked(text: str) -> tuple[bytes, Span]:
    """The source without its two marks, and the span between them."""
    head, body, tail = text.encode().split(b"@")
    line = head.count(b"\n") + 1
    return head + body + tail, Span(FILE, len(head), len(head) + len(body), line, 1)


def inserted(text: str, *inserts: tuple[str, str], wrap: bool = False, delete: bool = False) -> str:
    source, anchor = marked(text)
    edits = [InsertStatement(anchor, where, new, wrap) for where, new in inserts]
    gone = [ReplaceText(anchor, "")] if delete else []
    plan = Plan((), (*edits, *gone))
    return rewrite(plan, Sources(lambda name: source)).changed.get(FILE, source).decode()


BOTH = (("before", "A();"), ("after", "F();"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # lines of their own
        ("{\n    @x();@\n}\n", "{\n    A();\n    x();\n    F();\n}\n"),
        ("{\n\t@x();@\n}\n", "{\n\tA();\n\tx();\n\tF();\n}\n"),
        ("{\r\n  @x();@\r\n}\r\n", "{\r\n  A();\r\n  x();\r\n  F();\r\n}\r\n"),
        ("{\n  @x(a,\n    b);@\n}\n", "{\n  A();\n  x(a,\n    b);\n  F();\n}\n"),
        ("{\n  @for (;;) {\n    y();\n  }@\n}\n", "{\n  A();\n  for (;;) {\n    y();\n  }\n  F();\n}\n"),
        ("{\n  @do x();\n  while (n);@\n}\n", "{\n  A();\n  do x();\n  while (n);\n  F();\n}\n"),
        # comments stay with what they describe
        ("{\n  y();\n  /* send */\n  @x();@\n}\n", "{\n  y();\n  A();\n  /* send */\n  x();\n  F();\n}\n"),
        ("{\n  // one\n  // two\n  @x();@\n}\n", "{\n  A();\n  // one\n  // two\n  x();\n  F();\n}\n"),
        ("{\n  /* a\n   * b */\n  @x();@\n}\n", "{\n  A();\n  /* a\n   * b */\n  x();\n  F();\n}\n"),
        ("{\n  y(); /* y\n  still */\n  @x();@\n}\n", "{\n  y(); /* y\n  still */\n  A();\n  x();\n  F();\n}\n"),
        ("{\n  /* part */\n\n  @x();@\n}\n", "{\n  /* part */\n\n  A();\n  x();\n  F();\n}\n"),
        ("{\n  @x();@  /* c */\n}\n", "{\n  A();\n  x();  /* c */\n  F();\n}\n"),
        ("{\n  @x();@  // c\n}\n", "{\n  A();\n  x();  // c\n  F();\n}\n"),
        ("{\n  @x();@ /* c\n  d */\n  y();\n}\n", "{\n  A();\n  x(); /* c\n  d */\n  F();\n  y();\n}\n"),
        # a pragma belongs to its loop; other directives are no obstacle and no anchor
        ("{\n  y();\n#pragma GCC ivdep\n  @x();@\n}\n", "{\n  y();\n  A();\n#pragma GCC ivdep\n  x();\n  F();\n}\n"),
        ("{\n  y();\n#pragma P\n\n  @x();@\n}\n", "{\n  y();\n  A();\n#pragma P\n\n  x();\n  F();\n}\n"),
        (
            "{\n  y();\n#ifdef D\n#pragma P\n#endif\n  @x();@\n}\n",
            "{\n  y();\n  A();\n#ifdef D\n#pragma P\n#endif\n  x();\n  F();\n}\n",
        ),
        ("{\n#ifdef D\n  @x();@\n#endif\n}\n", "{\n#ifdef D\n  A();\n  x();\n  F();\n#endif\n}\n"),
        # shared lines
        ("{\n  case 3: @x();@\n}\n", "{\n  case 3: A(); x(); F();\n}\n"),
        ("{\n  case 3: @x();@ break;\n}\n", "{\n  case 3: A(); x(); F(); break;\n}\n"),
        ("{\n  out: @x();@\n}\n", "{\n  out: A(); x(); F();\n}\n"),
        ("{\n  case 3:\n    @x();@\n    break;\n", "{\n  case 3:\n    A();\n    x();\n    F();\n    break;\n"),
        ("  for (i = 0; i < n; i++) { y(); @x();@ }\n", "  for (i = 0; i < n; i++) { y(); A(); x(); F(); }\n"),
        ("  for (i = 0; i < n; i++) { @x();@ y(); }\n", "  for (i = 0; i < n; i++) { A(); x(); F(); y(); }\n"),
        ("{\n  y(); @x();@ // c\n}\n", "{\n  y(); A(); x(); F(); // c\n}\n"),
        ("{\n  y(); @x();@\n}\n", "{\n  y(); A(); x(); F();\n}\n"),
        ("  case 1: @{\n    y();\n  }@\n  z();\n", "  case 1: A(); {\n    y();\n  }\n  F();\n  z();\n"),
        # a statement whose last token a macro writes
        ("{\n  @CHECK(x)@;\n}\n", "{\n  A();\n  CHECK(x);\n  F();\n}\n"),
        ("  if (c)\n    @CHECK(x)@;\n", "  if (c) {\n    A();\n    CHECK(x);\n    F();\n  }\n"),
        # bodies without braces, on their own line
        ("  if (c)\n    @x();@\n  y();\n", "  if (c) {\n    A();\n    x();\n    F();\n  }\n  y();\n"),
        ("  if (a &&\n      b)\n    @x();@\n", "  if (a &&\n      b) {\n    A();\n    x();\n    F();\n  }\n"),
        ("  if (c) // why\n    @x();@\n", "  if (c) { // why\n    A();\n    x();\n    F();\n  }\n"),
        ("  if (c)\n    /* why */\n    @x();@\n", "  if (c) {\n    A();\n    /* why */\n    x();\n    F();\n  }\n"),
        (
            "  if (c)\n    @x();@\n  else\n    y();\n",
            "  if (c) {\n    A();\n    x();\n    F();\n  } else\n    y();\n",
        ),
        (
            "  if (c)\n    y();\n  else\n    @x();@\n  z();\n",
            "  if (c)\n    y();\n  else {\n    A();\n    x();\n    F();\n  }\n  z();\n",
        ),
        ("  for (;;)\n    @x(a,\n     b);@ // c\n", "  for (;;) {\n    A();\n    x(a,\n     b); // c\n    F();\n  }\n"),
        ("  do\n    @x();@\n  while (c);\n", "  do {\n    A();\n    x();\n    F();\n  } while (c);\n"),
        ('\twhile (f(")"))\n\t\t@x();@\n', '\twhile (f(")")) {\n\t\tA();\n\t\tx();\n\t\tF();\n\t}\n'),
        (
            "  if (c)\n#ifdef D\n    @x();@\n#else\n    y();\n#endif\n",
            "  if (c)\n#ifdef D\n    { A(); x(); F(); }\n#else\n    y();\n#endif\n",
        ),
        # a body that begins on its header's line and goes on
        ("  else @if (c)\n    x();@ // c\n", "  else { A(); if (c)\n    x(); // c\n  F(); }\n"),
        ("  case 1: @if (c)\n    x();@ // c\n", "  case 1: A(); if (c)\n    x(); // c\n  F();\n"),
        (
            "  if (c)\n#if D\n    y();\n#elif E\n# if F\n    z();\n# endif\n    u();\n#else\n    @x();@\n#endif\n",
            "  if (c)\n#if D\n    y();\n#elif E\n# if F\n    z();\n# endif\n    u();\n"
            "#else\n    { A(); x(); F(); }\n#endif\n",
        ),
        # bodies without braces, on the header's line
        ("  if (c) @x();@\n  y();\n", "  if (c) {\n    A();\n    x();\n    F();\n  }\n  y();\n"),
        ("  if (c) @x();@ else y();\n", "  if (c) { A(); x(); F(); } else y();\n"),
        ("  if (c) y(); else @x();@\n", "  if (c) y(); else { A(); x(); F(); }\n"),
        ("  } else @x();@\n", "  } else {\n    A();\n    x();\n    F();\n  }\n"),
        ("  for (;;) for (;;) @x();@\n", "  for (;;) for (;;) { A(); x(); F(); }\n"),
        ("{ if (c) @x();@ }\n", "{ if (c) { A(); x(); F(); } }\n"),
    ],
)
def test_around_a_statement(before: str, after: str) -> None:
    assert inserted(before, *BOTH) == after


def test_allman_braces_stay_allman() -> None:
    other = "int f(void)\n{\n    for (;;)\n    {\n        y();\n    }\n"
    before = other + "    if (c)\n        @x();@\n    else\n        z();\n}\n"
    after = other + "    if (c)\n    {\n        A();\n        x();\n        F();\n    }\n    else\n        z();\n}\n"
    assert inserted(before, *BOTH) == after


def test_the_order_of_the_plan_is_kept() -> None:
    got = inserted("{\n  @x();@\n}\n", ("after", "C();"), ("before", "A();"), ("after", "D();"), ("before", "B();"))
    assert got == "{\n  A();\n  B();\n  x();\n  C();\n  D();\n}\n"


def test_equal_insertions_count_once() -> None:
    assert inserted("{\n  @x();@\n}\n", ("after", "F();"), ("after", "F();")) == "{\n  x();\n  F();\n}\n"


def test_several_lines_take_the_steps_of_the_file() -> None:
    got = inserted("{\n\t@x();@\n}\n", ("before", "if (!b)\n    OPI_Alloc(&b, n);"))
    assert got == "{\n\tif (!b)\n\t\tOPI_Alloc(&b, n);\n\tx();\n}\n"


def test_inner_and_outer_anchor_that_end_together() -> None:
    source = b"{\n  for (;;)\n    x();\n}\n"
    inner = Span(FILE, source.index(b"x();"), source.index(b"x();") + 4, 3, 1)
    outer = Span(FILE, source.index(b"for"), inner.end, 2, 1)
    edits = (
        InsertStatement(outer, "after", "O();"),
        InsertStatement(inner, "after", "I();", True),
        InsertStatement(outer, "before", "P();"),
    )
    for order in (edits, edits[::-1]):
        got = rewrite(Plan((), order), Sources(lambda name: source)).changed[FILE]
        assert got == b"{\n  P();\n  for (;;) {\n    x();\n    I();\n  }\n  O();\n}\n"


def test_neighbours_on_one_line_keep_their_places() -> None:
    source = b"{ x();y(); }\n"
    first, second = Span(FILE, 2, 6, 1, 3), Span(FILE, 6, 10, 1, 7)
    edits = (InsertStatement(second, "before", "B();"), InsertStatement(first, "after", "A();"))
    got = rewrite(Plan((), edits), Sources(lambda name: source)).changed[FILE]
    assert got == b"{ x(); A();B(); y(); }\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("void f(void)\n@{\n    x();\n}@\n", "void f(void)\n{\n    A();\n    x();\n    F();\n}\n"),
        ("void f(void) @{@\n", ""),
        ("if (c) @{ x(); }@\n", "if (c) { A(); x(); F(); }\n"),
        ("if (c) @{x();}@\n", "if (c) { A();x(); F();}\n"),
        ("void f(void) @{}@\n", "void f(void) { A(); F(); }\n"),
        ("void f(void)\n@{\n}@\n", "void f(void)\n{\n    A();\n    F();\n}\n"),
        ("\tif (c) @{ // why\n\t\tx();\n\t}@\n", "\tif (c) { // why\n\t\tA();\n\t\tx();\n\t\tF();\n\t}\n"),
        ("  do @{\n  case 1:\n    x();\n  }@\n", "  do {\n    A();\n  case 1:\n    x();\n    F();\n  }\n"),
        ("void f(void)\r\n@{\r\n  x();\r\n}@\r\n", "void f(void)\r\n{\r\n  A();\r\n  x();\r\n  F();\r\n}\r\n"),
    ],
)
def test_inside_a_block(before: str, after: str) -> None:
    inserts = (("begin", "A();"), ("end", "F();"))
    if not after:
        with pytest.raises(PlanError, match="no block"):
            inserted(before, *inserts)
    else:
        assert inserted(before, *inserts) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{\n  @free(b);@\n  y();\n}\n", "{\n  A();\n  F();\n  y();\n}\n"),
        ("{ @free(b);@ }\n", "{ A(); F(); }\n"),
        ("  if (b)\n    @free(b);@\n", "  if (b)\n    { A(); F(); }\n"),
    ],
)
def test_what_stands_at_a_deleted_statement_takes_its_place(before: str, after: str) -> None:
    assert inserted(before, *BOTH, delete=True) == after


@pytest.mark.parametrize(
    "text", ["for (@int i = 0;@ i < n; i++) x();\n", "n = @x()@;\n", '  _Pragma("x") @y();@\n', "#define A @x();@\n"]
)
def test_where_no_statement_can_be_inserted(text: str) -> None:
    with pytest.raises(PlanError):
        inserted(text, *BOTH)


def test_a_statement_made_by_a_macro_is_no_anchor() -> None:
    edit = InsertStatement(Span(FILE, 0, 4, 1, 1, editable=False), "before", "A();")
    with pytest.raises(PlanError, match="macro"):
        rewrite(Plan((), (edit,)), Sources(lambda name: b"x();\n"))


def test_an_unknown_place_is_refused() -> None:
    with pytest.raises(PlanError, match="beside"):
        inserted("{ @x();@ }\n", ("beside", "A();"))


def test_wrap_behind_a_macro_that_is_a_loop_header() -> None:
    """``FOR_ALL(i) x();`` looks like a call before a statement: only the plan knows that braces are needed."""
    assert inserted("  FOR_ALL(i) @x();@\n", *BOTH, wrap=True) == "  FOR_ALL(i) { A(); x(); F(); }\n"


@pytest.mark.parametrize(
    "text",
    [
        "{\n#if D\n  @for (;;)\n#else\n  while (n)\n#endif\n    x();@\n}\n",
        "{\n#if D\n  @if (n) {\n#endif\n    x();\n  }@\n}\n",
        "{\n  @while (n) {\n    x();\n#ifdef D\n  }@\n#endif\n}\n",
        "{\n#if D\n  y();\n#pragma P\n#endif\n  @x();@\n}\n",
    ],
)
def test_nothing_goes_into_one_branch_of_an_if_only(text: str) -> None:
    with pytest.raises(PlanError, match="#if"):
        inserted(text, ("before", "A();"))


def test_nothing_stands_between_a_pragma_and_the_body_of_an_if() -> None:
    with pytest.raises(PlanError, match="#pragma"):
        inserted("{\n  if (n)\n#pragma P\n    @x();@\n}\n", ("before", "A();"), wrap=True)
