"""What no process does both, or not after it; pointers that change places in a function of their addresses."""

from __future__ import annotations

import pytest
from ownership_support import Source, source

from opi_xform.ir import instr as ins
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.live_data import LiveData
from opi_xform.ownership.explain.other_pointers import changes_places
from opi_xform.ownership.explain.reaching import branches
from opi_xform.ownership.explain.reaching.branches import Branches, branches_of
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
        ("if (rank == 1) one(); if (rank == 0) other();", True),
        ("if (rank == 1) one(); if (rank > 1) other();", True),
        ("if (rank < 1) one(); if (rank > 0) other();", True),
        ("if (rank > 1) one(); if (rank > 0) other();", False),
        ("if (rank < 2) one(); if (rank > 0) other();", False),  # rank 1
        ("if (rank % 4 != 0) one(); if (rank == 0) other();", True),  # 0 is a multiple
        ("if (rank % 4 == 0) one(); if (rank == 0) other();", False),
        ("for (int i = 0; i < size; i++) { if (i == 0) one(); if (i > 0) other(); }", False),  # in other turns
        ("enum {A, B} r = rank ? A : B; for (int i = 0; i < size; i++) { if (r == A) one(); else other(); }", True),
        ("enum {A, B} r = A; for (int i = 0; i < size; i++) { if (r == A) one(); else other(); r = i % 2; }", False),
        ("unsigned u = size; if (u - 1 < 4) one(); if (u < 1) other();", False),
    ],
)
def test_what_no_process_runs_both(body: str, excluded: bool) -> None:
    found = program(body)
    looked_at = Branches(found.program)
    assert looked_at.excluded(called(found, "one"), called(found, "other")) is excluded
    assert looked_at.excluded(called(found, "other"), called(found, "one")) is excluded


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


def test_too_much_behind_a_node_is_all_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that may run after it count, not those of the program."""
    found = program("int i = 0; if (i > 0) other(); one(); if (i > 0) other();")
    one, last = called(found, "one"), len(found.program.graph.nodes)
    tests = [n.number for n in found.program.graph.nodes if isinstance(n.action, ins.Branch)]
    monkeypatch.setattr(branches, "MOST", last - one)
    assert tests[0] not in Branches(found.program).behind(one)
    monkeypatch.setattr(branches, "MOST", 2)
    assert tests[0] in Branches(found.program).behind(one)


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


@pytest.mark.parametrize(
    ("test", "root", "other"),
    [
        ("rank", "0", True),
        ("rank != 0", "0", True),
        ("rank > 0", "0", True),
        ("rank", "1", False),
        ("rank != 2", "2", True),
        ("rank == 1", "0", True),
        ("rank > 2", "2", True),
        ("rank == 1", "-3", False),  # MPI_ROOT
        ("!rank", "0", False),
        ("size > 3", "0", False),
    ],
)
def test_a_node_that_is_on_no_rank_that_is_the_root(test: str, root: str, other: bool) -> None:
    found = program(f"MPI_Bcast(b, N, MPI_DOUBLE, {root}, MPI_COMM_WORLD); if ({test}) one();")
    branches = Branches(found.program)
    assert branches.other_rank(called(found, "one"), called(found, "MPI_Bcast")) is other


def test_ranks_of_another_communicator_are_other_numbers() -> None:
    found = program("MPI_Bcast(b, N, MPI_DOUBLE, 0, size); if (rank) one();")
    assert not Branches(found.program).other_rank(called(found, "one"), called(found, "MPI_Bcast"))


@pytest.mark.parametrize(
    ("body", "never"),
    [
        ("if (rank == 0) if (rank > 1) one();", True),
        ("for (int i = 0; i < size; i++) if (i == 2) { if (i > 2) one(); }", True),
        ("for (int i = 0; i < size; i++) if (i == 2) { i++; if (i > 2) one(); }", False),
        ("if (rank == 0) one();", False),
    ],
)
def test_a_block_that_no_process_runs(body: str, never: bool) -> None:
    found = program(body)
    assert Branches(found.program).never(found.program.graph.nodes[called(found, "one")].block) is never


def test_what_another_function_is_given_is_not_known_of_a_part_of_a_program() -> None:
    """``own``, for a function of a program beyond the budget: what calls it, and with what, is not known there."""
    top = "static double g[4][N], sum;\nvoid total(double *row) { for (int i = 0; i < N; i++) sum += row[i]; }\n"
    send = "MPI_Send(g[size % 4], N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
    for read, seen in (("total(g[size % 3]);", False), ("sum = g[size % 3][0];", True)):
        found = program(f"{send} {read}", top).program
        (use,) = collect(found)
        assert LiveData(found).refusal([use]) is not None
        assert (LiveData(found).refusal([use], own=True) is not None) is seen


@pytest.mark.parametrize(
    ("test", "never"),
    [
        ("rank == -1", True),
        ("rank < 0", True),
        ("rank <= -1", True),
        ("-1 == rank", True),
        ("rank + 1 <= 0", True),
        ("rank == 0", False),
        ("rank <= 0", False),
        ("rank != -1", False),
        ("argc - 9 == -1", False),
    ],
)
def test_no_rank_is_less_than_zero(test: str, never: bool) -> None:
    found = program(f"if ({test}) one();")
    assert branches_of(found.program).never(found.program.graph.nodes[called(found, "one")].block) is never
