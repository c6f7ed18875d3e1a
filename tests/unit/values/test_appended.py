"""Calls that append to a buffer, and how far it is filled then (``opi_xform.values.steps``)."""

from __future__ import annotations

import pytest
from core_support import Found, program

TOP = (
    "int MPI_Pack(const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm);\n"
    "static char out[400]; static double x[9]; static int mark, at;\n"
)
PACK = "MPI_Pack(x, 3, MPI_DOUBLE, out, 400, &pos, MPI_COMM_WORLD);"


def packed(body: str) -> Found:
    return program(f"{TOP}int main(int argc, char **argv) {{ int pos = 0, first = 0; {body} return 0; }}")


def pieces(found: Found) -> list[tuple[str, str]]:
    """Where each surely written piece of the buffer begins, and how long it is."""
    o = found.object("out")
    accesses = found.program.values.accesses
    written = [a for n in sorted(accesses.nodes(o)) for a in accesses.at(n) if a.object == o and a.must]
    return [(str(a.lo), str(a.length)) for a in written]


def test_a_piece_begins_where_the_position_is_and_ends_where_it_is_then() -> None:
    found = packed(f"{PACK} first = pos; {PACK} mark = pos - first;")
    (begin, length), (second, more) = pieces(found)
    assert begin == "Poly(terms=())"
    assert second == length
    assert str(found.marked()[0]) == more


@pytest.mark.parametrize(
    ("between", "known"),
    [("", True), ("pos = 8;", False), ("pos += argc;", False), ("at = pos;", True)],
)
def test_the_next_piece_is_behind_the_last_unless_the_position_changes(between: str, known: bool) -> None:
    found = packed(f"{PACK} {between} {PACK}")
    (_, length), (second, _) = pieces(found)
    assert (second == length) is known


def test_a_position_that_is_not_known_says_nothing() -> None:
    found = packed(
        "int other; int *p = argc > 1 ? &pos : &other; MPI_Pack(x, 3, MPI_DOUBLE, out, 400, p, MPI_COMM_WORLD);"
    )
    assert pieces(found) == []
