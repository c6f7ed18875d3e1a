"""How many bytes a call's messages have: what travels in the envelope, and what --min-bytes asks for."""

from __future__ import annotations

import pytest
from conditions_support import main
from ownership_support import source

from opi_xform.codes import Reason
from opi_xform.ir.calls import called_name, calls_of
from opi_xform.ownership.buffers.message_sizes import INLINE_LIMIT, small, small_as_written, too_small
from opi_xform.ownership.model.buffers import Program, Use

TOP = "static double b[20];"
SEND = "MPI_Send(b, {}, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
TWICE = f"{TOP} static void go(int n) {{ {SEND.format('n')} }}"


def uses(body: str, top: str = TOP) -> tuple[Program, list[Use]]:
    found = source(main(body, top))
    (buffer,) = [one for one in found.buffers.values() if one.uses]
    return found.program, list(buffer.uses)


@pytest.mark.parametrize(
    ("body", "top", "expected"),
    [
        (SEND.format(INLINE_LIMIT // 8), TOP, True),
        (SEND.format(INLINE_LIMIT // 8 + 1), TOP, False),
        (SEND.format("argc"), TOP, False),  # it may be more
        ("go(5); go(3);", TWICE, True),
        ("go(6); go(3);", TWICE, False),  # one copy of the call has more
    ],
)
def test_what_travels_in_the_envelope(body: str, top: str, expected: bool) -> None:
    assert small(uses(body, top)[1]) is expected


@pytest.mark.parametrize(
    ("body", "top", "least", "most"),
    [
        (SEND.format(10), TOP, 81, 80),
        (SEND.format(10), TOP, 80, None),
        (SEND.format(10), TOP, 0, None),  # nothing is asked for
        (SEND.format("argc"), TOP, 161, 160),  # no message has more than its variable
        (SEND.format("argc"), TOP, 160, None),
        ("b = malloc(160);" + SEND.format("argc"), "static double *b;", 161, None),  # of malloc's that is not looked up
        ("go(5); go(3);", TWICE, 41, 40),
        ("go(5); go(3);", TWICE, 35, None),
    ],
)
def test_fewer_bytes_than_are_asked_for(body: str, top: str, least: int, most: int | None) -> None:
    """most: how many bytes the reason tells, None where the call may convert."""
    refusal = too_small(*uses(body, top), least)
    if most is None:
        assert refusal is None
    else:
        assert refusal is not None
        assert refusal.reason is Reason.FEW_BYTES
        assert f"at most {most} bytes" in refusal.message
        assert f"the {least} of" in refusal.message


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("MPI_Send(&x, argc, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);", True),  # no more than the variable
        ("MPI_Send(&x, 1, column, 1, 7, MPI_COMM_WORLD);", False),  # displacements lead elsewhere
        ("MPI_Send(b, 5, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);", True),
        ("MPI_Send(b, 6, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);", False),
        ("MPI_Send(b, 1, column, 1, 7, MPI_COMM_WORLD);", False),
        ("MPI_Send(b, 0, column, 1, 7, MPI_COMM_WORLD);", True),
    ],
)
def test_what_is_small_by_its_text_alone(call: str, expected: bool) -> None:
    found = source(main(f"double x; {call}", f"{TOP} static MPI_Datatype column;"))
    (sent,) = [one for one in calls_of(found.program.functions["main"]) if called_name(one) == "MPI_Send"]
    operation = found.program.effects["MPI_Send"].mpi
    assert operation is not None
    assert operation.send is not None
    assert small_as_written(sent, operation.send) is expected
