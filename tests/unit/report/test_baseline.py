"""--baseline: what got worse is found at the access that broke it; what only moved is known again."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from baselines import PROGRAMS, TESTDATA, baseline
from baselines import check as check_of
from case_tools import run_tool
from conftest import CHECKOUT

from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Note
from opi_xform.report.baseline import Baseline, BaselineError, KnownSite, know, read, recognise, worse, write
from opi_xform.report.finding import deciding

WAIT = "    MPI_Waitall(2 * NDIR, rq, MPI_STATUSES_IGNORE);\n"


@pytest.mark.parametrize("folders", PROGRAMS, ids=lambda folders: Path(folders[0]).name)
def test_nothing_in_testdata_got_worse(folders: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TESTDATA)
    code, out, err = run_tool([*check_of(folders), "-j", "1"])
    assert (code, err) == (0, ""), out + err


def test_every_program_has_a_baseline_and_every_folder_a_program() -> None:
    written = {path.relative_to(TESTDATA) for path in (TESTDATA / "baselines").rglob("*.json")}
    assert written == {baseline(folders) for folders in PROGRAMS}
    holding = {path.parent.relative_to(TESTDATA).as_posix() for path in TESTDATA.rglob("*.c")}
    assert holding == {folder for folders in PROGRAMS for folder in folders}
    assert ("npb/lu", "npb/flow") in PROGRAMS


@pytest.fixture
def halo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of halo2d where its committed baseline finds it; the working directory is beside it."""
    shutil.copytree(CHECKOUT / "testdata" / "halo2d", tmp_path / "testdata" / "halo2d")
    shutil.copytree(CHECKOUT / "testdata" / "baselines", tmp_path / "testdata" / "baselines")
    monkeypatch.chdir(tmp_path / "testdata")
    return Path("halo2d") / "exchange.c"


SMALL = """\
#include <mpi.h>

#define NDIR 1

static double sbuf[NDIR][4000];

int main(int argc, char **argv)
{
    double u[2] = {0};
    MPI_Request rq[2 * NDIR] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4000; i++)
        sbuf[0][i] = i;
    MPI_Isend(sbuf[0], 4000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &rq[0]);
    MPI_Waitall(2 * NDIR, rq, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return u[0] > 0;
}
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small program in the place of halo2d, with a baseline, under the same names."""
    folder = tmp_path / "testdata"
    (folder / "halo2d").mkdir(parents=True)
    (folder / "halo2d" / "exchange.c").write_text(SMALL, encoding="utf-8")
    (folder / "baselines").mkdir()
    monkeypatch.chdir(folder)
    assert run_tool(["halo2d", "--write-baseline", "baselines/halo2d.json"])[0] == 0
    return Path("halo2d") / "exchange.c"


def check(*arguments: str) -> tuple[int, str, str]:
    return run_tool(["--check", "halo2d", "--baseline", "baselines/halo2d.json", "-j", "1", *arguments])


def findings(out: str) -> list[str]:
    return [line for line in out.splitlines() if ": finding: " in line]


def test_what_converts_since_is_told_but_no_finding(small: Path) -> None:
    """Else a site that is lost again later would be lost in silence: the baseline has it as one that stays."""
    text = small.read_text(encoding="utf-8")
    small.write_text(text.replace(WAIT, WAIT + "    u[1] = sbuf[0][5];\n"), encoding="utf-8")
    assert run_tool(["halo2d", "--write-baseline", "baselines/halo2d.json"])[0] == 0
    code, out, _ = check()
    assert code == 0
    assert "write it again" not in out
    small.write_text(text, encoding="utf-8")
    code, out, _ = check()
    assert (code, findings(out)) == (0, [])
    assert "1 site converts that did not when baselines/halo2d.json was written; write it again" in out.splitlines()


