"""opi-bench: a quick run under a real MPI, and that its programs notice wrong data."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, in_turn

from opi_xform.bench.kinds import windows
from opi_xform.bench.machine import cores_apart
from opi_xform.bench.programs import BARE, SOURCES, TABLE, Build, Program, build
from opi_xform.bench.rounds import Key, parse, run_once
from opi_xform.bench.tune import THRESHOLDS, file_text, measure
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.ranks import Carrier
from opi_xform.launch.tools import OPICC, compile_with

EIGHT, MANY = Key(8), Key(64)
PROGRAMS = [*TABLE, *(program for program, _ in windows.MEASURED)]


def opi_bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "opi_xform.bench.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_list_names_the_benchmarks() -> None:
    done = opi_bench("list")
    assert done.returncode == 0
    names = {line.split()[0] for line in done.stdout.splitlines()}
    others = {"opbench", "cache", "cannon", "fibers", "memory", "threads"}
    assert names == others | {program.name for program in PROGRAMS}


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


UP_TO = next(one for one in THRESHOLDS if one.up_to)


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


BUILDS = [(program, build) for program in PROGRAMS for build in program.builds]


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("program", "build"), BUILDS, ids=lambda value: getattr(value, "name", getattr(value, "series", ""))
)
def test_a_build_of_a_benchmark_runs_and_finds_its_data_right(
    mpi_user: MpiUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Program, build: Build
) -> None:
    """A short run; a rank that reads a wrong byte makes the program fail. Half of the builds with each MPI.

    No more than in a quick run: samples of `skew` wait for a target that computes, and where the machine has other work
    each message of a deep queue may wait for its turn.
    """
    in_turn(mpi_user, BUILDS.index((program, build)))
    monkeypatch.setenv("OPI_CACHE", mpi_user.environment["OPI_CACHE"])
    compiler = mpi_user.opicc if build.ours else mpi_user.mpicc
    strict = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror")
    source, target = SOURCES / f"{program.source}.c", tmp_path / "program"
    if build.carrier:
        compile_with([*OPICC, "--ranks"], [str(source)], target, mpi_user.mpi, (*strict, *build.defines))
    else:
        compiler(*strict, *program.defines, *build.defines, source, "-o", target)
    samples = str(min((5, *program.quick[:1])))
    ranks = min(program.ranks, 3 if build.ours or build.alone else 2)  # an MPI waits by spinning
    most = str(program.quick[1] if program.name == "deepqueue" else 4096)
    command = [str(tmp_path / "program"), samples, most]
    if build.alone or build.carrier:
        command += map(str, cores_apart(ranks)) if build.alone else ()
        told = Carrier(build.carrier).environment(ranks) if build.carrier else {}
        environment = {**mpi_user.environment, **told}
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
        out = done.stdout
    else:
        extra = dict(setting.split("=") for setting in build.environment)
        out = mpi_user.run(ranks, *command, **extra).out
    assert parse(program.name, out)


@pytest.mark.parametrize("name", ["origins", "pairs", "overlap", "misses"])
def test_a_benchmark_of_windows_notices_a_wrong_byte(tmp_path: Path, name: str) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    for source in (SOURCES / "onesided").glob("*.[ch]"):
        shutil.copy(source, tmp_path)
    header = tmp_path / "windows_bare.h"
    good = "memcpy(s->exposed + at, s->own, bytes);"
    assert header.read_text().count(good) == 1
    header.write_text(header.read_text().replace(good, good + " s->exposed[at + 3]++;"))
    command = [compiler, "-O2", "-DBENCH_BARE", str(tmp_path / f"{name}.c"), "-o", str(tmp_path / name)]
    subprocess.run(command, check=True)
    command = [str(tmp_path / name), "2", "4096", *map(str, cores_apart(3 if name in ("origins", "pairs") else 2))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    with pytest.raises(LaunchError):
        parse(f"onesided-{name}", done.stdout)


@pytest.fixture
def one_limit(monkeypatch: pytest.MonkeyPatch, opi_cache: Path) -> Mpi:
    """The MPI, where only the limit is built of the benchmark of misses: what valgrind counts of it is known."""
    if not MPIS:
        pytest.skip("no mpicc: set OPI_MPICC")
    monkeypatch.setenv("OPI_CACHE", str(opi_cache))
    monkeypatch.setattr(windows, "MISSES", dataclasses.replace(windows.MISSES, builds=(BARE,)))
    return MPIS[0]


@pytest.mark.mpi
def test_instructions_and_misses_of_an_operation_are_counted(one_limit: Mpi, tmp_path: Path) -> None:
    """The same at each run; a copy of twice the cache misses each line that it reads and each that it writes."""
    if shutil.which("valgrind") is None:
        pytest.skip("no valgrind")
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        series = build(windows.MISSES, [one_limit], False, tmp_path / name, windows.COUNTED_FLAGS)[0]
        keys = [*run_once("onesided-misses", series, one_limit)]
        found.append(windows.count(series, keys, tmp_path / name, one_limit))
    assert {key: dict(more)["instructions"] for key, more in found[0].items()} == {
        key: dict(more)["instructions"] for key, more in found[1].items()
    }
    for key, more in found[0].items():
        misses = dict(more)["first_level_misses"]
        assert misses == pytest.approx(2 * 1024 if key.bytes == 65536 else 0, abs=32)
        assert dict(more)["instructions"] > 5


@pytest.mark.mpi
def test_without_valgrind_there_are_times(one_limit: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(windows.shutil, "which", lambda _: None)
    result = windows.run_misses([one_limit], True, tmp_path, said.append)
    assert said[-1] == "onesided-misses: no valgrind: times only"
    assert result.rows
    assert not any(row.more for row in result.rows)


@pytest.mark.mpi
def test_a_program_that_valgrind_cannot_run_has_times(
    one_limit: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(windows.shutil, "which", lambda _: "/bin/false")
    result = windows.run_misses([one_limit], True, tmp_path, said.append)
    assert "times only: under valgrind exit code 1, 0 of 8 points: it says nothing" in said[-1]
    assert not any(row.more for row in result.rows)


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
