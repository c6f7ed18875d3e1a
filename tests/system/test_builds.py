"""Build systems with opicc as the compiler, and the CMake package: the commands of docs/usage.md, what is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser
from test_index import HEADER, MAIN, PACK

from opi_xform.frontend.flags import CompilationDatabase
from opi_xform.launch import cmake, launcher
from opi_xform.launch.mpi import LaunchError
from opi_xform.launch.probes import asks_what_is_linked, is_probe
from opi_xform.launch.transform import c_sources, transformed

CMAKE = shutil.which("cmake")
GUIDE = (CHECKOUT / "docs" / "usage.md").read_text(encoding="utf-8")
BUILDS = GUIDE[GUIDE.index("\n## Builds") : GUIDE.index("\n## Exit codes")]
BLOCKS = re.findall(r"^```bash\n(.*?)^```", BUILDS, re.M | re.S)
"""What a reader types, one build each."""

LISTS = """cmake_minimum_required(VERSION 3.20)
project(app C)
find_package(MPI REQUIRED)
add_executable(app src/main.c src/pack.c)
target_link_libraries(app MPI::MPI_C)
"""
# What a configure script made by autoconf does, as far as the compiler sees it.
CONFIGURE = """#!/bin/sh
for word; do case $word in CC=*) CC=${word#CC=};; esac; done
echo 'int main(void) { return 0; }' > conftest.c
$CC -o conftest conftest.c && ./conftest && $CC -c conftest.c && $CC -E conftest.c > /dev/null || exit 1
mkdir conftest.dir && cp conftest.c conftest.dir && (cd conftest.dir && $CC -c -o conftest2.o conftest.c) || exit 1
rm -rf conftest*
printf 'app: main.o pack.o\\n\\t%s -o $@ main.o pack.o\\n' "$CC" > Makefile
printf '%%.o: src/%%.c\\n\\t%s -O1 -c -o $@ $<\\n' "$CC" >> Makefile
"""
MESON = "project('app', 'c')\nexecutable('app', 'src/main.c', 'src/pack.c')\n"

HEAD = "cmake_minimum_required(VERSION 3.20)\nproject(app C)\n"
# Another program of the same sources, which is not transformed.
PLAIN = "add_executable(plain main.c halo.c)\ntarget_link_libraries(plain MPI::MPI_C m)\n"

needs_cmake = pytest.mark.skipif(CMAKE is None, reason="no cmake on PATH")


def only_first(user: MpiUser) -> None:
    if user.mpi != MPIS[0]:
        pytest.skip("the first MPI is enough")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in src/, and the commands of this checkout on PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPI_INDEX", raising=False)
    (tmp_path / "src" / "inc").mkdir(parents=True)
    (tmp_path / "src" / "inc" / "halo.h").write_text(HEADER)
    (tmp_path / "src" / "pack.c").write_text(PACK)
    (tmp_path / "src" / "main.c").write_text(MAIN.replace('"halo.h"', '"inc/halo.h"'))
    (tmp_path / "bin").mkdir()
    modules = {"opicc": "launch.opicc", "opicxx": "launch.opicxx", "opi-xform": "cli.main"}
    for name, module in modules.items():
        text = f"from opi_xform.{module} import {'script' if name == 'opi-xform' else 'main'} as m; exit(m())"
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\nexec {sys.executable} -c '{text}' \"$@\"\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def told(user: MpiUser, command: str, code: int = 0) -> str:
    path = f"{Path.cwd() / 'bin'}:{user.mpi.mpicc.parent}:{user.environment['PATH']}"
    python = f"{CHECKOUT}:{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        ["sh", "-e", "-c", command],
        env={**user.environment, "PATH": path, "PYTHONPATH": python},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == code or (code and done.returncode), f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def gives(user: MpiUser, program: Path, expected: str = "1504500.0") -> None:
    """Runs the program: right, and its messages are gives."""
    result = user.run(2, program, OPI_PROFILE="profile.json")
    assert result.out.split()[-1] == expected
    assert json.loads(Path("profile.json").read_text())["on_node"]["give"]["messages"] > 0


def test_the_guide_has_its_builds() -> None:
    assert [block.split()[0] for block in BLOCKS] == ["CC='opicc", "./configure", "CC='opicc", "cmake", "cmake"]


@needs_cmake
@pytest.mark.mpi
@pytest.mark.parametrize("block", [BLOCKS[0], BLOCKS[3]], ids=["compiler", "launcher"])
def test_cmake(project: Path, mpi_user: MpiUser, block: str) -> None:
    """CompilerId, the ABI, features and FindMPI's checks pass before there is an index; then the program builds."""
    only_first(mpi_user)
    (project / "CMakeLists.txt").write_text(LISTS)
    said = told(mpi_user, block)
    assert "The C compiler identification is unknown" not in said
    assert "2 sites: 2 converted" in said
    gives(mpi_user, project / "build" / "app")
    implicit = "".join(p.read_text() for p in (project / "build").glob("CMakeFiles/3*/CMakeCCompiler.cmake"))
    assert "libopi" not in implicit, "another compiler would link half of it"
    if block == BLOCKS[3]:
        return
    # CMake runs again while sources have changed; a real source does not compile then.
    (project / "src" / "main.c").write_text(MAIN.replace('"halo.h"', '"inc/halo.h"').replace("t < 3", "t < 4"))
    told(mpi_user, "cmake build")
    assert "changed since" in told(mpi_user, "cmake --build build", 1)


@pytest.mark.mpi
def test_configure(project: Path, mpi_user: MpiUser) -> None:
    only_first(mpi_user)
    (project / "configure").write_text(CONFIGURE)
    (project / "configure").chmod(0o755)
    told(mpi_user, BLOCKS[1])
    gives(mpi_user, project / "app")


@pytest.mark.mpi
@pytest.mark.skipif(not (shutil.which("meson") and shutil.which("ninja")), reason="no meson and ninja on PATH")
def test_meson(project: Path, mpi_user: MpiUser) -> None:
    only_first(mpi_user)
    (project / "meson.build").write_text(MESON)
    told(mpi_user, BLOCKS[2])
    gives(mpi_user, project / "build" / "app")


@needs_cmake
@pytest.mark.mpi
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_opi_transform(project: Path, mpi_user: MpiUser, monkeypatch: pytest.MonkeyPatch, generator: str) -> None:
    """The CMakeLists.txt of the guide; what is built again after a change."""
    only_first(mpi_user)
    if generator == "Ninja" and shutil.which("ninja") is None:
        pytest.skip("no ninja on PATH")
    monkeypatch.setenv("CMAKE_GENERATOR", generator)
    mpi_user = MpiUser(mpi_user.mpi, Path(mpi_user.environment["OPI_CACHE"]))
    lists = re.search(r"^```cmake\n(.*?)^```", BUILDS, re.M | re.S)
    assert lists is not None
    (project / "CMakeLists.txt").write_text(HEAD + lists[1] + PLAIN)
    main = MAIN.replace('"halo.h"', '"inc/halo.h"')
    (project / "main.c").write_text(main)
    (project / "src" / "pack.c").rename(project / "halo.c")
    (project / "src" / "inc").rename(project / "inc")
    assert "2 sites: 2 converted" in told(mpi_user, BLOCKS[4])
    gives(mpi_user, project / "build" / "app")
    assert (project / "main.c").read_text() == main
    assert mpi_user.run(2, project / "build" / "plain").out == f"{project}/main.c 1504500.0\n"
    assert b"OPI_Givetake" not in (project / "build" / "plain").read_bytes()
    table = (project / "build" / "CMakeFiles" / "opi-app" / "table").read_text()
    assert "\nmain.c:12 " in table

    def built() -> set[str]:
        said = told(mpi_user, "cmake --build build")
        return set(re.findall(r"Building C object \S*/(\w+\.c)\.o", said)) | set(re.findall(r"Transforming", said))

    assert built() == set()
    (project / "main.c").write_text(main.replace("t < 3", "t < 4"))
    assert built() == {"Transforming", "main.c"}
    gives(mpi_user, project / "build" / "app", "2008000.0")
    (project / "inc" / "halo.h").write_text(HEADER.replace("1000", "2000"))
    assert built() == {"Transforming", "main.c", "halo.c"}
    gives(mpi_user, project / "build" / "app", "8016000.0")
    (project / "main.c").write_text(main.replace("{\n", "{ oops\n", 1))
    said = told(mpi_user, "cmake --build build", 1)
    assert "main.c:5: error:" in said
    assert "Traceback" not in said


WRONG = {
    "library of two programs": (
        "add_library(l STATIC src/pack.c)\nadd_executable(a src/main.c)\nadd_executable(b src/main.c)\n"
        "target_link_libraries(a l)\ntarget_link_libraries(b l)\nopi_transform(a WITH l)\n",
        "b links l",
    ),
    "twice": (
        "add_executable(a src/main.c src/pack.c)\nopi_transform(a)\nopi_transform(a)\n",
        "is transformed as part of a already",
    ),
    "no target": ("opi_transform(a)\n", "no target a"),
    "a source by configuration": (
        "add_executable(a src/main.c $<1:${CMAKE_SOURCE_DIR}/src/pack.c>)\nopi_transform(a)\n",
        "depends on the configuration",
    ),
}


@needs_cmake
@pytest.mark.mpi
def test_what_opi_transform_refuses(project: Path, mpi_user: MpiUser) -> None:
    only_first(mpi_user)
    head = HEAD + "find_package(opi 0.1 REQUIRED)\n"
    for number, (lists, expected) in enumerate(WRONG.values()):
        (project / "CMakeLists.txt").write_text(head + lists)
        said = told(mpi_user, "cmake build" if number else "cmake -B build -Dopi_DIR=$(opicc --cmake-dir)", 1)
        assert expected in " ".join(said.split())


def test_the_packages_version() -> None:
    text = (CHECKOUT / "runtime" / "cmake" / "package" / "opiConfigVersion.cmake").read_text()
    version = re.search(r'^version = "(.*)"', (CHECKOUT / "pyproject.toml").read_text(), re.M)
    assert version is not None
    assert f'set(PACKAGE_VERSION "{version[1]}")' in text


@pytest.mark.parametrize(
    ("folder", "source", "output", "expected"),
    [
        ("b/CMakeFiles/3.25.1/CompilerIdC", "CMakeCCompilerId.c", None, True),
        ("b/CMakeFiles/CMakeScratch/TryCompile-x", "/p/cmake/check.c", "CMakeFiles/c.dir/check.c.o", True),
        ("b/CMakeFiles/CMakeTmp", "src.c", "o", True),
        ("b", "meson-private/tmp1/testfile.c", None, True),
        ("b/.conf_check_1/build", "../test.c", "test.c.1.o", True),
        ("b", "conftest.c", "conftest", True),
        ("b/conftest.dir", "sub/conftest.c", "sub/conftest.o", True),
        ("b", "conftest.c", "app.o", False),
        ("b", "src/app.c", "app.o", False),
        ("b", "CMakeFiles/app.dir/cmake_pch.h.c", "x", False),
        ("b", "CMakeFiles/generated.c", "CMakeFiles/app.dir/CMakeFiles/generated.c.o", False),
        ("b/CMakeFiles/CompilerIdC", "a.c", None, False),
        ("b/my-meson-private", "a.c", None, False),
        ("b", "test.c", "conftest.o", False),
    ],
)
def test_what_is_a_question_about_the_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, source: str, output: str | None, expected: bool
) -> None:
    (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / folder)
    assert is_probe(source, output) is expected
    arguments = ["-c", source, *(["-o", output] if output else [])]
    if expected:
        assert transformed(arguments) == arguments
    else:
        with pytest.raises(LaunchError, match=r"no \.opi-index"):
            transformed(arguments)
    assert asks_what_is_linked(["-v", "a.o"]) is any(
        place in folder for place in ("Scratch", "CMakeTmp", "/3.25", "/.conf_check")
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("-O2 -c a.c -o b.c", ["a.c"]),
        ("-MF d.c -MT t.c -include i.c -dumpbase a.c x.c", ["x.c"]),
        ("-x c a.inc -x none b.inc c.c", ["a.inc", "c.c"]),
        ("-xc a -xc++ b.c", ["a"]),
        ("-x c -", []),
        ("-I c.c a.o -Lb.c", []),
    ],
)
def test_which_arguments_are_sources(arguments: str, expected: list[str]) -> None:
    assert list(c_sources(arguments.split()).values()) == expected


