"""The table "One by one" of docs/supported.md: each row is a function of tests/cases/phrases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from case_tools import Case, analyse, build_original, build_transformed, load_cases, output, transform

from opi_xform.launch.mpi import LaunchError, find_mpi

PHRASES = load_cases("phrases")
TABLE = Path(__file__).resolve().parents[2] / "docs" / "supported.md"


def rows_of(case: Case) -> dict[str, tuple[str, str]]:
    """What the comment of each function with calls says, and what becomes of its send and its receive."""
    (text,) = case.texts.values()
    lines = text.splitlines()
    out: dict[str, dict[str, set[str]]] = {}
    codes = {(site.line, site.side): site.code for site in analyse(case, case.folder)}
    for (number, side), code in codes.items():
        title = next(found[1] for line in lines[number - 1 :: -1] if (found := re.match(r"/\* (.*) \*/$", line)))
        out.setdefault(title, {"send": set(), "recv": set()})[side].add(code or "converts")
    return {title: (told(sides["send"]), told(sides["recv"])) for title, sides in out.items()}


def told(codes: set[str]) -> str:
    return ", ".join(sorted(codes, key=lambda code: (code != "converts", code)))


@pytest.mark.parametrize("case", PHRASES, ids=lambda case: case.name)
def test_each_site_is_as_its_comment_says(case: Case) -> None:
    sites = analyse(case, case.folder)
    annotated = set()
    for wish in case.wishes:
        found = [site for site in sites if wish.meets(site)]
        assert found, f"{wish.file}:{wish.line}: no site is reported for this {wish.kind}"
        for site in found:
            annotated.add((site.line, site.side))
            assert site.decision == ("keep" if wish.kind == "keep" else "convert"), f"{wish.line}: {site.why}"
            assert not wish.code or site.code == wish.code, f"{wish.line}: {site.why}"
    assert annotated == {(site.line, site.side) for site in sites}


@pytest.mark.parametrize("case", PHRASES, ids=lambda case: case.name)
def test_each_row_of_the_table_is_one_of_them(case: Case) -> None:
    table = TABLE.read_text(encoding="utf-8")
    for title, (send, recv) in rows_of(case).items():
        assert f"| {title} | {send} | {recv} |" in table, f"| {title} | {send} | {recv} |"


@pytest.mark.mpi
@pytest.mark.parametrize("case", PHRASES, ids=lambda case: case.name)
def test_results_agree_bit_for_bit(case: Case, tmp_path: Path) -> None:
    try:
        mpi = find_mpi()
    except LaunchError as error:
        pytest.skip(str(error))
    case.write(tmp_path / "before")
    transform(case, tmp_path / "before", tmp_path / "after")
    expected = output(build_original(case, tmp_path / "before", mpi), mpi)
    assert expected[0] == 0
    assert output(build_transformed(case, tmp_path / "after", mpi), mpi) == expected
