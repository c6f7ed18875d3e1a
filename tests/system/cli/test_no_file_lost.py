"""What -o writes to and removes: files of its own, and no others."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from opi_xform.cli.main import main
from opi_xform.rewrite.manifest import NAME
from opi_xform.rewrite.write import OutputError, in_place
from opi_xform.text.sources import Sources

Run = Callable[..., tuple[int, str, str]]
TEXTS = {
    "src/main.c": '#include "part.h"\nint main(void) { return part(1); }\n',
    "src/lib/part.c": '#include "../part.h"\nint part(int n) { return n - 1; }\n',
    "src/part.h": "int part(int n);\n",
}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the command beside a small program in src: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    for name, text in TEXTS.items():
        write(name, text)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "-j", "1"])
        out, err = capfd.readouterr()
        return code, out, err

    return call


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def texts(top: str = ".") -> dict[str, str]:
    """All files by name below a directory, but for the manifest."""
    files = (path for path in Path(top).rglob("*") if path.is_file() and path.name != NAME)
    return {path.relative_to(top).as_posix(): path.read_text(encoding="utf-8") for path in files}


def refused(call: tuple[int, str, str], *parts: str) -> None:
    """An error of one line, and nothing on stdout."""
    code, out, err = call
    assert (code, out) == (2, "")
    assert err.count("\n") == 1, err
    for part in parts:
        assert part in err


OURS = {name.removeprefix("src/"): text for name, text in TEXTS.items()}


def test_what_was_written_is_on_record(cli: Run) -> None:
    assert cli("src", "-o", "out")[0] == 0
    assert texts("out") == OURS
    manifest = json.loads(Path("out", NAME).read_bytes())
    (program,) = manifest["programs"]
    assert (manifest["version"], program["main"], sorted(program["files"])) == (1, "../src/main.c", sorted(OURS))
    assert program["sources"] == ["../src/lib/part.c", "../src/main.c"]


def test_another_file_is_not_overwritten(cli: Run) -> None:
    write("out/main.c", "mine\n")
    before = texts()
    refused(cli("src", "-o", "out"), "out/main.c: error: was not written by opi-xform, and differs", "--force")
    assert texts() == before
    assert cli("src", "-o", "out", "--force")[0] == 0
    assert texts("out") == OURS


def test_a_file_with_the_right_content_is_taken_for_its_own(cli: Run) -> None:
    shutil.copytree("src", "out")
    assert cli("src", "-o", "out")[0] == 0
    write("src/part.h", "int part(int m);\n")
    assert cli("src", "-o", "out")[0] == 0


def test_an_edited_file_is_not_overwritten(cli: Run) -> None:
    cli("src", "-o", "out")
    write("out/lib/part.c", "mine\n")
    refused(cli("src", "-o", "out"), "out/lib/part.c: error: was edited since opi-xform wrote it", "--force")
    assert Path("out/lib/part.c").read_text() == "mine\n"
    code, out, _ = cli("src", "-o", "out", "--check")
    assert code == 1
    assert "out/lib/part.c:1: finding: out of date" in out
    assert "-o out --force, for opi-xform did not write what is there" in out
    assert cli("src", "-o", "out", "--force")[0] == 0
    assert texts("out") == OURS


def test_many_files_in_the_way_are_ten_lines_and_a_number(cli: Run) -> None:
    for number in range(13):
        write(f"src/n{number:02}.c", "")
        write(f"out/n{number:02}.c", "mine\n")
    code, _, err = cli("src", "-o", "out")
    assert (code, err.count("\n")) == (2, 11)
    assert "3 more files like these; nothing was written" in err


def test_what_is_out_of_date_is_removed(cli: Run) -> None:
    cli("src", "-o", "out")
    os.remove("src/lib/part.c")
    write("src/main.c", "int main(void) { return 0; }\n")
    code, out, _ = cli("src", "-o", "out", "--check")
    assert code == 1
    assert "out/lib/part.c: finding: out of date: nothing in the sources makes this file any more; run" in out
    code, out, err = cli("src", "-o", "out")
    assert (code, err) == (0, "")
    assert "out/lib/part.c removed: nothing in the sources makes it any more\n" in out
    assert texts("out") == {"main.c": "int main(void) { return 0; }\n"}
    assert not Path("out/lib").exists()
    assert cli("src", "-o", "out", "--check")[0] == 0


def test_what_is_out_of_date_and_edited_is_told_and_stays(cli: Run) -> None:
    cli("src", "-o", "out")
    os.remove("src/lib/part.c")
    write("src/main.c", "int main(void) { return 0; }\n")
    write("out/lib/part.c", "mine\n")
    for _ in range(2):  # each time
        code, _, err = cli("src", "-o", "out")
        assert code == 0
        assert err.startswith("out/lib/part.c: warning: nothing in the sources makes this file any more, but it was")
    assert cli("src", "-o", "out", "--check")[0] == 1
    assert Path("out/lib/part.c").read_text() == "mine\n"
    os.remove("out/lib/part.c")
    assert cli("src", "-o", "out")[2] == ""


def test_what_was_never_on_record_stays(cli: Run) -> None:
    cli("src", "-o", "out")
    write("out/Makefile", "all:\n")
    code, out, err = cli("src", "-o", "out")
    assert (code, err, "removed" in out) == (0, "", False)
    assert Path("out/Makefile").exists()


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("{", "is not what opi-xform wrote; remove it and run again"),
        ('{"version": 1}', "is not what opi-xform wrote"),
        ('{"version": 1, "programs": [1]}', "is not what opi-xform wrote"),
        ('{"version": 1, "programs": [{"main": "", "sources": [1], "files": {}}]}', "is not what opi-xform wrote"),
        ('{"version": 1, "programs": [{"main": 1, "sources": [], "files": {}}]}', "is not what opi-xform wrote"),
        ('{"version": 1, "programs": [{"main": "", "sources": [], "files": {"a": 1}}]}', "is not what opi-xform wrote"),
        ('{"version": 2, "programs": 7}', "is of version 2, not 1; remove out and run again"),
    ],
)
def test_a_manifest_that_is_none(cli: Run, content: str, part: str) -> None:
    write(f"out/{NAME}", content)
    for more in ((), ("--check",)):
        refused(cli("src", "-o", "out", *more), f"out/{NAME}: error: {part}")
    assert os.listdir("out") == [NAME]


def test_a_manifest_that_names_other_places_removes_nothing_there(cli: Run) -> None:
    cli("src", "-o", "out")
    write("victim.c", "")
    write("elsewhere/victim.c", "")
    os.symlink("../elsewhere", "out/link")
    manifest = json.loads(Path("out", NAME).read_bytes())
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    names = ("../victim.c", os.path.abspath("victim.c"), "lib/../../victim.c", "link/victim.c")
    manifest["programs"][0]["files"] |= dict.fromkeys(names, empty)
    write(f"out/{NAME}", json.dumps(manifest))
    code, out, _ = cli("src", "-o", "out")
    assert (code, "removed" in out) == (0, False)
    assert Path("victim.c").exists()
    assert Path("elsewhere/victim.c").exists()


def test_several_programs_in_one_directory(cli: Run) -> None:
    """Each has an entry of its own: neither removes or changes what is the other's."""
    write("two/other.c", '#include "part.h"\nint main(void) { return 2; }\n')
    write("two/part.h", TEXTS["src/part.h"])  # both have it, alike
    for _ in range(2):
        assert cli("src", "-o", "out")[0] == 0
        code, out, _ = cli("two", "-o", "out")
        assert (code, "removed" in out) == (0, False)
        assert texts("out") == {**OURS, "other.c": Path("two/other.c").read_text()}
        assert cli("src", "-o", "out", "--check")[0] == cli("two", "-o", "out", "--check")[0] == 0
    write("two/part.h", "/* not alike */\n")
    refused(cli("two", "-o", "out"), "out/part.h: error: belongs to another program there (src/main.c), and differs")
    assert Path("out/part.h").read_text() == TEXTS["src/part.h"]
    write("two/part.h", TEXTS["src/part.h"])
    os.rename("two/other.c", "two/another.c")
    assert "out/other.c removed" in cli("two", "-o", "out")[1]
    shutil.rmtree("two")
    assert "out/another.c removed" in cli("src", "-o", "out")[1]  # its sources are gone
    assert texts("out") == OURS


