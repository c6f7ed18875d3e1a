"""What a benchmark builds and runs, and what the command and the demo do with its results; nothing is measured here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from opi_xform import demo
from opi_xform.bench import main, pin, programs
from opi_xform.bench.kinds import fibers, opbench
from opi_xform.bench.programs import BARE, HEAP, LIBOPI, PLAIN, TABLE, Program
from opi_xform.bench.result import Result, Row
from opi_xform.launch.mpi import LaunchError, Mpi

ONE = Mpi(Path("/a/bin/mpicc"), "mpich", "5.0", Path("/a/mpi.h"))
TWO = Mpi(Path("/b/bin/mpicc"), "openmpi", "5.0", Path("/b/mpi.h"))


@pytest.fixture(autouse=True)
def launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mpi, "mpiexec", property(lambda mpi: mpi.mpicc.with_name("mpiexec")))


def noted(made: list[str], module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of compiling, the compiler and the program's name are noted."""

    def compile_with(compiler: Sequence[str], sources: object, output: Path, mpi: Mpi, flags: object) -> Path:
        made.append(f"{Path(next(iter(compiler))).name} {output.name}")
        return output

    monkeypatch.setattr(module, "compile_with", compile_with)


# --- programs ---------------------------------------------------------------------------------------------------------


def test_each_series_of_a_program_is_built_by_its_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[str] = []
    noted(made, programs, monkeypatch)
    program = Program("x", "latency", "message", (60, 4096), (10, 512), builds=(PLAIN, BARE, LIBOPI, HEAP))
    series = programs.build(program, [ONE, TWO], True, tmp_path)
    python = Path(sys.executable).name
    assert made == [
        *("mpicc mpich-mpich", "mpicc openmpi-openmpi", "mpicc mpich-bare"),  # the limit depends on no MPI: once
        *(f"{python} mpich-libopi", f"{python} openmpi-libopi"),
        *(f"{python} mpich-{HEAP.series}", f"{python} openmpi-{HEAP.series}"),
    ]
    assert [(one.name, one.mpi) for one in series[:3]] == [("mpich", ONE), ("openmpi", TWO), ("bare", None)]
    assert all(one.command[-2:] == ("10", "512") or one.name == "bare" for one in series)


def test_the_table_of_benchmarks_can_be_built() -> None:
    names = [program.name for program in TABLE]
    assert len(set(names)) == len(names)
    for program in TABLE:
        assert (programs.SOURCES / f"{program.source}.c").is_file()
        assert len({build.series for build in program.builds}) == len(program.builds)
        assert all(q <= f for q, f in zip(program.quick, program.full, strict=True))  # a quick run is no more


def test_each_rank_runs_on_a_cpu_of_its_own() -> None:
    """By its number on the node, as each launcher tells it; of more ranks than processors some share one."""
    cpu = min(os.sched_getaffinity(0))
    show = "import os; print(os.sched_getaffinity(0))"
    base = {k: v for k, v in os.environ.items() if k not in pin.LOCAL_RANK}
    for name in ("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK"):
        command = [sys.executable, pin.__file__, f"99999,{cpu}", sys.executable, "-c", show]
        done = subprocess.run(command, env={**base, name: "3"}, capture_output=True, text=True, check=False)
        assert done.stdout == f"{{{cpu}}}\n"


# --- opbench and fibers -----------------------------------------------------------------------------------------------


def test_opbench_is_built_plain_with_libopi_and_transformed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[str] = []
    said: list[str] = []
    noted(made, opbench, monkeypatch)
    kept = {"file": "a.c", "line": 3, "call": "MPI_Send", "code": "OPI101", "message": "why", "decision": "keep"}
    report = json.dumps({"sites": [kept, {**kept, "line": 4, "decision": "convert"}]})
    monkeypatch.setattr(opbench, "checked", lambda command, mpi: report)
    monkeypatch.setattr(opbench, "cores_apart", lambda ranks: list(range(ranks)))
    series = opbench.build([ONE, TWO], opbench.QUICK, tmp_path, said.append)
    assert [one.name for one in series] == ["mpich", "openmpi", "bare", "libopi", "libopi", "opi", "opi"]
    assert said == ["opbench: kept a.c:3 MPI_Send: OPI101 why"]
    assert series[2].command[1:] == ("200", str(1 << 18), "0", "1")


def test_rows_of_fibers_are_what_the_program_prints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    printed = {"switch": "switch 0 20.5\n", "message": "message 8 100 60\n", "barrier": "barrier 0 900\n", "life": ""}
    noted([], fibers, monkeypatch)
    monkeypatch.setattr(fibers, "ensure_ranks", lambda mpi: Path("lib.a"))
    monkeypatch.setattr(fibers, "_run", lambda program, mpi, ranks, what: (printed[what], 2.0, 1024))
    rows = {row.point: row for row in fibers.run([ONE], True, tmp_path, lambda line: None).rows}
    assert rows["switch, 2 ranks"].median_us == pytest.approx(0.0205)
    assert (rows["message"].bytes, rows["message"].median_us) == (8, pytest.approx(0.1))
    assert rows["message less memcpy"].median_us == pytest.approx(0.06)
    assert [point for point in rows if point.startswith("life")] == ["life of 1,000 ranks"]  # a quick run: the least
    assert rows["life of 1,000 ranks"].median_us == pytest.approx(2e6)


