"""Which sources a run takes: from the command line, a build's database, opi.toml; what is told of those left out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from opi_xform.cli.inputs import files as inputs
from opi_xform.cli.main import main
from opi_xform.rewrite.manifest import NAME

Run = Callable[..., tuple[int, str, str]]
MAIN = '#include "conf.h"\nint part(void);\nint main(void) { return CONF + part(); }\n'
PART = "int part(void) { return 0; }\n"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the command beside src, whose sources need -Iconf: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("src/main.c", MAIN), ("src/part.c", PART), ("conf/conf.h", "#define CONF 0\n")):
        write(name, text)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "-j", "1"])
        out, err = capfd.readouterr()
        return code, out, err

    return call


def write(name: str, text: str = "") -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def database(folder: str, *names: str, flags: str = "-Iconf") -> None:
    top = os.getcwd()
    entries = [{"directory": top, "file": name, "command": f"cc {flags} -c {name}"} for name in names]
    write(f"{folder}/compile_commands.json", json.dumps(entries, indent=0))


def written(folder: str = "out") -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


NOTHING = "0 sites: no send or receive in the files given; nothing to do\n"
PROGRAM = [NAME, "main.c", "part.c"]


def test_a_build_alone_names_the_sources(cli: Run) -> None:
    database("build", "src/main.c", "src/part.c", "src/more.cpp", "src/old.f90")
    code, _, err = cli("-p", "build", "-o", "out")
    assert code == 0
    assert written() == PROGRAM
    advice = "opi-xform reads C alone; what it does with the program's buffers is not seen"
    assert err.splitlines() == [f"src/more.cpp: note: is C++: {advice}", f"src/old.f90: note: is Fortran: {advice}"]
    assert cli("-p", "build", "-o", "out", "-q") == (0, "", "")


def test_a_build_without_c_and_one_with_sources_that_are_gone(cli: Run) -> None:
    database("build", "src/x.cpp")
    assert cli("-p", "build")[2] == (
        "build/compile_commands.json: error: compiles no .c file; name the sources [OPI902]\n"
    )
    database("build", "src/made.c", "src/main.c")
    code, _, err = cli("-p", "build")
    assert (code, err.count("\n")) == (2, 1)
    assert "src/made.c: error: no such file, though build/compile_commands.json compiles it; build first" in err


def test_a_build_of_several_programs(cli: Run) -> None:
    for name in "abcd":
        write(f"{name}.c", "int main(void) { return 0; }\n")
    database("build", "a.c", "b.c", "c.c", "d.c", "src/part.c")
    code, _, err = cli("-p", "build")
    assert (code, err) == (
        2,
        "build/compile_commands.json: error: compiles 4 programs, with main in a.c, b.c, c.c and 1 more; name the "
        "sources of one, beside -p [OPI902]\n",
    )
    assert cli("-p", "build", "a.c", "src/part.c", "-q")[0] == 0


def test_of_a_directory_a_build_takes_what_it_compiles(cli: Run) -> None:
    database("build", "src/main.c", "src/part.c")
    for name in ("src/windows/a.c", "src/windows/b.c", "docs/x.c"):
        write(name, "no C at all\n")
    code, _, err = cli("src", "src/main.c", "-p", "build", "-o", "out")
    what = "are left out: build/compile_commands.json does not compile them"
    assert (code, err) == (0, f"src/windows/a.c: note: and 1 more {what}\n")
    assert written() == PROGRAM
    code, _, err = cli("docs", "-p", "build")
    assert (code, err) == (
        2,
        "docs: error: no .c file in this directory that build/compile_commands.json compiles; name one that has C "
        "sources [OPI902]\n",
    )
    assert "docs/x.c: error: is not listed in build/compile_commands.json" in cli("docs/x.c", "-p", "build")[2]


def test_a_database_is_found_in_build_directories(cli: Run) -> None:
    """Beside the sources or above them, beside the working directory or above it."""
    for folder in ("build", "build-mpi", "src/build", "."):
        database(folder, "src/main.c", "src/part.c")
        assert cli("src/main.c", "src/part.c", "-q")[0] == 0, folder
        Path(folder, "compile_commands.json").unlink()
        assert cli("src/main.c", "src/part.c", "-q")[0] == 2, folder
    write("other/a.c", PART)
    database("build", "src/main.c", flags="-Inowhere")
    assert cli("other/a.c", "-q")[0] == 0  # of no matter to a source that it does not list


def test_a_database_that_cannot_be_read(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error near the run, and of no matter in a build that lies above it."""
    write("build/compile_commands.json", "{")
    code, _, err = cli("src/part.c")
    assert (code, err.startswith("build/compile_commands.json: error: is not JSON")) == (2, True)
    monkeypatch.chdir("src")
    assert cli("part.c", "-q") == (0, "", "")


