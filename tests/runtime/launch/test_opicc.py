"""opicc: what it passes on, when it links libopi, its cache, and what it says when something is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import MPIS, MpiUser, Run

from opi_xform.launch.mpi import LaunchError, find_mpicc
from opi_xform.launch.opicc import links

HELLO = """#include <mpi.h>
#include "opi.h"
int main(int argc, char **argv)
{
    double *p;
    MPI_Init(&argc, &argv);
    OPI_Alloc(&p, 100);
    OPI_Free(&p);
    MPI_Finalize();
    return p != 0;
}
"""


def opicc(arguments: list[str], cwd: Path, **environment: str | None) -> Run:
    """opicc with an environment in which only what is given names an MPI or a cache."""
    variables = {k: v for k, v in os.environ.items() if k not in ("OPI_MPICC", "OPI_CACHE", "XDG_CACHE_HOME")}
    variables |= {k: v for k, v in environment.items() if v is not None}
    command = [sys.executable, "-m", "opi_xform.launch.opicc", *arguments]
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False, timeout=300)
    return Run(done.returncode, done.stdout, done.stderr)


def compiled(user: MpiUser, *arguments: str | Path, check: bool = True) -> Run:
    """opicc itself, over a user's MPI."""
    result = opicc(
        [str(argument) for argument in arguments],
        Path.cwd(),
        OPI_MPICC=user.environment["OPI_MPICC"],
        OPI_CACHE=user.environment["OPI_CACHE"],
    )
    assert result.code == 0 or not check, result.err
    return result


@pytest.fixture
def hello(tmp_path: Path) -> Path:
    (tmp_path / "hello.c").write_text(HELLO)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["a.c"], True),
        (["a.o", "-o", "a", "-lm"], True),
        (["-O2", "-c", "a.c"], False),
        (["-E", "a.c"], False),
        (["a.c", "-S"], False),
        (["-MM", "a.c"], False),
        (["-shared", "-fPIC", "a.c", "-o", "liba.so"], False),
        (["--version"], False),
        (["-print-search-dirs"], False),
        ([], False),
    ],
)
def test_libopi_is_linked_into_executables_only(arguments: list[str], expected: bool) -> None:
    assert links(arguments) is expected


def test_response_files_are_read(tmp_path: Path) -> None:
    response = tmp_path / "args"
    response.write_text("-c 'a file.c'")
    assert not links([f"@{response}"])
    response.write_text("a.o -o a")
    assert links([f"@{response}"])


@pytest.mark.mpi
def test_compile_and_link_apart_and_at_once(mpi_user: MpiUser, hello: Path) -> None:
    compiled(mpi_user, "-O2", "-Wall", "-Werror", "-c", hello / "hello.c", "-o", hello / "hello.o")
    compiled(mpi_user, hello / "hello.o", "-o", hello / "apart")
    compiled(mpi_user, "-x", "c", hello / "hello.c", "-o", hello / "at_once")
    for name in ("apart", "at_once"):
        assert mpi_user.run(2, hello / name).code == 0


@pytest.mark.mpi
def test_every_flag_arrives(mpi_user: MpiUser, hello: Path) -> None:
    (hello / "flag.c").write_text(
        "#ifndef NAME\n#error no NAME\n#endif\nint main(void) { return sizeof(NAME) != 4; }\n"
    )
    compiled(mpi_user, '-DNAME="a b"', hello / "flag.c", "-o", hello / "flag")
    assert subprocess.run([hello / "flag"], check=False).returncode == 0


@pytest.mark.mpi
def test_show_prints_the_command(mpi_user: MpiUser, hello: Path) -> None:
    line = compiled(mpi_user, "--show", "-O3", "hello.c", "-o", "hello").out
    assert len(line.splitlines()) == 1
    for part in ("-O3", "hello.c", "libopi.a", "-lmpi"):
        assert part in line
    assert line.index("libopi.a") < line.index("-lmpi")
    assert "libopi.a" not in compiled(mpi_user, "--show", "-c", "hello.c").out


@pytest.mark.mpi
def test_the_compilers_exit_code_and_message_arrive(mpi_user: MpiUser, hello: Path) -> None:
    (hello / "bad.c").write_text("int main(void) { return nothing; }\n")
    result = compiled(mpi_user, hello / "bad.c", "-o", hello / "bad", check=False)
    assert result.code == 1
    assert "nothing" in result.err
    assert "Traceback" not in result.err


