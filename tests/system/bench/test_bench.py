"""opi-bench: its arithmetic, its formats, and that opbench notices wrong data; a quick run under a real MPI."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser

from opi_xform.bench.kinds.cachebench import misses_of
from opi_xform.bench.machine import cores_apart
from opi_xform.bench.programs import SOURCES, TABLE, Build, Program
from opi_xform.bench.result import Result, Row, result_text, save_plot
from opi_xform.bench.rounds import Key, Series, Value, parse, rows
from opi_xform.bench.tune import NEVER, THRESHOLDS, choose, file_text, measure, tune_file
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
EIGHT, MANY = Key(8), Key(64)
TIMES = (
    {EIGHT: [2.0, 2.0, 8.0], MANY: [3.0, 3.0, 3.0]},
    {EIGHT: [0.5, 0.5, 2.0], MANY: [6.0, 6.0, 6.0]},
    {EIGHT: [0.1, 0.1, 0.4], MANY: [0.2, 0.2, 0.2]},
    {EIGHT: [0.4, 0.4, 1.6], MANY: [0.5, 0.5, 0.5]},
    {EIGHT: [0.25, 0.25, 1.0], MANY: [0.3, 0.2, 0.4]},
)


def result() -> Result:
    return Result("opbench", "exchange", "a machine", tuple(rows(SERIES, TIMES, 2)))


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
    times[2], times[4] = {EIGHT: [0.1, 0.4, 0.4], MANY: [1, 1, 1]}, {EIGHT: [0.2, 0.8, 0.8], MANY: [1, 1, 1]}
    (row,) = [row for row in rows(SERIES, times, 2) if (row.series, row.bytes) == ("opi", 8)]
    assert row.ratio_limit == pytest.approx(2.0)
    assert row.median_us == 0.8


def test_ratios_across_nodes_are_to_the_mpi_below() -> None:
    found = {(row.series, row.mpi, row.bytes): row.ratio_best_mpi for row in rows(SERIES, TIMES, 2, same_mpi=True)}
    assert found["opi", "mpich", 8] == pytest.approx(8.0)
    assert found["openmpi", "openmpi", 8] == pytest.approx(1.0)
    text = result_text(Result("nodes", "exchange", "a machine", tuple(rows(SERIES, TIMES, 2, True)), True))
    assert "time of the MPI alone / its time" in text


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
    assert parse("opbench", line + "opbench wrong=0\n") == {Key(8): Value(0.5)}
    for text in (line + "opbench wrong=3\n", line, "other" + line + "latency wrong=0\n"):
        with pytest.raises(LaunchError):
            parse("opbench", text)


def test_points_and_misses_are_read() -> None:
    text = "cache bytes=64 point=a-b misses=0.5\ncache bytes=64 point=a-b median_us=2\ncache wrong=0\n"
    assert parse("cache", text) == {Key(64, "a-b"): Value(2.0, 0.5)}


def test_rows_without_limit_or_plain_mpi_have_no_ratio() -> None:
    found = rows([Series("libopi", MPICH, ())], [{Key(8, "posted-1"): [1.0]}], 2)
    assert found == [Row("libopi", "mpich", 2, 8, 1.0, 1, None, None, "posted-1")]
    text = Result("deepqueue", "message", "a machine", tuple(found)).as_json()
    assert json.loads(text)["rows"][0]["point"] == "posted-1"


def test_misses_are_added_up_by_function() -> None:
    text = """desc: D1 cache
