"""Programs with files and functions by names of ours: an opi.h, an MPI_Send over PMPI_Send, a tool's MPI_Wait."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MpiUser, in_turn

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
{more}
#define N 3000
int main(int argc, char **argv)
{{
    int rank;
    double s = 0, *b = malloc(N * sizeof *b), *r = malloc(N * sizeof *r);
    MPI_Request q;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 3; k++)
        if (rank == 0) {{
            for (int i = 0; i < N; i++)
                b[i] = i + k;
            MPI_{send};
        }} else if (rank == 1) {{
            MPI_{recv};
            for (int i = 0; i < N; i++)
                s += r[i];
        }}
    printf("%d %g\\n", rank, s);
    {end}
    free(b);
    free(r);
    MPI_Finalize();
    return 0;
}}
"""
BLOCKING = {
    "send": "Send(b, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD)",
    "recv": "Recv(r, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)",
}
LATER = {
    "send": "Isend(b, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE)",
    "recv": "Irecv(r, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE)",
}
COUNTED_WAIT = """static int calls;
int MPI_Wait(MPI_Request *request, MPI_Status *status) { calls++; return PMPI_Wait(request, status); }
"""
COUNTED_SEND = """static int calls;
int MPI_Send(const void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    calls++;
    return PMPI_Send(b, n, type, to, tag, comm);
}
"""
OWN_INIT = """static int calls;
int MPI_Init(int *argc, char ***argv) { calls++; return PMPI_Init(argc, argv); }
"""
TOLD = 'printf("%d calls\\n", calls);'


def transform(folder: Path, out: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "opi_xform.cli.main", *arguments[:1], "-o", str(out), *arguments[1:]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("place", ["", "inc/"])
@pytest.mark.parametrize("guard", ["OPI_H", "PROJECT_OPI_H"])
def test_an_opi_h_of_the_program(tmp_path: Path, mpi_user: MpiUser, place: str, guard: str) -> None:
    in_turn(mpi_user, (place == "") + (guard == "OPI_H"))
    (tmp_path / "inc").mkdir()
    (tmp_path / place / "opi.h").write_text(f"#ifndef {guard}\n#define {guard}\n#define TWICE 2\n#endif\n")
    more = '#include "opi.h"\n#if TWICE != 2\n#error another opi.h\n#endif'
    (tmp_path / "main.c").write_text(PROGRAM.format(more=more, end="", **BLOCKING))
    transform(tmp_path, tmp_path / "out", "main.c", "--", "-Iinc")
    text = (tmp_path / "out/main.c").read_text()
    assert "OPI_Give(&b" in text
    assert text.count('#include "opi.h"') == text.count('#include "opi_xform.h"') == 1
    mpi_user.opicc(tmp_path / "out/main.c", f"-I{tmp_path / 'inc'}", "-o", tmp_path / "app")
    assert sorted(mpi_user.run(2, tmp_path / "app").out.split("\n")) == ["", "0 0", "1 1.35045e+07"]


@pytest.mark.parametrize(
    ("own", "form"),
    [(COUNTED_SEND, BLOCKING), (COUNTED_WAIT, LATER), (OWN_INIT, BLOCKING), (OWN_INIT, LATER)],
    ids=["send", "wait", "init", "init-later"],
)
def test_functions_of_the_program_by_the_mpis_names(
    tmp_path: Path, mpi_user: MpiUser, own: str, form: dict[str, str]
) -> None:
    """It links, its functions are the ones that are called, and no site converts: their messages bypass libopi."""
    (tmp_path / "main.c").write_text(PROGRAM.format(more=own, end=TOLD, **form))
    assert " 0 converted" in transform(tmp_path, tmp_path / "out", "main.c")
    mpi_user.opicc(tmp_path / "out/main.c", "-o", tmp_path / "app")
    mpi_user.mpicc(tmp_path / "main.c", "-o", tmp_path / "plain")
    ours, plain = mpi_user.run(2, tmp_path / "app").out, mpi_user.run(2, tmp_path / "plain").out
    assert sorted(ours.split("\n")) == sorted(plain.split("\n"))


def test_a_tool_that_is_linked_in(tmp_path: Path, mpi_user: MpiUser) -> None:
    """A program that was not transformed runs as with the MPI alone; one that was says why it cannot."""
    (tmp_path / "tool.c").write_text("#include <mpi.h>\n" + COUNTED_WAIT.replace("static ", ""))
    mpi_user.opicc("-c", tmp_path / "tool.c", "-o", tmp_path / "tool.o")
    subprocess.run(["ar", "rcs", tmp_path / "libtool.a", tmp_path / "tool.o"], check=True)
    (tmp_path / "main.c").write_text(PROGRAM.format(more="", end="", **LATER))
    transform(tmp_path, tmp_path / "out", "main.c")
    mpi_user.opicc(tmp_path / "main.c", tmp_path / "libtool.a", "-o", tmp_path / "plain")
    assert sorted(mpi_user.run(2, tmp_path / "plain").out.split("\n")) == ["", "0 0", "1 1.35045e+07"]
    mpi_user.opicc(tmp_path / "out/main.c", tmp_path / "libtool.a", "-o", tmp_path / "app")
    done = mpi_user.run(2, tmp_path / "app", check=False)
    assert done.code != 0
    assert "MPI_Wait is a function of the program's or of a tool's" in done.err + done.out


def test_a_wrapper_of_the_linkers(tmp_path: Path, mpi_user: MpiUser) -> None:
    """Linked with --wrap=MPI_Send: the wrapper goes on to libopi's function, so libopi still carries the messages."""
    wrapper = """int calls;
int __real_MPI_Send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int __wrap_MPI_Send(const void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    calls++;
    return __real_MPI_Send(b, n, type, to, tag, comm);
}
"""
    (tmp_path / "wrapper.c").write_text("#include <mpi.h>\n" + wrapper)
    (tmp_path / "main.c").write_text(PROGRAM.format(more="extern int calls;", end=TOLD, **BLOCKING))
    mpi_user.opicc(tmp_path / "main.c", tmp_path / "wrapper.c", "-Wl,--wrap=MPI_Send", "-o", tmp_path / "app")
    done = mpi_user.run(2, tmp_path / "app", OPI_VERBOSE="1")
    assert "3 calls" in done.out.split("\n")
    assert "1 1.35045e+07" in done.out.split("\n")
    assert "is not libopi" not in done.err, done.err
