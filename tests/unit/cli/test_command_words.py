"""What the words of a command line mean, and what is told of wrong ones."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opi_xform.cli import mending
from opi_xform.cli.arguments import apart, bytes_of
from opi_xform.cli.completion import SHELLS, completion, flags, manual
from opi_xform.cli.options import available_cpus, parse_arguments, parser
from opi_xform.cli.outcome import ERROR, Failure, Problem, exit_code, fail
from opi_xform.cli.versions import versions


@pytest.mark.parametrize(
    ("words", "own", "flags"),
    [
        (["a.c", "-Iinclude", "-DN=1"], ["a.c"], ["-Iinclude", "-DN=1"]),
        (["-I", "include", "a.c"], ["a.c"], ["-I", "include"]),
        (["-i", "a.c", "-o", "out"], ["-i", "a.c", "-o", "out"], []),  # those of opi-xform
        (["-std=c99", "-O2", "-Wall", "-fopenmp", "-lm"], [], ["-std=c99", "-O2", "-Wall", "-fopenmp", "-lm"]),
        (["--strict", "-v", "-p", "build"], ["--strict", "-v", "-p", "build"], []),
    ],
)
def test_flags_of_the_compiler_among_the_words(words: list[str], own: list[str], flags: list[str]) -> None:
    assert apart(words) == (own, flags)


def test_a_flag_that_needs_a_value() -> None:
    with pytest.raises(ValueError, match="-D needs a value"):
        apart(["a.c", "-D"])


@pytest.mark.parametrize(
    ("text", "number"), [("4096", 4096), ("4K", 4096), ("4 KiB", 4096), ("4k", 4096), ("1M", 1 << 20), ("7B", 7)]
)
def test_numbers_of_bytes(text: str, number: int) -> None:
    assert bytes_of(text) == number


@pytest.mark.parametrize("text", ["", "K", "4T", "-4", "4.5K", "4096 bytes"])
def test_what_is_no_number_of_bytes(text: str) -> None:
    with pytest.raises(ValueError, match="is no number of bytes"):
        bytes_of(text)


@given(st.integers(0, 1 << 40), st.sampled_from(["", "K", "M", "G"]))
def test_a_number_of_bytes_is_a_multiple_of_its_unit(number: int, unit: str) -> None:
    assert bytes_of(f"{number}{unit}") == number * {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[unit]


# --- options ----------------------------------------------------------------------------------------------------------


def test_options_are_one_value() -> None:
    found = parse_arguments(["a.c", "-o", "out", "--strict", "-j", "3", "--min-bytes", "4K", "-DN=1", "--", "-fopenmp"])
    assert (found.paths, found.output, found.strict, found.jobs, found.min_bytes) == (("a.c",), "out", True, 3, 4096)
    assert found.flags == ("-DN=1", "-fopenmp")
    assert parse_arguments(["a.c"]).flags is None  # then those of a build count
    assert parse_arguments(["a.c", "--"]).flags == ()
    assert 1 <= available_cpus() == parse_arguments(["a.c"]).jobs


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.c", "-o", "out", "-i"], "-i"),
        (["a.c", "--strickt"], "--strict"),  # what was meant is told
        (["a.c", "-j", "0"], "-j"),
        (["a.c", "--min-bytes", "much"], "is no number of bytes"),
    ],
)
def test_options_that_mean_nothing_end_the_run(words: list[str], said: str) -> None:
    with pytest.raises(Failure) as failure:
        parse_arguments(words)
    assert said in str(failure.value)
    assert failure.value.exit_code == ERROR


# --- problems ---------------------------------------------------------------------------------------------------------


def test_a_problem_is_one_line() -> None:
    assert str(Problem("one\n  two", "a.c", 3, code="OPI901")) == "a.c:3: error: one two [OPI901]"
    assert str(Problem("why", severity="note")) == "opi-xform: note: why"
    failure = fail("why", "a.c", exit_code=123)
    assert (str(failure), failure.exit_code) == ("a.c: error: why", 123)
    assert (exit_code(0), exit_code(2)) == (0, 1)


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("'mine.h' file not found", "name its directory, as in `opi-xform FILES -Iinclude`, or use -p"),
        ("use of undeclared identifier 'x'", "declare it before its use"),
        ("expected ';' after expression", "the file must compile before it can be analysed"),
        ("what it is; and what to do", ""),  # it says so already
    ],
)
def test_what_to_do_about_a_source_that_cannot_be_read(message: str, advice: str) -> None:
    found = mending.problem(message, "a.c", 3)
    assert found.message == (f"{message}; {advice}" if advice else message)
    assert (found.file, found.line, found.code) == ("a.c", 3, "OPI901")


def test_c23_is_told_where_a_function_is_called(tmp_path: Path) -> None:
    """A variable that nobody declared is wrong in any C."""
    (tmp_path / "a.c").write_text("int f(void) {\n    return helper (1) + size;\n}\n")
    asked = "declare it before its use, which C23 (-std=c2x) asks of functions, too"
    for name, advice in (("helper", asked), ("size", "declare it before its use")):
        message = f"use of undeclared identifier '{name}'"
        assert mending.problem(message, str(tmp_path / "a.c"), 2).message == f"{message}; {advice}"


def test_a_header_that_several_files_miss_is_told_once_with_their_number() -> None:
    missing = [Problem("'m.h' file not found; and so on", file, 1) for file in ("a.c", "b.c", "c.c")]
    other = Problem("expected ';'", "a.c", 7)
    found = mending.gathered([*missing, other, other])
    assert [str(one) for one in found] == [
        "a.c:1: error: 'm.h' file not found, and 2 more files miss it; and so on",
        "a.c:7: error: expected ';'",
    ]


def test_a_compiler_of_an_mpi_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPI_MPICC", raising=False)
    mending.require_mpicc()
    for name, what in ((str(tmp_path / "none"), "no such command"), (str(tmp_path), "is no program that can be run")):
        monkeypatch.setenv("OPI_MPICC", name)
        with pytest.raises(Failure, match=what):
            mending.require_mpicc()


def test_versions_name_what_a_report_of_a_fault_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPI_MPICC", str(tmp_path / "none"))
    lines = versions().splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["opi-xform", "Python"]
    assert [line.split()[0] for line in lines[2:4]] == ["libclang", "islpy"]
    assert lines[4].startswith("MPI: ")
    assert str(tmp_path / "none") in lines[4]


# --- completion -------------------------------------------------------------------------------------------------------


def example() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("opi-xform", description=".start", add_help=False)
    made.add_argument("-o", "--output", metavar="DIR", help="where it's [put]: there")
    made.add_argument("--format", choices=("text", "json"), help="how")
    made.add_argument("--profile", action="append", default=[], metavar="FILE", help="a run")
    made.add_argument("--strict", action="store_true", help="no more")
    return made


def test_what_follows_an_option() -> None:
    found = {flag.names[-1]: flag for flag in flags(example())}
    takes = {name: flag.takes for name, flag in found.items()}
    assert takes == {"--output": "dir", "--format": ("text", "json"), "--profile": "file", "--strict": ""}
    assert [name for name, flag in found.items() if flag.repeated] == ["--profile"]
    assert found["--format"].metavar == "text|json"


@pytest.mark.parametrize(
    ("shell", "parts"),
    [
        ("bash", ["-o|--output) COMPREPLY=($(compgen -d", '--format) COMPREPLY=($(compgen -W "text json"']),
        (
            "zsh",
            ["'--output[where it'\\''s \\[put\\]\\: there]:directory:_files -/'", "'*--profile[a run]:file:_files'"],
        ),
        ("fish", ["-s o -l output -x -a '(__fish_complete_directories)' -d 'where it\\'s [put]: there'"]),
    ],
)
def test_scripts_of_the_shells(shell: str, parts: list[str]) -> None:
    script = completion(shell, example())
    for part in parts:
        assert part in script
    command = shutil.which(shell)
    if command is not None:
        done = subprocess.run([command, "-n", "/dev/stdin"], input=script, text=True, capture_output=True, check=False)
        assert done.stderr == ""


def test_every_option_is_in_each_script_and_in_the_manual() -> None:
    names = [name for flag in flags(parser()) for name in flag.names]
    page = manual(parser(), "1.2")
    assert len(names) > 20
    scripts = {shell: completion(shell, parser()) for shell in SHELLS}
    for name in names:
        in_fish = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
        assert name in scripts["bash"]
        assert name in scripts["zsh"]
        assert in_fish in scripts["fish"]
        assert name.replace("-", "\\-") in page
    assert "\\&.start" in manual(example(), "1.2")  # no request of troff
