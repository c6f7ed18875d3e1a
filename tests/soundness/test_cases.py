"""The annotated cases: what must stay stays, what should convert mostly does, and results do not change by a bit.

``OPI_ALL_CASES=1`` runs every case before and after; otherwise a sample of them runs.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from case_tools import (
    Case,
    Site,
    Wish,
    analyse,
    build_original,
    build_transformed,
    load_cases,
    output,
    transform,
)

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi

KEEP = load_cases("keep")
CONVERT = load_cases("convert")
EITHER = load_cases("either")
CONSTRUCTS = sorted({case.construct for case in CONVERT})
ALL = os.environ.get("OPI_ALL_CASES") == "1"
ONCE_WRONG = ("alloc_choice_7", "alloc_choice_8")
"""Converted, and ended by themselves, before the tool knew better."""
RUN = [
    *(case for case in CONVERT if ALL or case.name.endswith(("_4", "_11")) or case.name in ONCE_WRONG),
    *EITHER,
    *(case for case in KEEP if ALL),
]
CONDITIONS = "abcdefg"


def name_of(case: Case) -> str:
    return case.name


@pytest.fixture(scope="session")
def mpi() -> Mpi:
    try:
        return find_mpi()
    except LaunchError as error:
        pytest.skip(str(error))


def sites_of(wish: Wish, sites: tuple[Site, ...]) -> list[Site]:
    """The sites that a wish is about: at least one."""
    found = [site for site in sites if wish.meets(site)]
    assert found, f"{wish.file}:{wish.line}: no site is reported for this {wish.kind}"
    return found


def unmet(case: Case) -> list[str]:
    """The give and take wishes of a case that are not fulfilled, each with the tool's reason."""
    wishes = [wish for wish in case.wishes if not wish.must]
    sites = analyse(case, case.folder)
    return [
        f"{case.name} {wish.file}:{wish.line} {wish.kind}({wish.buffer}): {site.why}"
        for wish in wishes
        for site in sites_of(wish, sites)
        if site.decision == "keep"
    ]


def test_each_condition_has_its_cases() -> None:
    for letter in CONDITIONS:
        assert sum(case.name.startswith(f"{letter}_") for case in KEEP) >= 4, letter
    assert len(KEEP) >= 60
    for construct in CONSTRUCTS:
        assert sum(case.construct == construct for case in CONVERT) >= 6, construct
    for case in (*KEEP, *CONVERT):
        assert case.wishes, f"{case.name} expects nothing"


@pytest.mark.parametrize("case", KEEP, ids=name_of)
def test_keeps(case: Case) -> None:
    sites = analyse(case, case.folder)
    for wish in case.wishes:
        if not wish.must:
            continue
        for site in sites_of(wish, sites):
            assert not wish.broken_by(site), f"{wish.file}:{wish.line}: {site.side} of {site.buffer} is converted"
            if site.decision == "replace":
                continue
            assert site.code.startswith("OPI"), f"{wish.file}:{wish.line}: no reason is given"
            assert not wish.code or site.code == wish.code, f"{wish.file}:{wish.line}: {site.why}"


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_converts_four_fifths_of_the_rewritings(construct: str) -> None:
    cases = [case for case in CONVERT if case.construct == construct]
    missed = {case.name: lines for case in cases if (lines := unmet(case))}
    report = "\n".join(line for lines in missed.values() for line in lines)
    print(f"{construct}: {len(cases) - len(missed)} of {len(cases)}\n{report}")
    assert 5 * (len(cases) - len(missed)) >= 4 * len(cases), report


@pytest.mark.mpi
@pytest.mark.parametrize("case", RUN, ids=name_of)
def test_results_agree_bit_for_bit(case: Case, tmp_path: Path, mpi: Mpi) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    case.write(before)
    transform(case, before, after)
    if all((after / name).read_text(encoding="utf-8") == text for name, text in case.texts.items()):
        return
    expected = output(build_original(case, before, mpi), mpi)
    assert expected[0] == 0
    assert any(expected[1])
    assert output(build_transformed(case, after, mpi), mpi) == expected