events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
fl=a.c
fn=first
10 5 0 0 2 1 0 0 0 0
fn=second
20 5 0 0 2 7 0 0 0 0
21 5 0 0 2 4 0 0 0 0
fn=first
11 5 0 0 2 30 0 0 0 0
summary: 0
"""
    assert misses_of(text) == {"first": 31, "second": 11}


def test_plots_of_sizes_and_of_points_are_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    bars = (Row("mpich", "mpich", 2, 0, 1.0, 1, 1.0, None, "MPI_Init"),)
    for name, found in (("curves", result()), ("bars", Result("init", "start", "a machine", bars))):
        save_plot(found, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


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
    names = {line.split()[0] for line in done.stdout.splitlines()}
    assert names == {"opbench", "cache", "cannon", "fibers", "memory", "threads"} | {program.name for program in TABLE}


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "nosuch"),
        ("nosuch",),
        ("run", "latency", "--quick", "--json", "/nosuch/rows.json"),
        ("run", "latency", "--quick", "--plot", "/nosuch/rows.png"),
        ("run", "latency", "--quick", "--plot", "/dev/null"),
    ],
)
def test_bad_usage_is_one_line(arguments: tuple[str, ...]) -> None:
    """Found before anything is measured."""
    done = opi_bench(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("opi-bench: ")
    assert done.stdout == ""


FROM_ON = next(one for one in THRESHOLDS if not one.up_to)
UP_TO = next(one for one in THRESHOLDS if one.up_to)


@pytest.mark.parametrize(
    ("ratios", "from_on", "up_to"),
    [
        ({64: 1.5, 128: 1.2, 256: 0.8, 512: 0.7}, 256, UP_TO.otherwise),
        ({64: 0.6, 128: 0.7, 256: 1.1, 512: 1.3}, NEVER, 128),
        ({64: 0.6, 128: 0.7, 256: 1.0, 512: 0.6}, 64, 512),  # one size out of line
        ({64: 1.0, 128: 1.0, 256: 1.0, 512: 0.99}, NEVER, UP_TO.otherwise),  # within the noise
    ],
)
def test_thresholds_stand_where_a_path_begins_to_win(ratios: dict[int, float], from_on: int, up_to: int) -> None:
    assert choose(FROM_ON, ratios) == from_on
    assert choose(UP_TO, ratios) == up_to


def test_thresholds_are_those_of_the_runtime() -> None:
    source = (CHECKOUT / "runtime" / "process" / "base" / "tune.c").read_text()
    table = source[source.index("thresholds[] = {") :]
    names = re.findall(r'\{"(OPI_\w+)"', table[: table.index("};")])
    assert sorted(names) == sorted(one.name for one in THRESHOLDS)


def test_the_tune_file_is_found_where_libopi_looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("OPI_TUNE_FILE", raising=False)
    assert tune_file() == tmp_path / ".config" / "opi-xform" / "tune"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert tune_file() == tmp_path / "xdg" / "opi-xform" / "tune"
    monkeypatch.setenv("OPI_TUNE_FILE", str(tmp_path / "mine"))
    assert tune_file() == tmp_path / "mine"


@pytest.mark.mpi
def test_a_threshold_is_measured(mpi_user: MpiUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPI_CACHE", "OPI_MPICC"):
        monkeypatch.setenv(name, mpi_user.environment[name])
    ratios = measure(UP_TO, mpi_user.mpi, tmp_path, samples=5, rounds=1, largest=128)
    assert set(ratios) == {64, 128}
    assert all(ratio > 0 for ratio in ratios.values())


@pytest.mark.mpi
def test_libopi_obeys_the_tune_file(mpi_user: MpiUser, tmp_path: Path) -> None:
    """The file's thresholds decide the way of a message, and the environment overrides the file."""
    mpi_user.opicc(SOURCES / "tune.c", "-o", tmp_path / "program")
    (tmp_path / "tune").write_text(file_text("a machine", {"OPI_INLINE_LIMIT": 48}))
    for extra, way, other in (({}, "heap", "inline"), ({"OPI_INLINE_LIMIT": "256"}, "inline", "heap")):
        file = tmp_path / f"{way}.json"
        given = {"OPI_TUNE_FILE": str(tmp_path / "tune"), "OPI_PROFILE": str(file), **extra}
        mpi_user.run(2, tmp_path / "program", "5", "64", "64", **given)
        found = json.loads(file.read_text())["on_node"]
        assert found[way]["messages"] > 100
        assert found[other]["messages"] == 0


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
    source = CHECKOUT / "opi_xform" / "bench" / "kinds" / "bare.c"
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program)], check=True)
    cpus = map(str, cores_apart(2))
    done = subprocess.run([program, "50", "4096", *cpus], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    assert len(parse("opbench", done.stdout)) == 10
    assert subprocess.run([program, "0", "8", "0", "1"], capture_output=True, check=False).returncode == 2


BUILDS = [(program, build) for program in TABLE for build in program.builds]


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("program", "build"), BUILDS, ids=lambda value: getattr(value, "name", getattr(value, "series", ""))
)
def test_a_build_of_a_benchmark_runs_and_finds_its_data_right(
    mpi_user: MpiUser, tmp_path: Path, program: Program, build: Build
) -> None:
    """A short run; a rank that reads a wrong byte makes the program fail. Half of the builds with each MPI.

    No more samples than in a quick run: those of `skew` wait for a target that computes.
    """
    if len(MPIS) > 1 and (BUILDS.index((program, build)) + MPIS.index(mpi_user.mpi)) % 2:
        pytest.skip("tested with the other MPI")
    compiler = mpi_user.opicc if build.ours else mpi_user.mpicc
    strict = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror")
    compiler(*strict, *program.defines, *build.defines, SOURCES / f"{program.source}.c", "-o", tmp_path / "program")
    samples = str(min((5, *program.quick[:1])))
    if build.alone:
        command = [str(tmp_path / "program"), samples, "4096", *map(str, cores_apart(2))]
        out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    else:
        extra = dict(setting.split("=") for setting in build.environment)
        out = mpi_user.run(program.ranks, tmp_path / "program", samples, "4096", **extra).out
    assert parse(program.name, out)


def test_a_benchmark_notices_a_wrong_byte(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    for source in SOURCES.glob("*.[ch]"):
        shutil.copy(source, tmp_path)
    header = tmp_path / "bench.h"
    good = "buffer[i] = seed + i;"
    assert header.read_text().count(good) == 1
    header.write_text(header.read_text().replace(good, "buffer[i] = seed + i + (i == 3 && bench_rank == 1);"))
    command = [compiler, "-O2", "-DBENCH_BARE", str(tmp_path / "latency.c"), "-o", str(tmp_path / "latency")]
    subprocess.run(command, check=True)
    done = subprocess.run(
        [tmp_path / "latency", "5", "64", *map(str, cores_apart(2))],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode != 0
    with pytest.raises(LaunchError):
        parse("latency", done.stdout)