def test_flags_of_a_database_made_by_opicc(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("")
    commands = ["opicc --transform -DA -c a.c", "opicc --transform=x --launch ccache /usr/bin/gcc-12 -DA -o a.o -c a.c"]
    entries = [{"directory": str(tmp_path), "file": "a.c", "command": command} for command in commands]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    assert CompilationDatabase(str(tmp_path)).flags(str(tmp_path / "a.c")) == ["-DA"]


def test_the_commands_of_a_target(tmp_path: Path) -> None:
    def entry(file: str, output: str) -> dict[str, str]:
        return {"directory": "/b", "file": f"/p/{file}", "command": f"cc -o {output} -c /p/{file}"}

    listed = [
        entry("a.c", "CMakeFiles/app.dir/a.c.o"),
        entry("a.c", "CMakeFiles/app2.dir/a.c.o"),
        entry("m.cpp", "CMakeFiles/app.dir/m.cpp.o"),
        entry("b.c", "CMakeFiles/app.dir/Debug/b.c.o"),
        entry("b.c", "CMakeFiles/app.dir/Release/b.c.o"),
    ]
    (tmp_path / "db").write_text(json.dumps(listed))
    found = cmake.entries(tmp_path / "db", ["/b/CMakeFiles/app.dir"], "Release")
    assert found == [listed[0], listed[4]]
    with pytest.raises(LaunchError, match="run cmake again"):
        cmake.entries(tmp_path / "none", [], "")


@pytest.mark.mpi
def test_the_mpi_of_a_link(mpi_user: MpiUser, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is that of the library; OPI_MPICC may not contradict it."""
    monkeypatch.delenv("OPI_MPICC", raising=False)
    library = next((mpi_user.mpi.mpicc.parents[1] / "lib").glob("libmpi.so"), None)
    if library is None:
        pytest.skip("this MPI's library lies elsewhere")
    assert launcher.mpi_of("cc", ["a.o", str(library)]) == mpi_user.mpi
    assert launcher.mpi_of("cc", ["a.o", f"-L{library.parent}", "-lmpi"]) == mpi_user.mpi
    assert launcher.mpi_of("cc", ["-L", str(library.parent), "-lmpi"]) == mpi_user.mpi
    assert launcher.mpi_of(str(mpi_user.mpi.mpicc), ["a.o"]) == mpi_user.mpi
    for other in MPIS:
        if other.kind != mpi_user.mpi.kind:
            monkeypatch.setenv("OPI_MPICC", str(other.mpicc))
            with pytest.raises(LaunchError, match="set OPI_MPICC to the mpicc of the program's MPI"):
                launcher.mpi_of("cc", [str(library)])


@needs_cmake
@pytest.mark.mpi
def test_a_build_alone_is_the_program(project: Path, mpi_user: MpiUser) -> None:
    """The commands of the guide: sources and flags are those of the build, and what -o writes is the whole of it."""
    only_first(mpi_user)
    section = GUIDE[GUIDE.index("\n### From a build") : GUIDE.index("\n### Without arguments")]
    (block,) = re.findall(r"^```bash\n(.*?)^```", section, re.M | re.S)
    (project / "CMakeLists.txt").write_text(LISTS.replace("find_package", "include_directories(src/inc)\nfind_package"))
    (project / "src" / "main.c").write_text(MAIN)
    (project / "src" / "unused.c").write_text("no part of it\n")
    assert "2 sites: 2 converted" in told(mpi_user, f"export CC=mpicc\n{block}")
    assert sorted(path.name for path in (project / "out").rglob("*.[ch]")) == ["halo.h", "main.c", "pack.c"]
    told(mpi_user, "opicc -Iout/inc out/*.c -o app")
    gives(mpi_user, project / "app")
