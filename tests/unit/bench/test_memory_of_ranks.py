"""Memory and times of ranks that share processes, as opi-bench tells them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from opi_xform.bench.kinds import cannon, memory, memory_report, threads
from opi_xform.bench.result import Result, Row
from opi_xform.bench.rounds import Key
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


def test_memory_counts_what_a_process_has_touched() -> None:
    before = memory.pss_kib(os.getpid())
    block = bytearray(b"x") * (32 << 20)
    after = memory.pss_kib(os.getpid())
    assert after - before > 24 << 10  # what the process had before may go meanwhile, or be shared with a child
    assert len(block) == 32 << 20
    assert memory.pss_kib(2**22 + 1) == 0  # there is no such process


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
