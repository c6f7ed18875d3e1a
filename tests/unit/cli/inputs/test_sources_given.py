"""Which files are the program, and with which flags each is compiled."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from opi_xform.cli.inputs.beside import notes
from opi_xform.cli.inputs.build_flags import (
    BuildFlags,
    below_folder,
    build_flags,
    databases_near,
    include_directories,
    open_database,
)
from opi_xform.cli.inputs.files import Inputs, below, collect_sources, common_root, files_beside, foreign
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import Failure
from opi_xform.rewrite.manifest import NAME as MANIFEST


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(*names: str) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("int a;\n")


def database(folder: str, *files: str, flags: str = "-DN=1") -> None:
    top = Path(folder)
    top.mkdir(parents=True, exist_ok=True)
    listed = [{"directory": os.getcwd(), "file": f, "command": f"cc {flags} -c {f}"} for f in files]
    (top / "compile_commands.json").write_text(json.dumps(listed))


# --- sources ----------------------------------------------------------------------------------------------------------


def test_files_in_the_order_given_and_those_of_a_directory_sorted() -> None:
    make("z.c", "src/b.c", "src/a.c", "src/h.h", "src/.git/c.c", "src/.#a.c", "src/deep/d.c")
    assert collect_sources(Options(("z.c", "src"))).sources == ("z.c", "src/a.c", "src/b.c", "src/deep/d.c")


def test_a_file_counts_once_and_by_its_own_name() -> None:
    make("src/a.c")
    os.symlink("src/a.c", "link.c")
    found = collect_sources(Options(("link.c", "src/a.c", "./src/a.c")))
    assert found.sources == ("src/a.c",)
    assert found.twice == (("link.c", "src/a.c"),)


def test_what_an_earlier_run_wrote_is_no_input() -> None:
    make("src/a.c", "src/out/a.c", "src/now/a.c")
    Path("src/out", MANIFEST).write_text("{}")
    found = collect_sources(Options(("src",), output="src/now"))
    assert found.sources == ("src/a.c",)
    assert found.left == ("src/now", "src/out")
    assert list(below("src/out", Options(()))) == [f"src/out/{MANIFEST}", "src/out/a.c"]  # where it is named itself


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("none.c", "no such file"),
        ("a.cpp", "opi-xform reads C (.c), not C++"),
        ("a.f90", "opi-xform reads C (.c), not Fortran"),
        ("a.h", "not a C source file"),
        ("empty", "no .c file in this directory"),
        ("folder.c", "not a regular file"),
    ],
)
def test_a_path_that_is_no_source(path: str, why: str) -> None:
    make("a.cpp", "a.f90", "a.h", "empty/a.h")
    os.mkfifo("folder.c")
    with pytest.raises(Failure) as failure:
        collect_sources(Options((path,)))
    (problem,) = failure.value.problems
    assert why in problem.message
    assert (problem.file, problem.code) == (path, "OPI902")


def test_a_directory_stands_for_what_its_build_compiles() -> None:
    make("src/a.c", "src/b.c", "old/c.c")
    database("build", "src/a.c")
    found = collect_sources(Options(("src",), build_dir="build"))
    assert (found.sources, found.unlisted) == (("src/a.c",), ("src/b.c",))
    assert collect_sources(Options((), build_dir="build")).sources == ("src/a.c",)
    with pytest.raises(Failure, match=r"no \.c file in this directory that build/compile_commands\.json compiles"):
        collect_sources(Options(("old",), build_dir="build"))


def test_no_input_names_the_build_that_is_there() -> None:
    database("build-debug", "a.c")
    with pytest.raises(Failure, match="opi-xform -p build-debug takes what was built there"):
        collect_sources(Options(()))


def test_the_root_is_the_deepest_that_holds_all() -> None:
    make("src/x/a.c", "src/y/b.c")
    top = os.getcwd()
    assert common_root(("src/x/a.c", "src/y/b.c"), Options(())) == f"{top}/src"
    assert common_root(("src/x/a.c",), Options(())) == f"{top}/src/x"
    assert common_root(("src/x/a.c",), Options((), root=".")) == top
    for root, why in (("src/y", "lies outside --root src/y"), ("none", "no such directory")):
        with pytest.raises(Failure, match=why):
            common_root(("src/x/a.c",), Options((), root=root))


def test_files_beside_the_sources_and_files_that_nobody_wrote() -> None:
    make("src/a.c", "src/b.f90", "lib/c.cpp")
    assert files_beside(Options(("src/a.c",)), ("src/a.c",)) == ["src/a.c", "src/b.f90"]
    assert foreign(["src"]) == []  # without a manifest nobody knows


def test_what_is_said_of_files_that_are_not_read() -> None:
    make("src/a.c", "src/b.c", "src/c.f90", "src/d.f90", "src/e.cc")
    given = Inputs(("src/a.c",), twice=(("link.c", "src/a.c"),), unlisted=("src/z.c",))
    said = [str(p) for p in notes(given, files_beside(Options(()), given.sources), ["src/b.c"], "build/db.json", [])]
    assert [line.split(";")[0] for line in said] == [
        "src/e.cc: note: is C++: opi-xform reads C alone",
        "src/c.f90: note: and 1 more are Fortran: opi-xform reads C alone",
        "src/b.c: note: is compiled by build/db.json but not given",
        "src/z.c: note: is left out: build/db.json does not compile it",
        "link.c: note: is another name of src/a.c, which is read",
    ]


# --- flags ------------------------------------------------------------------------------------------------------------


def test_flags_after_the_dashes_are_for_every_file() -> None:
    found = build_flags(Options(("a.c",), flags=("-DN=1", "-c", "-o", "x")), ["a.c"], os.getcwd())
    assert found.of("a.c") == ("-DN=1",) == found.of("other.c")  # what only a compiler needs is left out


def test_flags_of_a_database_that_is_named_or_found() -> None:
    make("src/a.c", "src/b.c")
    database("build", "src/a.c")
    for options in (Options(("src",), build_dir="build"), Options(("src",))):
        found = build_flags(options, ["src/a.c"], os.path.realpath("src"))
        assert "-DN=1" in found.of("src/a.c")
        assert os.path.basename(found.database) == "compile_commands.json"
    assert build_flags(Options(("src",)), ["src/a.c", "src/b.c"], os.path.realpath("src")).of("src/b.c") == ()
    assert build_flags(Options(("src",), flags=()), ["src/a.c"], os.path.realpath("src")) == BuildFlags()


def test_two_builds_that_say_different_things() -> None:
    make("a.c")
    database("build-a", "a.c")
    database("build-b", "a.c")
    assert "-DN=1" in build_flags(Options(("a.c",)), ["a.c"], os.getcwd()).of("a.c")  # they say the same
    database("build-b", "a.c", flags="-DN=2")
    with pytest.raises(Failure, match="compile the sources with other flags; say which by -p"):
        build_flags(Options(("a.c",)), ["a.c"], os.getcwd())


def test_a_directory_without_a_database() -> None:
    database("out/x/build", "a.c")
    assert databases_near(".") == []
    assert below_folder("out", 3) == ["out/x/build"]
    with pytest.raises(Failure, match=r"there is no compile_commands\.json in it, but one below; use -p out/x/build"):
        open_database("out")
    Path("cmade").mkdir()
    Path("cmade/CMakeCache.txt").write_text("")
    with pytest.raises(Failure, match="CMAKE_EXPORT_COMPILE_COMMANDS=ON cmade"):
        open_database("cmade")


def test_directories_of_headers() -> None:
    flags = ["-Ia", "-I", "b", "-isystem", "c", "-DI", "-include", "d.h", "-iquote", "e"]
    assert include_directories(flags) == ["a", "b", "c", "e"]
