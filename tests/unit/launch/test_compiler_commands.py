"""Commands of compilers taken apart: what opicc adds, what is transformed, what ranks of one process would share."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from opi_xform.launch import cmake, launcher, linked, opicc, opicxx, probes
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.runtime import Runtime
from opi_xform.launch.transform import (
    MANIFEST,
    Index,
    c_sources,
    find_index,
    manifest,
    mark_of,
    output_of,
    read_index,
    transformed,
)

MPI = Mpi(Path("/opt/bin/mpicc"), "mpich", "5.0", Path("/opt/include/mpi.h"))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("OPI_MPICC", "OPI_MPICXX", "OPI_INDEX", "CPATH", "C_INCLUDE_PATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


# --- opicc ------------------------------------------------------------------------------------------------------------


def test_opiccs_own_options_and_those_of_the_compiler() -> None:
    asked = opicc.parse(["-O2", "--transform=out", "a.c", "--show", "-o", "a"])
    assert asked.passed == ["-O2", "a.c", "-o", "a"]
    assert (asked.transform, asked.index, asked.show, asked.ranks) == (True, Path("out"), True, False)
    asked = opicc.parse(["--shared-heap", "--launch", "gcc", "-c", "--show", "a.c"])
    assert (asked.launched, asked.shared_heap) == ("gcc", True)
    assert asked.passed == ["-c", "--show", "a.c"]  # after the compiler all is its own
    assert opicc.parse(["--launch", "opicc", "a.c"]).launched is None  # one is enough


@pytest.mark.parametrize(
    ("arguments", "command", "why"),
    [
        (["--ranks", "--shared-heap"], opicc.OPICC, "share all memory as it is"),
        (["--launch"], opicc.OPICC, "no compiler"),
        (["-O2", "--launch", "gcc"], opicc.OPICC, "-O2: no option of opicc"),
        (["--transform", "a.cc"], opicc.OPICXX, "opi-xform reads C only"),
    ],
)
def test_options_that_exclude_each_other(arguments: list[str], command: opicc.Command, why: str) -> None:
    with pytest.raises(LaunchError, match=why):
        opicc.parse(arguments, command)


@pytest.mark.parametrize(
    ("arguments", "links"),
    [
        (["a.c"], True),
        (["a.o", "-o", "a"], True),
        (["-c", "a.c"], False),
        (["-shared", "a.o"], False),
        (["--version"], False),
        (["-"], True),
        (["@words"], False),
    ],
)
def test_commands_that_make_an_executable(arguments: list[str], links: bool) -> None:
    Path("words").write_text("-c 'a b.c'\n")
    assert opicc.links(arguments) is links
    assert opicc.expanded(["@words", "@none"]) == ["-c", "a b.c", "@none"]


def test_libopi_is_linked_whole_and_once() -> None:
    built = Runtime(Path("/c/libopi.a"), Path("/c/include"), Path("/c/libopi.so"))
    flags = opicc.link_flags(built, shared_heap=True)
    assert flags[1:] == ["-Wl,--whole-archive", "/c/libopi.a", "/c/libopi_malloc.a", "-Wl,--no-whole-archive"]
    assert opicc.has_libopi(["a.o", *opicc.link_flags(built)])
    assert opicc.has_libopi(["-Wl,--whole-archive,/c/libopi_ranks.a"])
    assert not opicc.has_libopi(["a.o", "/c/libopi.a"])


def test_a_command_that_only_compiles_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opicc, "ensure_runtime", lambda mpi: pytest.fail("built"))
    asked = opicc.parse(["-c", "a.c"])
    line = opicc.command_line(MPI, MPI.mpicc, asked, asked.passed, link=False)
    assert line[:3] == ["/opt/bin/mpicc", "-c", "a.c"]
    assert line[3] == "-isystem"
    built = Runtime(Path("/c/libopi.a"), Path("/c/include"), Path("/c/libopi.so"))
    monkeypatch.setattr(opicc, "ensure_runtime", lambda mpi: built)
    line = opicc.command_line(MPI, MPI.mpicc, asked, ["-xc", "a.txt"], link=True)
    assert line[line.index("-xnone") + 1 :] == opicc.link_flags(built)  # else the archive is a source


def test_opicxx_is_opicc_for_cxx(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[opicc.Command] = []
    monkeypatch.setattr(opicc, "main", lambda command: ran.append(command) or 7)
    assert opicxx.main() == 7
    assert ran == [opicc.OPICXX]
    assert "C++" in opicc.OPICXX.usage
    assert "--transform" in opicc.OPICC.usage


# --- another compiler -------------------------------------------------------------------------------------------------


def test_the_mpi_of_a_link_is_that_of_the_library_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Mpi(Path("/other/bin/mpicc"), "openmpi", "5.0", Path("/other/mpi.h"))
    asked: list[Path] = []
    monkeypatch.setattr(launcher, "beside", lambda library: asked.append(library) or other)
    monkeypatch.setattr(launcher, "find_mpi", lambda: MPI)
    Path("lib").mkdir()
    Path("lib/libmpi.so").touch()
    assert launcher.mpi_of("gcc", ["a.o", "-Llib", "-lmpi"]) is other
    assert launcher.mpi_of("gcc", ["a.o", "/x/libmpich.a"]) is other
    assert asked == [Path("lib/libmpi.so"), Path("/x/libmpich.a")]
    assert launcher.mpi_of("gcc", ["a.o", "-lm"]) is MPI
    monkeypatch.setenv("OPI_MPICC", "mpicc")
    with pytest.raises(LaunchError, match="belongs to mpich; set OPI_MPICC"):
        launcher.mpi_of("gcc", ["a.o", "-Llib", "-lmpi"])


def test_the_cxx_compiler_of_an_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("bin").mkdir()
    mpi = Mpi(Path("bin/mpicc").absolute(), "mpich", "5.0", Path("mpi.h"))
    with pytest.raises(LaunchError, match="no C\\+\\+ compiler of this MPI"):
        launcher.cxx_of(mpi)
    Path("bin/mpic++").touch(mode=0o755)
    assert launcher.cxx_of(mpi) == Path("bin/mpic++").absolute()
    monkeypatch.setenv("OPI_MPICXX", "none-such")
    with pytest.raises(LaunchError, match="OPI_MPICXX=none-such: no such command"):
        launcher.cxx_of(mpi)


# --- questions of build systems ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "output", "question"),
    [
        ("conftest.c", "conftest", True),
        ("conftest.c", "app", False),
        ("build/CMakeFiles/CMakeScratch/TryCompile-x/src.c", None, True),
        ("build/CMakeFiles/3.28/CompilerIdC/CMakeCCompilerId.c", None, True),
        ("build/meson-private/tmp/testfile.c", None, True),
        ("src/short.c", "build/CMakeFiles/app.dir/short.o", False),
        ("src/CMakeScratch.c", None, False),
    ],
)
def test_what_a_build_system_asks_a_compiler(source: str, output: str | None, question: bool) -> None:
    assert probes.is_probe(source, output) is question


def test_cmake_asks_what_a_compiler_links(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not probes.asks_what_is_linked(["-v", "a.o"])
    place = Path("CMakeFiles/CMakeScratch/x")
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    assert probes.asks_what_is_linked(["-v", "a.o"])
    assert not probes.asks_what_is_linked(["a.o"])


# --- transformed sources ----------------------------------------------------------------------------------------------


def index(folder: str = ".opi-index") -> Index:
    """Of src/a.c and src/h.h."""
    files = {}
    for name in ("src/a.c", "src/h.h"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(f"/* {name} */\n")
        there = Path(folder, "tree", name)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text("/* new */\n")
        files[name] = hashlib.sha256(Path(name).read_bytes()).hexdigest()
    Path(folder, MANIFEST).write_bytes(manifest(os.getcwd(), files, ["src/a.c"]))
    return read_index(Path(folder))


@pytest.mark.parametrize(
    ("arguments", "sources"),
    [
        (["-c", "a.c", "-o", "b.c"], {1: "a.c"}),
        (["-x", "c", "a.txt", "-x", "none", "b.txt", "c.c"], {2: "a.txt", 6: "c.c"}),
        (["-xc++", "a.c"], {}),
        (["-include", "a.c", "-I", "b.c", "-Ic.c"], {}),
    ],
)
def test_which_arguments_are_c_sources(arguments: list[str], sources: dict[int, str]) -> None:
    assert c_sources(arguments) == sources


@pytest.mark.parametrize(("arguments", "output"), [(["-o", "a"], "a"), (["-oa", "-ob"], "b"), (["a.c"], None)])
def test_what_a_command_writes(arguments: list[str], output: str | None) -> None:
    assert output_of(arguments) == output


def test_a_source_is_compiled_as_it_was_transformed() -> None:
    made = index()
    assert find_index(Path("src/a.c")).root == made.root == Path.cwd()
    line = transformed(["-Isrc", "-c", "src/a.c", "-o", "a.o"])
    tree = Path(".opi-index/tree").absolute()
    assert line[:2] == [f"-I{tree}/src", "-Isrc"]  # the program's own headers, transformed, first
    assert line[3] == f"{tree}/src/a.c"
    assert line[-1] == f"-fmacro-prefix-map={tree}/src/=src/"  # __FILE__ stays what it was
    mark = mark_of(made.path.absolute(), Path("src/a.c").absolute())
    mark.parent.mkdir()
    mark.touch()
    assert transformed(["-c", "src/a.c"])[:2] == ["-include", str(mark)]


@pytest.mark.parametrize(
    ("change", "arguments", "why"),
    [
        (
            lambda: Path("src/h.h").write_text("other\n"),
            ["-c", "src/a.c"],
            "index was made; run `opi-xform --index` again",
        ),
        (lambda: Path("src/h.h").unlink(), ["-c", "src/a.c"], "run `opi-xform --index` again"),
        (lambda: None, ["-c", "src/b.c"], "src/b.c: not in "),
        (lambda: Path(".opi-index", MANIFEST).write_text("{"), ["-c", "src/a.c"], "a damaged index"),
        (lambda: Path(".opi-index", MANIFEST).write_text('{"version": 0}'), ["-c", "src/a.c"], "an index of version 0"),
        (lambda: Path(".opi-index", MANIFEST).unlink(), ["-c", "src/a.c"], "no .opi-index here or above"),
    ],
)
def test_half_of_a_plan_is_an_error(change: object, arguments: list[str], why: str) -> None:
    index()
    assert callable(change)
    change()
    with pytest.raises(LaunchError, match=why):
        transformed(arguments)


def test_what_a_build_system_asks_is_compiled_as_it_stands() -> None:
    assert transformed(["conftest.c", "-o", "conftest"]) == ["conftest.c", "-o", "conftest"]
    assert transformed(["a.o", "-o", "a"]) == ["a.o", "-o", "a"]


# --- the package of CMake ---------------------------------------------------------------------------------------------


def test_commands_of_a_target(tmp_path: Path) -> None:
    def entry(file: str, output: str, more: str = "") -> dict[str, str]:
        return {"directory": str(tmp_path), "file": file, "command": f"cc {more} -c {file} -o {output}"}

    listed = [
        entry("a.c", "app.dir/Debug/a.o"),
        entry("a.c", "app.dir/Release/a.o"),
        entry("b.cc", "app.dir/b.o"),
        entry("c.c", "other.dir/c.o"),
    ]
    database = tmp_path / "compile_commands.json"
    database.write_text(json.dumps(listed))
    found = cmake.entries(database, [str(tmp_path / "app.dir")], "Release")
    assert found == [listed[1]]  # one for each source, that of the configuration
    for text, why in (("{", "is not JSON"), (None, "run cmake again")):
        if text is None:
            database.unlink()
        else:
            database.write_text(text)
        with pytest.raises(LaunchError, match=why):
            cmake.entries(database, [], "")


def test_an_index_for_a_build_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside it lies a mark for each source, which changes when what is compiled for it does."""
    index("work/index")
    database = [{"directory": str(tmp_path), "file": "src/a.c", "command": "cc -c src/a.c -o app.dir/a.o"}]
    (tmp_path / "compile_commands.json").write_text(json.dumps(database))
    monkeypatch.setattr(cmake, "XFORM", (sys.executable, "-c", "print('1 site: 1 converted, 0 kept')"))

    def made() -> str:
        assert cmake.make_index(tmp_path, Path("work"), "", [str(tmp_path / "app.dir")], []) == 0
        return mark_of(Path("work/index"), Path("src/a.c").absolute()).read_text()

    first = made()
    assert made() == first
    assert "src/a.c" in Path("work/done.d").read_text()
    Path("work/index/tree/src/h.h").write_text("/* newer */\n")
    assert made() != first
    monkeypatch.setattr(cmake, "XFORM", (sys.executable, "-c", "raise SystemExit(2)"))
    assert cmake.make_index(tmp_path, Path("work"), "", [str(tmp_path / "app.dir")], []) == 2


