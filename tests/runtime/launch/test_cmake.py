"""The runtime installed for a whole system: cmake, then programs built through pkg-config and through find_package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, only_one

RUNTIME = CHECKOUT / "runtime"

CMAKE = shutil.which("cmake") or shutil.which("cmake", path=str(Path(sys.prefix) / "bin"))
"""The system's, or the one of the wheel `cmake` in the environment of the tests."""

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(CMAKE is None, reason="no cmake on PATH nor beside Python (pip install cmake)"),
]

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef PLAIN
#include <opi.h>
#endif
int main(int argc, char **argv)
{
    double *b, *c;
    int rank, peer, data[1000] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
#ifdef PLAIN
    b = malloc(1000 * sizeof *b);
    c = malloc(1000 * sizeof *c);
#else
    OPI_Alloc(&b, 1000 * sizeof *b);
#endif
    for (int i = 0; i < 1000; i++)
        b[i] = i + rank;
#ifdef PLAIN
    MPI_Sendrecv(b, 1000, MPI_DOUBLE, peer, 0, c, 1000, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    OPI_Givetake(&b, 1000, MPI_DOUBLE, peer, 0, &c, 1000, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    MPI_Sendrecv_replace(data, 1000, MPI_INT, peer, 1, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int ok = c[999] == 999 + peer;
    MPI_Finalize();
    if (rank == 0 && ok)
        puts("installed: ok");
    return !ok;
}
"""

RANKS = """#include <mpi.h>
#include <opix.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, sum, together;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPIX_Get_collocated_size(&together);
    if (rank == 0)
        printf("%d ranks, sum %d\\n", together, sum);
    return MPI_Finalize();
}
"""

PROJECT = """cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(opi 0.1 REQUIRED)
add_executable(shared app.c)
target_link_libraries(shared opi::opi)
add_executable(archive app.c)
target_link_libraries(archive opi::static)
add_executable(heap app.c)
target_compile_definitions(heap PRIVATE PLAIN)
target_link_libraries(heap opi::malloc opi::opi)
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """An installation, and a directory with PROGRAM as app.c."""

    prefix: Path
    work: Path

    @property
    def lib(self) -> Path:
        return next(self.prefix.glob("lib*/libopi.so")).parent


def checked(*command: str | Path, user: MpiUser, **environment: str) -> str:
    done = subprocess.run(
        [*map(str, command)],
        env={**user.environment, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def configure(user: MpiUser, source: Path, build: Path, *options: str) -> None:
    generator = ("-G", "Ninja") if shutil.which("ninja") else ()
    checked(str(CMAKE), "-S", source, "-B", build, *generator, *options, user=user)


@pytest.fixture(scope="session")
def installed(mpi_user: MpiUser, shared_tmp: Path) -> Installed:
    """libopi for each MPI, installed by the three commands of the documentation."""
    folder = shared_tmp / f"cmake-{mpi_user.mpi.kind}"
    place = Installed(folder / "prefix", folder / "work")
    with only_one(folder.with_suffix(".lock")):
        if not (folder / "ready").exists():
            place.work.mkdir(parents=True)
            (place.work / "app.c").write_text(PROGRAM)
            quick = ("-DCMAKE_C_FLAGS=-Wall -Wextra -Werror", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0")
            prefix, compiler = f"-DCMAKE_INSTALL_PREFIX={place.prefix}", f"-DMPI_C_COMPILER={mpi_user.mpi.mpicc}"
            ranks = ("-DOPI_RANKS=ON", f"-DPython3_EXECUTABLE={sys.executable}")
            configure(mpi_user, RUNTIME, folder / "build", prefix, compiler, *quick, *ranks)
            checked(str(CMAKE), "--build", folder / "build", "-j", "2", user=mpi_user)
            checked(str(CMAKE), "--install", folder / "build", user=mpi_user)
            shutil.rmtree(folder / "build")
            (folder / "ready").touch()
    return place


def all_was_libopis(user: MpiUser, program: Path, lib: Path, tmp_path: Path) -> None:
    """Runs PROGRAM: its four messages are libopi's."""
    profile = tmp_path / "profile.json"
    result = user.run(2, program, OPI_PROFILE=str(profile), LD_LIBRARY_PATH=str(lib))
    assert "installed: ok" in result.out
    told = json.loads(profile.read_text())
    assert told["on_node"]["all"]["messages"] == 4
    assert told["on_node"]["give"]["messages"] == 2
    assert told["left_to_mpi"]["all"]["messages"] == 0


def memory_is_shared(user: MpiUser, program: Path, lib: Path, tmp_path: Path) -> None:
    """Runs PROGRAM without ownership passing: what malloc returned is read by the receiver where it lies."""
    profile = tmp_path / "profile.json"
    result = user.run(2, program, OPI_PROFILE=str(profile), LD_LIBRARY_PATH=str(lib), OPI_EAGER_LIMIT="5000")
    assert "installed: ok" in result.out
    assert json.loads(profile.read_text())["on_node"]["reference"]["messages"] == 2


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config on PATH")
@pytest.mark.parametrize("how", ["shared", "static"])
def test_pkg_config(mpi_user: MpiUser, installed: Installed, tmp_path: Path, how: str) -> None:
    path = {"PKG_CONFIG_PATH": str(installed.lib / "pkgconfig")}
    flags = checked("pkg-config", "--cflags", "--libs", "libopi", user=mpi_user, **path).split()
    assert f"-I{installed.prefix}/include" in flags
    if how == "static":
        cflags = checked("pkg-config", "--cflags", "libopi", user=mpi_user, **path).split()
        libs = checked("pkg-config", "--variable=static_libs", "libopi", user=mpi_user, **path).split()
        flags = [*cflags, *libs]
    mpi_user.mpicc("-O1", installed.work / "app.c", *flags, "-o", tmp_path / "app")
    needed = checked("ldd", tmp_path / "app", user=mpi_user, LD_LIBRARY_PATH=str(installed.lib))
    assert ("libopi.so.0 => " in needed) == (how == "shared")
    all_was_libopis(mpi_user, tmp_path / "app", installed.lib, tmp_path)


def test_find_package(mpi_user: MpiUser, installed: Installed, tmp_path: Path) -> None:
    """The package brings the MPI that it was built with; its shared library is found through the run path."""
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    shutil.copy(installed.work / "app.c", tmp_path)
    configure(mpi_user, tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed.prefix}")
    checked(str(CMAKE), "--build", tmp_path / "build", user=mpi_user)
    for name in ("shared", "archive"):
        all_was_libopis(mpi_user, tmp_path / "build" / name, tmp_path, tmp_path)
    memory_is_shared(mpi_user, tmp_path / "build" / "heap", tmp_path, tmp_path)


def ranks_share_a_process(user: MpiUser, program: Path) -> None:
    """Runs RANKS by itself, with both carriers."""
    for kind in ("threads", "fibers"):
        assert checked(program, user=user, OPI_RANKS="5", OPI_RANKS_CARRIER=kind) == "5 ranks, sum 10\n"


def test_the_example_of_the_documentation_for_ranks(mpi_user: MpiUser, installed: Installed, tmp_path: Path) -> None:
    """`opi::ranks` in the CMakeLists.txt of docs/ranks.md; opirun knows the program for one of its kind."""
    text = (CHECKOUT / "docs" / "ranks.md").read_text()
    example = re.search(r"^    cmake_minimum_required.*?(?=^\S)", text, re.M | re.S)
    assert example is not None
    (tmp_path / "CMakeLists.txt").write_text(textwrap.dedent(example[0]))
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "app.c").write_text(RANKS)
    configure(mpi_user, tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed.prefix}")
    checked(str(CMAKE), "--build", tmp_path / "build", user=mpi_user)
    program = tmp_path / "build" / "app"
    ranks_share_a_process(mpi_user, program)
    opirun = (sys.executable, "-m", "opi_xform.launch.opirun", "-n", "3", "--threads", program)
    assert checked(*opirun, user=mpi_user) == "3 ranks, sum 3\n"


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config on PATH")
def test_pkg_config_of_ranks(mpi_user: MpiUser, installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(RANKS)
    path = {"PKG_CONFIG_PATH": str(installed.lib / "pkgconfig")}
    flags = checked("pkg-config", "--cflags", "--libs", "libopi_ranks", user=mpi_user, **path).split()
    mpi_user.mpicc(tmp_path / "app.c", *flags, "-o", tmp_path / "app")
    ranks_share_a_process(mpi_user, tmp_path / "app")


@pytest.mark.parametrize("wanted", ["AUTO", "ON", "OFF"])
def test_without_what_ranks_need(mpi_user: MpiUser, tmp_path: Path, wanted: str) -> None:
    """AUTO says why it leaves them out, ON fails, OFF does not look."""
    if mpi_user.mpi != MPIS[0]:
        pytest.skip("the MPI has no part in this")
    (tmp_path / "python").write_text(
        f"#!/bin/sh\ncase $* in *bindings*) echo 'No module named pycparser' >&2; exit 1;; esac\n"
        f'exec {sys.executable} "$@"\n'
    )
    (tmp_path / "python").chmod(0o755)
    options = (f"-DMPI_C_COMPILER={mpi_user.mpi.mpicc}", f"-DPython3_EXECUTABLE={tmp_path / 'python'}")
    command = [str(CMAKE), "-S", RUNTIME, "-B", tmp_path / "build", f"-DOPI_RANKS={wanted}", *options]
    done = subprocess.run(command, env=mpi_user.environment, capture_output=True, text=True, check=False, timeout=200)
    told = "No module named pycparser" in done.stdout + done.stderr
    assert (done.returncode != 0, told) == (wanted == "ON", wanted != "OFF"), done.stderr


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config on PATH")
def test_pkg_config_of_the_allocator(mpi_user: MpiUser, installed: Installed, tmp_path: Path) -> None:
    path = {"PKG_CONFIG_PATH": str(installed.lib / "pkgconfig")}
    flags = checked("pkg-config", "--cflags", "--libs", "libopi_malloc", "libopi", user=mpi_user, **path).split()
    mpi_user.mpicc("-O1", "-DPLAIN", installed.work / "app.c", *flags, "-o", tmp_path / "app")
    memory_is_shared(mpi_user, tmp_path / "app", installed.lib, tmp_path)


def test_the_installed_library_can_be_preloaded(mpi_user: MpiUser, installed: Installed, tmp_path: Path) -> None:
    mpi_user.mpicc("-O1", "-DPLAIN", installed.work / "app.c", "-o", tmp_path / "ring")
    profile = tmp_path / "profile.json"
    preload = ("env", f"LD_PRELOAD={installed.lib / 'libopi.so'}")
    command = [*mpi_user.mpi.run_command(2), *preload, str(tmp_path / "ring")]
    assert "installed: ok" in checked(*command, user=mpi_user, OPI_PROFILE=str(profile))
    assert json.loads(profile.read_text())["on_node"]["all"]["messages"] == 4


def test_what_is_installed(mpi_user: MpiUser, installed: Installed) -> None:
    """The interface, the libraries and what finds them; of symbols only MPI's and OPI's."""
    names = {str(p.relative_to(installed.prefix)).replace("lib64/", "lib/") for p in installed.prefix.rglob("*")}
    version = re.search(r'^version = "(.*)"', (CHECKOUT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert {
        "include/opi.h",
        "include/opi_xform.h",
        "lib/libopi.a",
        "lib/libopi.so",
        "lib/libopi.so.0",
        f"lib/libopi.so.{version[1]}",
        "lib/libopi_malloc.a",
        "lib/libopi_malloc.so.0",
        "lib/pkgconfig/libopi.pc",
        "lib/pkgconfig/libopi_malloc.pc",
        "include/opix.h",
        "lib/libopi_ranks.a",
        "lib/libopi_ranks.link",
        "lib/pkgconfig/libopi_ranks.pc",
        "lib/cmake/opi/opiConfig.cmake",
        "lib/cmake/opi/opiConfigVersion.cmake",
        "lib/cmake/opi/opiTransform.cmake",
    } <= names
    listed = checked("nm", "-D", "--defined-only", installed.lib / "libopi.so", user=mpi_user)
    symbols = [line.split()[-1] for line in listed.splitlines()]
    assert "MPI_Send" in symbols
    assert "OPI_Give" in symbols
    assert [name for name in symbols if not name.startswith(("MPI_", "MPIX_", "OPI_"))] == []