def test_two_databases_that_differ_are_an_error(cli: Run) -> None:
    database("build-a", "src/main.c", "src/part.c", flags="-Iconf -DA")
    database("build-b", "src/main.c", "src/part.c", flags="-Iconf -DB")
    code, _, err = cli("src")
    assert (code, err.count("\n")) == (2, 1)
    assert "build-a/compile_commands.json and build-b/compile_commands.json compile the sources with other" in err
    assert "say which by -p" in err
    assert cli("src", "-p", "build-b", "-q")[0] == 0
    database("build-b", "src/main.c", "src/part.c", flags="-Wall -g -DA -Iconf")
    assert cli("src", "-q")[0] == 2  # the order of -I and -D counts
    database("build-b", "src/main.c", "src/part.c", flags="-Wall -g -Iconf -DA")
    assert cli("src", "-q")[0] == 0  # the same program


def test_the_error_names_what_is_near(cli: Run) -> None:
    assert "opi.toml" in cli()[2]
    database("build", "src/main.c")
    code, _, err = cli()
    assert (code, err.count("\n")) == (2, 1)
    assert "error: no input; name C files or directories (opi-xform -p build takes what was built there)" in err
    os.makedirs("made/Debug")
    os.rename("build", "made/Debug/x")
    assert "there is no compile_commands.json in it, but one below; use -p made/Debug/x" in cli("-p", "made")[2]
    write("configured/CMakeCache.txt")
    assert "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON configured makes it write one" in cli("-p", "configured")[2]
    write("configured/CMakeCache.txt", "CMAKE_EXPORT_COMPILE_COMMANDS:UNINITIALIZED=ON\n")
    assert "did not get to its end: run cmake configured, and mend what it tells" in cli("-p", "configured")[2]


def test_a_file_that_no_build_compiles_is_told_as_that(cli: Run) -> None:
    """A directory may hold what its makefile leaves out: it stops the run, and the last line says what to do."""
    write("src/old.c", "int old(void) { return x; }\n")
    code, _, err = cli("src", "-Iconf")
    assert (code, len(err.splitlines())) == (2, 2)
    assert err.splitlines()[1] == (
        "opi-xform: note: 1 of 3 files has errors; what the build does not compile is no part of the program: name the "
        "others, or take its list by -p"
    )
    write("src/older.c", "int older(void) { return x; }\n")
    assert "note: 2 of 4 files have errors" in cli("src", "-Iconf")[2]
    assert "note:" not in cli("src/old.c", "src/older.c")[2]  # all of them: the flags are wrong, or all is
    database("build", "src/main.c", "src/part.c", "src/old.c")
    assert "note:" not in cli("-p", "build")[2]  # the build does compile them


def test_listed_sources_that_were_not_given_are_told_once(cli: Run) -> None:
    database("build", "src/main.c", "src/part.c", "conf/a.c", "conf/b.c")
    write("conf/a.c")
    code, _, err = cli("src", "-p", "build")
    assert (code, err.splitlines()) == (
        0,
        [
            "conf/a.c: note: and 1 more are compiled by build/compile_commands.json but not given; name those that "
            "belong to the program",
            NOTHING.strip(),
        ],
    )


def test_other_languages_beside_the_sources_are_told_once(cli: Run) -> None:
    for name in ("src/a.cc", "src/sub/b.cu", "src/f.f90", "src/F.F", "conf/far.cpp"):
        write(name)
    code, _, err = cli("src", "-Iconf")
    assert code == 0
    assert err.splitlines()[:2] == [
        "src/a.cc: note: and 1 more are C++: opi-xform reads C alone; what they do with the program's buffers is not "
        "seen",
        "src/F.F: note: and 1 more are Fortran: opi-xform reads C alone; what they do with the program's buffers is "
        "not seen",
    ]
    assert "C++" in cli("src/main.c", "-Iconf")[2]  # beside a file that was named
    assert cli("src/f.f90")[2].startswith("src/f.f90: error: not a C file; opi-xform reads C (.c), not Fortran")


