"""A converted external object has a name for the linker that only the files of its plan use."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MpiUser

MAIN = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 64
{declared}
void pack(void);
int main(int argc, char **argv)
{{
    static double got[N];
    MPI_Init(&argc, &argv);
    {before}
    pack();
    MPI_Request rq;
    MPI_Isend(b, N, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &rq);
    MPI_Recv(got, N, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    printf("%g\\n", got[N - 1]);
    {after}
    MPI_Finalize();
    return 0;
}}
"""
ARRAY = MAIN.format(declared="double b[N], other;", before="", after="")
POINTER = MAIN.format(declared="double *b = NULL, other;", before="b = malloc(N * sizeof(double));", after="free(b);")
PACK = """#define N 64
{declared}
void pack(void)
{{
    for (int i = 0; i < N; i++)
        b[i] = i;
}}
"""
DECLARED = {ARRAY: "extern double b[N];", POINTER: "extern double *b;"}


def transform(folder: Path, out: Path, *sources: str) -> None:
    command = [sys.executable, "-m", "opi_xform.cli.main", *sources, "-o", str(out)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.fixture(params=[ARRAY, POINTER], ids=["array", "pointer"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "main.c").write_text(request.param)
    (tmp_path / "pack.c").write_text(PACK.format(declared=DECLARED[request.param]))
    return tmp_path


def test_the_files_of_one_plan_link(folder: Path, mpi_user: MpiUser) -> None:
    transform(folder, folder / "out", "main.c", "pack.c")
    assert "OPI_Igive(&b" in (folder / "out/main.c").read_text()
    mpi_user.opicc("-Wall", "-Werror", folder / "out/main.c", folder / "out/pack.c", "-o", folder / "app")
    assert mpi_user.run(1, folder / "app").out == "63\n"


def test_a_file_left_out_does_not_link(folder: Path, mpi_user: MpiUser) -> None:
    transform(folder, folder / "out", "main.c", "pack.c")
    done = mpi_user.opicc(folder / "out/main.c", folder / "pack.c", "-o", folder / "app", check=False)
    assert done.code != 0
    assert "b: TLS definition" in done.err


LINKERS = [
    flags for flags in ((), ("-fuse-ld=gold",), ("-fuse-ld=lld",)) if not flags or shutil.which(f"ld.{flags[0][9:]}")
]


@pytest.mark.parametrize("common", ["-fcommon", "-fno-common"])
@pytest.mark.parametrize("pie", ["-pie", "-no-pie"])
@pytest.mark.parametrize("linker", LINKERS)
def test_a_file_left_out_that_defines_it_too(
    folder: Path, mpi_user: MpiUser, common: str, pie: str, linker: tuple[str, ...]
) -> None:
    """With -fcommon both definitions would be one for the linker, and are without the conversion."""
    pack = folder / "pack.c"
    pack.write_text(pack.read_text().replace("extern ", ""))
    transform(folder, folder / "out", "main.c", "pack.c")
    flags = (common, pie, "-fPIE", *linker, "-o", folder / "app")
    assert mpi_user.opicc("-fcommon", folder / "out/main.c", folder / "out/pack.c", *flags[1:]).code == 0
    assert mpi_user.opicc(folder / "out/main.c", pack, *flags, check=False).code != 0
    mpi_user.opicc(common, "-c", pack, "-o", folder / "pack.o")
    subprocess.run(["ar", "rcs", folder / "libpack.a", folder / "pack.o"], check=True)
    assert mpi_user.opicc(folder / "out/main.c", folder / "libpack.a", *flags, check=False).code != 0


@pytest.mark.parametrize("common", ["-fcommon", "-fno-common"])
@pytest.mark.parametrize("linker", LINKERS)
def test_a_header_that_defines_it_is_included_twice(
    folder: Path, mpi_user: MpiUser, common: str, linker: tuple[str, ...]
) -> None:
    """C lets a file define a variable without an initialiser as often as it likes, and so does the guard."""
    main, pack = folder / "main.c", folder / "pack.c"
    declared = DECLARED[ARRAY if "double b[N]" in main.read_text() else POINTER]
    (folder / "b.h").write_text(declared.replace("extern ", "") + "\n")
    twice = '#include "b.h"\n#include "b.h"'
    text = main.read_text().replace("double b[N], other;", twice).replace("double *b = NULL, other;", twice)
    main.write_text(text)
    pack.write_text(pack.read_text().replace(declared, twice))
    transform(folder, folder / "out", "main.c", "pack.c")
    assert "OPI_Igive(&b" in (folder / "out/main.c").read_text()
    flags = (*linker, "-o", folder / "app")
    mpi_user.opicc("-Wall", "-Werror", "-fcommon", folder / "out/main.c", folder / "out/pack.c", *flags)
    assert mpi_user.run(1, folder / "app").out == "63\n"
    (folder / "out/pack.c").unlink()
    assert mpi_user.opicc(common, folder / "out/main.c", pack, *flags, check=False).code != 0


def test_a_shared_library_left_out_does_not_link(folder: Path, mpi_user: MpiUser) -> None:
    transform(folder, folder / "out", "main.c", "pack.c")
    mpi_user.opicc("-fPIC", "-shared", folder / "pack.c", "-o", folder / "libpack.so")
    done = mpi_user.opicc(folder / "out/main.c", folder / "libpack.so", "-o", folder / "app", check=False)
    assert done.code != 0
    assert "b: TLS definition" in done.err


def test_a_definition_in_a_header_has_one_guard_a_file(tmp_path: Path, mpi_user: MpiUser) -> None:
    (tmp_path / "b.h").write_text("#define N 64\ndouble b[N]; /* in both */\n")
    (tmp_path / "main.c").write_text(ARRAY.replace("#define N 64\ndouble b[N], other;", '#include "b.h"'))
    (tmp_path / "pack.c").write_text('#include "b.h"' + PACK.format(declared="").removeprefix("#define N 64"))
    (tmp_path / "old.c").write_text("double b[64];\n")
    transform(tmp_path, tmp_path / "out", "main.c", "pack.c")
    assert '__asm__("b") __attribute__((weak)); ' in (tmp_path / "out/b.h").read_text()
    files = ("-fcommon", tmp_path / "out/main.c", tmp_path / "out/pack.c")
    mpi_user.opicc(*files, "-o", tmp_path / "app")
    assert mpi_user.run(1, tmp_path / "app").out == "63\n"
    assert mpi_user.opicc(*files, tmp_path / "old.c", "-o", tmp_path / "app", check=False).code != 0


def test_the_guard_hinders_no_further_run(folder: Path) -> None:
    """What was converted in place may get a new message, which converts as well."""
    transform(folder, folder / "out", "main.c", "pack.c")
    main = folder / "out/main.c"
    more = """    double *more = malloc(N * sizeof *more);
    for (int i = 0; i < N; i++)
        more[i] = i;
    MPI_Send(more, N, MPI_DOUBLE, 0, 2, MPI_COMM_SELF);
    free(more);
"""
    main.write_text(main.read_text().replace("    MPI_Finalize();", more + "    MPI_Finalize();"))
    transform(folder / "out", folder / "again", "main.c", "pack.c")
    assert "OPI_Give(&more" in (folder / "again/main.c").read_text()


def test_files_of_two_plans_do_not_link(folder: Path, mpi_user: MpiUser) -> None:
    transform(folder, folder / "out", "main.c", "pack.c")
    main = folder / "main.c"
    again = "    MPI_Recv(got"
    main.write_text(
        main.read_text().replace(again, "    MPI_Barrier(MPI_COMM_SELF);\n" + again).replace("#define N", "\n#define N")
    )
    transform(folder, folder / "two", "main.c", "pack.c")
    done = mpi_user.opicc(folder / "out/main.c", folder / "two/pack.c", "-o", folder / "app", check=False)
    assert done.code != 0
    assert "undefined reference to `b_opi_" in done.err
