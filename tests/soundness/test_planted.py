"""Bugs planted into the analyser: they still apply, and cases of the corpus catch them, as `make planted` tells."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from case_tools import load_cases

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.machines.planted.bug import Bug
from tests.machines.planted.bugs import BUGS
from tests.machines.planted.run import BY_THE_OTHER, PATTERNS, applies, caught


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: str(bug.name))
def test_it_can_be_planted(bug: Bug) -> None:
    assert applies(bug), f"{bug.module}: what the bug replaces does not stand there once; plant it anew"


def test_there_are_enough_and_their_cases_exist() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 25
    names = {group: {case.name for case in load_cases(group)} for group in ("keep", "convert")}
    for bug in BUGS:
        strict = bug.other_way and bug.module.startswith(PATTERNS)
        assert set(bug.cases) <= names["convert" if strict else "keep"], bug.name


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: str(bug.name))
def test_it_is_caught(bug: Bug) -> None:
    where = caught(bug)
    assert where
    assert where.endswith(BY_THE_OTHER) == bug.other_way, where
