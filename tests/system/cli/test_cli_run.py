"""The command from sources to output, with a plan made by hand in place of the analyses."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from opi_xform.analysis import plans
from opi_xform.cli.main import main
from opi_xform.ir.ast import Unit
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import (
    Decision,
    Edit,
    InsertStatement,
    Note,
    Plan,
    PointerDeclaration,
    ReplaceCall,
    ReplaceText,
)
from opi_xform.rewrite.manifest import NAME as MANIFEST

HEADER = "#include <mpi.h>\nextern double sbuf[64];\nvoid ship(int to);\n"
SHIP = """\
#include "ship.h"

double sbuf[64];

void ship(int to)
{
    for (int i = 0; i < 64; i++)
        sbuf[i] = i;
    MPI_Send(sbuf, 64, MPI_DOUBLE, to, 0,
             MPI_COMM_WORLD); /* opi: expect give */
}
"""
SHIPPED = """\
#include "ship.h"
#include "opi.h"

double *sbuf;

void ship(int to)
{
    OPI_Alloc(&sbuf, sizeof(double[64]));
    for (int i = 0; i < 64; i++)
        sbuf[i] = i;
    OPI_Give(&sbuf, 64, MPI_DOUBLE, to, 0,
             MPI_COMM_WORLD); /* opi: expect give */
}
"""
MAIN = """\
#include "ship.h"

