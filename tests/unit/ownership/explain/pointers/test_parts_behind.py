"""Sends from further in: whether they may be of the same bytes, by the words of a message's count."""

from __future__ import annotations

from pathlib import Path

from ownership_support import source_in

from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.explain.other_pointers import sends_too

PARTS = """static double *b;
int main(int argc, char **argv)
{
    int many = argc;
    b = malloc(3 * many * sizeof(double));
    MPI_Send(&b[0], many, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(&b[many], many, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    MPI_Send(b + 2 * many, many, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    MPI_Send(&b[argc - 1], many, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    return 0;
}
"""


def test_what_begins_where_a_message_ends_is_not_that_message(tmp_path: Path) -> None:
    uses = sorted(collect(source_in(tmp_path, PARTS).program), key=lambda use: use.node)
    assert [sends_too(uses[0], use.node, [use]) for use in uses] == [True, False, False, True]
