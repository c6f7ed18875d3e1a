"""Where a run writes, what ``--check`` finds, and what a run of a program is read from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opi_xform.cli.config import Configuration
from opi_xform.cli.inputs.annotations import find_annotations
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import Failure
from opi_xform.cli.output.checks import findings, gained, load_baseline, new_baseline, with_remarks
from opi_xform.cli.output.destination import (
    beside_earlier,
    earlier,
    made_of,
    output_failure,
    read_by,
    require_apart,
    require_places,
)
from opi_xform.cli.output.explained import load_profiles
from opi_xform.cli.output.facts import Facts
from opi_xform.frontend import parse_unit
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Plan
from opi_xform.report import baseline
from opi_xform.report.globals import GlobalDecision
from opi_xform.rewrite.manifest import Kept
from opi_xform.rewrite.write import OutputError, OutputFile, write_all
from opi_xform.text.sources import Sources

TEXT = "void f(void) {\n    MPI_Send(a); // opi: expect give\n}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(TEXT)
    Path("out").mkdir()
    return tmp_path


def site(decision: str = "keep", code: str = "OPI101") -> Decision:
    at = TEXT.index("MPI_Send")
    span = Span(os.path.abspath("a.c"), at, at + 11, 2, 5)
    return Decision(span, "f", "MPI_Send", "send", "a", "a", decision, code, "why")


def found(
    plan: Plan, options: Options, outputs: list[OutputFile] | None = None, facts: Facts | None = None
) -> list[str]:
    """What ``--check`` finds of a program with that plan."""
    sources, file = Sources(), os.path.abspath("a.c")
    comments = list(find_annotations(file, sources.data(file)))
    known = load_baseline(options)
    all_ = findings(options, plan, sources, comments, outputs or [], known, Configuration(), facts)
    return [f"{f.code} {os.path.relpath(f.file)}:{f.line} {f.message}" for f in all_]


def written(plan: Plan, facts: Facts | None = None) -> None:
    """A baseline of a program with that plan."""
    sources, file = Sources(), os.path.abspath("a.c")
    comments = list(find_annotations(file, sources.data(file)))
    made = new_baseline("known.json", Options(()), plan, sources, comments, Configuration(), facts)
    Path("known.json").write_bytes(baseline.write(made))


# --- what is checked --------------------------------------------------------------------------------------------------


def test_a_comment_that_does_not_hold_is_a_finding_and_without_a_check_a_remark() -> None:
    (line,) = found(Plan((site(),)), Options(("a.c",), check=True))
    assert line == "OPI907 a.c:2 `expect give` is unmet: MPI_Send of a stays, OPI101 why"
    assert found(Plan((site("convert", ""),)), Options(("a.c",), check=True)) == []
    sources, file = Sources(), os.path.abspath("a.c")
    plan = with_remarks(Plan((site(),)), sources, list(find_annotations(file, sources.data(file))))
    assert [(d.code, d.span.line) for d in plan.diagnostics] == [("OPI907", 2)]


def test_an_output_that_is_not_what_would_be_written() -> None:
    options = Options(("a.c",), output="out", check=True)
    output = OutputFile("out/a.c", "a.c", b"one\ntwo\n")
    good = Plan((site("convert", ""),))
    assert found(good, options, [output]) == ["OPI906 out/a.c:0 out of date: the file is missing; run opi-xform -o out"]
    Path("out/a.c").write_bytes(b"one\n2\n")
    assert found(good, options, [output]) == [
        "OPI906 out/a.c:2 out of date: here should be `two`; run opi-xform -o out"
    ]
    Path("out/a.c").write_bytes(b"one\ntwo\nthree\n")
    assert "here should be the end of the file" in found(good, options, [output])[0]
    Path("out/a.c").write_bytes(output.data)
    assert found(good, options, [output]) == []


def test_what_got_worse_than_the_baseline() -> None:
    written(Plan((site("convert", ""),)))
    options = Options(("a.c",), check=True, baseline="known.json")
    lines = found(Plan((site(),)), options)
    assert any("MPI_Send of a used to convert and stays now: why" in line for line in lines)
    assert gained(options, Plan((site(),)), Sources(), load_baseline(options)) == 0
    written(Plan((site(),)))
    assert found(Plan((site(),)), options) == []  # all of it is known, the comment too
    assert gained(options, Plan((site("convert", ""),)), Sources(), load_baseline(options)) == 1


def test_what_hinders_ranks_of_one_process_is_a_finding() -> None:
    variable = GlobalDecision("n", Span("a.c", 0, 1, 1, 1), "refused", "OPI502", "no file given defines it")
    plan, facts = Plan((site("convert", ""),)), Facts(variables=(variable,))
    lines = found(plan, Options(("a.c",), check=True), facts=facts)
    assert lines == ["OPI502 a.c:1 `n` cannot be private: no file given defines it"]
    written(plan, facts)
    assert found(plan, Options(("a.c",), check=True, baseline="known.json"), facts=facts) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "--write-baseline FILE makes one"),
        (b"{", "known.json"),
    ],
)
def test_a_baseline_that_cannot_be_read(text: bytes | None, why: str) -> None:
    if text is not None:
        Path("known.json").write_bytes(text)
    with pytest.raises(Failure, match=why):
        load_baseline(Options((), baseline="known.json"))


def test_a_baseline_of_another_strictness() -> None:
    written(Plan(()))
    assert load_baseline(Options((), baseline="known.json")) is not None
    with pytest.raises(Failure, match="was written without --strict"):
        load_baseline(Options((), baseline="known.json", strict=True))
    assert load_baseline(Options(())) is None


# --- where it goes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (Options((), report="out"), "is a directory; name a file"),
        (Options((), report="none/page.html"), "the directory none does not exist"),
        (Options((), report="page.c"), "is the name of a source"),
        (Options((), force=True), "--force is for -o and --index"),
        (Options((), report="page.html"), ""),
        (Options((), report="new/page.html", output="new"), ""),  # the run makes it
        (Options((), report="new/page.html", output="new", check=True), "does not exist"),  # this one does not
    ],
)
def test_places_of_reports(options: Options, why: str) -> None:
    if not why:
        require_places(options)
        return
    with pytest.raises(Failure, match=why):
        require_places(options)


def test_a_report_overwrites_nothing_that_is_read_or_written() -> None:
    os.symlink("a.c", "link.txt")
    report = [OutputFile("page.html", "", b"")]
    require_apart(report, [OutputFile("out/a.c", "a.c", b"")], ["a.c"])
    for other in (["page.html"], ["out/../page.html"]):
        with pytest.raises(Failure, match="is used for something else already"):
            require_apart(report, [], other)
    with pytest.raises(Failure, match="is used for something else already"):
        require_apart([OutputFile("link.txt", "", b"")], [], ["a.c"])
    with pytest.raises(Failure, match="is used for something else already"):
        require_apart([*report, *report], [], [])


def test_what_a_run_reads() -> None:
    Path("h.h").write_text("int a;\n")
    Path("b.c").write_text('#include "h.h"\nint main(void) { return a; }\n')
    unit = parse_unit(os.path.abspath("b.c"))
    names = read_by([unit], Options((), profiles=("p.json",), build_dir="out"), Configuration())
    assert {os.path.relpath(name) for name in names} == {"b.c", "h.h", "out/compile_commands.json", "p.json"}
    made = made_of(["b.c"], [unit])
    assert (made.sources, made.main) == ({os.path.abspath("b.c")}, os.path.abspath("b.c"))
    assert made_of(["b.c"], []).main == ""


def test_what_an_earlier_run_wrote_may_be_overwritten_and_what_nobody_makes_any_more_goes() -> None:
    options = Options(("a.c",), output="out")
    first = [OutputFile("out/a.c", "a.c", b"1\n"), OutputFile("out/old.c", "", b"2\n")]
    kept, made = earlier(options), made_of(["a.c"], [])
    assert kept == Kept("out")
    write_all(beside_earlier(kept, first, [], made, options)[0])
    again = earlier(options)
    assert again is not None
    assert again.wrote("out/a.c")
    outputs, removed, warnings = beside_earlier(again, first[:1], [], made, options)
    assert ([os.path.normpath(name) for name in removed], warnings) == (["out/old.c"], ())
    assert len(outputs) == 2  # the record, too
    Path("out/old.c").write_text("mine\n")
    _, removed, warnings = beside_earlier(again, first[:1], [], made, options)
    assert removed == []
    assert [os.path.normpath(w.file) for w in warnings] == ["out/old.c"]
    assert earlier(Options(())) is None


def test_what_somebody_else_wrote_is_not_overwritten_but_with_force() -> None:
    for i in range(12):
        Path(f"out/{i}.c").write_text("mine\n")
    outputs = [OutputFile(f"out/{i}.c", f"{i}.c", b"new\n") for i in range(12)]
    with pytest.raises(Failure) as failure:
        beside_earlier(Kept("out"), outputs, [], made_of([], []), Options((), output="out"))
    assert len(failure.value.problems) == 11
    assert "2 more files like these" in failure.value.problems[-1].message
    beside_earlier(Kept("out"), outputs, [], made_of([], []), Options((), output="out", force=True))


def test_an_output_that_cannot_be_written_is_told_as_seen_from_here() -> None:
    failure = output_failure(OutputError(os.path.abspath("out/a.c"), "is read-only"))
    assert str(failure) == "out/a.c: error: is read-only [OPI904]"


def test_runs_of_a_program() -> None:
    with pytest.raises(Failure, match=r"OPI_PROFILE=FILE\.json writes one"):
        load_profiles(Options((), profiles=("none.json",)))
    Path("bad.json").write_text("{}")
    with pytest.raises(Failure, match=r"bad\.json"):
        load_profiles(Options((), profiles=("bad.json",)))
    assert load_profiles(Options(())) == ()
