"""Declarations as the front end reads them, rewritten, and read again: the types must be the intended ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.frontend import parse_unit
from opi_xform.ir.ast import Declarator, Unit, Variable
from opi_xform.ir.types import Type
from opi_xform.ownership.model.plan import Plan, PointerDeclaration
from opi_xform.rewrite.apply import obstacle, rewrite
from opi_xform.text.sources import Sources

SOURCE = b"""\
/* \xfcmlaut */
#include <stddef.h>
#define N 10
#define EXTENT [N]
typedef double row[N];
static double a[N], b[N][2] = {{0}}, c, (d)[N], *e[4], (*g[3])[N];
static double /* h */ h /* rows */ [2] /* cols */ [N], after;\r
extern double x[];
double x[N] __attribute__((aligned(64)));
_Alignas(64) static char y[N] = "abc";
struct s { int q; } z[4] = {{1}};
static long
    spread
    [N]
    [3];
double m EXTENT;
int f(int n)
{
    double w[N /* ] */] = {1}, u[2];
    register double r[N];
    static double st[2] = { 1, 2 };
    int p[2][3][4];
    return n + st[0] + w[0] + u[0] + p[0][0][0] + a[0] + b[0][0] + c + d[0] + *e[0] + h[0][0];
}
row t;
"""


def variables(unit: Unit) -> dict[str, Variable]:
    found = {variable.name: variable for variable in unit.globals.values()}
    for function in unit.functions.values():
        found |= {variable.name: variable for variable in function.variables.values()}
    return found


def edit(variable: Variable, declarator: Declarator, keep: int) -> PointerDeclaration:
    assert declarator.suffix is not None
    null = variable.kind == "local"
    return PointerDeclaration(
        declarator.name_span,
        declarator.suffix,
        declarator.init_span,
        declarator.span,
        declarator.statement,
        keep,
        null,
    )


def intended(type: Type, keep: int) -> str:
    """The shape of the array type once ``keep`` dimensions stay and the next one becomes a pointer."""
    return shape(type, keep)


def shape(type: Type, pointer_at: int = -1) -> str:
    if type.elem is not None and type.is_array:
        if pointer_at == 0:
            return f"pointer to {shape(type.elem)}"
        return f"array {type.count} of {shape(type.elem, pointer_at - 1)}"
    if type.elem is not None and type.is_pointer:
        return f"pointer to {shape(type.elem)}"
    return type.kind


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.c"
    path.write_bytes(SOURCE)
    return path


@pytest.mark.parametrize("keep", [0, 1])
def test_every_array_of_its_own_gets_the_intended_type(source: Path, keep: int) -> None:
    before = variables(parse_unit(str(source), []))
    chosen = {}
    edits = []
    for name, variable in before.items():
        depth, type = 0, variable.type
        while type.is_array and type.elem is not None:
            depth, type = depth + 1, type.elem
        if depth > keep and name not in ("t", "m"):
            chosen[name] = variable
            edits += [edit(variable, declarator, keep) for declarator in variable.declarators]
    assert len(chosen) == (15, 4)[keep]
    changed = rewrite(Plan((), tuple(edits)), Sources()).changed[str(source)]
    source.write_bytes(changed)
    after = variables(parse_unit(str(source), []))
    for name, variable in before.items():
        wanted = intended(variable.type, keep) if name in chosen else shape(variable.type)
        assert shape(after[name].type) == wanted, name
    assert changed.startswith(b"/* \xfcmlaut */\n")
    assert changed.count(b"\r\n") == 1
    for comment in (b"/* h */", b"/* rows */", b"/* cols */"):
        assert comment in changed


def test_obstacles_are_told_before_the_plan(source: Path) -> None:
    unit = variables(parse_unit(str(source), []))
    sources = Sources()
    assert obstacle(edit(unit["b"], unit["b"].declarators[0], 1), sources) == ""
    assert "only 1 dimensions" in obstacle(edit(unit["a"], unit["a"].declarators[0], 1), sources)
    for name in ("m", "t"):
        for declarator in unit[name].declarators:
            assert declarator.suffix is None or "macro" in obstacle(edit(unit[name], declarator, 0), sources)