def test_where_mpicc_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OPI_MPICC, then beside the running Python, then PATH; else a line that says what to do."""
    places = {name: tmp_path / name / "bin" / "mpicc" for name in ("named", "beside", "path")}
    for file in places.values():
        file.parent.mkdir(parents=True)
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "beside"))
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    monkeypatch.setenv("OPI_MPICC", str(places["named"]))
    assert find_mpicc() == places["named"]
    monkeypatch.delenv("OPI_MPICC")
    assert find_mpicc() == places["beside"]
    places["beside"].unlink()
    assert find_mpicc() == places["path"]
    places["path"].unlink()
    with pytest.raises(LaunchError, match=r"^no mpicc found: install an MPI .* or set OPI_MPICC"):
        find_mpicc()


@pytest.mark.mpi
def test_which_mpi_it_is(mpi_user: MpiUser) -> None:
    mpi = mpi_user.mpi
    text = mpi.header.read_text(errors="replace")
    assert mpi.kind == ("openmpi" if "OMPI_MAJOR_VERSION" in text else "mpich")
    assert mpi.version[0].isdigit()
    said = subprocess.run([mpi.mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
    assert ("Open MPI" in said) == (mpi.kind == "openmpi")


def test_no_mpicc_says_what_to_do(hello: Path) -> None:
    result = opicc(["hello.c"], hello, OPI_MPICC="/no/such/mpicc")
    assert result.code == 2
    assert result.err == "opicc: OPI_MPICC=/no/such/mpicc: no such command; it names the mpicc of your MPI\n"


def test_an_mpicc_without_an_mpi_says_so(hello: Path) -> None:
    fake = hello / "mpicc"
    fake.write_text("#!/bin/sh\necho 'something is broken' >&2\nexit 3\n")
    fake.chmod(0o755)
    result = opicc(["hello.c"], hello, OPI_MPICC=str(fake))
    assert result.code == 2
    assert len(result.err.splitlines()) == 1
    assert "something is broken" in result.err


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("README", "not an executable file; it names the mpicc of your MPI"),
        ("opicc", "this runs the MPI's compiler itself; it names the mpicc of your MPI"),
    ],
)
def test_a_bad_opi_mpicc_is_named(hello: Path, named: str, expected: str) -> None:
    (hello / named).write_text("#!/bin/sh\n")
    (hello / named).chmod(0o755 if named == "opicc" else 0o644)
    result = opicc(["hello.c"], hello, OPI_MPICC=str(hello / named))
    assert (result.code, result.err) == (2, f"opicc: OPI_MPICC={hello / named}: {expected}\n")


def test_a_compiler_without_an_mpi_is_named(hello: Path) -> None:
    """As it was given; and no MPI is needed to see how opicc is used wrongly."""
    (hello / "gcc").write_text("#!/bin/sh\necho 'no mpi.h' >&2\nexit 1\n")
    (hello / "gcc").chmod(0o755)
    result = opicc(["hello.c"], hello, OPI_MPICC=str(hello / "gcc"))
    assert result.err.startswith(
        f"opicc: OPI_MPICC={hello / 'gcc'}: cannot compile a file that includes <mpi.h>: no mpi"
    )
    assert result.err.endswith("it names the mpicc of your MPI\n")


def test_without_arguments(hello: Path) -> None:
    result = opicc([], hello)
    assert (result.code, result.err) == (2, "opicc: no files, nothing to do; opicc --help tells the usage\n")
    assert opicc(["--launch"], hello).err == "opicc: --launch: no compiler; its whole command follows --launch\n"
    assert "no option of opicc" in opicc(["-O2", "--launch", "cc"], hello).err


@pytest.mark.mpi
def test_help_and_version_have_both(mpi_user: MpiUser) -> None:
    """Build systems read the compiler's version from the first lines."""
    own = subprocess.run([mpi_user.mpi.mpicc, "--version"], capture_output=True, text=True, check=True).stdout
    said = compiled(mpi_user, "--version").out
    assert said.startswith(own)
    assert re.fullmatch(r"opicc \d\S+ over \S+, of \S+ \S+\n", said[len(own) :])
    text = compiled(mpi_user, "--help").out
    assert text.startswith("usage: opicc ")
    assert "--transform[=DIR]" in text
    assert "Usage: " in text[10:] or "OVERVIEW" in text


@pytest.mark.mpi
def test_other_linkers_and_launchers(mpi_user: MpiUser, hello: Path) -> None:
    """What --cflags and --libs print, and --launch before the MPI's own compiler, build programs with libopi once."""
    cflags, libs = compiled(mpi_user, "--cflags").out.split(), compiled(mpi_user, "--libs").out.split()
    mpi_user.mpicc(hello / "hello.c", *cflags, *libs, "-o", hello / "flags")
    launch = ("--launch", mpi_user.mpi.mpicc)
    compiled(mpi_user, *launch, "-c", hello / "hello.c", "-o", hello / "hello.o")
    compiled(mpi_user, *launch, hello / "hello.o", "-o", hello / "launched")
    compiled(mpi_user, hello / "hello.o", *libs, "-o", hello / "once")
    compiled(mpi_user, "--launch", "opicc", hello / "hello.o", "-o", hello / "itself")
    for name in ("flags", "launched", "once", "itself"):
        assert mpi_user.run(2, hello / name).code == 0


