"""The benchmarks of thread and fiber ranks: what they read and compute, and short runs of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MPIS, MpiUser

from opi_xform.bench import processes
from opi_xform.bench.kinds import cannon, memory, memory_report, threads
from opi_xform.bench.result import Result, Row
from opi_xform.bench.rounds import Key, run_once
from opi_xform.launch.mpi import LaunchError, Mpi

MPI = Mpi(Path("/a/mpicc"), "mpich", "5", Path("/a/mpi.h"))


def memory_row(series: str, ranks: int, kib: int, point: str = "allreduce") -> Row:
    return Row(series, "mpich", ranks, 0, 1e6, 1, None, None, point, memory_kib=kib, helpers_kib=2048)


MEMORY = Result(
    "memory",
    "start and work",
    "a machine",
    (
        memory_row("mpich", 2, 20480),
        memory_row("threads", 2, 10240),
        memory_row("mpich", 4, 40960),
        memory_row("threads", 4, 5120),
    ),
)


def test_memory_is_told_by_program_with_what_the_processes_of_that_mpi_take() -> None:
    lines = [line.split() for line in memory_report.text_of(MEMORY).splitlines()]
    assert ["2", "20.0", "10.0", "2.0"] in lines
    assert ["4", "40.0", "5.0", "8.0"] in lines
    assert "mpich 2.0 MiB, threads/mpich 2.0 MiB" in memory_report.text_of(MEMORY)


def test_rows_of_memory_keep_the_keys_of_the_contract() -> None:
    row = json.loads(MEMORY.as_json())["rows"][1]
    assert row == {
        "series": "threads",
        "mpi": "mpich",
        "ranks": 2,
        "bytes": 0,
        "median_us": 1e6,
        "repeats": 1,
        "ratio_best_mpi": None,
        "ratio_limit": None,
        "point": "allreduce",
        "memory_kib": 10240,
        "helpers_kib": 2048,
    }


def test_memory_is_plotted(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    memory_report.save_plot(MEMORY, tmp_path / "plot.svg")
    assert "<svg" in (tmp_path / "plot.svg").read_text()


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


def test_memory_counts_what_a_process_has_touched() -> None:
    before = memory.pss_kib(os.getpid())
    block = bytearray(b"x") * (32 << 20)
    after = memory.pss_kib(os.getpid())
    assert after - before > 31 << 10
    assert len(block) == 32 << 20
    assert memory.pss_kib(2**22 + 1) == 0  # there is no such process


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


def test_a_wrong_product_is_no_time(tmp_path: Path) -> None:
    program = tmp_path / "program"
    for line, code in (("verification: PASSED", 0), ("verification: FAILED", 0), ("verification: PASSED", 1)):
        program.write_text(f"#!/bin/sh\necho {line}\nexit {code}\n")
        program.chmod(0o755)
        if line.endswith("PASSED") and code == 0:
            assert cannon.measure(program, MPI, 4, 8) > 0
        else:
            with pytest.raises(LaunchError, match="4 ranks: the product is wrong"):
                cannon.measure(program, MPI, 4, 8)


@pytest.mark.mpi
def test_the_grain_of_cannon_is_swept(first_mpi: MpiUser, tmp_path: Path) -> None:
    result = cannon.run([first_mpi.mpi], True, tmp_path, lambda _: None)
    assert [row.ranks for row in result.rows] == [1, 4, 16]
    assert all(row.median_us > 0 for row in result.rows)


def test_threads_are_compared_with_the_processes_of_the_same_round() -> None:
    small, large = Key(8, "give"), Key(1024, "message")
    processes = {small: [1.0, 2.0, 4.0], large: [5.0, 5.0, 5.0]}
    times = {small: [2.0, 2.0, 2.0], large: [4.0, 6.0, 5.0]}
    found = threads.rows(MPI, processes, times)
    assert [(row.series, row.bytes, row.median_us, row.ratio_limit) for row in found] == [
        ("processes", 8, 2.0, None),
        ("processes", 1024, 5.0, None),
        ("threads", 8, 2.0, 1.0),  # of 2, 1 and 0.5
        ("threads", 1024, 5.0, 1.0),
    ]
    text = threads.text_of(Result("threads", "message", "a machine", tuple(found)))
    assert "OPI_Give and OPI_Take\n" in text
    assert ["1,024", "5.000", "5.000", "1.00"] in [line.split() for line in text.splitlines()]


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
