"""A give that fails leaves its buffer with the program: it is used again, or freed, and none is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MpiUser

pytestmark = pytest.mark.mpi

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 3000

static double table[N];

static double local(int rank, int size, MPI_Comm comm, int k)
{
    double b[N], s = 0;
    for (int i = 0; i < N; i++)
        b[i] = i + k;
    s = b[k];
    if (rank == 0 && MPI_Send(b, N, MPI_DOUBLE, k % 2 ? size + 5 : 1, k, comm) != MPI_SUCCESS)
        return -s;
    return s;
}

int main(int argc, char **argv)
{
    int rank, size, failed = 0;
    double s = 0, *b, *r;
    MPI_Request rq;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    r = malloc(N * sizeof *r);
    for (int k = 0; k < 6; k++) {
        int to = k % 2 ? size + 3 : 1;
        b = malloc(N * sizeof *b);
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = i * k;
            if (k % 3 == 0) {
                failed += MPI_Send(b, N, MPI_DOUBLE, to, k, MPI_COMM_WORLD) != MPI_SUCCESS;
            } else if (MPI_Isend(b, N, MPI_DOUBLE, to, k, MPI_COMM_WORLD, &rq) == MPI_SUCCESS) {
                MPI_Wait(&rq, MPI_STATUS_IGNORE);
            } else {
                failed++;
            }
            for (int i = 0; i < N; i++)
                table[i] = i + k;
            failed += MPI_Send(table, N, MPI_DOUBLE, to, 100 + k, MPI_COMM_WORLD) != MPI_SUCCESS;
        } else if (rank == 1 && to == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                s += r[i];
            MPI_Recv(r, N, MPI_DOUBLE, 0, 100 + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                s += r[i];
        }
        free(b);
        if (rank == 1 && to == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            s += r[5];
        }
        s += local(rank, size, MPI_COMM_WORLD, k);
    }
    printf("%d %g %d\\n", rank, s, failed);
    free(r);
    MPI_Finalize();
    return 0;
}
"""

RETURNED = """#include <mpi.h>
#include <stdio.h>
#define N 3000
%(before)s
static int put(int to, int k, MPI_Comm comm)
{
    double w[N];
    for (int i = 0; i < N; i++)
        w[i] = i * k;
    switch (k %% 4) {
    case 1:
        return MPI_Send(w, N, MPI_DOUBLE, to, 7, comm);
    case 2: {
        return (MPI_Send(w, N, MPI_DOUBLE, to, 7, comm)) != MPI_SUCCESS;
    }
    default:
        break;
    }
    if (k == 3) return MPI_Send(w, N, MPI_DOUBLE, to, 7, comm);
    return(MPI_Send(w, N, MPI_DOUBLE, to, 7, comm));
}

int main(int argc, char **argv)
{
    int rank, size, failed = 0;
    double s = 0, r[N];
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    %(set)s;
    for (int k = 0; k < 12; k++)
        if (rank == 0) {
            failed += put(k %% 3 ? size + k : 1, k, comm) != MPI_SUCCESS;
        } else if (rank == 1 && k %% 3 == 0) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, comm, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                s += r[i];
        }
    printf("%%d %%g %%d\\n", rank, s, failed);
    MPI_Finalize();
    return 0;
}
"""
HANDLERS = {
    "called": ("", "MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)"),
    "pointer": (
        "static int (*set)(MPI_Comm, MPI_Errhandler);",
        "set = MPI_Comm_set_errhandler; set(comm, MPI_ERRORS_RETURN)",
    ),
    "table": (
        "static int (*const set[])(MPI_Comm, MPI_Errhandler) = { MPI_Comm_set_errhandler, MPI_Comm_set_errhandler };",
        "set[argc > 1](comm, MPI_ERRORS_RETURN)",
    ),
    "group": (
        "",
        "MPI_Group g; MPI_Comm_group(comm, &g); "
        'MPI_Comm_create_from_group(g, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm); MPI_Group_free(&g)',
    ),
}


def transformed(tmp_path: Path, program: str = PROGRAM) -> tuple[Path, str]:
    source = tmp_path / "prog.c"
    source.write_text(program)
    command = [sys.executable, "-m", "opi_xform.cli.main", str(source), "-o", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return tmp_path / "out" / "prog.c", (tmp_path / "out" / "prog.c").read_text()


def test_no_buffer_is_lost(mpi_user: MpiUser, tmp_path: Path) -> None:
    out, text = transformed(tmp_path)
    assert "OPI_Give(&b, N" in text
    assert "OPI_Igive(&b, N" in text
    assert "OPI_Give(&table, N" in text
    compare(mpi_user, tmp_path, out)


@pytest.mark.parametrize("form", HANDLERS)
def test_messages_in_returns(mpi_user: MpiUser, tmp_path: Path, form: str) -> None:
    """The buffer is freed after the message, and before the return, however the program lets errors return."""
    before, setting = HANDLERS[form]
    out, text = transformed(tmp_path, RETURNED % {"before": before, "set": setting})
    assert text.count("= OPI_Give(&w, N") + text.count("(OPI_Give(&w, N") == 4
    assert text.count("OPI_Free(&w);") == 4
    compare(mpi_user, tmp_path, out)


def compare(mpi_user: MpiUser, tmp_path: Path, out: Path) -> None:
    mpi_user.mpicc("-O1", "-w", tmp_path / "prog.c", "-o", tmp_path / "before")
    mpi_user.opicc("-O1", "-g", "-w", out, "-o", tmp_path / "after")
    before = mpi_user.run(2, tmp_path / "before")
    after = mpi_user.run(2, tmp_path / "after", OPI_CHECK="1")
    assert sorted(after.out.split("\n")) == sorted(before.out.split("\n"))
    assert "leaks" not in after.err
