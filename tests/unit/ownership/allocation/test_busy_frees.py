"""Functions that free and do something besides: which of their calls may stay behind ``OPI_Free``."""

from __future__ import annotations

import pytest
from ownership_support import shared, source

from opi_xform.ir import instr as ins
from opi_xform.ownership.allocation.busy_frees import still_freed

TOP = """void other(void *); static int calls, n = 10; static double *b;
static void release(double *p, int k) { BODY }
"""
MAIN = """int main(int argc, char **argv)
{
    b = malloc(80);
    MPI_Send(b, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    release(b, ARGUMENT);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("body", "argument", "expected"),
    [
        ("calls++; free(p);", "n", True),
        ("calls += k; if (p != 0) free(p); calls++;", "3", True),
        ("if (p) calls++; free(p);", "n", False),  # it counts what is not NULL
        ("if (b) calls++; free(p);", "n", False),  # and by another name
        ("calls++; free(p);", "b != 0", False),  # it is told
        ("if (calls++ > 3) return; free(p);", "n", False),  # not each time
        ("if (k) free(p); calls++;", "n", False),
        ("calls += p[0] > 0; free(p);", "n", False),
        ("other(0); free(p);", "n", False),  # not followed
        ("MPI_Barrier(MPI_COMM_WORLD); free(p);", "n", False),
        ("calls++; free(p); free(0);", "n", True),
    ],
)
def test_calls_that_free_and_stay(body: str, argument: str, expected: bool) -> None:
    found = source(TOP.replace("BODY", body) + MAIN.replace("ARGUMENT", argument))
    nodes = found.program.graph.nodes
    freeing = next(
        n.number
        for n in nodes
        if isinstance(n.action, ins.CallInstr) and n.action.callee == ins.AddrFunc("free") and n.frame > 0
    )
    known = still_freed(found.program, shared(found).flow, found.buffers["b"], freeing, 0)
    assert (known is not None) is expected
    if known is not None:
        assert known.stays
        assert nodes[known.node].frame == 0
        assert known.argument == 0


@pytest.mark.parametrize(
    ("second", "expected"),
    [("c", True), ("b", False), ("b + 3", False), ("(double *)where", False), ("d", False)],
)
def test_other_pointers_that_are_given_lead_to_other_memory(second: str, expected: bool) -> None:
    top = (
        TOP.replace("int k", "double *k")
        .replace("BODY", "free(p); free(k);")
        .replace("double *b;", "double *b, **where, *d;")
    )
    main = MAIN.replace("ARGUMENT", second).replace(
        "b = malloc(80);", "b = malloc(80); where = &b; d = b; double *c = malloc(8);"
    )
    found = source(top + main)
    freeing = min(
        n.number
        for n in found.program.graph.nodes
        if isinstance(n.action, ins.CallInstr) and n.action.callee == ins.AddrFunc("free") and n.frame > 0
    )
    known = still_freed(found.program, shared(found).flow, found.buffers["b"], freeing, 0)
    assert (known is not None) is expected