def test_a_program_that_moved_is_still_the_same(cli: Run) -> None:
    cli("src", "-o", "out")
    os.rename("src/main.c", "src/begin.c")
    assert cli("src", "-o", "out")[0] == 0
    assert sorted(texts("out")) == ["begin.c", "lib/part.c", "part.h"]
    assert cli("src", "-o", "out", "--root", ".")[0] == 0  # another root: the same program
    assert sorted(texts("out")) == ["src/begin.c", "src/lib/part.c", "src/part.h"]
    write("src/lib/part.c", "int main(void) { return 3; }\n")  # main moves to another source
    write("src/begin.c", "int part(int n) { return n; }\n")
    code, out, _ = cli("src", "-o", "out", "--root", ".")
    assert (code, "out/src/part.h removed" in out) == (0, True)
    Path("deeper").mkdir()
    shutil.move("src", "deeper/src")
    shutil.move("out", "deeper/out")
    assert cli("deeper/src", "-o", "deeper/out")[0] == 0


def test_libraries_are_programs_too(cli: Run) -> None:
    write("a/a.c", "int a;\n")
    write("b/b.c", "int b;\n")
    cli("a", "-o", "out")
    assert "removed" not in cli("b", "-o", "out")[1]
    assert sorted(texts("out")) == ["a.c", "b.c"]
    shutil.rmtree("a")
    assert "out/a.c removed" in cli("b", "-o", "out")[1]


