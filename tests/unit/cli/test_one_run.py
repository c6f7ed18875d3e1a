"""A whole run as values: what it does with a program, which attempts are made, what it says."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from ownership_support import HEADER, LIBC

from opi_xform.analysis.plans import looked_at
from opi_xform.attempts import order
from opi_xform.attempts.again import Job
from opi_xform.attempts.order import Attempts
from opi_xform.cli.config import Configuration
from opi_xform.cli.inputs.parsing import parse_sources
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import CLEAN, FINDINGS, Failure
from opi_xform.cli.output.explained import explained
from opi_xform.cli.output.fix import place
from opi_xform.cli.output.present import Result, present, report_files
from opi_xform.cli.output.private import privatised
from opi_xform.cli.progress import Progress
from opi_xform.cli.run import run, transform
from opi_xform.frontend import FrontendError, parse_outline, parse_unit
from opi_xform.ir.ast import Unit
from opi_xform.ownership.model.plan import Plan
from opi_xform.text.sources import Sources

PROGRAM = """#include "mpi.h"
static double b[100], u[100];
int main(int argc, char **argv)
{
    for (int i = 0; i < 100; i++)
        b[i] = u[i] + argc;
    MPI_Send(b, 100, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    READ
    return 0;
}
"""
CONVERTS, STAYS = PROGRAM.replace("    READ\n", ""), PROGRAM.replace("READ", "u[0] = b[3];")
QUIET = Options(("a.c",), flags=("-I.",), quiet=True)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mpi.h").write_text(f"#ifndef MPI_H\n#define MPI_H\n{HEADER}{LIBC}#endif\n")
    return tmp_path


def given(text: str) -> tuple[Result, tuple[Unit, ...]]:
    Path("a.c").write_text(text)
    return transform(QUIET, Progress(), Configuration())


# --- a run ------------------------------------------------------------------------------------------------------------


def test_a_run_writes_where_it_is_told_to_and_its_exit_code_says_what_a_check_found() -> None:
    Path("a.c").write_text(CONVERTS)
    assert run(replace(QUIET, output="out"), Progress()) == CLEAN
    assert "OPI_Give(" in Path("out/a.c").read_text()
    assert Path("a.c").read_text() == CONVERTS
    assert run(replace(QUIET, output="out", check=True), Progress()) == CLEAN
    Path("out/a.c").write_text("mine\n")
    assert run(replace(QUIET, output="out", check=True), Progress()) == FINDINGS
    with pytest.raises(Failure):  # it is somebody's now
        run(replace(QUIET, output="out"), Progress())
    assert Path("out/a.c").read_text() == "mine\n"
    assert run(replace(QUIET, in_place=True), Progress()) == CLEAN
    assert "OPI_Give(" in Path("a.c").read_text()


def test_what_a_run_makes_of_a_program_is_a_value() -> None:
    result, units = given(CONVERTS)
    assert [d.decision for d in result.plan.decisions] == ["convert"]
    assert list(result.changed) == [os.path.abspath("a.c")]
    assert [unit.path for unit in units] == [os.path.abspath("a.c")]
    assert result.root == os.getcwd()
    kept, _ = given(STAYS)
    assert kept.changed == {}


def test_a_source_with_an_error_ends_the_run_with_its_line() -> None:
    Path("a.c").write_text("int a\nint b;\n")
    with pytest.raises(Failure) as failure:
        run(QUIET, Progress())
    (problem,) = failure.value.problems
    assert (problem.file, problem.line, problem.code) == ("a.c", 1, "OPI901")


# --- attempts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Nothing:
    """What analyses no other text."""

    renames: bool = False


class Found:
    """What an attempt brings: a plan, and what it makes of the files."""

    def __init__(self, plan: Plan, changed: dict[str, bytes] | None) -> None:
        self.plan = plan
        self.changed = changed


def attempts(plan: Plan, units: tuple[Unit, ...], **more: Any) -> Attempts:
    from opi_xform.ownership.model.buffers import Options as AnalysisOptions

    settings = AnalysisOptions(root=os.getcwd())
    program = looked_at(units, settings)
    assert program is not None

    def outline(jobs: Sequence[Job]) -> list[Unit | FrontendError]:
        return parse_sources(jobs, 1, lambda: None, parse_outline)

    return Attempts(program, units, lambda _: ("-I.",), Sources(), settings, outline, Nothing(), **more)  # type: ignore[arg-type]


def test_attempts_are_made_where_something_stays() -> None:
    result, units = given(CONVERTS)
    assert list(attempts(result.plan, units).wanted(result.plan)) == []
    result, units = given(STAYS)
    made = attempts(result.plan, units)
    every = {"given", "structs", "macros", "blocks", "names", "rows", "copies", "calls"}
    shared = replace(result.plan.decisions[0], code="OPI104")
    assert set(made.wanted(result.plan)) - {"parts", "starts", "tables"} == every
    assert set(made.wanted(Plan((shared,)))) == {
        *every,
        "parts",
        "starts",
        "tables",
    }  # another message of its buffer is the reason
    alone = replace(result.plan.decisions[0], code="OPI107", form="")
    assert set(made.wanted(Plan((alone,)))) == every


def test_the_first_attempt_that_is_better_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    result, units = given(STAYS)
    made, tried = attempts(result.plan, units, inner=True), []
    better = Plan(tuple(replace(d, decision="convert") for d in result.plan.decisions))

    def attempt(self: Attempts, plan: Plan, name: str) -> tuple[Plan, dict[str, bytes] | None]:
        tried.append(name)
        return (better, {"a.c": b""}) if name == "names" else (plan, None)

    monkeypatch.setattr(Attempts, "tried", attempt)
    assert made.best(result.plan, lambda _: nullcontext()) == (better, {"a.c": b""})
    assert tried == ["given", "structs", "macros", "blocks", "names"]


def test_what_does_not_compile_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    result, units = given(STAYS)
    made, name = attempts(result.plan, units), os.path.abspath("a.c")
    for text, taken in ((f"{STAYS}/* */\n".encode(), True), (f"{STAYS}int a\n".encode(), False)):
        found = Found(Plan(()), {name: text})
        monkeypatch.setattr(Attempts, "with_later", lambda self, name: None)
        monkeypatch.setattr(Attempts, "loosened", lambda self, plan, again, found=found: found)
        plan, changed = made.tried(result.plan, "structs")
        assert (changed is not None) is taken
        assert (plan is found.plan) is taken


ONE_OF_EACH = """#include "mpi.h"
static struct { double out[100], rest[100]; } fields;
static double u[100], v[100];
int main(int argc, char **argv)
{
    int i, at = 3 * argc;
    for (int t = 0; t < 3; t++) {
        for (i = 0; i < 100; i++)
            fields.out[i] = u[i] + t;
        MPI_Send(fields.out, 100, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        for (i = 0; i < 20; i++)
            v[at + i] = u[i] + t;
        MPI_Send(&v[at], 20, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
    }
    return (int)fields.rest[argc];
}
"""


@pytest.mark.parametrize(
    ("largest", "later", "computed"),
    [(10**6, (), "convert"), (0, (), "keep"), (0, ("parts", "starts"), "convert")],
)
def test_in_a_large_program_what_leaves_a_struct_is_tried_with_parts_and_starts_and_nothing_else_is_combined(
    largest: int, later: tuple[str, ...], computed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if later:
        assert later == order.IN_LARGER["structs"]
    monkeypatch.setattr(order, "LARGEST", largest)
    monkeypatch.setattr(order, "IN_LARGER", {**order.IN_LARGER, "structs": later})
    result, units = given(ONE_OF_EACH)
    assert [d.decision for d in result.plan.decisions] == ["convert", computed]
    if largest == 0:
        made = attempts(result.plan, units)
        others = [name for name in made.left if name not in order.IN_LARGER]
        assert [made.with_later(name) for name in others] == [Nothing(name in order.RENAMING) for name in others]


# --- what it says -----------------------------------------------------------------------------------------------------


def said(text: str, options: Options, capfd: pytest.CaptureFixture[str], findings: Any = ()) -> tuple[str, str]:
    result, _ = given(text)
    capfd.readouterr()
    present(replace(options, quiet=False), result, findings, [], [])
    found = capfd.readouterr()
    return found.out, found.err


def test_the_diff_is_alone_on_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    out, err = said(CONVERTS, QUIET, capfd)
    assert out.startswith("--- a/a.c\n+++ b/a.c\n")
    assert "1 site: 1 converted" in err
    out, err = said(CONVERTS, replace(QUIET, output="out"), capfd)
    assert "0 files written to out" in out
    assert err == ""


def test_other_forms_are_alone_on_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    for form, key in (("json", "sites"), ("sarif", "runs")):
        out, err = said(STAYS, replace(QUIET, format=form), capfd)
        assert json.loads(out)[key]
        assert err == ""
    out, _ = said(STAYS, replace(QUIET, format="github"), capfd)
    assert out.startswith("::")


def test_the_files_that_a_run_is_asked_for() -> None:
    result, _ = given(STAYS)
    asked = replace(QUIET, write_baseline="known.json", report="page.html")
    files = report_files(asked, result, ())
    assert [file.target for file in files] == ["known.json", "page.html"]
    assert json.loads(files[0].data)
    assert files[1].data.lstrip().lower().startswith(b"<!doctype html>")
    assert report_files(QUIET, result, ()) == []


def test_what_is_known_of_a_program_for_a_report() -> None:
    from opi_xform.ownership.model.buffers import Options as AnalysisOptions

    result, units = given(STAYS)
    program = looked_at(units, AnalysisOptions(root=os.getcwd()))
    assert program is not None
    facts = explained(program, result.plan, QUIET, ())
    assert (len(facts.weights), facts.lives) == (1, ())
    (life,) = explained(program, result.plan, replace(QUIET, report="page.html"), ()).lives
    assert life.name == "b"


@pytest.mark.parametrize(
    ("where", "found"),
    [("a.c:3", ("a.c", 3)), ("c:/a.c:3", ("c:/a.c", 3)), ("a.c", None), ("a.c:0", None), (":3", None)],
)
def test_the_place_of_a_fix(where: str, found: tuple[str, int] | None) -> None:
    if found is not None:
        assert place(where) == found
        return
    with pytest.raises(Failure, match="--fix needs FILE:LINE"):
        place(where)


# --- private variables ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["tls", "struct"])
def test_private_variables_of_a_program_that_was_changed_and_of_one_that_was_not(form: str) -> None:
    text = "static int n;\nstatic const int m = 3;\nint main(void) { n = m; return n; }\n"
    name = os.path.abspath("a.c")
    Path("a.c").write_text(text)
    units = [parse_unit(name)]
    plain = privatised(units, lambda _: (), {}, Sources(), form, os.getcwd())
    assert [(v.name, v.decision) for v in plain.variables] == [("n", "private"), ("m", "shared")]
    assert list(plain.changed) == [name]
    later = text.replace("int main", "/* changed */\nint main").encode()
    found = privatised(units, lambda _: (), {name: later}, Sources(), form, os.getcwd())
    assert b"/* changed */" in found.changed[name]
    assert [v.span for v in found.variables] == [v.span for v in plain.variables]  # told where the user wrote them
    (Path("a.c")).write_bytes(plain.changed[name])
    other = {"tls": "struct", "struct": "tls"}[form]
    with pytest.raises(Failure, match=f"is private in the form {form} already"):
        privatised([parse_unit(name)], lambda _: (), {}, Sources(), other, os.getcwd())
