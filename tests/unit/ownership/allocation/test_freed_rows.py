"""Functions that are given a table of buffers, and the names that it has in them."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.ownership.allocation.freed_rows import row_of_given, tables_given
from opi_xform.ownership.model.buffers import Carrier

DROP = "static void drop(double **t)\n{\n    for (int d = 0; d < 4; d++)\n        free(t[d]);\n}\n"
BODY = """    double *b[4], *own[4];
    for (int d = 0; d < 4; d++) {
        b[d] = malloc(800);
        own[d] = malloc(800);
        MPI_Send(b[d], 100, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    }
"""


@pytest.mark.parametrize(
    ("top", "calls", "named"),
    [
        (DROP, "drop(b);", True),
        (DROP, "drop(b);\n    drop(b);", True),
        (DROP, "drop(b);\n    drop(own);", False),
        (DROP, "drop(b + 1);", False),
        (DROP, "void (*any)(double **) = drop;\n    any(b);\n    drop(b);", False),
        (DROP.replace("{\n", "{\n    t++;\n", 1), "drop(b);", False),
        (DROP.replace("double **t", "double *const *t"), "drop(b);", False),
        (DROP.replace("double **t", "void **t"), "drop((void **)b);", False),
    ],
)
def test_a_parameter_that_is_the_table_in_every_call(top: str, calls: str, named: bool) -> None:
    main = f"int main(int argc, char **argv)\n{{\n{BODY}    {calls}\n    return 0;\n}}\n"
    found = source(top + main)
    keys = [v.key for v in found.program.variables.values() if v.name == "b"]
    given = tables_given(found.program, Carrier("pointer", keys[0], 1))
    assert [found.program.variables[key].name for key in sorted(given)] == (["t"] if named else [])
    assert not tables_given(found.program, Carrier("pointer", keys[0]))


def test_a_row_is_named_by_a_subscript() -> None:
    found = source(DROP + f"int main(int argc, char **argv)\n{{\n{BODY}    drop(b);\n    return 0;\n}}\n")
    key = next(v.key for v in found.program.variables.values() if v.name == "b")
    calls = [n.action.call for n in found.program.graph.nodes if hasattr(n.action, "call")]
    freed = [c.args[0] for c in calls if getattr(c.callee, "name", "") == "free"]
    assert freed
    assert all(row_of_given(found.program, Carrier("pointer", key, 1), e) for e in freed if e.span.editable)