def test_output_beside_and_inside_the_sources(cli: Run) -> None:
    """-o . writes beside src, never over a source; what was written is no input of the next run."""
    assert cli("src", "-o", ".")[0] == 0
    assert texts()["main.c"] == TEXTS["src/main.c"]
    write("src/main.c", "int main(void) { return 7; }\n")
    assert cli("src", "-o", ".")[0] == 0
    assert Path("main.c").read_text() == "int main(void) { return 7; }\n"
    refused(cli("src", "-o", "src"), "src: error: is where the sources are")
    refused(cli("src", "-o", "./src/../src"), "error: is where the sources are")
    assert cli("src", "-o", "src/out")[0] == 0
    assert cli("src")[0] == 0  # src/out is left out by its manifest
    assert cli("src", "-o", "src/out", "--check")[0] == 0


def test_a_source_is_never_overwritten_nor_removed(cli: Run) -> None:
    write("p/q/x.c", "int x(void) { return 1; }\n")
    write("p/x.c", "int main(void) { return 0; }\n")
    before = texts("p")
    refused(cli("p/q/x.c", "p/x.c", "-o", "p", "--root", "p"), "p: error: is where the sources are")
    os.link("p/x.c", "p/y.c")
    write("out/q/x.c", "int x(void) { return 1; }\n")
    os.link("p/x.c", "out/x.c")  # the place of the output is a source by another name
    assert cli("p/q/x.c", "p/x.c", "-o", "out")[0] == 0  # same text: nothing to write
    assert texts("p") == {**before, "y.c": before["x.c"]}


def test_a_stale_file_that_is_a_source_now_stays(cli: Run) -> None:
    write("top/in/x.c", "int main(void) { return 0; }\n")
    assert cli("top/in/x.c", "-o", "top")[0] == 0  # top/x.c is on record
    shutil.rmtree("top/in")
    assert cli("top/x.c", "-o", "top", "--root", ".")[0] == 0
    assert Path("top/x.c").read_text() == Path("top/top/x.c").read_text() == "int main(void) { return 0; }\n"


def test_a_link_to_the_directory(cli: Run) -> None:
    Path("real").mkdir()
    os.symlink("real", "out")
    assert cli("src", "-o", "out")[0] == 0
    assert texts("real") == OURS
    assert cli("src", "-o", "real", "--check")[0] == 0
    assert cli("src", "-o", "out/")[0] == 0


