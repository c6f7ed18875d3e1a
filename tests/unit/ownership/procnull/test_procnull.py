"""Assumption A2: where the value of MPI_PROC_NULL may flow."""

from __future__ import annotations

import pytest
from core_support import program

from opi_xform.ir import instr as ins
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.procnull.sources import ProcNull, destination

HEAD = "static int mark, size; static int table[4], clean[4]; int elsewhere(void);\n"


def possible(body: str, head: str = "") -> list[bool]:
    """For each ``mark = value``: may the value be MPI_PROC_NULL?"""
    found = program(
        f"{HEAD}{head}\nint main(int argc, char **argv) {{ int rank, p, left, right;"
        f" MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size); {body} return 0; }}"
    )
    check = ProcNull(found.program)
    key = found.key("mark")
    out = []
    for node in found.program.graph.nodes:
        match node.action:
            case ins.Define(target=ins.Var(key=target), value=value) if target == key:
                out.append(check.suspect(node.number, value, found.program.values.operands[node.number][0]))
    return out


SHIFT = "MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &left, &right);"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mark = 3;", [False]),
        ("mark = MPI_PROC_NULL;", [True]),
        ("mark = -2;", [True]),
        ("mark = MPI_ANY_SOURCE;", [False]),
        ("mark = 1 - rank;", [False]),
        ("mark = (rank + 1) % size;", [False]),
        ("p = rank > 0 ? rank - 1 : MPI_PROC_NULL; mark = p;", [True]),
        ("p = rank > 0 ? rank - 1 : size - 1; mark = p;", [False]),
        ("p = MPI_PROC_NULL; p = rank; mark = p;", [False]),
        (f"{SHIFT} mark = left; mark = right;", [True, True]),
        (f"{SHIFT} p = left + 0; mark = p;", [True]),
        ("mark = elsewhere();", [True]),
        ("table[1] = MPI_PROC_NULL; mark = table[rank]; mark = clean[rank];", [True, False]),
        ("for (p = 0; p < size; p++) mark = p;", [False]),
        ("for (p = rank; ; p = MPI_PROC_NULL) mark = p;", [True]),
        ("elsewhere(); for (p = 0; p < size; p++) if (p == rank) break; mark = p;", [False]),
        ("double d = MPI_PROC_NULL; mark = d;", [True]),
        ("double d = rank; mark = d;", [False]),
        ("double d = rank > 0 ? rank - 1 : MPI_PROC_NULL; mark = (int)d;", [True]),
        (f"{SHIFT} double d = left; mark = d;", [True]),
        (f"{SHIFT} double d[2] = {{0.0, right}}; mark = d[rank];", [True]),
        (f"{SHIFT} double d = rank; mark = d;", [False]),
        ("float f[2]; f[0] = MPI_PROC_NULL; mark = f[rank];", [True]),
        ("mark = (int)(0.5 * MPI_PROC_NULL) * 2;", [True]),
        ("mark = (int)sqrt((double)size);", [False]),
        ("mark = (int)floor(MPI_PROC_NULL);", [True]),
        ("volatile int v = rank; mark = v;", [True]),
        ("p = rank; mark = *(volatile int *)&p;", [True]),
        ("p = MPI_PROC_NULL; unsigned u = *(unsigned *)&p; mark = u;", [True]),
    ],
)
def test_values(body: str, expected: list[bool]) -> None:
    assert possible(body) == expected


STEP = "int step[2] = {-2, 1}; p = rank > 0 ? step[0] : step[argc];"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{STEP} mark = (rank + p + size) % size;", [True]),  # with a step of -2 it may be negative
        ("p = rank > 0 ? -1 : 1; mark = (rank + p + size) % size;", [False]),
        (f"{STEP} mark = p;", [True]),
        (f"{STEP} table[0] = p; mark = table[rank];", [True]),
        (f"{STEP} mark = (short)p;", [True]),
        (f"{STEP} mark = rank > 1 ? p : rank;", [True]),
        (f"{SHIFT} p = left * size + rank; mark = p;", [True]),
        ("p = elsewhere(); mark = p * size + rank;", [True]),
        ("double d = -2.0; mark = d; mark = (int)d + rank;", [True, True]),
        ("double d = -2.f, e = 0.5; mark = e; mark = (int)(e + e); mark = (int)(e * d);", [False, False, True]),
        ("double d = -2.f, e = 0.5; e += d; mark = (int)(e * 2);", [True]),
        ("double d = elsewhere(); mark = (int)sqrt(size + 1.0); mark = (int)sqrt(size + d);", [False, True]),
        ("mark = (int)(size * -2.0);", [True]),
        ("double d = -3.0; mark = d;", [False]),
        ("double d = - 2.5e-1; mark = d;", [False]),
        ("double d = 2.0; mark = d;", [False]),
        ("double d = -0x1p1; mark = d;", [True]),
        (f"{STEP} double d = p; mark = d;", [True]),
        (f"{STEP} double d = p; p = rank; mark = p;", [False]),
        ("double d = elsewhere(); mark = d * size + rank;", [True]),
    ],
)
def test_numbers_equal_to_it(body: str, expected: list[bool]) -> None:
    """What is computed with a number that is equal to it counts until it is shown not to be negative."""
    assert possible(body) == expected


def test_through_calls() -> None:
    head = "static int other(int a, int b) { return a ? b : 1; }"
    assert possible("mark = other(rank, 0); mark = other(rank, MPI_PROC_NULL);", head) == [False, True]


def test_through_an_array_and_back() -> None:
    """Suspicion spreads to a fixpoint, in whatever order the stores stand."""
    turn = "mark = clean[p]; clean[p] = table[p]; table[p] = size; table[0] = MPI_PROC_NULL;"
    assert possible(f"for (p = 0; p < 3; p++) {{ {turn} }}") == [True]


def test_through_struct_assignment() -> None:
    head = "struct peers { int left, right; };"
    body = "struct peers a, b[2]; a.left = {}; a.right = 1; b[rank] = a; mark = b[size].left;"
    assert possible(body.format("MPI_PROC_NULL"), head) == [True]


@pytest.mark.parametrize(
    ("call", "asked"),
    [
        ("MPI_Send(a, 9, MPI_INT, rank - 1, 0, MPI_COMM_WORLD);", [True]),
        ("MPI_Recv(a, 9, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, 0);", [False]),
        ("MPI_Sendrecv_replace(a, 9, MPI_INT, rank - 1, 0, rank, 0, MPI_COMM_WORLD, 0);", [False, False]),
    ],
)
def test_where_a_send_reads(call: str, asked: list[bool]) -> None:
    """It is asked of the destination of what reads its buffer for a rank only."""
    text = f"static int a[99]; int main(void) {{ int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank); {call} return 0; }}"
    found = program(text).program
    assert [destination(found, use) is not None for use in collect(found)] == asked