int main(int argc, char **argv)
{
    double last = 0;
    MPI_Init(&argc, &argv);
    ship(1);
    /* opi: allow OPI201 */
    MPI_Recv(&last, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
"""


class Program:
    """The three files above, and the command that runs on them."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capfd = capfd
        self.drop: set[type] = set()
        self.wrong = ""
        self.edits: list[Edit] = []
        for name, text in (("ship.h", HEADER), ("ship.c", SHIP), ("main.c", MAIN)):
            (folder / name).write_text(text)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        out, err = self.capfd.readouterr()
        return code, out, err

    def texts(self) -> dict[str, str]:
        """The files of the program; a manifest, which is of the tool, apart."""
        files = (path for path in sorted(self.folder.iterdir()) if path.is_file() and path.name != MANIFEST)
        return {path.name: path.read_text() for path in files}

    def analyse(self, units: Sequence[Unit], options: object, part: object) -> tuple[Plan, None]:
        """What the analyses would say of the original; nothing to do for a program that is transformed already."""
        if "OPI_Give" in (self.folder / "ship.c").read_text():
            return Plan(()), None
        edits = [edit for edit in (*self._edits(), *self.edits) if type(edit) not in self.drop]
        call = self.span("ship.c", "MPI_Send")
        receive = self.span("main.c", "MPI_Recv")
        note = Note(self.span("main.c", "return MPI_Finalize();"), "read here")
        decisions = (
            Decision(receive, "main", "MPI_Recv", "recv", "&last", "last", "keep", "OPI201", "live", (note,)),
            Decision(call, "ship", "MPI_Send", "send", "sbuf", "sbuf", "convert", "", "", (), ("A2",)),
        )
        return Plan(decisions, tuple(edits), (str(self.folder / "ship.c"),)), None

    def span(self, file: str, text: str, nth: int = 0) -> Span:
        path = self.folder / file
        data, at = path.read_bytes(), -1
        for _ in range(nth + 1):
            at = data.index(text.encode(), at + 1)
        return Span(str(path), at, at + len(text), data.count(b"\n", 0, at) + 1, at - data.rfind(b"\n", 0, at))

    def _edits(self) -> Iterator[Edit]:
        for file in ("ship.h", "ship.c"):
            name, whole = self.span(file, "sbuf", 0), self.span(file, "sbuf[64]")
            statement = self.span(file, "double sbuf[64];")
            yield PointerDeclaration(name, self.span(file, "[64]"), None, whole, statement, 0, False)
        send = self.span("ship.c", "MPI_Send")
        yield ReplaceCall(send, self.wrong or "OPI_Give", ((self.span("ship.c", "sbuf", 2), "&sbuf"),))
        loop = self.span("ship.c", "for (int i = 0; i < 64; i++)\n        sbuf[i] = i;")
        yield InsertStatement(loop, "before", "OPI_Alloc(&sbuf, sizeof(double[64]));")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    (tmp_path / "src").mkdir()
    made = Program(tmp_path / "src", capfd)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plans, "analyse", made.analyse)
    return made


def test_without_output_the_diff_goes_to_stdout_and_nothing_is_written(program: Program) -> None:
    before = program.texts()
    code, out, err = program.run("src")
    assert code == 0
    assert program.texts() == before
    assert sorted(os.listdir()) == ["src"]
    assert out.startswith("--- a/src/ship.c\n+++ b/src/ship.c\n")
    assert "+double *sbuf;\n" in out
    assert "2 sites: 1 converted, 1 kept (send 1/1, recv 0/1)" in err
    assert "src/main.c:9" in err
    assert "    src/main.c:10: note: read here" in err


def test_patch_applies_the_diff(program: Program) -> None:
    (program.folder / "ship.c").write_text(SHIP[:-1])  # no final line end
    _, out, _ = program.run("src")
    subprocess.run(["patch", "-p1", "-s"], input=out.encode(), check=True, timeout=60)
    assert program.texts() == {"ship.h": HEADER.replace("sbuf[64]", "*sbuf"), "ship.c": SHIPPED[:-1], "main.c": MAIN}


def test_output_mirrors_the_whole_program(program: Program) -> None:
    before = program.texts()
    code, out, err = program.run("src/ship.c", "src/main.c", "-o", "out/deep")
    assert (code, err) == (0, "")
    assert "3 files written to out/deep" in out
    assert program.texts() == before
    program.folder = Path("out/deep")
    assert program.texts() == {"ship.h": HEADER.replace("sbuf[64]", "*sbuf"), "ship.c": SHIPPED, "main.c": MAIN}


def test_writing_again_writes_nothing(program: Program) -> None:
    program.run("src", "-o", "out")
    stamp = os.stat("out/ship.c").st_mtime_ns
    code, out, _ = program.run("src", "-o", "out")
    assert code == 0
    assert "0 files written to out" in out
    assert os.stat("out/ship.c").st_mtime_ns == stamp


def test_the_root_can_be_widened(program: Program) -> None:
    assert program.run("src", "-o", "out", "--root", ".")[0] == 0
    assert sorted(os.listdir("out/src")) == ["main.c", "ship.c", "ship.h"]


def test_an_edit_outside_the_root_is_never_written(program: Program) -> None:
    (program.folder / "sub").mkdir()
    os.rename("src/ship.h", "ship.h")
    for name in ("ship.c", "main.c"):
        path = program.folder / name
        path.write_text(path.read_text().replace('"ship.h"', '"../ship.h"'))
    original = program.span

    def span(file: str, text: str, nth: int = 0) -> Span:
        return original("../ship.h" if file == "ship.h" else file, text, nth)

    program.span = span  # type: ignore[method-assign]
    code, _, err = program.run("src", "-o", "out")
    assert code == 2
    assert "ship.h: error: needs an edit but lies outside" in err
    assert "--root" in err
    assert not Path("out").exists()
    assert program.run("src", "-o", "out", "--root", ".")[0] == 0
    assert Path("out/ship.h").read_text() == HEADER.replace("sbuf[64]", "*sbuf")


def test_in_place(program: Program) -> None:
    os.chmod("src/ship.c", 0o640)
    code, out, _ = program.run("src", "-i")
    assert code == 0
    assert "2 files written in place" in out
    assert program.texts() == {"ship.h": HEADER.replace("sbuf[64]", "*sbuf"), "ship.c": SHIPPED, "main.c": MAIN}
    assert os.stat("src/ship.c").st_mode & 0o777 == 0o640
    assert program.run("src")[1] == ""  # its own output stays as it is


def test_in_place_through_a_link_changes_the_file_behind_it(program: Program) -> None:
    os.rename("src/ship.c", "real.c")
    os.symlink("../real.c", "src/ship.c")
    assert program.run("src", "-i", "--", "-Isrc")[0] == 0
    assert os.path.islink("src/ship.c")
    assert "OPI_Give" in Path("real.c").read_text()


def test_json_alone_is_on_stdout(program: Program) -> None:
    code, out, err = program.run("src", "--output-format", "json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert report["summary"] == {"send": {"convert": 1, "keep": 0}, "recv": {"convert": 0, "keep": 1}}
    assert [site["file"] for site in report["sites"]] == ["src/main.c", "src/ship.c"]
    assert report["sites"][0]["notes"] == [{"file": "src/main.c", "line": 10, "column": 5, "message": "read here"}]
    assert not Path("out").exists()


def test_diff_beside_other_output(program: Program) -> None:
    code, out, err = program.run("src", "-o", "out", "--diff")
    assert code == 0
    assert out.startswith("--- a/src/ship.c")
    assert "3 files written to out" in err


def test_verbose_times_each_phase(program: Program) -> None:
    _, _, err = program.run("src", "-v")
    for phase in ("parse", "analyse", "rewrite", "self-check", "output"):
        assert sum(line.startswith(phase) and line.endswith(" s") for line in err.splitlines()) == 1


# --- --check ----------------------------------------------------------------------------------------------------------


def test_check_is_clean_when_all_is_as_expected(program: Program) -> None:
    code, out, _ = program.run("--check", "src")
    assert code == 0
    assert "0 findings; nothing was written" in out
    assert program.run("src", "-o", "out")[0] == 0
    assert program.run("--check", "src", "-o", "out")[0] == 0


def test_check_finds_output_that_is_out_of_date(program: Program) -> None:
    program.run("src", "-o", "out")
    Path("out/ship.c").write_text(SHIPPED.replace("sbuf[i] = i;", "sbuf[i] = 2 * i;"))
    os.unlink("out/main.c")
    code, out, _ = program.run("--check", "src", "-o", "out")
    assert code == 1
    findings = [line for line in out.splitlines() if ": finding: " in line]
    assert findings[0].startswith("out/main.c: finding: out of date: the file is missing")
    assert findings[1].startswith("out/ship.c:10: finding: out of date: here should be `sbuf[i] = i;`")
    assert len(findings) == 2
    assert not Path("out/main.c").exists()


def test_check_in_place_tells_whether_the_sources_are_transformed(program: Program) -> None:
    before = program.texts()
    assert program.run("--check", "-i", "src")[0] == 1
    assert program.texts() == before
    program.run("-i", "src")
    code, out, _ = program.run("--check", "-i", "src")
    assert (code, "expect give" in out) == (1, True)  # the plan of its own output has no send any more


@pytest.mark.parametrize(
    ("file", "old", "new", "line", "message"),
    [
        ("main.c", "allow OPI201", "expect take", 8, "`expect take` is unmet: MPI_Recv of &last stays, OPI201 live"),
        ("main.c", "allow OPI201", "expect give", 8, "`expect give`: no send stands here"),
        ("main.c", "allow OPI201", "allow OPI202", 8, "`allow OPI202` is unused"),
        ("main.c", "allow OPI201", "alow OPI201", 8, "`opi: alow OPI201` is not understood"),
        ("ship.c", "expect give", "allow OPI101", 10, "`allow OPI101` is unused"),
        ("ship.c", "expect give", "expect take", 10, "`expect take`: no receive stands here"),
    ],
)
def test_check_reads_comments(program: Program, file: str, old: str, new: str, line: int, message: str) -> None:
    path = program.folder / file
    path.write_text(path.read_text().replace(old, new))
    code, out, _ = program.run("--check", "src")
    assert code == 1
    assert f"src/{file}:{line}: finding: {message}" in out
    code, out, err = program.run("--check", "src", "--output-format", "json")
    assert code == 1
    assert json.loads(out)["version"] == 1
    assert f"src/{file}:{line}: finding: {message}" in err
    assert program.run("src")[0] == 0  # comments are looked at by --check only


# --- the self-check ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spoil",
    [
        lambda p: p.drop.add(PointerDeclaration),  # &sbuf is no address of a pointer: opi.h refuses it
        lambda p: setattr(p, "wrong", "OPI_Nonsense"),
        lambda p: setattr(p, "wrong", "(OPI_Give"),
        lambda p: p.edits.append(ReplaceText(p.span("ship.c", "to, 0"), "from")),
        lambda p: p.edits.append(ReplaceText(p.span("ship.c", "sbuf, 64"), "x")),  # contradicts the call's own edit
    ],
)
def test_a_result_that_does_not_parse_is_refused_as_a_whole(
    program: Program, spoil: Callable[[Program], object]
) -> None:
    spoil(program)
    before = program.texts()
    for arguments in (["src", "-o", "out"], ["src", "-i"], ["--check", "src"]):
        code, out, err = program.run(*arguments)
        assert (code, out) == (123, "")
        assert err.startswith("src/ship.c:")
        assert "fails its self-check" in err
        assert "nothing was written, please report it [OPI903]" in err
        assert "Traceback" not in err
    assert program.texts() == before
    assert not Path("out").exists()


def test_the_self_check_sees_headers_wherever_they_are_found(program: Program) -> None:
    """Include directories, forced includes and headers above the sources: each in its transformed form."""
    Path("inc").mkdir()
    os.rename("src/ship.h", "inc/ship.h")
    Path("forced.h").write_text("#define ANSWER 42\n")
    ship = program.folder / "ship.c"
    ship.write_text('#include "../above.h"\nint answer = ANSWER + ABOVE;\n' + ship.read_text())
    Path("above.h").write_text("#define ABOVE 1\n")
    original = program.span

    def span(file: str, text: str, nth: int = 0) -> Span:
        return original("../inc/ship.h" if file == "ship.h" else file, text, nth)

    program.span = span  # type: ignore[method-assign]
    for flags in (["-Iinc"], ["-I", "inc"], ["-isystem", "nowhere", "-iquote", "inc"]):
        code, _, err = program.run("src", "--root", ".", "-o", "out", "--", *flags, "-include", "forced.h")
        assert (code, err) == (0, "")
    assert Path("out/inc/ship.h").read_text() == HEADER.replace("sbuf[64]", "*sbuf")
    assert sorted(os.listdir("out")) == [MANIFEST, "above.h", "forced.h", "inc", "src"]


def test_a_header_that_the_output_lacks_is_told(program: Program) -> None:
    ship = program.folder / "ship.c"
    ship.write_text('#include "../above.h"\n' + ship.read_text())
    Path("above.h").write_text("#define ABOVE 1\n")
    code, _, err = program.run("src", "-o", "out")
    assert code == 0
    assert err.startswith("above.h:1: warning: this header is outside what -o copies")
    assert program.run("src", "-o", "out", "--", "-I.")[2] == ""