def test_what_cannot_be_looked_into_is_told_once(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source may be there: without it, the rest is not the whole program."""
    write("src/locked/x.c")
    original = os.walk

    def walk(top: str, onerror: Callable[[OSError], None]) -> object:
        for folder, folders, files in original(top):
            if folder.endswith("locked"):
                onerror(PermissionError(13, "Permission denied", folder))
            else:
                yield folder, folders, files

    monkeypatch.setattr(inputs.os, "walk", walk)
    code, out, err = cli("src", "src", "src/../src")
    assert (code, out) == (2, "")
    advice = "check its permissions, or name the directories to take"
    assert err == f"src/locked: error: cannot be read (Permission denied); {advice} [OPI902]\n"


def test_files_of_a_directory_that_are_none(cli: Run) -> None:
    os.symlink("nobody@nowhere:1", "src/.#main.c")  # of an editor
    assert cli("src", "-Iconf", "-q")[0] == 0
    os.symlink("gone.c", "src/x.c")
    os.mkfifo("src/y.c")
    code, _, err = cli("src", "-Iconf")
    assert (code, err.splitlines()) == (
        2,
        [
            "src/x.c: error: no such file; check the path [OPI902]",
            "src/y.c: error: not a regular file; name a C source file [OPI902]",
        ],
    )


def test_what_runs_wrote_is_no_input(cli: Run) -> None:
    assert cli("src", "-Iconf", "-o", "src/made")[0] == 0
    assert cli(".", "-Iconf", "--diff") == (0, "", NOTHING)
    write("src/made/mine.c", PART)
    what = "is left out: opi-xform writes that directory, but did not write this; name what belongs to the program"
    assert cli(".", "-Iconf")[2] == f"src/made/mine.c: note: {what}\n{NOTHING}"
    assert cli("src", "-Iconf", "-o", "src/made")[2] == f"src/made/mine.c: note: {what}\n"
    assert cli("src/made/main.c", "src/made/mine.c", "-Iconf") == (0, "", NOTHING)


# --- opi.toml ---------------------------------------------------------------------------------------------------------

TOML = 'sources = ["src"]\nflags = ["-Iconf"]\noutput = "out"\n'


def test_a_run_without_arguments(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("opi.toml", TOML)
    assert cli("--check")[0] == 1
    assert cli()[0] == 0
    assert written() == PROGRAM
    assert cli("--check") == (0, NOTHING + "0 findings; nothing was written\n", "")
    os.remove("out/part.c")
    write("src/deep/x")
    monkeypatch.chdir("src/deep")  # found above; names are relative to it
    code, out, _ = cli("--check")
    assert (code, "../../out/part.c: finding: out of date: the file is missing; run opi-xform -o ../../out" in out) == (
        1,
        True,
    )
    assert cli("-q") == (0, "", "")
    assert written("../../out") == PROGRAM


@pytest.mark.parametrize(
    "arguments",
    [("--diff",), ("--output-format", "json"), ("--report", "r.html"), ("--write-baseline", "b.json"), ("-i",),
     ("--statistics",), ("--advise",), ("src", "-Iconf"), ("src/part.c", "-q"), ("-o", "other"), ("--index", "x")],
)  # fmt: skip
def test_what_asks_for_something_else_does_not_write_to_output(cli: Run, arguments: Sequence[str]) -> None:
    write("opi.toml", TOML)
    assert cli(*arguments)[0] == 0
    assert not Path("out").exists()


def test_the_command_line_wins(cli: Run) -> None:
    write("opi.toml", TOML + 'root = "."\nmin-bytes = "4K"\n')
    assert cli("-o", "deep")[0] == 0
    assert written("deep") == sorted([NAME, "conf/conf.h", "src/main.c", "src/part.c"])
    assert cli("-o", "flat", "--root", "src")[0] == 0
    assert written("flat") == PROGRAM
    assert cli("-DOTHER")[0] == 2  # in place of -Iconf
    assert cli("-DOTHER", "-Iconf")[0] == 0
    database("build", "src/main.c", flags="-Iconf")
    assert "src/part.c: note: is left out: build/compile_commands.json does not" in cli("-p", "build", "--diff")[2]
    database("build", "src/main.c", "src/part.c", flags="-DNOTHING")
    assert "'conf.h' file not found" in cli("-p", "build")[2]  # the build has all flags


def test_a_build_in_the_file(cli: Run) -> None:
    write("opi.toml", 'build-dir = "made/x"\noutput = "out"\n')
    database("made/x", "src/main.c", "src/part.c")
    assert cli()[0] == 0
    assert written() == PROGRAM
    write("conf/free.c", PART)
    assert cli("conf/free.c", "-q")[0] == 0  # not listed: no flags
    assert cli("src/main.c", "src/part.c", "-q")[0] == 0  # listed: its flags
    assert cli("src/main.c", "src/part.c", "--")[0] == 2  # the command line has all flags


def test_patterns_and_flags_in_one_word(cli: Run) -> None:
    write("opi.toml", 'sources = ["src/*.c", "lib/**/*.c"]\nflags = "-Iconf \'-DNAME=\\"a b\\"\'"\noutput = "out"\n')
    code, _, err = cli()
    assert (code, err) == (
        2,
        "opi.toml:1: error: no .c file is like `lib/**/*.c`; name files, directories or other patterns\n",
    )
    assert cli("src", "-Iconf", "-q")[0] == 0  # not asked for
    write("lib/a/b/deep.c", "const char *name = NAME;\n")
    write("lib/a/deep.h", "")
    assert cli()[0] == 0
    whole = sorted([NAME, "lib/a/b/deep.c", "src/main.c", "src/part.c", "conf/conf.h"])
    assert written() == whole
    write("opi.toml", Path("opi.toml").read_text().replace("lib/**/*.c", "**/*.c"))
    assert cli() == (0, NOTHING + "0 files written to out\n", "")  # what was written is no source
    assert written() == whole


def test_the_nearest_file_counts_alone(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("opi.toml", "nonsense = 1\n")
    write("src/pyproject.toml", "[project]\nname = 'x'\n")  # says nothing of opi-xform
    monkeypatch.chdir("src")
    assert cli("part.c")[2] == "../opi.toml:1: error: unknown key `nonsense`; known are " + (
        "strict, baseline, privatize, keep, allow, assume, effects, select, ignore, min-bytes, sources, flags, output, "
        "root, build-dir\n"
    )
    write("pyproject.toml", '[tool.opi-xform]\nsources = ["part.c"]\n')
    assert cli()[0] == 0


def test_entries_and_the_baseline_are_relative_to_the_file(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("opi.toml", 'baseline = "base.json"\n[[keep]]\nfile = "src/part.c"\n')
    assert cli("src", "-Iconf", "--write-baseline", "base.json")[2] == ""
    monkeypatch.chdir("src")
    assert cli("part.c", "--check")[0] == 0
    write("../base.json", "{")
    assert cli("part.c", "--check")[2].startswith("../base.json: error: ")


# --- links ------------------------------------------------------------------------------------------------------------

LINKED = '#include "beside.h"\nint main(void) { return BESIDE; }\n'


def test_a_link_is_read_where_it_stands(cli: Run) -> None:
    """Headers lie beside the link, as for the compiler; -o writes it there."""
    write("common/impl.c", LINKED)
    write("app/beside.h", "#define BESIDE 0\n")
    os.symlink("../common/impl.c", "app/impl.c")
    assert cli("app/impl.c", "-o", "out")[0] == 0
    assert written() == [NAME, "beside.h", "impl.c"]
    assert not Path("out/impl.c").is_symlink()
    assert cli("common/impl.c")[0] == 2
    assert cli("app", "-o", "wide", "--root", ".", "--output-format", "json")[0] == 0
    assert written("wide") == [NAME, "app/beside.h", "app/impl.c"]
    database("build", "app/impl.c")
    assert cli("-p", "build", "-o", "out", "-q")[0] == 0
    assert written() == [NAME, "beside.h", "impl.c"]


def test_links_to_headers_and_directories(cli: Run) -> None:
    write("real/main.c", '#include "inner/a.h"\nint main(void) { return A; }\n')
    write("store/b.h", "#define A 0\n")
    write("real/away.h", '#include "b.h"\n')
    os.makedirs("real/inner")
    os.symlink("../away.h", "real/inner/a.h")  # b.h is looked for in inner
    os.symlink("../../store/b.h", "real/inner/b.h")
    os.symlink("real", "named")
    assert cli("named/main.c", "-o", "out")[0] == 0
    assert written() == [NAME, "inner/a.h", "inner/b.h", "main.c"]
    assert cli("out/main.c", "-q")[0] == 0


def test_one_file_by_two_names_is_one(cli: Run) -> None:
    write("a/one.c", "int one(void) { return 1; }\n")
    os.symlink("one.c", "a/also.c")
    os.symlink("a/one.c", "first.c")
    code, _, err = cli("first.c", "a", "-o", "out")
    assert code == 0
    assert err.splitlines() == [
        "first.c: note: is another name of a/one.c, which is read; -o writes it there alone",
        "a/also.c: note: is another name of a/one.c, which is read; -o writes it there alone",
    ]
    assert written() == [NAME, "one.c"]


# --- standards --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [("-std=c99",), ("-std=c99", "-pedantic-errors"), ("-ansi", "-pedantic-errors")])
def test_a_standard_without_posix(cli: Run, flags: Sequence[str]) -> None:
    """C compilers take calls of functions that the headers do not declare in that mode, with a warning."""
    write(
        "posix.c",
        "#include <mpi.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\nstatic double b[1000];\n"
        "int main(int c, char **v) {\n  int i;\n  char *s = strdup(v[0]);\n  MPI_Init(&c, &v);\n  usleep(10);\n"
        "  for (i = 0; i < 1000; i++)\n    b[i] = drand48();\n  MPI_Send(b, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);\n"
        "  free(s);\n  return MPI_Finalize();\n}\n",
    )
    code, _, err = cli("posix.c", *flags, "-o", "out")
    assert (code, err) == (0, "")
    assert "OPI_Give" in Path("out/posix.c").read_text()
