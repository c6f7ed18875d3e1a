"""The benchmarks of windows with several origins: what is found out from their times and counts, and what is drawn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from opi_xform.bench import programs
from opi_xform.bench.kinds import windows, windows_report
from opi_xform.bench.programs import FIBERS, LIBOPI, Program
from opi_xform.bench.result import MORE, Result, Row
from opi_xform.bench.rounds import Key, Rounds, Series
from opi_xform.launch.mpi import Mpi

MPICH = Mpi(Path("/a/mpicc"), "mpich", "5", Path("/a/mpi.h"))


def row(point: str, size: int = 0, us: float = 2.0, series: str = "mpich", ranks: int = 2) -> Row:
    return Row(series, None if series == "bare" else "mpich", ranks, size, us, 3, 1.0, None, point)


def test_the_programs_are_there_and_a_quick_run_is_no_more() -> None:
    names = [program.name for program, _ in windows.MEASURED]
    assert len({*names, *(program.name for program in programs.TABLE)}) == len(names) + len(programs.TABLE)
    for program, _ in windows.MEASURED:
        assert (programs.SOURCES / f"{program.source}.c").is_file()
        assert all(q <= f for q, f in zip(program.quick, program.full, strict=True))


def test_bandwidth_is_of_all_origins_together() -> None:
    found = windows.with_bandwidth(row("to-one-create-3", 65536, 100.0))
    assert dict(found.more) == {"mb_per_s": 3 * 16 * 65536 / 100}
    assert found.as_json()["mb_per_s"] == 31457.28
    assert dict(windows.with_bandwidth(row("pairs-allocate-4", 8, 1.0)).more) == {"mb_per_s": 512.0}


def test_what_is_hidden_lost_and_paid_is_taken_within_a_round() -> None:
    """In the second round everything takes twice as long; in the third nothing is hidden."""
    point = "pscw-create-"
    times: Rounds = {
        Key(8, f"{point}transfer"): [10.0, 20.0, 10.0],
        Key(8, f"{point}alone"): [12.0, 24.0, 12.0],
        Key(8, f"{point}both"): [13.0, 26.0, 22.0],
        Key(8, f"{point}meanwhile"): [12.6, 25.2, 12.0],
    }
    found = dict(windows.overlap(times, Key(8, f"{point}both")))
    assert found == pytest.approx({"hidden": 0.9, "lost": 0.05, "pays_us": 2.0})


def test_counts_are_per_operation() -> None:
    text = "version: 1\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n1 2\nsummary: 55359 15414 9713 0 150 50\n"
    assert dict(windows.counts_of(text)) == {"first_level_misses": 2.0, "instructions": 553.59}
    short = "events: Ir Dr Dw I1mr D1mr D1mw\nsummary: 3200 907 506\n"  # zeros at the end are left out
    assert dict(windows.counts_of(short)) == {"first_level_misses": 0.0, "instructions": 32.0}


def test_fibers_are_one_process_on_one_processor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[tuple[list[str], list[str]]] = []

    def compile_with(compiler: Sequence[str], sources: object, output: Path, mpi: Mpi, flags: Sequence[str]) -> Path:
        made.append(([*compiler], [*flags]))
        output.touch()
        return output

    monkeypatch.setattr(programs, "compile_with", compile_with)
    program = Program("x", "onesided/origins", "epoch", (9, 8), (3, 8), ranks=4, builds=(FIBERS, LIBOPI))
    monkeypatch.setattr(Mpi, "mpiexec", property(lambda mpi: mpi.mpicc.with_name("mpiexec")))
    other = Mpi(Path("/b/mpicc"), "openmpi", "5", Path("/b/mpi.h"))
    series = programs.build(program, [MPICH, other], True, tmp_path, ("-O3",))
    assert [(one.name, one.mpi) for one in series] == [("libopi-fibers", MPICH), ("libopi", MPICH), ("libopi", other)]
    assert "--ranks" in made[0][0]
    assert made[0][1] == ["-O3", "-DBENCH_FIBERS"]
    assert "OPI_RANKS=4" in series[0].command
    assert "OPI_RANKS_CARRIER=fibers" in series[0].command
    programs.build(program, [MPICH, other], True, tmp_path, ("-O3",))
    assert len(made) == 3  # with other ranks they are the same programs


def test_each_number_of_ranks_has_a_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[int] = []

    def build(program: Program, *_: object) -> list[Series]:
        asked.append(program.ranks)
        return [Series("mpich", MPICH, ())]

    def run_rounds(*_: object) -> list[Rounds]:
        return [{Key(0, f"pscw-create-{asked[-1] - 1}"): [1.0, 2.0, 3.0]}]

    monkeypatch.setattr(programs, "build", build)
    monkeypatch.setattr(windows, "run_rounds", run_rounds)
    result = windows.run_origins([MPICH], False, tmp_path, lambda _: None)
    assert asked == [2, 3, 4, 5, 6, 7, 8]
    assert [(one.ranks, one.point, one.median_us) for one in result.rows][-1] == (8, "pscw-create-7", 2.0)


RESULTS = (
    Result(
        windows.ORIGINS.name, "epoch", "a machine", tuple(row(f"pscw-create-{n}", 0, n, ranks=n + 1) for n in (2, 1))
    ),
    Result(
        windows.PAIRS.name,
        "epoch",
        "a machine",
        tuple(windows.with_bandwidth(row(f"to-one-create-{n}", size, 4.0)) for n in (1, 2) for size in (8, 16)),
    ),
    Result(
        windows.OVERLAP.name,
        "epoch",
        "a machine",
        (
            row("pscw-create-alone", 8),
            Row("mpich", "mpich", 2, 8, 2.0, 3, 1.0, None, "pscw-create-both", more=(("hidden", 0.5), ("lost", 0.25))),
        ),
    ),
    Result(windows.MISSES.name, "put", "a machine", (row("put-create", 8), row("put-create", 1024))),
)


def test_panels_are_over_origins_or_over_bytes() -> None:
    origins, pairs, overlap, misses = (windows_report.panels_of(result) for result in RESULTS)
    assert [(one.title, one.lines) for one in origins] == [("pscw-create", {"mpich": [(1.0, 1.0), (2.0, 2.0)]})]
    assert [one.title for one in pairs] == ["to-one-create, 8 B", "to-one-create, 16 B"]
    assert pairs[0].lines == {"mpich": [(1.0, 32.0), (2.0, 64.0)]}
    assert [(one.y, one.lines) for one in overlap] == [
        ("hidden", {"mpich": [(8.0, 0.5)]}),
        ("lost", {"mpich": [(8.0, 0.25)]}),
    ]
    assert [one.y for one in misses] == ["microseconds"]  # without valgrind


def test_text_has_what_was_found_out_besides_times() -> None:
    text = windows_report.text_of(RESULTS[2])
    assert MORE["hidden"] in text
    assert ["pscw-create-both", "8", "0.25"] in [line.split() for line in text.splitlines()]
    assert "alone" not in text.replace("the MPI alone", "")
    assert json.loads(RESULTS[2].as_json())["rows"][1]["hidden"] == 0.5


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.bench)
def test_plots_are_written(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    windows_report.save_plot(result, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
