"""How many elements a status tells of (``opi_xform.values.arithmetic.came``)."""

from __future__ import annotations

import pytest
from core_support import Found, program

TOP = (
    "int MPI_Recv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);\n"
    "int MPI_Get_count(const MPI_Status *, MPI_Datatype, int *);\n"
    "static double in[400], other[400]; static int mark; static MPI_Status all[2];\n"
)
RECV = "MPI_Recv(in, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &status);"
MORE = "MPI_Recv(other, 400, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, {});"
COUNT = "MPI_Get_count(&status, MPI_DOUBLE, &count); mark = n; mark = count;"


def most(body: str) -> tuple[Found, str]:
    """What is known of the number that is marked last: how often it is not more than which."""
    status = "MPI_Status status, second;"
    found = program(f"{TOP}int main(int argc, char **argv) {{ int n = argc, count; {status} {body} return 0; }}")
    room, count = found.marked()
    told = None if count.single is None else found.program.values.symbols.most.get(count.single)
    if told is None:
        return found, "nothing"
    value = found.program.values.symbols.resolve(told.value)
    times = next((k for k in (1, 8) if value == room.scaled(k)), None)
    return found, f"{told.factor} times is at most {times} times the room"


def test_no_more_comes_than_there_is_room_for() -> None:
    assert most(RECV + COUNT)[1] == "1 times is at most 1 times the room"


def test_bytes_are_counted_where_the_datatype_is_another() -> None:
    text = RECV + COUNT.replace("MPI_DOUBLE", "MPI_INT")
    assert most(text)[1] == "4 times is at most 8 times the room"


@pytest.mark.parametrize(
    ("between", "known"),
    [
        (MORE.format("&second"), True),
        (MORE.format("&status"), False),
        ("second = status;", True),
        ("status = second;", False),
    ],
)
def test_only_the_receive_counts_that_has_changed_the_status_last(between: str, known: bool) -> None:
    assert ("most 1 times the room" in most(RECV + between + COUNT)[1]) is known


def test_each_status_of_an_array_is_one() -> None:
    text = MORE.format("&all[1]") + RECV.replace("&status", "&all[0]") + COUNT
    assert most(text.replace("&status", "&all[1]"))[1] == "nothing"
    assert most(text.replace("&status", "&all[0]"))[1] != "nothing"


def test_a_count_that_a_loop_leaves_is_not_that_of_the_next_turn() -> None:
    text = f"for (int k = 0; k < argc; k++) {{ mark = n; mark = count; {RECV} {COUNT.partition(' mark')[0]} }}"
    assert most(text)[1] == "nothing"
