"""Arrays that constants and types name, and no expression of the program (opi_xform.frontend.lower.type_mentions)."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.frontend import parse_unit

MACROS = "#define LEN(x) ((int)(sizeof(x) / sizeof((x)[0])))\n#define PASTED(x) L ## EN(x)\nstatic double b[8], *p;\n"


def named(text: str, folder: Path) -> set[str]:
    path = folder / "a.c"
    path.write_text(MACROS + text)
    return {e.var.rpartition(":")[2].rpartition("/")[2] for e in parse_unit(str(path)).type_mentions}


@pytest.mark.parametrize(
    "text",
    [
        "enum { N = LEN(b) };",
        "enum { N = PASTED(b) };",
        "struct s { unsigned a : LEN(b); };",
        "typedef __typeof__(b) c;",
        "static __typeof__(b) c;",
        '_Static_assert(LEN(b) == 8, "");',
        "void f(void) { enum { N = LEN(b) }; }",
        "void f(void) { __typeof__(b) c; c[0] = 0; }",
    ],
)
def test_in_constants_and_types(text: str, tmp_path: Path) -> None:
    assert named(text, tmp_path) == {"b"}


@pytest.mark.parametrize(
    "text",
    [
        "double f(void) { return b[LEN(b) - 1] + sizeof b; }",
        "void g(double *); void f(void) { g(b); p = b; }",
        "static double *q = b;",
        "void f(void) { double c = b[1], d[] = { b[2] }; p = &c; p = d; }",
        "enum { N = sizeof p }; typedef __typeof__(p) q;",
    ],
)
def test_expressions_of_the_program_are_not_among_them(text: str, tmp_path: Path) -> None:
    assert named(text, tmp_path) == set()


def test_what_a_function_declares_whoever_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    macro = "#define LOCAL(n) enum level { STEP = n }; typedef int word; struct cell { char c; }"
    path.write_text(macro + "\nint f(void) { LOCAL(7); word w = STEP; return w; }\nint g(void) { return 0; }\n")
    functions = parse_unit(str(path)).functions
    assert functions["f"].declares == {"struct level", "STEP", "word", "struct cell"}
    assert functions["g"].declares == frozenset()