# --- the command ------------------------------------------------------------------------------------------------------


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["opi-bench", *arguments])
    return main.main()


def test_a_result_is_printed_and_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = Result("x", "message", "a machine", (Row("opi", "mpich", 2, 8, 1.5, 3, None, None),))
    asked: list[bool] = []
    bench = main.Bench(
        "about", lambda mpis, quick, work, say: asked.append(quick) or result, lambda r: f"text of {r.bench}"
    )
    monkeypatch.setattr(main, "BENCHES", {"x": bench})
    monkeypatch.setattr(main, "installed_mpis", lambda: [ONE])
    file = tmp_path / "r.json"
    assert command(monkeypatch, "run", "x", "--quick", "--json", str(file)) == 0
    out = capsys.readouterr()
    assert (out.out, asked) == ("text of x\n", [True])
    assert "one MPI only, mpich 5.0" in out.err
    assert json.loads(file.read_text())["bench"] == "x"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "x", "--json", "none/r.json"], "opi-bench: none/r.json: No such file or directory"),
        (["run", "x", "--plot", "r.txt"], "the name must end in one of .png, .pdf, .svg"),
        (["run", "x"], "opi-bench: no MPI"),
        (["apps", "--ranks", "0"], "--ranks and --rounds must be positive"),
    ],
)
def test_what_cannot_be_done_is_told_before_the_work(
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def none() -> list[Mpi]:
        raise LaunchError("no MPI")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(main, "BENCHES", {"x": main.Bench("about", lambda *_: pytest.fail("ran"))})
    monkeypatch.setattr(main, "installed_mpis", none)
    assert command(monkeypatch, *arguments) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_mpis_that_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of each kind."""
    kinds = {"/x/mpicc": "mpich", "/y/mpicc": "openmpi", "/z/mpicc": "mpich"}
    monkeypatch.setattr(main, "inspect_mpi", lambda path: Mpi(path, kinds[str(path)], "5.0", Path("mpi.h")))
    monkeypatch.setenv("OPI_MPICC", ":".join(kinds))
    assert [str(mpi.mpicc) for mpi in main.installed_mpis()] == ["/x/mpicc", "/y/mpicc"]


# --- the demo ---------------------------------------------------------------------------------------------------------

PRINTED = "norm 1.5\ntime pack+exchange+unpack: {} s\n"


def test_a_run_of_the_demo_is_its_lines_and_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "checked", lambda command, mpi, timeout_s: PRINTED.format("0.25"))
    assert demo.run(Path("p"), 2, ONE) == demo.Outcome("norm 1.5\n\n", 0.25)
    monkeypatch.setattr(demo, "checked", lambda command, mpi, timeout_s: "norm 1.5\n")
    with pytest.raises(LaunchError, match="printed no time line"):
        demo.run(Path("p"), 2, ONE)


def test_results_of_before_and_after_have_to_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {"before": iter([3.0, 1.0, 2.0]), "after": iter([0.5, 0.7, 0.6])}
    lines = {"before": "norm 1.5", "after": "norm 1.5"}
    monkeypatch.setattr(demo, "run", lambda p, ranks, mpi: demo.Outcome(lines[p.name], next(times[p.name])))
    program = demo.Converted("halo", ({"decision": "convert"}, {"decision": "keep"}), Path("before"), Path("after"))
    assert (program.count("convert"), program.count("keep")) == (1, 1)
    assert demo.compare(program, 2, ONE) == (2.0, 0.6)  # medians
    times, lines["after"] = {name: iter([1.0] * 3) for name in times}, "norm 1.6"
    with pytest.raises(LaunchError, match="halo on 2 ranks: results differ"):
        demo.compare(program, 2, ONE)


def test_a_site_with_the_path_that_decides_it() -> None:
    note = {"file": "a.c", "line": 9, "message": "read here"}
    site = {"file": "a.c", "line": 3, "call": "MPI_Send", "buffer": "b", "decision": "keep", "code": "OPI101"}
    text = demo.site_line({**site, "message": "why", "notes": [note]})
    assert text == "  a.c:3: MPI_Send(b): keep OPI101 why\n    a.c:9: read here"


def test_the_line_of_the_variant_is_in_the_program() -> None:
    source = demo.resource("testdata", "halo2d") / demo.BROKEN_FILE
    assert source.read_text(encoding="utf-8").count(demo.BROKEN_AFTER) == 1
