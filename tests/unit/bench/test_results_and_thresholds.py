"""The arithmetic of opi-bench, its formats, and the thresholds that it chooses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import CHECKOUT

from opi_xform.bench.kinds.cachebench import misses_of
from opi_xform.bench.machine import cores_apart
from opi_xform.bench.result import Result, Row, result_text, save_plot
from opi_xform.bench.rounds import Key, Series, Value, parse, rows
from opi_xform.bench.tune import NEVER, THRESHOLDS, choose, tune_file
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
