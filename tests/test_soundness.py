"""Random programs give the same output before and after; `make fuzz` runs many more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.fuzz.generate import program
from tests.fuzz.run import compare

SEEDS = (1, 2, 3, 4)


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
@pytest.mark.parametrize("seed", SEEDS)
def test_random_program(seed: int, tmp_path: Path, mpi: Mpi) -> None:
    outcome = compare(seed, tmp_path, mpi)
    assert not outcome.problem, f"seed {seed}: {outcome.problem}"
    assert 4 * outcome.convert >= outcome.sites, f"seed {seed}: only {outcome.convert} of {outcome.sites} sites convert"
