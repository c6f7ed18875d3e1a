"""Receives that keep what is there where their source is MPI_PROC_NULL: which of them have to."""

from __future__ import annotations

import ownership_support
import pytest
from conditions_support import buffer_facts, main
from ownership_support import source

from opi_xform.ownership.deciding.receives import replacing_places, replacing_together, touched_early


@pytest.fixture(autouse=True)
def its_header_tells_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, any source may be MPI_PROC_NULL, and nothing replaces a receive."""
    monkeypatch.setattr(ownership_support, "HEADER", ownership_support.HEADER + "#define MPI_PROC_NULL (-1)\n")


TOP = "static double b[1000], c[1000], s;"
IRECV = "MPI_Request q; MPI_Irecv(b, 1000, MPI_DOUBLE, {}, 7, MPI_COMM_WORLD, &q);"
WAIT = "MPI_Wait(&q, MPI_STATUS_IGNORE); s = b[0]; return s > 1;"
NOBODY = "argc > 1 ? 1 : MPI_PROC_NULL"


@pytest.mark.parametrize(
    ("source", "meanwhile", "early"),
    [
        (NOBODY, "if (argc == 1) b[0] = 7;", True),
        (NOBODY, "c[0] = 7;", False),  # another buffer
        ("1", "if (argc == 1) b[0] = 7;", False),  # its source is a rank
    ],
)
def test_a_buffer_that_is_touched_before_its_receive_is_complete(source: str, meanwhile: str, early: bool) -> None:
    facts = buffer_facts(main(f"{IRECV.format(source)} {meanwhile} {WAIT}", TOP))
    (use,) = facts.found.uses
    found = touched_early(facts.program, facts.found, facts.liveness.judges)
    assert found == (frozenset({use.place}) if early else frozenset())


def test_a_receive_that_is_complete_at_once_is_not_touched_early() -> None:
    recv = f"MPI_Recv(b, 1000, MPI_DOUBLE, {NOBODY}, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    facts = buffer_facts(main(f"{recv} b[0] = 7; s = b[0]; return s > 1;", TOP))
    assert touched_early(facts.program, facts.found, facts.liveness.judges) == frozenset()


GET = """
static void get(double *p, int from)
{{
    MPI_Recv(p, 1000, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}}
int main(int argc, char **argv)
{{
    get(b, {}); get(c, {});
    return b[0] + c[0] > 1;
}}
"""


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [(NOBODY, "1", True), ("1", NOBODY, True), ("0", "1", False)],
)
def test_a_call_that_two_buffers_come_to_is_written_once_for_both(first: str, second: str, together: bool) -> None:
    """From nobody for one of them: it keeps what is there for both."""
    found = source(TOP + GET.format(first, second))
    (place,) = {use.place for use in found.uses}
    groups = list(found.buffers.values())
    assert replacing_together(found.program, groups) == (frozenset({place}) if together else frozenset())


def test_a_call_of_one_buffer_is_not_written_for_others() -> None:
    found = source(TOP + GET.format(NOBODY, "1").replace("get(c, 1);", ""))
    assert replacing_together(found.program, list(found.buffers.values())) == frozenset()


KEPT = f"""
MPI_Recv(b, 1000, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
s = b[0];
for (int i = 0; i < 1000; i++) b[i] = 0;
MPI_Recv(b, 1000, MPI_DOUBLE, {NOBODY}, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
return s + b[0] > 1;
"""


def test_receives_whose_old_contents_are_read_where_they_bring_nothing() -> None:
    """The second one: the zeros of the loop are there.  The first one, too, where others ask for it."""
    facts = buffer_facts(main(KEPT, TOP))
    first, second = sorted({use.place for use in facts.found.uses})
    judges = facts.liveness.judges
    assert replacing_places(facts.found, judges, ()) == {second}
    assert replacing_places(facts.found, judges, (first,)) == {first, second}
    assert replacing_places(facts.found, judges, (("elsewhere.c", 1, "recv", 0),)) == {second}
