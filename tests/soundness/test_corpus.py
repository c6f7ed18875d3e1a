"""The annotated corpus covers what it should: enough cases, each condition, each observation on real codes."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from case_tools import CASES, GROUPS, load_cases

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


def _folders() -> list[Path]:
    return sorted(path for path in CASES.iterdir() if path.is_dir() and path.name not in (*GROUPS, "phrases"))


def test_no_case_stands_outside_of_a_group() -> None:
    """The loader looks into <folder>/<group> only: what stands elsewhere would be lost without a word."""
    assert [str(path) for group in GROUPS for path in (CASES / group).glob("*")] == []
    assert [path.name for path in CASES.iterdir() if not path.is_dir()] == ["README.md"]
    groups = [path for folder in _folders() for path in folder.iterdir()]
    assert [str(path) for path in groups if path.name not in GROUPS or not path.is_dir()] == []
    inside = [path for group in groups for path in group.iterdir()]
    assert [
        str(path) for path in inside if not (path.suffix == ".c" or (path.is_dir() and any(path.glob("*.c"))))
    ] == []


@pytest.mark.parametrize("group", GROUPS)
def test_a_name_is_that_of_one_case(group: str) -> None:
    names = Counter(case.name for case in load_cases(group))
    assert [name for name, number in names.items() if number > 1] == []


def test_each_folder_has_its_line() -> None:
    text = (CASES / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)/` \| \S", text, re.MULTILINE) == [path.name for path in _folders()]
