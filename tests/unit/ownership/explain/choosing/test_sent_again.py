"""A send in a loop that the next turn makes once more, as the text of its function tells."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.calls import calls_of
from opi_xform.ownership.explain.choosing.sent_again import sent_in_turn
from opi_xform.ownership.model.buffers import Refusal

PART = "MPI_Send(&x[j], 1, MPI_DOUBLE, i, 7, MPI_COMM_WORLD);"
SEND = "MPI_Send(x, n, MPI_DOUBLE, i, 7, MPI_COMM_WORLD);"


def told(body: str) -> Refusal | None:
    found = source(
        f"double s;\nvoid f(double *x, int n, int p, int rank)\n{{\n{body}\n}}\nint main(void) {{ return 0; }}\n"
    )
    function = found.program.functions["f"]
    call = next(c for c in calls_of(function) if isinstance(c.callee, ast.FuncRef) and c.callee.name == "MPI_Send")
    return sent_in_turn(function, call, call.args[0])


@pytest.mark.parametrize(
    "body",
    [
        f"for (int i = 1; i < p; i++) {{\n s++;\n {SEND}\n}}",
        f"for (int i = 0; i < p; i++)\n if (i != rank)\n {SEND}",
        f"for (int i = 1; i < p; i++)\n do {{ {SEND} }} while (0);",
        f"for (int j = 0; j < n; j++) x[j] = j;\nint i = 0;\nwhile (++i < p) {SEND}",
        f"for (int i = 1; i < p; i++)\n for (int j = 0; j < 9; j++)\n  {PART}",
        f"int j, i = 0;\nwhile (++i < p) {{\n s++;\n for (j = 0; j < 9; j++)\n  {PART}\n}}",
    ],
)
def test_nothing_else_in_the_loop_names_the_memory(body: str) -> None:
    found = told(body)
    assert found is not None
    assert found.reason is Reason.OLD_BYTES
    assert found.message.startswith(
        "the message lies in `x`, and this call sends it again in the next turn of the loop"
    )
    assert found.message.endswith("in which nothing is written to it")


@pytest.mark.parametrize(
    "body",
    [
        f"int i = 1;\n{SEND}",
        f"int i = 1;\ndo {{ {SEND} }} while (0);",  # as a macro is written
        f"for (int i = 1; i < p; i++) {{ x[0] = i; {SEND} }}",
        f"for (int i = 1; i < p; i++) {{ {SEND} x += n; }}",
        f"for (int i = 1; i < p; i++) {{ {SEND} break; }}",
        f"for (int i = 1; i < p; i++) if (i == rank) {SEND}",
        f"for (int i = 1; i < p; i++) {{ double x[4]; {SEND.replace('n,', '4,')} }}",
        f"for (int i = 1; i < p; i++) {SEND.replace('x, n', '&x[i], 1')}",
        f"for (int i = 1; i < p; i++) for (int j = i * 9; j < i * 9 + 9; j++) {PART}",
        f"for (int i = 1; i < p; i++) for (int j = 0; j < 9; j++) {{ j += i; {PART} }}",
        f"for (int i = 1; i < p; i++) {{ x[0] = i; for (int j = 0; j < 9; j++) {PART} }}",
        f"int i = 1;\nfor (int j = 0; j < 9; j++) {PART}",
    ],
)
def test_another_turn_may_have_other_memory_or_none(body: str) -> None:
    assert told(body) is None
