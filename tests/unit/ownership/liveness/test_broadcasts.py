"""Broadcasts: on which ranks their buffer is read, and on which it comes anew."""

import pytest
from core_support import program

from opi_xform.ownership.liveness.broadcasts import broadcasts_of

TEXT = """
int MPI_Bcast(void *, int, MPI_Datatype, int, MPI_Comm);
int MPI_Ibcast(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *);
int MPI_Comm_set_errhandler(MPI_Comm, int);
static double b[100];
int main(int argc, char **argv) {{
    int rank, size, root = argc;
    MPI_Request r;
    {before}
    MPI_Comm_size(0, &size);
    {call};
    return rank + size;
}}
"""
RANK = "MPI_Comm_rank(0, &rank);"


def told(call: str, before: str = RANK) -> list[bool]:
    return [b.brings for b in broadcasts_of(program(TEXT.format(call=call, before=before)).program).values()]


def test_all_but_the_root_get_the_buffer() -> None:
    assert told("MPI_Bcast(b, 100, MPI_DOUBLE, 0, 0)") == [True]
    assert told("MPI_Bcast(b, 100, MPI_DOUBLE, 3, 0)") == [True]


def test_where_errors_return_nothing_need_come() -> None:
    returns = RANK + "MPI_Comm_set_errhandler(0, 1);"
    assert told("MPI_Bcast(b, 100, MPI_DOUBLE, 0, 0)", returns) == [False]


@pytest.mark.parametrize(
    ("call", "before"),
    [
        ("MPI_Bcast(b, 100, MPI_DOUBLE, root, 0)", RANK),
        ("MPI_Bcast(b, 100, MPI_DOUBLE, -3, 0)", RANK),
        ("MPI_Bcast(b, 100, MPI_DOUBLE, 0, 0)", "MPI_Comm_rank(1, &rank);"),
        ("MPI_Bcast(b, 100, MPI_DOUBLE, 0, 0)", "rank = argc;"),
        ("MPI_Ibcast(b, 100, MPI_DOUBLE, 0, 0, &r)", RANK),
    ],
)
def test_of_others_the_ranks_tell_nothing(call: str, before: str) -> None:
    assert told(call, before) == []
