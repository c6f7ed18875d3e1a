"""SARIF, GitHub annotations, fixes for clang's tools, and the published schemas, from whole runs of the command."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from case_tools import run_tool
from hypothesis import given
from hypothesis import strategies as st
from sarif_schema import SARIF, STANDARD, parsed

from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Note, Plan
from opi_xform.report.codes import CODES, page
from opi_xform.report.finding import Finding
from opi_xform.report.formats import fixes, github
from opi_xform.report.formats.columns import Columns
from opi_xform.resources import resource

PROGRAM = """\
#include <mpi.h>
#include "peer.h"

static double kept[5000], given[5000];

double ship(int n)
{
    double sum = 0;
    for (int i = 0; i < 5000; i++)
        kept[i] = given[i] = n;
    /* ä, a letter of two bytes */ MPI_Send(kept, 5000, MPI_DOUBLE, PEER, 0, MPI_COMM_WORLD); /* opi: allow OPI101 */
    for (int i = 0; i < 5000; i++)
        sum += kept[i];
    MPI_Send(given, 5000, MPI_DOUBLE, PEER, 0, MPI_COMM_WORLD);
    return sum;
}
"""
MAIN = """\
#include <mpi.h>
double ship(int n);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double sum = ship(argc);
    MPI_Finalize();
    return sum > 3; /* opi: expect take */
}
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "my src"
    folder.mkdir()
    for name, text in (("ship.c", PROGRAM), ("main.c", MAIN), ("peer.h", "#define PEER 1\n")):
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture(scope="module")
def sarif_log(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """That of a program of which one site stays."""
    file = tmp_path_factory.mktemp("sarif") / "ship.c"
    file.write_text(PROGRAM.replace("PEER", "1").replace('#include "peer.h"', ""), encoding="utf-8")
    return parsed(run_tool([str(file), "--output-format", "sarif", "-j", "1"])[1])


def schema(name: str) -> Any:
    return json.loads(resource("docs", "schema", f"{name}.json").read_text("utf-8"))


def test_sarif_is_valid_and_tells_the_path(program: Path) -> None:
    assert run_tool(["my src", "--write-baseline", "b.json"])[0] == 0
    code, out, err = run_tool(["--check", "my src", "--baseline", "b.json", "--output-format", "sarif"])
    assert (code, err) == (0, "")  # the comment in main.c is known
    (run,) = parsed(out)["runs"]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"], result["baselineState"]) == ("OPI101", "note", "unchanged")
    assert result["suppressions"] == [{"kind": "inSource", "status": "accepted"}]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20src/ship.c"
    line = PROGRAM.splitlines()[10]
    assert place["region"]["startLine"] == place["region"]["endLine"] == 11
    assert line[place["region"]["startColumn"] - 1 :].startswith("MPI_Send(")
    assert line[: place["region"]["endColumn"] - 1].endswith("MPI_COMM_WORLD)")
    steps = [step["location"] for step in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert [step["physicalLocation"]["region"]["startLine"] for step in steps] == [11, 13]
    assert steps[1]["message"]["text"] == "`kept` is read here"


def spoiled(log: Any, how: str) -> Any:
    """Each is against the standard in one place."""
    log = copy.deepcopy(log)
    (run,) = log["runs"]
    place = run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"][0]
    if how == "no name of the tool":
        del run["tool"]["driver"]["name"]
    elif how == "unknown property":
        place["place"] = 1
    elif how == "columns from 0":
        place["location"]["physicalLocation"]["region"]["startColumn"] = 0
    elif how == "unknown level":
        run["results"][0]["level"] = "finding"
    elif how == "the same rule twice":
        run["tool"]["driver"]["rules"].append(run["tool"]["driver"]["rules"][0])
    return log


@pytest.mark.parametrize(
    "how", ["no name of the tool", "unknown property", "columns from 0", "unknown level", "the same rule twice"]
)
def test_the_standard_s_schema_refuses_what_is_wrong(sarif_log: Any, how: str) -> None:
    jsonschema.Draft4Validator.check_schema(STANDARD)
    jsonschema.Draft202012Validator.check_schema(SARIF)
    valid = jsonschema.Draft4Validator(STANDARD).is_valid
    assert valid(sarif_log)
    assert not valid(spoiled(sarif_log, how))


def test_sarif_tells_what_got_worse_and_what_does_not_hold(program: Path) -> None:
    assert run_tool(["my src", "--write-baseline", "b.json"])[0] == 0
    text = (program / "ship.c").read_text("utf-8")
    (program / "ship.c").write_text(text.replace("return sum;", "return sum + given[0];"), encoding="utf-8")
    (program / "main.c").write_text(MAIN.replace("expect take", "expect give"), encoding="utf-8")
    code, out, _ = run_tool(["--check", "my src", "--baseline", "b.json", "--output-format", "sarif"])
    assert code == 1
    results = parsed(out)["runs"][0]["results"]
    assert [(r["ruleId"], r["level"], r.get("baselineState")) for r in results] == [
        ("OPI101", "note", "unchanged"),
        ("OPI101", "error", "new"),
        ("OPI907", "error", None),
    ]
    assert len({tuple(r["partialFingerprints"].values()) for r in results}) == 3


def test_rules_are_the_codes_and_results_bring_their_page(program: Path) -> None:
    rules = parsed(run_tool(["my src", "--output-format", "sarif"])[1])["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(CODES)
    assert len({rule["name"] for rule in rules}) > 30
    assert [rule["id"] for rule in rules if "help" in rule] == ["OPI101", "OPI907"]  # the comment in main.c
    assert rules[0]["help"]["markdown"] == page("OPI101")


def test_the_published_schemas_describe_what_is_written(program: Path) -> None:
    code, out, _ = run_tool(["--check", "my src", "--output-format", "json", "--write-baseline", "b.json"])
    report = json.loads(out)
    assert code == 1
    assert [d["severity"] for d in report["diagnostics"]] == ["finding"]
    for name, value in (("report-1", report), ("baseline-1", json.loads(Path("b.json").read_text("utf-8")))):
        jsonschema.Draft202012Validator.check_schema(schema(name))
        jsonschema.validate(value, schema(name))
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**value, "more": 1}, schema(name))
    report["sites"][0]["code"] = ""  # a site that stays says why
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, schema("report-1"))


