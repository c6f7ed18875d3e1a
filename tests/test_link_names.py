"""Condition g: a converted external object has a name for the linker that only the files of its plan use."""

from __future__ import annotations

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
    assert "undefined reference to `b'" in done.err


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
