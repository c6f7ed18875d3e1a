"""What `opicc --ranks` links: the profiling names of MPI's functions mean the same ranks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import MPIS, MpiUser
from test_opicc import compiled

from opi_xform.bindings.header import read_header
from opi_xform.launch.ranks import ensure_ranks

pytestmark = [pytest.mark.mpi, pytest.mark.skipif(not MPIS, reason="no mpicc: set OPI_MPICC")]

PROFILING_NAMES = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, got = 0, sum = 0;
    PMPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        for (int to = 1; to < size; to++)
            PMPI_Send(&to, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
    else
        MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    PMPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d got %d of %d\\n", rank, size, got, sum);
    return PMPI_Finalize();
}
"""

LAYER = """#include <mpi.h>
#include <stdio.h>
static _Thread_local int sends;
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}
int MPI_Finalize(void)
{
    int rank, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(&sends, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d sends\\n", all);
    return PMPI_Finalize();
}
"""

RING = """#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, from = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(&from, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return from != (rank + size - 1) % size;
}
"""


def lines(user: MpiUser, program: Path, ranks: int, kind: str) -> list[str]:
    """What a program that ends well prints with so many ranks in one process."""
    told = {**user.environment, "OPI_RANKS": str(ranks), "OPI_RANKS_CARRIER": kind}
    done = subprocess.run([program], env=told, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def test_a_call_of_pmpi_means_these_ranks(mpi_user: MpiUser, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(PROFILING_NAMES)
    compiled(mpi_user, "--ranks", tmp_path / "app.c", "-o", tmp_path / "app")
    for kind in ("threads", "fibers"):
        told = lines(mpi_user, tmp_path / "app", 3, kind)
        assert told == ["rank 0 of 3 got 0 of 3", "rank 1 of 3 got 1 of 3", "rank 2 of 3 got 2 of 3"]


def test_a_profiling_layer_of_the_programs_own(mpi_user: MpiUser, tmp_path: Path) -> None:
    """As a source, and as an archive before which nothing asks for it but the program."""
    (tmp_path / "layer.c").write_text(LAYER)
    (tmp_path / "ring.c").write_text(RING)
    compiled(mpi_user, "--ranks", tmp_path / "ring.c", tmp_path / "layer.c", "-o", tmp_path / "source")
    compiled(mpi_user, "-c", tmp_path / "layer.c", "-o", tmp_path / "layer.o")
    subprocess.run(["ar", "rcs", tmp_path / "liblayer.a", tmp_path / "layer.o"], check=True)
    archive = ("-L", tmp_path, "-llayer")
    compiled(mpi_user, "--ranks", tmp_path / "ring.c", *archive, "-o", tmp_path / "archive")
    for name in ("source", "archive"):
        assert lines(mpi_user, tmp_path / name, 4, "threads") == ["4 sends"]
    compiled(mpi_user, "--ranks", tmp_path / "ring.c", "-o", tmp_path / "without")
    assert lines(mpi_user, tmp_path / "without", 4, "threads") == []


def test_the_library_itself_reaches_the_mpi_below(
    mpi_user: MpiUser, opi_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every function of mpi.h is defined in both ways, and no call of the library's comes back to it."""
    monkeypatch.setenv("OPI_CACHE", str(opi_cache))
    archive = ensure_ranks(mpi_user.mpi)
    listed = subprocess.run(["nm", archive], capture_output=True, text=True, check=True).stdout
    symbols = {tuple(line.split()[-2:]) for line in listed.splitlines() if len(line.split()) > 1}
    functions = read_header(mpi_user.mpi.mpicc)
    for name in functions:
        assert ("W", name) in symbols
        assert ("T", f"__wrap_P{name}") in symbols
    undefined = {name for kind, name in symbols if kind == "U"}
    assert {"__real_PMPI_Init_thread", "__real_PMPI_Type_size"} <= undefined
    assert not undefined & {*functions, *(f"P{name}" for name in functions)}
