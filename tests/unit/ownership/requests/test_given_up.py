"""Requests that may be cancelled or freed: by their own name, by a copy, or where their address goes out of sight."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.requests.given_up import ESCAPES, abandoned

ISEND = "MPI_Isend(buf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &q);"
WAIT = "MPI_Wait(&q, MPI_STATUS_IGNORE);"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (f"MPI_Request q;\n{ISEND}\n{WAIT}", []),
        (f"MPI_Request q, r = MPI_REQUEST_NULL;\n{ISEND}\nMPI_Request_free(&r);\n{WAIT}", []),
        (f"MPI_Request q;\n{ISEND}\nMPI_Cancel(&q);\n{WAIT}", ["it may be cancelled or freed here"]),
        (
            f"MPI_Request q, r;\n{ISEND}\nr = q;\nMPI_Request_free(&r);",
            ["the request is copied here", "a request that may be a copy is cancelled or freed here"],
        ),
        (f"MPI_Request q;\nunknown(&q);\n{ISEND}\n{WAIT}", [f"{ESCAPES} (unknown function unknown)"]),
    ],
)
def test_where_a_request_may_be_given_up(body: str, told: list[str]) -> None:
    top = "static double buf[N];\nvoid unknown(void *);\n"
    found = source(f"{top}int main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")
    (use,) = (use for use in found.uses if not use.op.blocking)
    assert [what for _, what in abandoned(names_of(found.program), use)] == told