@pytest.mark.mpi
def test_opicxx_links_cpp(mpi_user: MpiUser, hello: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++ on PATH")
    text = "#include <mpi.h>\n#include <vector>\n#include <opi.h>\n" + HELLO.split('"opi.h"\n')[1]
    (hello / "main.cc").write_text(text.replace("return p != 0;", "return std::vector<int>(3).size() != 3;"))

    def opicxx(*words: str | Path) -> Run:
        command = [sys.executable, "-m", "opi_xform.launch.opicxx", *map(str, words)]
        done = subprocess.run(command, env=mpi_user.environment, capture_output=True, text=True, check=False)
        return Run(done.returncode, done.stdout, done.stderr)

    made = opicxx(hello / "main.cc", "-o", hello / "cpp")
    if "OMPI" in made.err and made.code:
        pytest.skip("this MPI's C++ compiler does not work")
    assert made.code == 0, made.err
    assert mpi_user.run(2, hello / "cpp").code == 0
    assert "libopi.a" in opicxx("--show").out
    assert "C++ is compiled as it stands" in opicxx("--help").out
    refused = opicxx("--transform", "-c", "a.cc")
    assert refused.code == 2
    assert refused.err.startswith("opicxx: --transform: opi-xform reads C only; ")


@pytest.mark.mpi
def test_a_cache_that_cannot_be_written_says_so(mpi_user: MpiUser, hello: Path) -> None:
    (hello / "file").write_text("")
    result = opicc(["hello.c"], hello, OPI_MPICC=str(mpi_user.mpi.mpicc), OPI_CACHE=str(hello / "file" / "cache"))
    assert result.code == 2
    assert len(result.err.splitlines()) == 1
    assert "OPI_CACHE" in result.err


def first_mpi_only(user: MpiUser) -> None:
    """For what takes many seconds and does not depend on the MPI."""
    if user.mpi != MPIS[0]:
        pytest.skip("runs under the first MPI")


@pytest.mark.mpi
def test_an_error_in_the_runtime_shows_the_compilers_message_and_the_log(mpi_user: MpiUser, hello: Path) -> None:
    first_mpi_only(mpi_user)
    environment = {"OPI_MPICC": str(mpi_user.mpi.mpicc), "OPI_CACHE": str(hello / "cache")}
    result = opicc(["hello.c"], hello, **environment, OPI_RUNTIME_CFLAGS="-O0 -DMPI_Init=5")
    assert result.code != 0
    building, error = result.err.splitlines()
    assert building.startswith("building libopi for ")
    assert error.startswith("opicc: building libopi failed: ")
    assert "error:" in error
    logs = list((hello / "cache" / "runtime").glob("*.log"))
    assert len(logs) == 1
    assert str(logs[0]) in result.err
    assert "error:" in logs[0].read_text()
    assert not list((hello / "cache").rglob("libopi.a"))


@pytest.mark.mpi
def test_the_runtime_is_built_once_by_content_and_flags(mpi_user: MpiUser, hello: Path) -> None:
    """Four opicc at once on an empty cache: all succeed, one archive; other flags make another."""
    first_mpi_only(mpi_user)
    environment = {"OPI_MPICC": str(mpi_user.mpi.mpicc), "XDG_CACHE_HOME": str(hello / "home")}

    def build(number: int) -> Run:  # without optimisation, which takes most of the time
        return opicc(["hello.c", "-o", f"hello{number}"], hello, **environment, OPI_RUNTIME_CFLAGS="-O0")

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(build, range(4)))
    assert [result.code for result in results] == [0, 0, 0, 0], results
    assert sum("building libopi for" in result.err for result in results) == 1
    cache = hello / "home" / "opi-xform" / "runtime"
    archives = list(cache.rglob("libopi.a"))
    assert len(archives) == 1
    assert mpi_user.mpi.version in str(archives[0].relative_to(cache))
    written = archives[0].stat().st_mtime_ns
    assert build(5).code == 0
    assert archives[0].stat().st_mtime_ns == written
    assert not [path for path in cache.iterdir() if path.name.startswith(".build-")]
    assert opicc(["hello.c"], hello, **environment, OPI_RUNTIME_CFLAGS="-O0 -w").code == 0
    assert len(list(cache.rglob("libopi.a"))) == 2
