"""Cases that convert, each with one disturbance: what has to stay does, and outputs are equal (`make disturb`).

``OPI_TEST_DISTURB=all`` has one program of every kind built and run; otherwise a fixed share of them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from case_tools import sample

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.machines.disturb.batch import Outcome, judged
from tests.machines.disturb.hosts import hosts
from tests.machines.disturb.run import Programs
from tests.machines.disturb.table import BRINGS, kinds, uses, variants
from tests.machines.disturb.weave import KEEP, Woven, fits

KNOWN: frozenset[str] = frozenset()
"""Kinds that are known to go wrong: is empty but for the time until a cause is mended."""

STEP = 1 if os.environ.get("OPI_TEST_DISTURB") == "all" else 12
EACH = list(Programs().number(1, len(kinds())))
"""One program of each kind."""
BATCH = 16
CHOSEN = [program for program in EACH if program.variant.kind in sample(kinds(), STEP)]


@pytest.fixture(scope="module")
def mpi() -> Mpi:
    try:
        return find_mpi()
    except LaunchError as error:
        pytest.skip(str(error))


def test_there_are_enough_kinds() -> None:
    assert len(kinds()) >= 300
    assert {kind.brings for kind in kinds()} == set(BRINGS)
    assert {program.variant.kind.name for program in EACH} == {kind.name for kind in kinds()}


def test_every_form_has_a_place() -> None:
    """Each kind, use and form fits some case; and each place is fit for some."""
    for kind in kinds():
        for variant in variants(kind):
            assert any(fits(host, variant) for host in hosts()), variant.name
    assert len(hosts()) > 500
    for use in uses():
        assert any(variant.use == use for kind in kinds() for variant in variants(kind)), use.name


def test_something_has_to_stay() -> None:
    """Every kind has a form of which a site has to stay, or is about an alias that a receive may leave behind."""
    for kind in kinds():
        marked = KEEP in kind.put + kind.get
        stays = any(form.host == "keep" or KEEP in form.use.before + form.use.after for form in variants(kind))
        assert marked or stays or kind.host == "equal" or kind.group == "old contents", kind.name


def test_the_program_has_the_site_that_stays() -> None:
    for program in EACH:
        for file, line, side in program.stay:
            text = program.texts[file].splitlines()[line - 1]
            assert "MPI_" in text, program.name
            assert side or text.endswith(KEEP), program.name


@pytest.mark.slow
@pytest.mark.parametrize("at", range(0, len(CHOSEN), BATCH))
def test_disturbed_programs(at: int, mpi: Mpi, tmp_path: Path) -> None:
    programs = CHOSEN[at : at + BATCH]
    outcomes = judged(programs, tmp_path, mpi)
    failed = [o for o in outcomes if o.verdict in ("wrong", "undefined") and o.kind not in KNOWN]
    assert not failed, "\n".join(f"{o.name}: {o.verdict}: {o.problem}" for o in failed)
    assert all(_as_said(p, o) for p, o in zip(programs, outcomes, strict=True) if o.kind not in KNOWN)


def _as_said(program: Woven, outcome: Outcome) -> bool:
    """Where a site has to stay, the tool reports one there that does: the mark is not beside it."""
    return outcome.stayed or not program.stay


def test_the_machine_sees_what_is_wrong(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The analyser forgets what attributes do: both judgements, of the site and of the outputs, have to find it."""
    monkeypatch.setattr("opi_xform.ownership.conditions.calls.analysed.unseen_call", lambda units: None)
    programs = Programs(["symbol_alias"], ["local_array"])
    chosen = [next(p for p in programs.number(1, 60) if p.variant.use.name == name) for name in ("early", "stale")]
    site, output = judged(chosen, tmp_path, mpi)
    assert site.verdict == output.verdict == "wrong", (site, output)
    assert "has to stay" in site.problem
    assert "became" in output.problem
