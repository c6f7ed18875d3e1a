"""Which variables keep their value while a block runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import source_in

from opi_xform.analysis import plans
from opi_xform.ir import ast
from opi_xform.ownership.model.buffers import Options
from opi_xform.ownership.spelling.mentioned import steady_in

PROGRAM = """static double *buf, *other, **at;
static int n;
static void more(void) { n++; }
int main(int argc, char **argv)
{
    double u[8];
    CHANGE
    {
        double *b = buf;
        for (int i = 0; i < 8; i++)
            u[i] += b[i];
        INSIDE
    }
    MPI_Send(u, 8, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    return 0;
}
"""


def steady(folder: Path, inside: str, change: str = "buf = malloc(64);") -> bool:
    found = source_in(folder, PROGRAM.replace("INSIDE", inside).replace("CHANGE", change))
    _, program = plans.analyse(found.units, Options(root=str(folder.resolve())))
    assert program is not None
    (unit,) = found.units
    main = next(f for f in unit.functions.values() if f.name == "main")
    block = next(s for s in main.body.body if isinstance(s, ast.Block))
    (key,) = (key for key, v in unit.globals.items() if v.name == "buf")
    return steady_in(program, unit, found.units, block, key)


def test_what_is_set_before_the_block_is_steady_in_it(tmp_path: Path) -> None:
    assert steady(tmp_path, "")
    assert steady(tmp_path, 'printf("%g", u[0]); other = buf;')


@pytest.mark.parametrize("inside", ["buf = other;", "buf++;", "more();", "at = &buf;"])
def test_what_the_block_sets_or_may_set_is_not(inside: str, tmp_path: Path) -> None:
    assert not steady(tmp_path, inside)


def test_nor_is_what_an_address_leads_to(tmp_path: Path) -> None:
    assert not steady(tmp_path, "", "at = &buf; *at = malloc(64);")


def test_nor_is_anything_where_text_is_left_out(tmp_path: Path) -> None:
    assert not steady(tmp_path, "\n#ifdef MORE\n    buf = other;\n#endif\n")
