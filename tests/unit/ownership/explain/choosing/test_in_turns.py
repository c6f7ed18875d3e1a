"""A receive that each turn of a loop begins again (``opi_xform.ownership.explain.choosing.in_turns``)."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.ir import ast
from opi_xform.ir.calls import calls_of
from opi_xform.ownership.explain.choosing.in_turns import begun_in_each_turn

TO = "8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD"


@pytest.mark.parametrize(
    ("loop", "said"),
    [
        (f"for (int k = 0; k < n; k++) MPI_Irecv(b, {TO}, q + k);", True),
        (f"while (n--) MPI_Irecv(b, {TO}, q + n);", True),
        (f"for (int k = 0; k < n; k++) MPI_Irecv(b + 8 * k, {TO}, q + k);", False),
        (f"while (n--) {{ MPI_Irecv(b, {TO}, q); b += 8; }}", False),
        (f"while (n--) {{ MPI_Irecv(b, {TO}, q); MPI_Wait(q, MPI_STATUS_IGNORE); }}", False),
        (f"while (n--) {{ MPI_Irecv(b, {TO}, q); other(); }}", False),
        (f"MPI_Irecv(b, {TO}, q);", False),
    ],
)
def test_the_same_memory_in_each_turn(loop: str, said: bool) -> None:
    top = "void other(void);\nvoid f(double *b, int n, MPI_Request *q) {\n"
    found = source(f"{top}{loop}\n}}\nint main(void) {{ return 0; }}\n")
    functions, effects = found.program.functions, found.program.effects
    named = (c for c in calls_of(functions["f"]) if isinstance(c.callee, ast.FuncRef))
    call = next(c for c in named if isinstance(c.callee, ast.FuncRef) and c.callee.name == "MPI_Irecv")
    assert (begun_in_each_turn(functions, effects, "f", call, call.args[0]) is not None) is said
