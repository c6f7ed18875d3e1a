"""opi-bench: its arithmetic, its formats, and that opbench notices wrong data; a quick run under a real MPI."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser

from opi_xform.bench.machine import cores_apart
from opi_xform.bench.opbench import Series, parse, rows
from opi_xform.bench.result import Result, result_text
from opi_xform.launch.mpi import LaunchError, Mpi

MPICH = Mpi(Path("/a/mpicc"), "mpich", "5", Path("/a/mpi.h"))
OPENMPI = Mpi(Path("/b/mpicc"), "openmpi", "5", Path("/b/mpi.h"))
SERIES = (
    Series("mpich", MPICH, ()),
    Series("openmpi", OPENMPI, ()),
    Series("bare", None, ()),
    Series("libopi", MPICH, ()),
    Series("opi", MPICH, ()),
)
TIMES = (
    {8: [2.0, 2.0, 8.0], 64: [3.0, 3.0, 3.0]},
    {8: [0.5, 0.5, 2.0], 64: [6.0, 6.0, 6.0]},
    {8: [0.1, 0.1, 0.4], 64: [0.2, 0.2, 0.2]},
    {8: [0.4, 0.4, 1.6], 64: [0.5, 0.5, 0.5]},
    {8: [0.25, 0.25, 1.0], 64: [0.3, 0.2, 0.4]},
)


def result() -> Result:
    return Result("opbench", "a machine", tuple(rows(SERIES, TIMES)))


def test_ratios_are_to_the_better_mpi_at_each_size_and_to_the_limit() -> None:
    found = {(row.series, row.bytes): (row.ratio_best_mpi, row.ratio_limit) for row in result().rows}
    assert found["opi", 8] == pytest.approx((2.0, 2.5))
    assert found["opi", 64] == pytest.approx((10.0, 1.5))
    assert found["mpich", 8] == pytest.approx((0.25, 20.0))
    assert found["openmpi", 8] == pytest.approx((1.0, 5.0))
    assert found["bare", 64] == pytest.approx((15.0, 1.0))


def test_ratios_are_taken_within_a_round() -> None:
    """The machine's mood changed between the rounds: both became four times slower, the ratio stays."""
    times = [dict(one) for one in TIMES]
    times[2], times[4] = {8: [0.1, 0.4, 0.4], 64: [1, 1, 1]}, {8: [0.2, 0.8, 0.8], 64: [1, 1, 1]}
    (row,) = [row for row in rows(SERIES, times) if (row.series, row.bytes) == ("opi", 8)]
    assert row.ratio_limit == pytest.approx(2.0)
    assert row.median_us == 0.8


def test_json_has_the_keys_of_the_contract() -> None:
    data = json.loads(result().as_json())
    assert list(data) == ["version", "bench", "machine", "rows"]
    assert data["version"] == 1
    assert data["bench"] == "opbench"
    assert len(data["rows"]) == 10
    assert data["rows"][-1] == {
        "series": "opi",
        "mpi": "mpich",
        "ranks": 2,
        "bytes": 64,
        "median_us": 0.3,
        "repeats": 3,
        "ratio_best_mpi": 10.0,
        "ratio_limit": 1.5,
    }


def test_table_holds_medians_and_ratios() -> None:
    text = result_text(result())
    assert "mpich" in text
    assert "opi/mpich" in text
    assert ["64", "3.000", "6.000", "0.200", "0.500", "0.300"] in [line.split() for line in text.splitlines()]
    assert ["8", "1.25", "4.00", "2.00", "2.50"] in [line.split() for line in text.splitlines()]


def test_output_with_wrong_data_or_cut_short_is_refused() -> None:
    line = "opbench bytes=8 iterations=10 median_us=0.5000 mean_us=0.6000 min_us=0.4000\n"
    assert parse(line + "opbench wrong=0\n") == {8: 0.5}
    with pytest.raises(LaunchError):
        parse(line + "opbench wrong=3\n")
    with pytest.raises(LaunchError):
        parse(line)


def test_ranks_get_different_cores_where_there_are_enough() -> None:
    import os

    cpus = cores_apart(2)
    assert len(cpus) == 2
    assert set(cpus) <= os.sched_getaffinity(0)
    assert len(set(cpus)) == min(2, len(os.sched_getaffinity(0)))


def opi_bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "opi_xform.bench.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_list_names_the_benchmarks() -> None:
    done = opi_bench("list")
    assert done.returncode == 0
    assert done.stdout.startswith("opbench ")


def test_unknown_names_are_bad_usage() -> None:
    assert opi_bench("run", "nosuch").returncode == 2


@pytest.mark.mpi
def test_opbench_notices_a_wrong_byte(mpi_user: MpiUser, tmp_path: Path) -> None:
    source = (CHECKOUT / "testdata" / "opbench" / "opbench.c").read_text()
    good, broken = "sendbuf[i] = field[i];", "sendbuf[i] = field[i] + (i == 100 && side == 2);"
    assert source.count(good) == 1
    for name, text, code, wrong in (
        ("good", source, 0, "opbench wrong=0"),
        ("broken", source.replace(good, broken), 1, "opbench wrong="),
    ):
        (tmp_path / f"{name}.c").write_text(text)
        mpi_user.mpicc("-O2", tmp_path / f"{name}.c", "-o", tmp_path / name)
        found = mpi_user.run(2, tmp_path / name, "20", "1024", check=False)
        assert wrong in found.out
        assert (found.code != 0) == (code != 0), found


@pytest.mark.mpi
@pytest.mark.skipif(not MPIS, reason="no mpicc: set OPI_MPICC")
def test_quick_run_writes_every_series(tmp_path: Path) -> None:
    """The whole benchmark, transformation included; opbench converts without a kept site."""
    file = tmp_path / "rows.json"
    done = opi_bench("run", "opbench", "--quick", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "kept" not in done.stderr
    data = json.loads(file.read_text())
    found = {(row["series"], row["mpi"]) for row in data["rows"]}
    kinds = {mpi.kind for mpi in MPIS}
    plain = {(kind, kind) for kind in kinds}
    ours = {(series, kind) for series in ("libopi", "opi") for kind in kinds}
    assert found == plain | ours | {("bare", None)}
    assert all(row["median_us"] > 0 for row in data["rows"])


def test_bare_notices_nothing_wrong_and_refuses_bad_arguments(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    program = tmp_path / "bare"
    source = CHECKOUT / "opi_xform" / "bench" / "bare.c"
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program)], check=True)
    cpus = map(str, cores_apart(2))
    done = subprocess.run([program, "50", "4096", *cpus], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    assert len(parse(done.stdout)) == 10
    assert subprocess.run([program, "0", "8", "0", "1"], capture_output=True, check=False).returncode == 2
