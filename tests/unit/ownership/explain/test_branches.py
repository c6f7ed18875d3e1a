"""What no process does both, or not behind it; pointers that change places in a function of their addresses."""

from __future__ import annotations

import pytest
from ownership_support import Source, source

from opi_xform.ir import instr as ins
from opi_xform.ownership.explain.branches import Branches, branches_of
from opi_xform.ownership.explain.other_pointers import changes_places
from opi_xform.ownership.explain.reasons import node_span
from opi_xform.ownership.model.lines import line_of

TOP = "static double b[N]; static int s;\nvoid one(void); void other(void);\n"


def program(body: str, top: str = TOP) -> Source:
    start = "int rank, size = argc; MPI_Comm_rank(MPI_COMM_WORLD, &rank);"
    return source(f"{top}int main(int argc, char **argv)\n{{\n{start}\n{body}\nreturn 0;\n}}\n")


def called(found: Source, name: str) -> int:
    """The node that calls a function."""
    (n,) = [
        node.number
        for node in found.program.graph.nodes
        if isinstance(node.action, ins.CallInstr)
        and isinstance(node.action.callee, ins.AddrFunc)
        and node.action.callee.key == name
    ]
    return n


@pytest.mark.parametrize(
    ("body", "excluded"),
    [
        ("if (rank == 0) one(); else other();", True),
        ("if (rank == 0) one(); if (rank > 0) other();", True),
        ("if (rank > 0) one(); if (rank < 0) other();", True),
        ("if (rank == 0) one(); if (rank >= 0) other();", False),
        ("if (rank == 0) one(); other();", False),
        ("if (rank % 4 != 0) one(); if (rank == 0) other();", True),  # 0 is a multiple
        ("if (rank % 4 == 0) one(); if (rank == 0) other();", False),
        ("for (int i = 0; i < size; i++) { if (i == 0) one(); if (i > 0) other(); }", False),  # in other turns
    ],
)
def test_what_no_process_runs_both(body: str, excluded: bool) -> None:
    found = program(body)
    branches = Branches(found.program)
    assert branches.excluded(called(found, "one"), called(found, "other")) is excluded
    assert branches.excluded(called(found, "other"), called(found, "one")) is excluded


@pytest.mark.parametrize(
    ("body", "behind"),
    [
        ("one(); other();", True),
        ("other(); one();", False),
        ("while (size > 0) { other(); one(); size--; }", True),
        ("int h = 0; while (h < size) { if (rank & 1) { one(); h = size; } else { other(); h++; } }", False),
        ("int h = 0; while (h < size) { if (rank & 1) { one(); h++; } else { other(); h++; } }", True),
    ],
)
def test_what_may_run_behind(body: str, behind: bool) -> None:
    """`h = size;` on the way: the loop that goes on while `h < size` has no further turn."""
    found = program(body)
    assert (called(found, "other") in branches_of(found.program).behind(called(found, "one"))) is behind


@pytest.mark.parametrize(
    ("swap", "told"),
    [
        ("double *t = *x; *x = *y; *y = t;", True),
        ("*x = *y;", False),  # both are one then
        ("*x = malloc(80); *y = malloc(80);", False),
    ],
)
def test_pointers_that_a_function_makes_change_places(swap: str, told: bool) -> None:
    top = f"static void swap(double **x, double **y)\n{{\n{swap}\n}}\n"
    body = "double *p = malloc(80), *q = malloc(80);\nswap(&p, &q); // HERE\nreturn p[0] == q[0];"
    found = program(body, top)
    objects = found.program.values.objects.table
    (table,) = [o.number for o in objects if o.variable == found.key("p")]
    stores = [
        node.number
        for node in found.program.graph.nodes
        if isinstance(node.action, ins.Store)
        and found.program.values.symbols.base(found.program.values.operands[node.number][0]) == table
        and node_span(found.program, node.number).line < found.line("int main")
    ]
    assert len(stores) == 1
    answer = changes_places(found.program, table, stores[0], "p")
    if not told:
        assert answer is None
        return
    assert answer is not None
    message, span = answer
    assert span.line == found.line("HERE")
    assert message == f"`p` changes places with `q` at {line_of(span)}, so it may be either buffer"
