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
INSIDE = SEND.replace("b,", "b + 8,").replace("1000", "100")


def judged_for(found: Source, options: Options, monkeypatch: pytest.MonkeyPatch) -> tuple[Plan, list[bool]]:
    """The plan, and of each object that was judged for it whether only reasons ask."""
    judged: list[bool] = []
    before = Judge.__init__

    def noted(self: Judge, *given: object) -> None:
        before(self, *given)  # type: ignore[arg-type]
        judged.append(self.told_only)

    monkeypatch.setattr(Judge, "__init__", noted)
    return decide(found.units, found.program, options), judged


def planned(found: Source, monkeypatch: pytest.MonkeyPatch) -> tuple[Plan, int]:
    """The plan, and how many objects were judged for it."""
    plan, judged = judged_for(found, Options(), monkeypatch)
    return plan, len(judged)


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


@pytest.mark.parametrize(
    ("body", "told_only"), [(INSIDE, [True]), (INSIDE + FILL + SEND, [False]), (INSIDE + FILL + FEW, [True])]
)
def test_a_buffer_all_of_whose_calls_stay_for_their_form_is_judged_for_reasons_alone(
    body: str, told_only: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = source(main(FILL + body + READ))
    plan, judged = judged_for(found, Options(), monkeypatch)
    assert judged == told_only
    assert {d.decision for d in plan.decisions} == {"keep"}
    monkeypatch.undo()
    _, silent = judged_for(found, Options(more_than=9), monkeypatch)
    assert silent == [one for one in told_only if not one]


def test_a_buffer_that_stays_as_a_whole_is_judged_for_reasons_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "void look(double *p);\n" + main(FILL + SEND + "look(b);")
    plan, judged = judged_for(source(text), Options(), monkeypatch)
    assert judged == [True]
    assert [d.code for d in plan.decisions] == ["OPI403"]