# --- what ranks of one process share ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "asks", "file"),
    [(["a.o"], False, None), (["-Wl,-Map=m"], True, "m"), (["-Wl,-Map,m"], True, "m"), (["-Wl,-M"], True, None)],
)
def test_a_map_that_the_command_asks_for(arguments: list[str], asks: bool, file: str | None) -> None:
    assert linked.map_of(arguments) == (asks, None if file is None else Path(file))


@pytest.mark.parametrize(("arguments", "output"), [(["a.o"], "a.out"), (["-o", "b", "a.o"], "b"), (["-ob"], "b")])
def test_the_program_of_a_link(arguments: list[str], output: str) -> None:
    assert linked.output_of(arguments) == Path(output)


def test_variables_that_ranks_share_by_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linked, "_of_mpi", lambda mpi: frozenset())
    Path("a.c").write_text(
        "int shared; static int kept = 3; const int table = 4; int main(void) { return shared + kept++; }\n"
    )
    Path("b.c").write_text("_Thread_local int own = 1; int known[2] = {1, 2}; int f(void) { return own + known[1]; }\n")
    subprocess.run(["cc", "-c", "a.c", "b.c"], check=True)
    subprocess.run(["cc", "a.o", "b.o", "-o", "app", "-Wl,-Map=m"], check=True)
    text = Path("m").read_text()
    found = {unit.name: unit for unit in linked.units(text, Path("app"), ["a.o", "b.o"], MPI)}
    names = {name: {v.name: v.zero for v in unit.variables} for name, unit in found.items()}
    assert names["a.o"] == {"shared": True, "kept": False}
    assert names["b.o"] == {"known": False}
    assert (found["a.o"].seen, found["b.o"].seen) == (False, True)
    shared = linked.shared_by_ranks(found.values())
    assert list(shared) == ["a.o"]  # of b.o it was seen, and nothing writes what is left
    assert sorted(shared["a.o"]) == ["kept", "shared"]
    (first, second) = linked.warnings(text, Path("app"), ["a.o", "b.o"], MPI)
    assert first.startswith("warning: a.o: 2 variables that all ranks share: ")
    assert second.startswith("note: opi-xform --privatize gives each rank its own")


def test_an_archive_with_private_variables_was_seen() -> None:
    def unit(name: str, seen: bool, *variables: linked.Variable) -> linked.Unit:
        return linked.Unit(name, "lib.a", seen, variables)

    table, zero = linked.Variable("table", False), linked.Variable("count", True)
    assert linked.shared_by_ranks([unit("a", True), unit("b", False, table)]) == {}
    assert linked.shared_by_ranks([unit("a", True), unit("b", False, zero)]) == {"lib.a": ["count"]}
    assert linked.shared_by_ranks([unit("a", False, table)]) == {"lib.a": ["table"]}