def edit(file: Path, old: str, new: str) -> int:
    """Replaces what is there once; the line at which it stood."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def test_a_site_that_used_to_convert_is_found_at_the_access_that_broke_it(halo: Path) -> None:
    """With the committed baseline of halo2d."""
    line = edit(halo, WAIT, WAIT + "    u[0] += 0.0 * sbuf[0][0];\n") + 1
    code, out, err = check("--output-format", "json")
    (told,) = [d for d in json.loads(out)["diagnostics"] if d["severity"] == "finding"]
    assert (code, told["file"], told["line"], told["code"]) == (1, "halo2d/exchange.c", line, "OPI101")
    assert told["notes"][0]["line"] == line
    (found,) = findings(err)
    assert found.startswith(f"halo2d/exchange.c:{line}: finding: MPI_Isend of sbuf[d] at halo2d/exchange.c:")
    assert "used to convert and stays now: " in found
    assert found.endswith("[OPI101]")


def test_a_finding_comes_with_its_path(small: Path) -> None:
    line = edit(small, WAIT, WAIT + "    u[0] += 0.0 * sbuf[0][0];\n") + 1
    code, out, _ = check()
    assert (code, len(findings(out))) == (1, 1)
    assert f"    halo2d/exchange.c:{line}: note: `sbuf` is read here" in out


def test_moved_code_is_known_again(small: Path) -> None:
    """Lines, comments and layout count for nothing, and neither do arguments nor the file."""
    edit(small, WAIT, WAIT + "    u[0] += 0.0 * sbuf[0][0];\n")
    assert run_tool(["halo2d", "--write-baseline", "baselines/halo2d.json"])[0] == 0
    text = small.read_text(encoding="utf-8")
    head, _, rest = text.partition("MPI_Isend(")
    small.write_text(f"/* one\n   two */\n{head}MPI_Isend( /* here */\n  {rest}", encoding="utf-8")
    assert check()[0] == 0
    small.rename("halo2d/swap.c")
    assert check()[0] == 0


def test_the_baseline_is_named_from_where_it_lies(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path("baselines/halo2d.json").read_bytes()
    assert run_tool(["halo2d", "--write-baseline", "again.json"])[0] == 0
    assert b'"file": "halo2d/exchange.c"' in Path("again.json").read_bytes()
    monkeypatch.chdir("halo2d")
    assert run_tool([".", "--write-baseline", "../baselines/halo2d.json"])[0] == 0
    assert Path("../baselines/halo2d.json").read_bytes() == text


def test_comments_that_do_not_hold_can_be_accepted(small: Path) -> None:
    edit(small, WAIT, "    /* opi: allow OPI101 */\n" + WAIT)
    code, out, _ = check()
    assert code == 1
    assert "[OPI907]" in findings(out)[0]
    assert run_tool(["halo2d", "--write-baseline", "baselines/halo2d.json"])[0] == 0
    assert check()[0] == 0
    edit(small, WAIT, "    /* opi: allow OPI101 */\n" + WAIT)  # a second one is new
    code, out, _ = check()
    assert (code, len(findings(out))) == (1, 1)


def test_a_comment_that_does_not_hold_is_told_without_check_too(small: Path) -> None:
    line = edit(small, WAIT, "    /* opi: allow OPI101 */\n    /* opi: kepe */\n" + WAIT)
    code, out, err = run_tool(["halo2d", "--output-format", "json", "-j", "1"])
    told = [(d["line"], d["severity"], d["code"]) for d in json.loads(out)["diagnostics"]]
    assert (code, err, told) == (0, "", [(line, "note", "OPI907"), (line + 1, "note", "OPI907")])
    code, out, _ = check("--output-format", "json")
    told = [(d["line"], d["severity"], d["code"]) for d in json.loads(out)["diagnostics"]]
    assert (code, told) == (1, [(line, "finding", "OPI907"), (line + 1, "finding", "OPI907")])
    edit(small, "/* opi: kepe */", "/* opi: keep */")  # that one has no effect: told once, by the analysis
    told = json.loads(run_tool(["halo2d", "--output-format", "json", "-j", "1"])[1])["diagnostics"]
    assert [(d["line"], d["code"]) for d in told] == [(line + 1, "OPI908"), (line, "OPI907")]


def test_output_out_of_date_is_found_whatever_the_baseline(small: Path) -> None:
    assert run_tool(["halo2d", "-o", "out", "--write-baseline", "baselines/halo2d.json"])[0] == 0
    assert check("-o", "out")[0] == 0
    Path("out/exchange.c").unlink()
    code, out, _ = check("-o", "out")
    assert (code, len(findings(out))) == (1, 1)
    assert "[OPI906]" in findings(out)[0]


@pytest.mark.parametrize("arguments", [["--baseline", "x.json", "halo2d"], ["--check", "halo2d", "--baseline", ""]])
def test_wrong_use(small: Path, arguments: list[str]) -> None:
    code, out, err = run_tool(arguments)
    assert (code, out) == (2, "")
    assert "--baseline" in err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 1}',
        '{"version": 1, "strict": false, "sites": [{}], "accepted": []}',
    ],
)
def test_no_baseline(small: Path, text: str) -> None:
    Path("baselines/halo2d.json").write_text(text, encoding="utf-8")
    code, out, err = check()
    assert (code, out) == (2, "")
    assert err.startswith("baselines/halo2d.json: error: is ")
    os.unlink("baselines/halo2d.json")
    assert "cannot be read" in check()[2]


def test_strict_is_compared_with_strict(small: Path) -> None:
    code, _, err = check("--strict")
    assert code == 2
    assert "was written without --strict" in err


def test_a_report_never_overwrites_a_source(small: Path) -> None:
    before = small.read_bytes()
    alias = small.parent / "alias.json"
    os.link(small, alias)
    for option in ("--write-baseline", "--export-fixes"):
        for name, what in ((small, "is the name of a source"), (alias, "is used for something else already")):
            code, _, err = run_tool(["halo2d", option, str(name)])
            assert (code, small.read_bytes()) == (2, before)
            assert what in err


# --- the parts --------------------------------------------------------------------------------------------------------

CODE = b"f(a, /* x */ b); f(a,b);  f(c, d); f(cc, d);"


def decision(text: bytes, nth: int = 0, **more: object) -> Decision:
    at = -1
    for _ in range(nth + 1):
        at = CODE.index(text, at + 1)
    values: dict[str, object] = {"decision": "convert", "code": "", "function": "ship", "buffer": "b", **more}
    span = Span("a.c", at, CODE.index(b";", at), 1, at + 1)
    return Decision(span=span, call="f", side="send", object="b", message="", **values)  # type: ignore[arg-type]


def sites(*decisions: Decision) -> tuple[KnownSite, ...]:
    return know(decisions, lambda path: path, lambda _: CODE)


def test_fingerprints_count_neither_comments_nor_lines_but_equals() -> None:
    first, second = sites(decision(b"f(a, /*"), decision(b"f(a,b)"))
    assert first.text == second.text
    assert first.fingerprint != second.fingerprint
    assert sites(decision(b"f(a,b)"))[0] == first
    assert sites(decision(b"f(c, d)"))[0].text != sites(decision(b"f(cc, d)"))[0].text


def test_what_got_worse() -> None:
    was = sites(decision(b"f(c, d)"), decision(b"f(a,b)", decision="keep", code="OPI101"))
    same = sites(decision(b"f(c, d)"), decision(b"f(a,b)", decision="keep", code="OPI103"))
    assert worse(same, was) == []
    broken = sites(decision(b"f(cc, d)", decision="keep", code="OPI101"), decision(b"f(a,b)"))
    (found,) = worse(broken, was)
    assert (found.index, found.before) == (0, "convert")  # other arguments, and still known
    (found,) = worse(sites(decision(b"f(a,b)", decision="keep", buffer="new", function="new")), sites())
    assert (found.index, found.before) == (0, "")
    assert worse(sites(decision(b"f(a,b)")), was) == []  # sites that are gone or better are no findings


@pytest.mark.parametrize(
    ("change", "known"),
    [
        ({"file": "b.c"}, True),
        ({"function": "other"}, True),
        ({"file": "b.c", "function": "other"}, True),
        ({"buffer": "other"}, False),
        ({"side": "recv"}, False),
    ],
)
def test_what_is_known_again(change: dict[str, str], known: bool) -> None:
    (site,) = sites(decision(b"f(a,b)"))
    moved = replace(site, fingerprint="0", **change)  # type: ignore[arg-type]
    assert (recognise([moved], [site]) == {0: site}) is known


def test_each_known_site_is_taken_once() -> None:
    first, second = sites(decision(b"f(a, /*"), decision(b"f(a,b)", decision="keep"))
    third = replace(second, fingerprint="0")
    assert recognise([first, second, third], [first, second]) == {0: first, 1: second}


def test_written_and_read_again() -> None:
    for one in (Baseline(), Baseline(sites(decision(b"f(c, d)", buffer='"\udcff')), ("x", "x"), True)):
        assert read(write(one)) == one
        json.loads(write(one))
    with pytest.raises(BaselineError):
        read(write(Baseline()).replace(b'"accepted"', b'"excepted"'))


def test_the_deciding_access() -> None:
    span = Span("a.c", 0, 1, 1, 1)
    notes = (Note(span, "first"), Note(span, "last"))
    site = decision(b"f(c, d)", decision="keep", code="OPI101")
    assert deciding(site) is None
    assert deciding(replace(site, notes=notes)) == notes[0]
    assert deciding(replace(site, notes=notes, code="OPI205")) == notes[1]
