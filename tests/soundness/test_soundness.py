"""Random programs give the same output before and after; `make fuzz` runs many more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.machines.fuzz.batch import judged
from tests.machines.fuzz.generate import program
from tests.machines.fuzz.run import Totals

SEEDS = tuple(range(1, 9))


@pytest.fixture(scope="module")
def mpi() -> Mpi:
    try:
        return find_mpi()
    except LaunchError as error:
        pytest.skip(str(error))


def test_a_seed_names_one_program() -> None:
    assert program(7) == program(7)
    assert program(7) != program(8)


@pytest.mark.mpi
def test_random_programs(tmp_path: Path, mpi: Mpi) -> None:
    totals = Totals()
    outcomes = judged(SEEDS, tmp_path, mpi)
    for outcome in outcomes:
        totals.add(outcome)
    assert not totals.failed, [f"seed {o.seed}: {o.problem}" for o in outcomes if o.problem]
    assert 10 * totals.free >= 4 * totals.reached, totals
    assert 2 * totals.both >= totals.free, totals
