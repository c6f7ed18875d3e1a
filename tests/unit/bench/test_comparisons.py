"""opi-bench compare: outputs and times of two programs, and what is said of them."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import MPIS

from opi_xform.bench.processes import Ended
from opi_xform.bench.spread import holds, spread, verdict
from opi_xform.bench.ways import ways
from opi_xform.bench.whole import compare_cli, compare_report
from opi_xform.bench.whole.apps_report import Site
from opi_xform.bench.whole.apps_trace import Times
from opi_xform.bench.whole.compare import LINKED, PLAIN, TRANSFORMED, Comparison, Effort, Form, Found, failure
from opi_xform.bench.whole.compare_output import TIMES, Difference, differences, reference
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.resources import resource

SCHEMA = json.loads(resource("docs", "schema", "compare-1.json").read_text("utf-8"))


def told(plain: list[str], other: str, *ignored: str) -> list[tuple[str, str, bool]]:
    patterns = [re.compile(one) for one in ignored]
    found = differences(reference(plain, patterns), other, patterns)
    return [(one.plain, one.other, one.time) for one in found]


def test_equal_output_is_the_same_whatever_the_blanks() -> None:
    assert told(["norm  1.5\n\nend\n"], "norm 1.50\nend\n") == []
    assert told(["nan -0.0"], "nan 0.0") == []


def test_a_number_that_the_plain_program_prints_alike_must_be_the_same() -> None:
    assert told(["step 1 norm 1.5", "step 1 norm 1.5"], "step 1 norm 1.6") == [
        ("step 1 norm 1.5", "step 1 norm 1.6", False)
    ]


def test_a_number_in_which_the_plain_program_differs_is_not_compared_but_its_neighbours_are() -> None:
    plain = ["7 steps in 0.25 parts", "7 steps in 0.75 parts"]
    assert told(plain, "7 steps in 99 parts") == []
    assert told(plain, "8 steps in 0.25 parts") == [("7 steps in 0.25 parts", "8 steps in 0.25 parts", False)]
    assert reference(plain).unsteady() == ["7 steps in * parts"]


def test_numbers_that_differ_by_rounding_are_compared_roughly() -> None:
    """Two MPIs add up in different orders; that does not excuse another sum."""
    plain = ["sum 3.14159265358", "sum 3.14159265359"]
    assert told(plain, "sum 3.14159265357") == []
    assert told(plain, "sum 3.1416") == [("sum 3.14159265358", "sum 3.1416", False)]
    assert told(plain, "sum nan") == [("sum 3.14159265358", "sum nan", False)]
    assert reference(plain).unsteady() == []


def test_ranks_print_in_any_order() -> None:
    plain = ["rank 0 has 5\nrank 1 has 6", "rank 1 has 6\nrank 0 has 5"]
    assert told(plain, "rank 1 has 6\nrank 0 has 5") == []
    assert told(plain[:1], "rank 1 has 6\nrank 0 has 5") == []
    assert told(plain, "rank 0 has 6\nrank 1 has 5") != []
    assert reference(plain).unsteady() == []
    assert reference([*plain, "rank 0 has 5\nrank 1 has 7"]).unsteady() == ["rank 0 has *"]


def test_lines_too_many_and_too_few() -> None:
    assert told(["a\nb"], "a\nb\nc 3") == [("", "c 3", False)]
    assert told(["a\nx 1\nx 2"], "a\nx 2") == [("x 1", "", False)]
    assert told(["x 1\nx 2"], "x 1\nx 2\nx 3") == [("", "x 3", False)]
    assert told(["a\nb"], "") == [("a", "", False), ("b", "", False)]


def test_lines_that_the_plain_program_prints_now_and_then_do_not_count() -> None:
    assert told(["a\nwaited", "a"], "a") == []
    assert told(["by one", "by other"], "by one") == []


def test_times_that_differ_are_told_and_do_not_count() -> None:
    assert told(["Time: 3"], "Time: 2") == [("Time: 3", "Time: 2", True)]
    assert TIMES.search("Rate (MFlops/s): 3")
    assert TIMES.search("elapsed 3")
    assert not TIMES.search("Time step 3: energy 4")
    assert not TIMES.search("iterations 7, generated 9")


def test_lines_can_be_ignored() -> None:
    assert told(["a\nhost one"], "a\nhost two", "^host") == []


def test_a_difference_is_a_sentence() -> None:
    assert Difference("a 1", "a 2").told() == "prints `a 2` where the plain program prints `a 1`"
    assert "does not print `a 1`" in Difference("a 1", "").told()
    assert "prints `a 2`, which the plain program does not" in Difference("", "a 2").told()


def test_the_range_of_five_rounds_holds_the_median_in_15_of_16_cases() -> None:
    assert holds(5, 0) == 1 - 2 / 32
    assert holds(9, 1) == 1 - 2 * (1 + 9) / 512


def test_the_range_leaves_out_what_95_percent_allow() -> None:
    five = spread([3.0, 1.0, 2.0, 5.0, 4.0])
    assert (five.median, five.low, five.high) == (3.0, 1.0, 5.0)
    nine = spread([float(n) for n in range(1, 10)])
    assert (nine.median, nine.low, nine.high) == (5.0, 2.0, 8.0)
    assert spread([2.0]).sure == 0.0


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([1.2, 1.3, 1.1, 1.4, 1.2], "faster"),
        ([0.8, 0.9, 0.7, 0.8, 0.9], "slower"),
        ([1.2, 0.9, 1.1, 1.4, 1.2], "noise"),
        ([1.005, 1.004, 1.006, 1.003, 1.002], "noise"),
        ([1.2, 1.3, 1.1, 1.4], "few"),
        ([2.0], "few"),
    ],
)
def test_verdicts(ratios: list[float], expected: str) -> None:
    assert verdict(spread(ratios)) == expected


MPICH = Mpi(Path("/a/mpicc"), "mpich", "5", Path("/a/mpi.h"))
OPENMPI = Mpi(Path("/b/mpicc"), "openmpi", "5", Path("/b/mpi.h"))


def counts(**ways: tuple[int, int]) -> dict[str, Any]:
    return {name: {"messages": messages, "bytes": size} for name, (messages, size) in ways.items()}


PROFILED = {
    "ranks": 2,
    "on_node": counts(all=(9, 9216), inline=(0, 0), give=(9, 9216)),
    "left_to_mpi": counts(all=(2, 64)),
    "off_node": {"messages": 0, "bytes": 0},
    "outside": {"messages": 1, "bytes": 8},
    "copies": {"made": 0, "made_bytes": 0, "saved": 18, "saved_bytes": 18432, "buffers_passed": 9},
    "time": {"calls": 20, "library_s": 0.5, "waiting_s": 0.25},
}


def found(kind: str, mpi: Mpi, *times: float, inside: bool = False) -> Found:
    one = Found(Form(kind, mpi, Path("/p"), inside=inside), list(times), [Times(times[0], 0.25, 0.125)])
    one.profile = PROFILED if kind != PLAIN else None
    return one


def comparison(*more: Found) -> Comparison:
    forms = (
        found(PLAIN, MPICH, 1.0, 1.1, 1.0, 1.2, 1.0),
        found(PLAIN, OPENMPI, 2.0, 2.0, 2.0, 2.0, 2.0),
        found(LINKED, MPICH, 1.0, 1.0, 1.1, 1.0, 1.0),
        found(TRANSFORMED, MPICH, 0.5, 0.5, 0.5, 0.5, 0.5),
        *more,
    )
    sites = (
        Site("a.c:3", "MPI_Send", "send", "b", "keep", "OPI101", "read after"),
        Site("a.c:4", "MPI_Recv", "recv", "r", "convert", None, ""),
    )
    return Comparison("prog.c -- 5", Effort(), True, forms, sites, reference(["x 1\ny 2", "x 3\ny 2"]))


def test_ratios_are_to_the_better_plain_mpi_within_a_round() -> None:
    one = comparison()
    assert one.best is one.found[0]
    ratio = one.ratio(one.found[3])
    assert ratio is not None
    assert (ratio.median, ratio.low, ratio.high) == (2.0, 2.0, 2.4)
    text = compare_report.text_of(one, "a machine")
    assert "transformed/mpich: 2.00 times the speed of mpich, between 2.00 and 2.40: faster." in text
    assert "linked/mpich: 1.00 times the speed of mpich. That is no difference beyond the" in text
    assert "mpich spends 38 % of its time in MPI" in text
    assert "sites: 2, of which 1 converted; kept for OPI101 1x (`opi-xform --explain" in text
    assert "outputs: the same (2 lines)" in text
    assert (
        "outputs: not compared are lines and numbers (*) in which runs of the plain program itself differ: `x *`"
        in " ".join(text.split())
    )


def test_a_busy_machine_and_ranks_that_take_turns_are_told() -> None:
    text = compare_report.text_of(comparison(), "a machine")
    assert "busy" not in text
    assert "take turns" not in text
    text = compare_report.text_of(dataclasses.replace(comparison(), busy=7.0, crowded=True), "a machine")
    assert "The machine is busy (load average 7.0)" in text
    assert "take turns" in text


def test_no_line_of_the_report_is_wider_than_a_terminal() -> None:
    assert max(map(len, compare_report.text_of(comparison(), "a machine " * 20).splitlines())) <= 80


def test_ways_and_copies() -> None:
    assert ways(PROFILED) == {"give": (9, 9216), "mpi": (3, 72)}
    table = [line.split() for line in compare_report.way_table(comparison().found).splitlines()]
    assert ["give", "9", "9", "KiB", "9", "9", "KiB"] in table
    assert ["copies", "saved", "18", "18", "KiB", "18", "18", "KiB"] in table


def test_a_form_that_failed_or_differs_is_told_and_counts() -> None:
    assert not comparison().wrong
    broken = found(TRANSFORMED, OPENMPI, 1.0)
    broken.failed = "exit code 3; its output ends: no memory"
    one = comparison(broken)
    assert one.wrong
    text = " ".join(compare_report.text_of(one, "a machine").split())
    assert "failed: transformed/openmpi: exit code 3; its output ends: no memory" in text
    other = comparison()
    other.found[3].differs = (Difference("time 3", "time 2", True),)
    assert not other.wrong
    assert "not counted, since it looks like a time" in " ".join(compare_report.text_of(other, "").split())
    other.found[3].differs = (Difference("norm 3", "norm 2"),)
    assert other.wrong
    text = " ".join(compare_report.text_of(other, "a machine").split())
    assert "DIFFER: transformed/mpich prints `norm 2` where the plain program prints `norm 3`" in text
    assert "outputs: the same" not in text


def test_the_time_in_mpi_of_a_program_that_hides_its_calls_is_libopi_s() -> None:
    one = found(TRANSFORMED, MPICH, 1.0, inside=True)
    assert one.in_mpi() == 0.25 + 0.125 + 0.5 / 2
    assert one.part("waiting") is None
    one.profile = None
    assert one.in_mpi() is None


def test_calls_that_were_only_added_up_are_not_told_apart() -> None:
    one = found(PLAIN, MPICH, 1.0)
    one.traced = [Times(1.0, 0.25, 0.125, 0.5)]
    assert one.in_mpi() == 0.875
    assert one.part("communication") is None
    one.threads = True
    assert one.in_mpi() is None


def test_json_is_as_its_schema_says() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    broken = found(TRANSFORMED, OPENMPI, 1.0)
    broken.failed, broken.times = "exit code 3", []
    value = json.loads(compare_report.as_json(comparison(broken), "a machine"))
    jsonschema.validate(value, SCHEMA)
    assert value["forms"][3]["ratio_best_mpi"]["verdict"] == "faster"
    assert value["forms"][4]["ratio_best_mpi"] is None
    value["forms"][0]["speed"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, SCHEMA)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_picture_is_written(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    compare_report.save_plot(comparison(), "a machine", tmp_path / f"p.{suffix}")
    assert (tmp_path / f"p.{suffix}").stat().st_size > 1000


def test_figures_are_short() -> None:
    assert [compare_report.seconds(value) for value in (12.345, 0.0123, 123e-6, 0.0)] == [
        "12.3 s",
        "12.3 ms",
        "123 us",
        "0 us",
    ]


def test_a_failure_is_one_line_with_the_end_of_the_output() -> None:
    assert failure(Ended(0, "fine", "", 1.0), 9) == ""
    assert (
        failure(Ended(3, "1\n2\n3\n", "a\nbad\n\nend\n", 1.0), 9) == "exit code 3; its output ends: 2 | 3 | bad | end"
    )
    line = "=" * 30
    mpich = f"{line}\n=   BAD TERMINATION\n{line}\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed\n"
    openmpi = f"{'-' * 70}\nprterun has exited\n{'-' * 70}\n"
    for launcher in (mpich, openmpi):
        assert failure(Ended(9, "too small\n", launcher, 1.0), 9) == "exit code 9; its output ends: too small"
        assert failure(Ended(9, "", launcher, 1.0), 9) != "exit code 9; it printed nothing"
    assert failure(Ended(9, "", "", 1.0), 9) == "exit code 9; it printed nothing"
    assert failure(Ended(3, "", "a\0\x1b[2Jb", 1.0), 9).endswith(": a??[2Jb")
    assert failure(Ended(-9, "", "", 9.0, in_time=False), 9).startswith("no end after 9 s")


def test_the_program_s_arguments_follow_two_dashes() -> None:
    assert compare_cli.split(["compare", "a.c", "--flags", "-O3", "--", "-n", "--", "5"]) == (
        ["compare", "a.c", "--flags=-O3"],
        ["-n", "--", "5"],
    )


def test_two_mpis_of_one_kind_are_one_too_many() -> None:
    if not MPIS:
        pytest.skip("no mpicc: set OPI_MPICC")
    name = str(MPIS[0].mpicc)
    with pytest.raises(LaunchError, match="again"):
        compare_cli.mpis_of([name, name], list)
