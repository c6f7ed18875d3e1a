"""The benchmarks of thread and fiber ranks: short runs of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MPIS, MpiUser

from opi_xform.bench import processes
from opi_xform.bench.kinds import cannon, memory, threads
from opi_xform.bench.rounds import Key, run_once
from opi_xform.launch.mpi import LaunchError


def test_processes_of_a_job_are_found_with_those_they_started() -> None:
    command = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        found = [*processes.descendants(process.pid)]
        process.stdin.write("\n")
        process.stdin.close()
    assert len(found) == 2
    assert found[0] == process.pid
    assert os.getpid() not in found


@pytest.fixture
def first_mpi(opi_cache: Path, monkeypatch: pytest.MonkeyPatch) -> MpiUser:
    if not MPIS:
        pytest.skip("no mpicc: set OPI_MPICC")
    user = MpiUser(MPIS[0], opi_cache)
    for name in ("OPI_CACHE", "OPI_MPICC"):
        monkeypatch.setenv(name, user.environment[name])
    return user


@pytest.mark.mpi
def test_a_table_that_nobody_writes_is_in_memory_once(first_mpi: MpiUser, tmp_path: Path) -> None:
    program = memory.Program("table", "table.c", ("-DROWS=4194304",))
    source = memory.private(program, tmp_path / "private", first_mpi.mpi)
    shared = memory.build_shared(program, source, first_mpi.mpi, tmp_path / "shared")
    for kind in memory.KINDS:
        one, four = (
            memory.measure(memory.opirun(ranks, kind), shared, tmp_path / "gate", first_mpi.mpi, ranks)
            for ranks in (1, 4)
        )
        assert (one.processes, four.processes) == (1, 1)
        assert one.ranks > 32 << 10  # the table is there
        assert four.ranks < one.ranks + (16 << 10)


@pytest.mark.mpi
def test_a_job_that_does_not_come_to_its_end_is_told(first_mpi: MpiUser, tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="did not come to its end with 2 ranks"):
        memory.measure(first_mpi.mpi.run_command(2), Path("/bin/false"), tmp_path / "gate", first_mpi.mpi, 2)


@pytest.mark.mpi
def test_the_grain_of_cannon_is_swept(first_mpi: MpiUser, tmp_path: Path) -> None:
    result = cannon.run([first_mpi.mpi], True, tmp_path, lambda _: None)
    assert [row.ranks for row in result.rows] == [1, 4, 16]
    assert all(row.median_us > 0 for row in result.rows)


@pytest.mark.mpi
def test_threads_and_processes_send_each_other_what_they_should(first_mpi: MpiUser, tmp_path: Path) -> None:
    result = threads.run([first_mpi.mpi], True, tmp_path, lambda _: None)
    assert {(row.series, row.point) for row in result.rows} == {
        (series, way) for series in (threads.PROCESSES, threads.THREADS) for way in threads.TITLES
    }
    assert {row.bytes for row in result.rows} >= {8, 4096}
    assert {row.bytes for row in result.rows if row.point == "stream"} == {1024, 2048, 4096}
    assert all((row.ratio_limit is not None) == (row.series == threads.THREADS) for row in result.rows)


@pytest.mark.mpi
def test_ranks_as_threads_share_a_process(first_mpi: MpiUser, tmp_path: Path) -> None:
    _, series = threads.build(first_mpi.mpi, True, tmp_path)
    assert "OPI_RANKS_CARRIER=threads" in series.command
    assert run_once("threads", series, first_mpi.mpi)[Key(8, "give")].us > 0
    with pytest.raises(LaunchError, match="exit code 2"):
        run_once("threads", threads.Series("alone", None, (series.command[-5], "20", "8")), first_mpi.mpi)