@pytest.mark.parametrize("form", ["json", "sarif", "github", "text"])
def test_the_number_of_processes_changes_nothing(program: Path, form: str) -> None:
    for i in range(2):
        (program / f"more{i}.c").write_text(PROGRAM.replace("ship", f"ship{i}"), encoding="utf-8")
    one, four = (run_tool(["--check", "my src", "--output-format", form, "-j", n]) for n in ("1", "4"))
    assert one == four
    assert one[0] == 1


def test_github_annotations(program: Path) -> None:
    code, out, err = run_tool(["--check", "my src", "--output-format", "github"])
    lines = out.splitlines()
    assert code == 1
    assert lines[0].startswith(
        "::error file=my src/main.c,line=8,col=1,title=OPI907 comment that does not hold::`expect"
    )
    column = PROGRAM.splitlines()[10].index("MPI_Send") + 1
    assert lines[1].startswith(
        f"::notice file=my src/ship.c,line=11,col={column},title=OPI101 read after send::MPI_Send"
    )
    assert lines[1].endswith("%0Amy src/ship.c:13: `kept` is read here")
    assert len(lines) == 2
    assert "finding" in err


def test_github_escapes() -> None:
    span = Span("a,b:c%.c", 0, 1, 1, 1)
    finding = Finding("a,b:c%.c", 1, 1, "OPI101", "100 %\r\nof it", (Note(span, "x"),))
    (line,) = github.commands(Plan(()), [], [finding], lambda path: path, Columns(lambda _: b"x"))
    assert (
        line == "::error file=a%2Cb%3Ac%25.c,line=1,col=1,title=OPI101 read after send::100 %25 of it%0Aa,b:c%25.c:1: x"
    )


def test_columns_count_characters() -> None:
    columns = Columns({"a.c": "äb\nc".encode()}.__getitem__)
    assert [columns.column("a.c", 1, byte) for byte in (1, 3, 4)] == [1, 2, 3]
    assert columns.at("a.c", 5) == (2, 2)
    assert columns.column("a.c", 9, 7) == 7


# --- fixes ------------------------------------------------------------------------------------------------------------


def applied(yaml: str) -> dict[str, bytes]:
    """What clang-apply-replacements would make of the files."""
    pattern = r"- FilePath: (\".*\")\n +Offset: (\d+)\n +Length: (\d+)\n +ReplacementText: (\".*\")\n"
    edits = [(json.loads(f), int(o), int(n), json.loads(t)) for f, o, n, t in re.findall(pattern, yaml)]
    out: dict[str, bytes] = {}
    for file, offset, length, text in sorted(edits, reverse=True, key=lambda e: e[:2]):
        data = out.get(file) or Path(file).read_bytes()
        out[file] = data[:offset] + text.encode() + data[offset + length :]
    return out


def test_exported_fixes_make_what_the_command_makes(program: Path) -> None:
    assert run_tool(["my src", "--export-fixes", "fixes.yaml", "-o", "out"])[0] == 0
    yaml = Path("fixes.yaml").read_text("utf-8")
    changed = applied(yaml)
    assert [Path(file).name for file in changed] == ["ship.c"]
    assert list(changed.values()) == [Path("out/ship.c").read_bytes()]
    assert "OPI_Give" in yaml
    assert '  - DiagnosticName: "opi-OPI101"\n' in yaml
    assert (
        f'FilePath: "{program.resolve() / "ship.c"}"\n      FileOffset: {PROGRAM.encode().index(b"MPI_Send")}\n' in yaml
    )
    assert yaml.startswith("---\nMainSourceFile: ")
    assert yaml.endswith("...\n")


def test_without_edits_and_sites_there_is_an_empty_list() -> None:
    assert fixes.export(Plan(()), {}, "a.c", lambda _: b"", "none").endswith("Diagnostics: []\n...\n")


def test_bytes_that_yaml_cannot_carry_are_refused() -> None:
    site = Decision(Span("a.c", 0, 1, 1, 1), "f", "f", "send", "b", "b", "convert", "", "")
    with pytest.raises(fixes.FixesError):
        fixes.export(Plan((replace(site),)), {"a.c": b"b\xff\n"}, "a.c", lambda _: b"a\n", "one")


@given(
    st.lists(st.sampled_from(["ä\n", "a\n", "ö ä\n", "b\r\n", "c"])),
    st.lists(st.sampled_from(["ä\n", "ö\n", "a\n", "ca"])),
)
def test_replacements_turn_one_text_into_the_other(old: list[str], new: list[str]) -> None:
    before, after = "".join(old).encode(), "".join(new).encode()
    data, end = b"", 0
    for edit in fixes.replacements(before, after):
        assert edit.offset >= end
        edit.text.decode()
        data += before[end : edit.offset] + edit.text
        end = edit.offset + edit.length
    assert data + before[end:] == after
