"""What only rewritten text used gets a mark, and nothing else does (``opi_xform.rewrite.unused``).

Each program calls ``use`` with something; afterwards the calls are gone, as those of ``free`` and ``MPI_Send`` go.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from opi_xform.frontend import FrontendError, parse_outline, parse_unit
from opi_xform.ir.ast import Unit
from opi_xform.rewrite.selfcheck import self_check
from opi_xform.rewrite.unused import without_warnings
from opi_xform.text.sources import Sources

MARK = "__attribute__((__unused__))"


def outlines(jobs: Sequence[tuple[str, tuple[str, ...]]]) -> list[Unit | FrontendError]:
    return [parse_outline(path, flags) for path, flags in jobs]


def after(folder: Path, program: str) -> str:
    """The program without its calls of ``use``."""
    path = folder / "a.c"
    path.write_text(f"void use();\n{program}\n")
    sources = Sources(lambda name: Path(name).read_bytes())
    changed = {
        sources.name(str(path)): re.sub(r"use\([^;]*\);", ";", path.read_text())
        .replace("void ;", "void use();")
        .encode()
    }
    units = [parse_unit(str(path))]
    checked = self_check(units, lambda _: (), changed, sources, outlines)
    assert not checked.rejected
    found = without_warnings(lambda _: (), changed, checked, sources, outlines)
    text = found[sources.name(str(path))].decode()
    assert text.replace(f" {MARK}", "").encode() == changed[sources.name(str(path))]  # marks, and nothing else
    return text.partition("\n")[2]


@pytest.mark.parametrize(
    ("program", "place"),
    [
        ("#define unused __attribute__((unused))\nvoid f(int n) { int b = n; use(b); }", f"int b {MARK} = n;"),
        ("void f(int n) { int bytes = 8 * n; use(bytes); }", f"int bytes {MARK} = 8 * n;"),
        ("void f(int n) { int a = n, b = n + 1; use(b); use(a); (void)a; }", f"b {MARK} = n + 1;"),
        ("void f(int n) { int bytes; bytes = 8 * n; use(bytes); }", f"int bytes {MARK};"),  # set, and no more
        ("void f(int n, double *b) { use(b); (void)n; }", f"double *b {MARK})"),
        ("void f(double *b, int n) { use(b); (void)n; }", f"double *b {MARK}, int n)"),
        ("void f(int n, double b[n][2]) { use(b); }", f"double b[n][2] {MARK})"),
        ("void f(void) { double b[2][3] = {{1}}; use(b); }", f"double b[2][3] {MARK} = "),
        ("void f(void) { for (int i = 0, k = 3; i < 2; i++) use(k); }", f"k {MARK} = 3;"),
        ("void f(void) { int b /* why */ = 3; use(b); }", f"int b {MARK} /* why */ = 3;"),
        (
            "static double *make(int n) { return n ? 0 : 0; }\nvoid f(void) { use(make(3)); }",
            f"static {MARK} double *make(",
        ),
        ("static int\nmake(int n)\n{ return n; }\nvoid f(void) { use(make(3)); }", f"static {MARK} int\nmake("),
    ],
)
def test_it_is_marked(tmp_path: Path, program: str, place: str) -> None:
    text = after(tmp_path, program)
    assert place in text
    assert text.count(MARK) == 1


@pytest.mark.parametrize(
    "program",
    [
        "void f(int n) { int bytes = 8 * n; use(n); }",  # nothing used it before
        "int f(int n) { int bytes = 8 * n; use(bytes); return bytes; }",  # something uses it still
        "#define LET(x) int x = 3\nvoid f(void) { LET(b); use(b); }",  # a macro writes its name
        "void f(void) { int b __attribute__((unused)) = 3; use(b); }",
        "void f(void) { int b = 3; use(b); (void)b; }",
        "int shared; void f(void) { use(shared); }",  # other files may use it
    ],
)
def test_it_is_not_marked(tmp_path: Path, program: str) -> None:
    assert MARK not in after(tmp_path, program)


def test_a_pointer_to_a_function_is_not_marked_in_its_middle(tmp_path: Path) -> None:
    """No place is found in ``(*p)(int)``: a warning is better than text that says something else."""
    assert MARK not in after(tmp_path, "int g(int); void f(void) { int (*p)(int) = g; use(p); }")
