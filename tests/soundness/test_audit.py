"""Every condition of a conversion has a function that enforces it, cases that must stay, and a planted bug."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from opi_xform.codes import Reason
from opi_xform.ownership.conditions.table import TABLE
from opi_xform.report.codes import CODES
from tests import audit

ON_REQUEST = {"OPI108", "OPI208", "OPI117", "OPI217", "OPI118", "OPI218"}
"""Kept for want of gain, or because the user says so: nothing would be wrong."""


def test_no_row_lacks_a_column() -> None:
    assert audit.problems() == []


def test_every_reason_to_keep_belongs_to_a_condition() -> None:
    told = {code.code for condition in TABLE for code in condition.codes if condition.sound}
    reasons = {code for code in CODES if code[3] in "124"} - ON_REQUEST
    assert reasons - told == set()


def test_the_pages_are_those_of_today() -> None:
    stale = [path.name for path, text in audit.pages().items() if text != path.read_text(encoding="utf-8")]
    assert stale == [], "run python -m tests.audit"


def test_every_reason_is_explained_once() -> None:
    told = [code.code for condition in TABLE for code in condition.codes]
    assert sorted(told) == sorted({code for reason in Reason for code in reason.codes})


def test_a_bug_of_no_condition_is_told(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    bug = audit.Bug("lost", "m", "a", "b", ("c",), condition="nothing of the kind")
    monkeypatch.setattr(audit, "BUGS", (*audit.BUGS, bug))
    assert audit.problems() == ["planted bug 'lost': no condition 'nothing of the kind'"]


def test_a_row_without_a_case_is_told(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    row = audit.Condition("new", "something", enforced=("ownership.decide:decide",))
    monkeypatch.setattr(audit, "TABLE", (*TABLE, row))
    assert audit.problems() == ["new: no case", "new: no planted bug"]
