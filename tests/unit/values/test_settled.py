"""``Values.settle``: when the pass over a program is over, nothing of what it found out changes any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ownership_support import source_in

from opi_xform.memory.values import Values
from opi_xform.ownership.decide import decide
from opi_xform.ownership.model.buffers import Options

LOOPS = """static double b[N], v[N];
static int counted(int k) { int n = 0; while (n < k) n += 2; return n; }
int main(int argc, char **argv)
{
    int n = counted(argc), last = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            last = j;
        b[last] = v[i];
    }
    MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    READ
    return 0;
}
"""


def known(values: Values) -> dict[str, Any]:
    """What the pass found out, apart from what is only kept to be found faster."""
    fields = ("conditions", "args", "operands", "headers", "joins", "escaped", "lengths", "extents", "indexed", "cells")
    symbols = values.symbols
    out: dict[str, Any] = {name: dict(getattr(values, name)) for name in fields}
    out["accesses"] = list(values.accesses.single())
    out["sets"] = [set(found) for found in (values.unset, values.narrowed, values.nullable, values.lazy)]
    out["closed forms"] = dict(symbols.defs)
    return out


@pytest.mark.parametrize("read", ["", "v[0] = b[n - 1];", "for (int k = 0; k < n; k += 2) v[k] = b[k];"])
def test_deciding_changes_nothing_that_is_known(read: str, tmp_path: Path) -> None:
    found = source_in(tmp_path, LOOPS.replace("READ", read))
    values = found.program.values
    symbols = values.symbols
    assert symbols.settled
    before, table = known(values), list(symbols.table)
    plan = decide(found.units, found.program, Options())
    assert [d.span.line for d in plan.decisions] == [found.line("MPI_Send")]
    assert known(values) == before
    assert symbols.table[: len(table)] == table, "symbols are only added"


def test_what_accesses_are_worth_has_its_symbols_when_the_pass_is_over(tmp_path: Path) -> None:
    values = source_in(tmp_path, LOOPS.replace("READ", "")).program.values
    symbols = values.symbols
    assert any(s.kind == "exit" for s in symbols.table), "the loops leave something behind"
    many = len(symbols.table)
    for a in values.accesses.single():
        for p in (a.lo, a.length):
            if p is not None:
                symbols.resolve(p)
    for c in values.conditions.values():
        symbols.resolve(c.left)
        symbols.resolve(c.right)
    assert len(symbols.table) == many
