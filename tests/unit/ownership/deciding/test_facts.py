"""Which facts are computed: a buffer that stays for what is known without its liveness saves the time for it."""

from __future__ import annotations

import pytest
from conditions_support import FILL, SEND, main
from ownership_support import Source, source

from opi_xform.ownership.decide import decide
from opi_xform.ownership.deciding.facts import BufferFacts, ProgramFacts
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Options
from opi_xform.ownership.model.plan import Plan

FEW = SEND.replace("1000", "2")
VALUE = "MPI_Send(&n, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);"
READ = "if (b[0] > 1) return 1;"


def planned(found: Source, monkeypatch: pytest.MonkeyPatch) -> tuple[Plan, int]:
    """The plan, and how many objects were judged for it."""
    judged: list[int] = []
    before = Judge.__init__

    def noted(self: Judge, *given: object) -> None:
        judged.append(1)
        before(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Judge, "__init__", noted)
    return decide(found.units, found.program, Options()), len(judged)


@pytest.mark.parametrize(
    ("body", "codes", "judged"),
    [
        (FILL + FEW + READ, ["OPI108"], 0),  # small, whatever is read after it
        (FILL + FEW + FILL + FEW, ["OPI108", "OPI108"], 0),
        (FILL + FEW + FILL + SEND + READ, ["OPI108", "OPI101"], 1),
        (f"int n = argc; {VALUE}", ["OPI108"], 0),  # a single value
        (FILL + SEND + READ, ["OPI101"], 1),
    ],
)
def test_liveness_is_asked_where_it_decides(
    body: str, codes: list[str], judged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, count = planned(source(main(body)), monkeypatch)
    assert [d.code for d in plan.decisions] == codes
    assert count == judged


def test_facts_that_are_not_asked_for_liveness_have_none() -> None:
    found = source(main(FILL + SEND))
    (buffer,) = [one for one in found.buffers.values() if one.uses]
    facts = BufferFacts(ProgramFacts(found.units, found.program, Options()), buffer, unasked=True)
    assert facts.buffer is buffer
    assert not facts.judges_so_far
    assert facts.left_out_so_far is None
    assert facts.left_out == facts.left_out_so_far == ()
