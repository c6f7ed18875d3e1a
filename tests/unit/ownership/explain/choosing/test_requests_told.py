"""Requests that another operation is given before their own can be complete."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.calls import calls_of
from opi_xform.ownership.explain.choosing.requests_told import given_anew
from opi_xform.ownership.model.buffers import Refusal

ONE = "MPI_Isend(x, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &r);"
OTHER = "MPI_Irecv(y, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &r);"
WAIT = "MPI_Wait(&r, MPI_STATUS_IGNORE);"


def told(body: str) -> Refusal | None:
    declared = "MPI_Request r, t;"
    found = source(f"void f(double *x, double *y, int n)\n{{\n{declared}\n{body}\n}}\nint main(void) {{ return 0; }}\n")
    program = found.program
    function = program.functions["f"]
    call = next(c for c in calls_of(function) if isinstance(c.callee, ast.FuncRef) and c.callee.name == "MPI_Isend")
    return given_anew(function, program.effects, call)


def test_the_next_operation_is_given_it() -> None:
    found = told(f"{ONE}\ny[0] = 1;\n{OTHER}\n{WAIT}")
    assert found is not None
    assert found.reason is Reason.PENDING
    assert found.message.endswith("gives its request, `r`, to another operation before it is complete")


def test_the_next_turn_gives_it_to_the_same_call() -> None:
    found = told(f"for (int i = 0; i < n; i++) {{\n{ONE}\nx[i] = 1;\n}}\n{WAIT}")
    assert found is not None
    assert "the next turn of the loop in line" in found.message
    assert found.message.endswith("gives its request, `r`, to this call again")


@pytest.mark.parametrize(
    "body",
    [
        f"{ONE}\n{WAIT}\n{OTHER}\n{WAIT}",
        f"{ONE}\nt = r;\n{OTHER}\n{WAIT}",  # it is kept
        f"if (n) {{ {ONE} }}\nelse {{ {OTHER} }}\n{WAIT}",
        f"{ONE}\nif (n) {OTHER}\n{WAIT}",
        f"for (int i = 0; i < n; i++) {{ {ONE} {WAIT} }}",
        f"for (int i = 0; i < n; i++) {{ {ONE} break; }}\n{WAIT}",
        f"for (int i = 0; i < n; i++) {{ MPI_Request r; {ONE} }}",
        "MPI_Send(x, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);" + ONE,
    ],
)
def test_it_may_be_complete_or_given_to_none(body: str) -> None:
    assert told(body) is None
