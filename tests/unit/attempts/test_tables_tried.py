"""Tables of rows in one block: tried as the block where a row is a message, by ``attempts.tables.flat_tables``."""

from __future__ import annotations

from pathlib import Path

import ownership_support
import pytest
from other_texts import whole

from opi_xform.attempts.tables import flat_tables
from opi_xform.attempts.tables.flat_tables import Flat


@pytest.mark.parametrize(
    ("use", "converts"), [("u[i] += b[0][i];", True), ("u[i] += b[0][i + 1];", False), ("b[0] = b[1];", False)]
)
def test_a_row_that_is_a_message_is_the_beginning_of_a_block(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, use: str, converts: bool
) -> None:
    monkeypatch.setattr(ownership_support, "HEADER", ownership_support.HEADER + "#define MPI_PROC_NULL (-1)\n")
    found = whole(
        tmp_path,
        f"""#include <stdlib.h>
static double **b, u[90];
static double **make(int r, int c)
{{
    double **t = malloc(r * sizeof(double *));
    t[0] = malloc(r * c * sizeof(double));
    for (int i = 1; i < r; i++)
        t[i] = t[0] + i * c;
    return t;
}}
int main(int argc, char **argv)
{{
    b = make(2, 90);
    for (int t = 0; t < 3; t++) {{
        MPI_Recv(b[0], 90, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // ONE
        for (int i = 0; i < 90; i++)
            {use}
    }}
    return (int)u[argc];
}}
""",
    )
    assert found.decisions == {"ONE": "keep"}
    tried = Flat(found.program, found.units, found.plan, found.again).run()
    assert (tried is not None) is converts
    if tried is not None:
        assert found.of(tried.plan) == {"ONE": "convert"}
        (data,) = (data.decode() for name, data in tried.changed.items() if name.endswith("f0.c"))
        assert "static double *b, u[90];" in data


@pytest.mark.parametrize("row", ["0", "1", "argc"])
def test_where_nothing_can_be_divided_a_message_of_another_row_than_the_first_is_no_reason_to_try(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, row: str
) -> None:
    found = whole(
        tmp_path,
        f"""#include <stdlib.h>
static double **b, u[90];
static double **make(int r, int c)
{{
    double **t = malloc(r * sizeof(double *));
    t[0] = malloc(r * c * sizeof(double));
    for (int i = 1; i < r; i++)
        t[i] = t[0] + i * c;
    return t;
}}
int main(int argc, char **argv)
{{
    b = make(2, 90);
    MPI_Recv(&b[{row}][0], 90, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // ONE
    for (int i = 0; i < 90; i++)
        u[i] += b[{row}][i];
    return (int)u[argc];
}}
""",
    )
    assert len(Flat(found.program, found.units, found.plan, found.again).ways()) == 1
    monkeypatch.setattr(flat_tables, "divisible", lambda program: False)
    ways = Flat(found.program, found.units, found.plan, found.again).ways()
    assert bool(ways) is (row == "0")