def test_a_failure_in_the_middle_leaves_all_as_it_was(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what was to be removed, and the manifest."""
    cli("src", "-o", "out")
    os.remove("src/lib/part.c")
    write("src/main.c", "int main(void) { return 0; }\n")
    before, record = texts("out"), Path("out", NAME).read_bytes()
    for failing in ("replace", "unlink"):
        original, calls = getattr(os, failing), []

        def fail(*places: str, original: Callable[..., None] = original, calls: list[str] = calls) -> None:
            if str(places[-1]).startswith("out"):
                calls.append(str(places[-1]))
                if len(calls) == 1:
                    raise PermissionError(13, "Permission denied")
            original(*places)

        with monkeypatch.context() as patch:
            patch.setattr(os, failing, fail)
            refused(cli("src", "-o", "out"), "cannot be written (Permission denied); nothing was written", "OPI904")
        assert calls
        assert (texts("out"), Path("out", NAME).read_bytes()) == (before, record)


def test_an_interrupt_in_the_middle_leaves_all_as_it_was(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("src", "-o", "out")
    write("src/part.h", "int part(int m);\n")
    write("src/main.c", TEXTS["src/main.c"] + "\n")
    before, record = texts("out"), Path("out", NAME).read_bytes()
    original, calls = os.replace, []

    def interrupted(*places: str) -> None:
        calls.append(places)
        if len(calls) == 2:
            raise KeyboardInterrupt
        original(*places)

    monkeypatch.setattr(os, "replace", interrupted)
    code, _, err = cli("src", "-o", "out")
    monkeypatch.setattr(os, "replace", original)
    assert (code, err) == (130, "opi-xform: interrupted; nothing was written\n")
    assert (texts("out"), Path("out", NAME).read_bytes()) == (before, record)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_directory_that_cannot_be_written(cli: Run) -> None:
    Path("out").mkdir(mode=0o500)
    refused(cli("src", "-o", "out"), "error: cannot be written (Permission denied); nothing was written")


def test_a_source_outside_of_the_root(cli: Run) -> None:
    write("else/far.c", "int far;\n")
    refused(cli("src", "else/far.c", "-o", "out", "--root", "src"), "else/far.c: error: lies outside --root src")
    assert not Path("out").exists()


def test_the_index_is_on_record_as_well(cli: Run) -> None:
    assert cli("src", "--index", ".opi-index")[0] == 0
    os.remove("src/lib/part.c")
    write("src/main.c", "int main(void) { return 0; }\n")
    code, out, _ = cli("src", "--index", ".opi-index")
    assert code == 0
    assert ".opi-index/tree/lib/part.c removed" in out
    assert sorted(texts(".opi-index")) == ["index.json", "tree/main.c"]


@pytest.mark.parametrize("option", ["--report", "--write-baseline", "--export-fixes"])
def test_a_report_makes_no_directory(cli: Run, option: str) -> None:
    name = "no/where/r.html"
    refused(cli("src", option, name), f"{name}: error: the directory no/where does not exist; make it first")
    assert not Path("no").exists()
    refused(cli("src", option, "src"), "src: error: is a directory; name a file")
    assert cli("src", "-o", "out", option, "out/r.html")[0] == 0  # -o makes its own directory
    refused(cli("src", "-o", "new", "--check", option, "new/r.html"), "the directory new does not exist")


def test_force_is_for_what_writes(cli: Run) -> None:
    refused(cli("src", "-o", "out", "--check", "--force"), "--check writes nothing, so there is nothing to --force")
    refused(cli("src", "--force"), "--force is for -o and --index; add one of them")


def test_headers_for_other_compilers_come_along(cli: Run) -> None:
    """The result builds wherever the program does."""
    write("src/part.h", '#ifdef OTHER_COMPILER\n#include "other.h"\n#endif\nint part(int n);\n')
    write("src/other.h", '# include "lib/more.h"\n#include <angled.h>\n#include "nowhere.h"\n#include "../up.h"\n')
    write("src/lib/more.h", '#include "../other.h"\n')
    write("src/inc/angled.h", "")
    write("up.h", "")
    assert cli("src", "-o", "out", "-Isrc/inc")[0] == 0
    assert sorted(set(texts("out")) - set(OURS)) == ["inc/angled.h", "lib/more.h", "other.h"]
    assert cli("src", "-o", "wide", "--root", ".")[0] == 0
    assert "up.h" in texts("wide")


def test_one_file_by_two_names_is_edited_alike_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("int a;\n")
    (tmp_path / "b.h").symlink_to("a.h")
    names = [str(tmp_path / "a.h"), str(tmp_path / "b.h")]
    (alike,) = in_place(dict.fromkeys(names, b"int *a;\n"), Sources(), names)
    assert alike.target == names[0]
    assert in_place({}, Sources(), names) == ()
    for changed in ({names[0]: b"int *a;\n"}, {names[1]: b"int *a;\n"}, {names[0]: b"", names[1]: b"int *a;\n"}):
        with pytest.raises(OutputError, match=r"is the same file as .*, and would not be edited alike; use -o"):
            in_place(changed, Sources(), names)
