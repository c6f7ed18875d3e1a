"""The annotated corpus covers what it should: enough cases, each condition, each observation on real codes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from case_tools import load_cases

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.corpus import CONDITIONS, POINTS, by_point

FOUND = by_point()


def test_there_are_enough_cases() -> None:
    assert len(load_cases("keep")) + len(load_cases("convert")) >= 150


@pytest.mark.parametrize("point", POINTS)
def test_each_observation_has_three_cases(point: int) -> None:
    assert len(set(FOUND[point])) >= 3, f"{POINTS[point]}: {FOUND[point]}"


@pytest.mark.parametrize("letter", CONDITIONS)
def test_each_condition_has_cases(letter: str) -> None:
    assert sum(case.name.startswith(f"{letter}_") for case in load_cases("keep")) >= 3
