"""The table, the JSON object, the diff and the codes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

from opi_xform.ir.ast import Diagnostic
from opi_xform.ir.span import NOWHERE, Span
from opi_xform.ownership.model.plan import Decision, Note, Plan
from opi_xform.report.codes import CODES, page
from opi_xform.report.formats.diff import unified_diff
from opi_xform.report.formats.json import report_json
from opi_xform.report.formats.text import global_lines, summary_line, table
from opi_xform.report.globals import GlobalDecision
from opi_xform.resources import resource


def at(file: str, line: int) -> Span:
    return Span(file, 0, 1, line, 5)


def site(side: str, decision: str, code: str = "", message: str = "", **more: object) -> Decision:
    call = "MPI_Isend" if side == "send" else "MPI_Irecv"
    buffer = "sbuf[d]" if side == "send" else "rbuf[d]"
    values: dict[str, object] = {"notes": (), "assumptions": (), "span": at("halo/exchange.c", 38), **more}
    return Decision(values.pop("span"), "exchange", call, side, buffer, buffer[:4], decision, code, message, **values)  # type: ignore[arg-type]


NOTES = (Note(at("halo/pack.c", 12), "written here"), Note(at("halo/main.c", 70), "read here\nafter the send"))
PLAN = Plan(
    (
        site("recv", "convert", assumptions=("A1", "A2")),
        site("send", "keep", "OPI101", "buf[0 .. 31] is read after the send, at every step of the loop", notes=NOTES),
        site("send", "convert", span=at("halo/exchange.c", 50)),
    ),
    diagnostics=(site("send", "", "OPI301", "only the receive of this channel converts", notes=NOTES[:1]),),
)


def shown(path: str) -> str:
    return path


# --- the table --------------------------------------------------------------------------------------------------------


def test_the_table_at_80_columns() -> None:
    assert [line.text for line in table(PLAN, shown, 80)] == [
        "site                call       side  buffer   decision  reason",
        "halo/exchange.c:38  MPI_Irecv  recv  rbuf[d]  convert   A1 A2",
        "halo/exchange.c:38  MPI_Isend  send  sbuf[d]  keep",
        "    OPI101 buf[0 .. 31] is read after the send, at every step of the loop",
        "    halo/pack.c:12: note: written here",
        "    halo/main.c:70: note: read here after the send",
        "halo/exchange.c:50  MPI_Isend  send  sbuf[d]  convert",
        "A1 assumed: nothing of a receive buffer is read beyond the message that came",
        "A2 assumed: sources and destinations are real ranks, not MPI_PROC_NULL",
        "halo/exchange.c:38: note: OPI301 only the receive of this channel converts",
        "    halo/pack.c:12: note: written here",
    ]


def test_the_table_at_120_columns_has_the_reason_beside_the_site() -> None:
    assert [line.text for line in table(PLAN, shown, 120)][:5] == [
        "site                call       side  buffer   decision  reason",
        "halo/exchange.c:38  MPI_Irecv  recv  rbuf[d]  convert   A1 A2",
        "halo/exchange.c:38  MPI_Isend  send  sbuf[d]  keep      "
        "OPI101 buf[0 .. 31] is read after the send, at every step of the",
        "                                                        loop",
        "    halo/pack.c:12: note: written here",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 160])
def test_only_words_that_cannot_be_broken_exceed_the_width(width: int) -> None:
    for line in table(PLAN, shown, width):
        if line.kind in ("", "keep") and "exchange.c" not in line.text:
            assert len(line.text) <= width


def test_a_long_buffer_expression_is_cut() -> None:
    plan = Plan((site("send", "convert"),))
    buffer = "grid->level[k]\n  ->face[d].buffer"
    long = Plan((Decision(at("a.c", 1), "f", "MPI_Send", "send", buffer, "x", "keep", "OPI104", "m"),))
    assert "grid->level[k] ->face[d…" in "\n".join(line.text for line in table(long, shown, 120))
    assert "…" not in "\n".join(line.text for line in table(plan, shown, 120))


def test_the_summary_line() -> None:
    assert summary_line(PLAN) == "3 sites: 2 converted, 1 kept (send 1/2, recv 1/1)"
    assert summary_line(Plan(PLAN.decisions[:1])) == "1 site: 1 converted, 0 kept (send 0/0, recv 1/1)"
    assert summary_line(Plan(())).startswith("0 sites:")
    assert table(Plan(()), shown, 80) == []


# --- JSON -------------------------------------------------------------------------------------------------------------

SCHEMA = json.loads(resource("docs", "schema", "report-1.json").read_text("utf-8"))


def test_json_is_the_documented_object() -> None:
    warning = Diagnostic("warning", "halo/main.c", 3, 1, "odd")
    text = report_json(PLAN, [warning], shown)
    report = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(report, SCHEMA)
    assert list(report) == ["version", "sites", "globals", "diagnostics", "summary"]
    assert report["summary"] == {"send": {"convert": 1, "keep": 1}, "recv": {"convert": 1, "keep": 0}}
    assert report["sites"][1]["notes"][1] == {
        "file": "halo/main.c",
        "line": 70,
        "column": 5,
        "message": "read here\nafter the send",
    }
    assert [diagnostic["code"] for diagnostic in report["diagnostics"]] == ["OPI301", "OPI905"]
    assert report_json(PLAN, [warning], shown) == text


def test_variables_stand_in_the_object_and_in_the_table() -> None:
    variables = (
        GlobalDecision("seed", at("a.c", 2), "private"),
        GlobalDecision("table", at("a.c", 3), "shared", "", "nothing writes it"),
        GlobalDecision("handler", at("b.c", 1), "refused", "OPI501", "a signal handler\nuses it"),
    )
    report = json.loads(report_json(PLAN, [], shown, variables=variables))
    jsonschema.validate(report, SCHEMA)
    assert report["globals"][0] == {
        "name": "seed", "file": "a.c", "line": 2, "decision": "private", "code": "", "message": ""
    }  # fmt: skip
    assert [(one["name"], one["decision"], one["code"]) for one in report["globals"][1:]] == [
        ("table", "shared", ""),
        ("handler", "refused", "OPI501"),
    ]
    assert [(line.text, line.kind) for line in global_lines(variables, shown)] == [
        ("a.c:2: seed: private", "note"),
        ("b.c:1: handler: refused OPI501 a signal handler uses it", "keep"),
    ]


def test_json_of_names_that_are_no_utf8_is_valid() -> None:
    odd = Decision(at("gr\udcfc.c", 1), "f", "MPI_Send", "send", "b\udce9", "b", "keep", "OPI103", "x")
    text = report_json(Plan((odd,)), [], shown)
    assert json.loads(text)["sites"][0]["file"] == "gr\ufffd.c"
    text.encode("ascii")


# --- diffs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (b"a\nb", b"a\nB"),
        (b"a\nb", b"a\nb\nc\n"),
        (b"a\r\nb\r\n", b"a\r\nB\r\n"),
        (b"\xff\n\x0cb\n\rc\n", b"\xfe\n\x0cB\n\rc\n"),
        (b"", b"new\n"),
    ],
)
def test_patch_reproduces_the_new_file(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "my dir").mkdir()
    file = tmp_path / "my dir" / "a.c"
    file.write_bytes(before)
    diff = unified_diff([("my dir/a.c", before, after)])
    patch = ["patch", "-p1", "-s", "--binary", "-d", str(tmp_path)]
    done = subprocess.run(patch, input=diff, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert file.read_bytes() == after


def test_equal_files_leave_no_trace() -> None:
    assert unified_diff([("a.c", b"x", b"x")]) == b""


def test_a_line_that_stands_often_in_a_long_file_is_not_replaced_by_itself() -> None:
    function = "void f%d(void)\n{\n   char buffer[64];\n   int position;\n\n   position = 0;\n   send(%d);\n}\n\n"
    before = "".join(function % (i, i) for i in range(100)).encode()
    after = before.replace(b"   char buffer[64];\n", b"   char *buffer = NULL;\n")
    after = after.replace(b"   position = 0;\n", b"   position = 0;\n   get(&buffer);\n")
    lines = unified_diff([("a.c", before, after)]).splitlines()
    assert {line for line in lines if line[:1] == b"-"} == {b"--- a/a.c", b"-   char buffer[64];"}
    assert {line for line in lines if line[:1] == b"+"} == {
        b"+++ b/a.c",
        b"+   char *buffer = NULL;",
        b"+   get(&buffer);",
    }


# --- codes ------------------------------------------------------------------------------------------------------------


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert sorted(path.stem for path in resource("docs", "codes").glob("OPI*.md")) == sorted(CODES)
    assert len(CODES) == len({code.title + code.code[:4] for code in CODES.values()})


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_page_says_what_why_and_how(code: str) -> None:
    text = page(code) or ""
    assert text.startswith(f"# {code}: {CODES[code].title}\n\n{CODES[code].meaning}\n")
    for heading in ("## Example", "## Why", "## What to do"):
        assert text.count(f"\n{heading}\n\n") == 1
    assert ("```c\n" in text) != code.startswith("OPI9")
    prose = text.split("```")[0] + text.split("```")[-1]
    assert max(len(line) for line in prose.splitlines()) <= 100


def test_codes_in_the_program_are_registered() -> None:
    package = Path(__file__).resolve().parents[3] / "opi_xform"
    used = {code for path in package.rglob("*.py") for code in re.findall(r"\bOPI[1-9]\d\d\b", path.read_text("utf-8"))}
    assert used - {"OPI999"} <= set(CODES)


def test_no_page_for_an_unknown_code() -> None:
    assert page("OPI999") is None
    assert page("opi101") == page("OPI101")


def test_a_diagnostic_without_a_place() -> None:
    plan = Plan((), diagnostics=(Decision(NOWHERE, "", "", "", "", "", "", "OPI401", "budget"),))
    assert [line.text for line in table(plan, shown, 80)] == ["note: OPI401 budget"]
