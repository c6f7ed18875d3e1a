"""Sites of a buffer that convert together: a condition asks what all of them do, and what it keeps is asked again."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from conditions_support import FILL, SEND, main, only_buffer
from ownership_support import source_in

from opi_xform.codes import Reason
from opi_xform.ownership import convert_together as together
from opi_xform.ownership.convert_together import convert_together, keep, twin, unwritable
from opi_xform.ownership.deciding.agreement import Verdict
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts, Going, Placed
from opi_xform.ownership.model.buffers import Options, Place, Refusal

TWO = f"{FILL} {SEND} {FILL} {SEND}"
WHY = Refusal(Reason.REQUESTED, "so it is")
SENT: Place = ("a.c", 7, "send", 0)
TAKEN: Place = ("a.c", 7, "recv", 0)
OTHER: Place = ("a.c", 9, "recv", 0)


def judged(body: str, *conditions: Condition, monkeypatch: pytest.MonkeyPatch) -> tuple[BufferFacts, Verdict]:
    """The verdict on the buffer of a program, with some conditions in the place of all."""
    if conditions:
        monkeypatch.setattr(together, "TABLE", conditions)
    with tempfile.TemporaryDirectory() as folder:
        facts = only_buffer(source_in(Path(folder), main(body)), Options())
        verdict = Verdict(converted={use.place for use in facts.buffer.uses})
        convert_together(facts, verdict, facts.values.null_tests)
    return facts, verdict


def test_sites_that_nothing_keeps_convert_and_have_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    facts, verdict = judged(TWO, monkeypatch=monkeypatch)
    assert verdict.converted == {use.place for use in facts.buffer.uses}
    assert verdict.refusals == {}
    assert verdict.edits
    assert len(verdict.files) == 1


@pytest.mark.parametrize(
    ("set_", "copied", "converts"),
    [
        ("double *w = b;", 1, True),
        ("double *w = b; if (!w) rank++;", 1, False),
        ("double *w = b + 1;", 0, False),
    ],
)
def test_a_copy_of_what_may_be_null_gets_its_memory(
    set_: str, copied: int, converts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = "int rank = argc - 1; double *b = rank ? malloc(640) : NULL;"
    body = f"{made} {set_} for (int i = 0; i < 80; i++) b[i] = i; w[2] = rank;"
    send = "MPI_Send(b, 80, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); free(b);"
    facts, verdict = judged(f"{body} {send}", monkeypatch=monkeypatch)
    assert len(facts.flow(frozenset()).copies()) == copied
    assert bool(verdict.converted) is converts


def test_what_one_site_is_kept_for_is_asked_of_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def first(going: Going) -> dict[Place, Refusal]:
        asked.append(len(going.places))
        return {min(going.places): WHY} if len(going.places) > 1 else {}

    facts, verdict = judged(TWO, Condition("a test", "One converts.", going=first), monkeypatch=monkeypatch)
    places = sorted(use.place for use in facts.buffer.uses)
    assert asked == [2, 1]
    assert verdict.converted == {places[1]}
    assert verdict.refusals == {places[0]: WHY}
    assert verdict.edits


def test_sites_that_cannot_convert_by_themselves_are_kept_before_all_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both together are refused: the one that is refused alone stays, the other converts."""

    def alone(placed: Placed) -> Refusal | None:
        first = min(use.place for use in placed.going.facts.buffer.uses)
        return WHY if first in placed.going.places else None

    facts, verdict = judged(TWO, Condition("a test", "No first one.", calls=alone), monkeypatch=monkeypatch)
    places = sorted(use.place for use in facts.buffer.uses)
    assert verdict.converted == {places[1]}
    assert verdict.refusals == {places[0]: WHY}


def test_sites_that_could_each_convert_stay_all_where_they_cannot_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def both(placed: Placed) -> Refusal | None:
        return WHY if len(placed.going.places) > 1 else None

    facts, verdict = judged(TWO, Condition("a test", "Not both.", calls=both), monkeypatch=monkeypatch)
    assert verdict.converted == set()
    assert verdict.refusals == {use.place: WHY for use in facts.buffer.uses}
    assert verdict.edits == ()


def test_what_is_asked_of_placed_calls_keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Condition("a test", "None.", placed=lambda placed: WHY)
    facts, verdict = judged(TWO, refused, monkeypatch=monkeypatch)
    assert verdict.refusals == {use.place: WHY for use in facts.buffer.uses}
    assert verdict.edits == ()


def test_an_edit_that_cannot_be_made_keeps_all_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    _, verdict = judged(TWO, monkeypatch=monkeypatch)
    assert unwritable(Options(), verdict) == {}
    assert verdict.edits
    found = unwritable(Options(obstacle=lambda edit: "a macro"), verdict)
    assert {refusal.reason for refusal in found.values()} == {Reason.MACRO}
    assert found.keys() == verdict.converted
    assert verdict.edits == ()
    assert unwritable(Options(obstacle=lambda edit: "a macro"), Verdict()) == {}


def test_both_sides_of_a_call_by_one_argument_stay_together() -> None:
    assert (twin(SENT), twin(TAKEN)) == (TAKEN, SENT)
    verdict = Verdict(converted={SENT, TAKEN, OTHER})
    keep(verdict, {TAKEN: WHY})
    assert verdict.converted == {OTHER}
    assert verdict.refusals == {SENT: WHY, TAKEN: WHY}


def test_a_side_that_stays_already_keeps_its_own_reason() -> None:
    own = Refusal(Reason.PENDING, "its own")
    verdict = Verdict(converted={TAKEN}, refusals={SENT: own})
    keep(verdict, {TAKEN: WHY})
    assert verdict.refusals == {SENT: own, TAKEN: WHY}
