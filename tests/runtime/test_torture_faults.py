"""The judge of random traffic is judged: faults planted into libopi are found (`make torture-faults` plants all)."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import MPIS

from opi_xform.launch.runtime import ensure_runtime
from opi_xform.resources import runtime_dir
from tests.machines.torture.faults import CONTROLS, FAULTS, Fault, planted
from tests.machines.torture.judge import compile_traffic, judge, plant


@pytest.mark.parametrize("fault", [*CONTROLS, *FAULTS], ids=lambda fault: fault.name)
def test_each_fault_fits_the_sources(fault: Fault) -> None:
    """Its lines are there, once, and are changed."""
    for name, text in planted(fault, runtime_dir() / "process").items():
        assert text != (runtime_dir() / "process" / name).read_text(encoding="utf-8")


def test_no_two_faults_are_the_same() -> None:
    assert len({fault.name for fault in (*CONTROLS, *FAULTS)}) == len(CONTROLS) + len(FAULTS)
    assert len({fault.edits for fault in FAULTS}) == len(FAULTS)


@pytest.mark.mpi
def test_planted_faults_are_found(tmp_path: Path) -> None:
    """Two of the quick ones: a message that is overtaken, and a byte that is dropped."""
    if not MPIS:
        pytest.skip("no mpicc: set OPI_MPICC")
    runtime = ensure_runtime(MPIS[0])
    traffic = compile_traffic(MPIS[0], runtime, tmp_path)
    for fault in FAULTS:
        if fault.name in ("overtaken", "byte-dropped"):
            verdict = judge(MPIS[0], plant(MPIS[0], runtime, traffic, fault, tmp_path), fault, 50)
            assert verdict.how, str(verdict)
