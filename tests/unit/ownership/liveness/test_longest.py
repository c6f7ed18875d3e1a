"""How long the messages that can meet a receive are, by what the program sends."""

import pytest
from core_support import program

from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.liveness.longest import shorter

TEXT = """
static double b[100];
static int whole[100];
int main(int argc, char **argv) {{
    {sends}
    MPI_Recv(b, 100, MPI_DOUBLE, 0, {tag}, 0, 0);
    return 0;
}}
"""
SHORT = "MPI_Send(b, 30, MPI_DOUBLE, 1, 7, 0);"


def told(sends: str, tag: str = "7") -> int | None:
    known = program(TEXT.format(sends=sends, tag=tag)).program
    (receive,) = (u for u in collect(known) if u.side == "recv")
    return shorter(known, receive)


def test_no_message_is_longer_than_the_longest_that_is_sent() -> None:
    assert told(SHORT) == 240
    assert told(SHORT + "MPI_Send(b, 50, MPI_DOUBLE, 1, 7, 0);") == 400


def test_messages_with_another_tag_or_of_another_kind_do_not_come() -> None:
    other = "MPI_Send(b, 100, MPI_DOUBLE, 1, 8, 0); MPI_Send(whole, 200, MPI_INT, 1, 7, 0);"
    assert told(SHORT + other) == 240


@pytest.mark.parametrize(
    ("sends", "tag"),
    [
        ("", "7"),  # none is known
        ("MPI_Send(b, 30, MPI_DOUBLE, 1, 8, 0);", "7"),
        ("MPI_Send(b, 100, MPI_DOUBLE, 1, 7, 0);", "7"),
        (SHORT + "MPI_Send(b, argc, MPI_DOUBLE, 1, 7, 0);", "7"),  # as long as it is
        (SHORT + "MPI_Send(b, 100, MPI_DOUBLE, 1, 8, 0);", "argc"),
    ],
)
def test_else_the_receive_tells_how_long_they_are(sends: str, tag: str) -> None:
    assert told(sends, tag) is None
