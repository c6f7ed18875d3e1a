"""Which numbers in local arrays and structs count as variables, and what the lowering makes of them."""

from __future__ import annotations

import pytest
from core_support import unit

from opi_xform.ir import instr as ins
from opi_xform.ir.cells import cell, cells, with_cells
from opi_xform.ir.lowering.statements import lower

HEAD = "struct s { double d; int n, t[2]; }; union u { int n; short half[2]; }; int g(int *); int h(int);\n"


def found(body: str) -> list[str]:
    function = with_cells(unit(f"{HEAD}int f(int i) {{ {body} }}").functions["f"])
    return sorted(v.name for v in function.variables.values() if "+" in v.key)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int n[2]; n[0] = 1; n[1] = n[0] + 2; return n[1];", ["n+0", "n+4"]),
        ("int n[2] = { 1, 2 }; n[0]++; return n[0];", ["n+0", "n+4"]),
        ("struct s v; v.n = 1; v.d = 2.0; v.t[1] = 3; return v.n;", ["v+16", "v+8"]),
        ("int n[2][3]; n[1][2] = 1; return n[1][2];", ["n+20"]),
        ("int n[2]; n[i] = 1; n[0] = 2; return 0;", []),
        ("int n[2]; n[0] = 1; return g(n);", []),
        ("int n[2]; n[0] = 1; return g(&n[0]);", []),
        ("int n[2]; n[0] = 1; return n[0] + *(n + 1);", ["n+0", "n+4"]),
        ("struct s v, w; v.n = 1; w = v; return w.n;", []),
        ("struct s v; v.n = 1; return g(v.t);", []),
        ("union u v; v.n = 1; v.half[0] = 2; return v.n;", []),
        ("union u v; v.n = 1; return v.n;", ["v+0"]),
        ("volatile int n[2]; n[0] = 1; return n[0];", []),
        ("static int n[2]; n[0] = 1; return n[0];", []),
        ("int n[2]; n[0] = 1; return n[0] + (int)sizeof n;", []),
        ("int n[300]; n[0] = 1; return n[0];", []),
    ],
)
def test_numbers_that_count_as_variables(body: str, expected: list[str]) -> None:
    assert found(body) == expected


def test_they_are_born_with_what_they_are_in() -> None:
    """And what an initialiser does not name is zero."""
    function = with_cells(unit(f"{HEAD}int f(void) {{ int n[3] = {{ [1] = 4 }}; return n[0] + n[1]; }}").functions["f"])
    (n,) = (v for v in function.variables.values() if v.name == "n")
    keys = [cell(n.key, 0), cell(n.key, 4)]
    assert [v.key for v in cells(function, n)] == keys
    steps = [i for block in lower(function, {}).blocks for i in block]
    assert [i.var for i in steps if isinstance(i, ins.Birth)] == [n.key, *keys]
    set_to = [(i.target, i.value) for i in steps if isinstance(i, ins.Define) and isinstance(i.target, ins.Var)]
    zeros = [(ins.Var(key), ins.Const(0)) for key in keys]
    assert set_to == [*zeros, (ins.Var(keys[1]), ins.Const(4))]
    assert not any(isinstance(i, (ins.Load, ins.Store)) for i in steps)


@pytest.mark.parametrize(
    ("test", "branches"),
    [
        ("sizeof(real) == 4", 0),
        ("8 != sizeof(real)", 0),
        ("sizeof(real) < sizeof(double)", 0),
        ("sizeof(real) == i", 1),
        ("sizeof(handle) == 4", 1),
        ("i == 4", 1),
    ],
)
def test_sizes_of_floating_types_decide(test: str, branches: int) -> None:
    """Those of other types are perhaps an MPI's affair."""
    text = f"typedef float real; typedef int handle; int f(int i) {{ if ({test}) return 1; return 2; }}"
    blocks = lower(unit(text).functions["f"], {}).blocks
    assert sum(isinstance(i, ins.Branch) for block in blocks for i in block) == branches
