"""Probes around every statement of real programs: the same program comes out, with the probes in their places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from opi_xform.frontend import parse_unit
from opi_xform.ir import ast
from opi_xform.ownership.model.plan import Edit, InsertStatement, Plan
from opi_xform.resources import resource
from opi_xform.rewrite.apply import rewrite
from opi_xform.text.sources import Sources

CASES = Path(__file__).parents[2] / "cases"
PROGRAMS = ("opbench", "halo2d", "fft2d", "particles")
FILES = [
    *sorted(path for name in PROGRAMS for path in resource("testdata", name).glob("*.c")),
    *sorted(CASES.glob("*/keep/pack_*.c")),
    # what a macro begins or ends is no statement that something could be put around
    *sorted(path for path in CASES.glob("*/keep/odd_*.c") if not path.name.startswith("odd_macro_")),
]
ODD = """\
int f(int), g(int);
int odd(int n, int m)
{
\tif (n) f(1); else if (m) f(2); else f(3);
\tif (n)
\t\tif (m)
\t\t\tf(4);
\t\telse
\t\t\tf(5); /* trailing
\t\t\t\tcomment */
\tfor (int i = 0; i < n; i++) for (int j = 0; j < m; j++) f(j);
\twhile (n--)
\t\t// about g
\t\tg(n);
\tdo f(6); while (m--);
\tdo
\t\tg(7);
\twhile (n++ < 3);
\tswitch (n) {
\tcase 1: f(8); break;
\tcase 2:
\tcase 3: { g(9); }
\tdefault: g(10);
\t}
\tfor (;;) { if (n > 3) break; n++; } f(11); g(12);
again: f(13);
\tif (m) goto again;
#ifdef NOT_DEFINED
\tf(14);
#else
\tg(15);
#endif
\tif (n == 4)
#ifdef NOT_DEFINED
\t\tf(16);
#else
\t\tg(17);
#endif
\tfor (; n < 9; n++)
\t\t;
\tif (f(18)) {
\t} else
\t\tg(19);
\tint a = 1, b[2] = { 1,
\t\t2 };
\t{ f(a + b[0]); }
\treturn n + a;
}
"""

Shape = tuple[object, ...]


class Walk:
    """A function body as nested tuples, probes included, braces around bodies left out; and its statements' spans."""

    def __init__(self) -> None:
        self.statements: list[ast.Stmt] = []
        self.bodies: set[int] = set()  # those that are the body of an if or loop without braces
        self.wanted: dict[int, tuple[int, int]] | None = None  # of the shape to come: probes by statement number

    def body(self, stmt: ast.Stmt) -> Shape:
        items = stmt.body if isinstance(stmt, ast.Block) else (stmt,)
        if not isinstance(stmt, ast.Block):
            self.bodies.add(len(self.statements))
        return tuple(part for item in items for part in self.item(item))

    def item(self, stmt: ast.Stmt) -> Iterator[object]:
        if isinstance(stmt, (ast.Case, ast.Label)):
            yield (type(stmt).__name__,)
            yield from self.item(stmt.body)
            return
        probe = probe_number(stmt)
        if probe is not None:
            yield ("probe", probe)
            return
        number = len(self.statements)
        self.statements.append(stmt)
        probes = self.wanted.get(number) if self.wanted is not None else None
        if probes:
            yield ("probe", probes[0])
        yield (type(stmt).__name__, *self.parts(stmt))
        if probes:
            yield ("probe", probes[1])

    def parts(self, stmt: ast.Stmt) -> Iterator[object]:
        if isinstance(stmt, ast.Block):
            yield self.body(stmt)
        elif isinstance(stmt, ast.If):
            yield self.body(stmt.then)
            yield self.body(stmt.other) if stmt.other is not None else None
        elif isinstance(stmt, (ast.For, ast.While, ast.DoWhile, ast.Switch)):
            yield self.body(stmt.body)


def probe_number(stmt: ast.Stmt) -> int | None:
    if isinstance(stmt, ast.ExprStmt) and isinstance(stmt.expr, ast.Call) and isinstance(stmt.expr.callee, ast.FuncRef):
        name = stmt.expr.callee.name
        return int(name.removeprefix("probe_")) if name.startswith("probe_") else None
    return None


def shapes(unit: ast.Unit, file: str) -> dict[str, tuple[Shape, Walk]]:
    found = {}
    for function in unit.functions.values():
        if function.span.file == file:
            walk = Walk()
            found[function.name] = (walk.body(function.body), walk)
    return found


def check(path: Path, tmp_path: Path) -> None:
    unit = parse_unit(str(path), [f"-I{path.parent}"])
    edits: list[Edit] = []
    wanted: dict[str, dict[int, tuple[int, int]]] = {}
    count = 0
    sources = Sources()
    for name, (_, walk) in shapes(unit, str(path)).items():
        for number, stmt in enumerate(walk.statements):
            if not stmt.span.editable or stmt.span.end == stmt.span.begin:
                continue
            if sources.text(str(path)).split(stmt.span.begin, stmt.span.end):
                continue  # refused: test_rewrite_insert.py
            wanted.setdefault(name, {})[number] = (count, count + 1)
            wrap = number in walk.bodies
            edits.append(InsertStatement(stmt.span, "before", f"probe_{count}();", wrap))
            edits.append(InsertStatement(stmt.span, "after", f"probe_{count + 1}();", wrap))
            count += 2
    assert count > 0
    result = tmp_path / path.name
    for order in (edits, edits[::-1]):
        result.write_bytes(rewrite(Plan((), tuple(order)), sources).changed[str(path)])
        after = shapes(parse_unit(str(result), [f"-I{path.parent}"]), str(result))
        for function in unit.functions.values():
            if function.span.file == str(path):
                walk = Walk()
                walk.wanted = wanted.get(function.name, {})
                assert after[function.name][0] == walk.body(function.body)
    without = [line for line in result.read_bytes().splitlines() if b"probe_" not in line and line.strip(b"\t {}")]
    original = [line for line in path.read_bytes().splitlines() if line.strip(b"\t {}")]
    assert set(without) - set(original) <= {line for line in without if b"{" in line or b"}" in line or b";" in line}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_probes_around_every_statement(path: Path, tmp_path: Path) -> None:
    check(path.resolve(), tmp_path)


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("step", ["\t", "  ", "    "])
def test_probes_in_odd_layouts(eol: str, step: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "odd.c"
    path.write_bytes(ODD.replace("\t", step).replace("\n", eol).encode())
    check(path.resolve(), tmp_path)
