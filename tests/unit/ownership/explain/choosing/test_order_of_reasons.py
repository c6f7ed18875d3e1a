"""Which of several reasons is told first, and which go with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opi_xform.codes import Reason
from opi_xform.ownership.explain.choosing.order import MORE, ORDER, PERHAPS, also, goes_with, in_order
from opi_xform.ownership.model.buffers import Refusal

ROOT = Path(__file__).resolve().parents[5]


def refusal(reason: Reason, message: str = "") -> Refusal:
    return Refusal(reason, message or reason.name)


def test_each_reason_has_one_place() -> None:
    every = [reason for _, reasons in ORDER for reason in reasons]
    assert sorted(every, key=lambda r: r.name) == sorted(Reason, key=lambda r: r.name)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ((Reason.CALL_FORM, Reason.READ_LATER), "READ_LATER; also, CALL_FORM"),
        ((Reason.NOT_ANALYSED, Reason.CARRIER, Reason.CALL_FORM), "CARRIER; also, CALL_FORM; also, NOT_ANALYSED"),
        ((Reason.CARRIER, Reason.READ_LATER), "CARRIER"),  # the first that was found; the other would go with it
        ((Reason.UNKNOWN_FUNCTION, Reason.READ_LATER), "READ_LATER"),
        ((Reason.BUDGET, Reason.SMALL), "SMALL; also, BUDGET"),
        ((Reason.NOT_ANALYSED,), "NOT_ANALYSED"),
    ],
)
def test_in_order(found: tuple[Reason, ...], message: str) -> None:
    told = in_order([None, *map(refusal, found)])
    assert told is not None
    assert told.message == message
    assert told.reason.name == message.partition(";")[0]


def test_what_is_less_sure_comes_after_the_form_of_the_call() -> None:
    unsure = refusal(Reason.OLD_BYTES, f"sent again, {PERHAPS}")
    told = in_order([unsure, refusal(Reason.CALL_FORM), refusal(Reason.BUDGET)])
    assert told is not None
    assert told.message == f"CALL_FORM; also, {unsure.message}; also, BUDGET"


def test_no_more_than_a_few_are_told() -> None:
    told = in_order([refusal(Reason.READ_LATER), *(refusal(Reason.CALL_FORM, f"form {i}") for i in range(5))])
    assert told is not None
    assert told.message.count("; also, ") == MORE
    assert also(refusal(Reason.SMALL), refusal(Reason.BUDGET, "SMALL")).message == "SMALL"  # it says so already
    assert in_order([]) is None


def test_a_buffer_of_its_own_takes_away_what_is_of_the_old_one() -> None:
    assert goes_with(refusal(Reason.READ_LATER), refusal(Reason.ESCAPE))
    assert not goes_with(refusal(Reason.READ_LATER), refusal(Reason.CALL_FORM))
    assert not goes_with(refusal(Reason.CALL_FORM), refusal(Reason.READ_LATER))


def test_the_page_shows_the_order() -> None:
    page = (ROOT / "docs" / "usage.md").read_text()
    places = [page.find(group) for group, _ in ORDER]
    assert -1 not in places
    assert places == sorted(places)
    for group, reasons in ORDER:
        row = next(line for line in page.splitlines() if group in line)
        shown = set(re.findall(r"OPI\d+", row))
        assert shown == {code for reason in reasons for code in reason.codes} - {"OPI910"}, group
