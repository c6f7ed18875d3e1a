"""A program beyond the budget of the analysis stays as it is, and says which function makes it so large."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tools import analyse, load_cases

from opi_xform.program import budget

CASE = next(case for case in load_cases("convert") if case.name == "pack_callee_1")


@pytest.mark.parametrize(("limit", "value"), [("NODES", 20), ("ACCESSES", 10)])
def test_all_sites_stay(limit: str, value: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    CASE.write(tmp_path, CASE.texts)
    assert {site.decision for site in analyse(CASE, tmp_path)} == {"convert"}
    monkeypatch.setattr(budget, limit, value)
    for site in analyse(CASE, tmp_path):
        assert (site.decision, site.code) == ("keep", "OPI401")
        assert "the program is beyond the analysis' budget" in site.why
        assert "this function" in site.why


def test_the_function_that_is_copied_most_often_is_named() -> None:
    found = budget.TooLargeError(["main", "a.c:f", "g", "a.c:f"])
    assert (found.most, found.copies) == ("a.c:f", 2)
