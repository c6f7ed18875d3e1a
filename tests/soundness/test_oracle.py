"""The dynamic access oracle on a share of the annotated cases; ``make oracle`` takes all of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from case_tools import Case, load_cases, sample

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi
from tests.machines.oracle.oracle import forbidding
from tests.machines.oracle.run import exhibited, spoilt, wrong_wishes

CONVERT = sample([case for case in load_cases("convert") if case.name.endswith("_2")], 8)
KEPT = ("send_read_branch", "pack_break", "recv_conditional_old")
KEEP = [case for case in load_cases("keep") if case.name in KEPT]


@pytest.fixture(scope="module")
def mpi(tmp_path_factory: pytest.TempPathFactory) -> Mpi:
    """An MPI whose compiler can instrument accesses as gcc does."""
    try:
        found = find_mpi()
    except LaunchError as error:
        pytest.skip(str(error))
    if not all(shutil.which(tool) for tool in ("nm", "addr2line", "gcc")):
        pytest.skip("no binutils or no gcc here")
    return found


@pytest.mark.parametrize("case", CONVERT, ids=lambda case: str(case.name))
def test_no_access_forbids_what_converts(case: Case, mpi: Mpi) -> None:
    assert not wrong_wishes(case, spoilt(case, mpi))


@pytest.mark.parametrize("case", KEEP, ids=lambda case: str(case.name))
def test_shows_the_access_that_forbids(case: Case, mpi: Mpi) -> None:
    found = spoilt(case, mpi)
    assert exhibited(case, found), found


def test_names_the_reading_line(mpi: Mpi, tmp_path: Path) -> None:
    case = next(case for case in KEEP if case.name == "send_read_branch")
    text = case.texts["send_read_branch.c"].splitlines()
    ((file, line, side), reads), *others = spoilt(case, mpi).items()
    assert not others
    assert (file, side) == ("send_read_branch.c", "send")
    assert "MPI_Send" in text[line - 1]
    assert all("sbuf" in text[at - 1] for _, at in reads)


@pytest.mark.parametrize("replaces", [False, True])
def test_who_receives_from_nobody_loses_what_is_there_unless_the_call_replaces(
    mpi: Mpi, tmp_path: Path, replaces: bool
) -> None:
    (case,) = (case for case in load_cases("convert") if case.name == "replace_9")
    found = spoilt(case, mpi)
    takes = [(wish.file, wish.line, "recv") for wish in case.wishes if wish.kind == "take"]
    assert any(forbidding(found, take, replaces) for take in takes) != replaces, found
