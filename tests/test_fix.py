"""--fix: one site of the program's own text is changed so that it converts, and the program does what it did."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from case_tools import run_tool
from conftest import MpiUser

HALO = """#include <mpi.h>
#include <stdio.h>
#define N 1000
static double u[N];
static int n = 40;
int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int up = rank == 0 ? 1 : MPI_PROC_NULL, down = rank == 1 ? 0 : MPI_PROC_NULL;
    for (int i = 0; i < N; i++)
        u[i] = (rank + 1) * i;
    for (int t = 0; t < 4; t++) {
        if (n > 2)
            MPI_Send(&u[t], n, /* SEND */
                     MPI_DOUBLE, up, 0, MPI_COMM_WORLD);
        else
            n = 2;
        MPI_Recv(&u[t + 100], n + 60, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // RECV
        MPI_Sendrecv(u, n, MPI_DOUBLE, up, 1, u + 300, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, /* BOTH */
                     MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < N; i++)
        sum += u[i] * (i % 7);
    printf("%d %.17g\\n", rank, sum);
    MPI_Finalize();
    return 0;
}
"""


def line_of(text: str, mark: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if mark in line)


def fix(text: str, mark: str, *more: str) -> tuple[int, str, str]:
    """In the working directory."""
    Path("a.c").write_text(text, encoding="utf-8")
    return run_tool(["a.c", "-j", "1", "--fix", f"a.c:{line_of(text, mark)}", *more])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mark", ["SEND", "RECV", "BOTH"])
def test_a_diff_by_itself_writes_nothing(mark: str, folder: Path) -> None:
    code, out, err = fix(HALO, mark)
    assert code == 0, err
    assert "+#include <stdlib.h>\n+#include <string.h>\n" in out
    assert Path("a.c").read_text(encoding="utf-8") == HALO
    assert re.search(r"^a\.c:\d+: MPI_\w+ of \S.* converts with a .*buffer of its own", err)
    assert err.endswith("nothing was written; -i writes it\n")


@pytest.mark.mpi
def test_the_changed_program_converts_and_prints_the_same(folder: Path, mpi_user: MpiUser) -> None:
    Path("plain.c").write_text(HALO, encoding="utf-8")
    mpi_user.mpicc("-O1", folder / "plain.c", "-o", folder / "plain")
    before = sorted(mpi_user.run(2, folder / "plain").out.splitlines())
    text = HALO
    for mark in ("SEND", "RECV", "BOTH"):
        code, _, err = fix(text, mark, "-i")
        assert code == 0, err
        assert err.endswith("a.c written\n")
        text = Path("a.c").read_text(encoding="utf-8")
    mpi_user.mpicc("-O1", "-Wall", "-Werror", folder / "a.c", "-o", folder / "changed")
    assert sorted(mpi_user.run(2, folder / "changed").out.splitlines()) == before
    out = run_tool(["a.c", "-j", "1", "-o", "out"])[1]
    assert "4 sites: 3 converted" in out
    mpi_user.opicc("-O1", folder / "out" / "a.c", "-o", folder / "transformed")
    assert sorted(mpi_user.run(2, folder / "transformed").out.splitlines()) == before


def test_an_else_keeps_its_if(folder: Path) -> None:
    """What is put around a statement that is no block by itself takes no `else` along."""
    _, out, _ = fix(HALO, "SEND")
    assert "+            {\n+                if (up != MPI_PROC_NULL) {\n" in out
    assert "+                    MPI_Send(u_copy, n, /* SEND */\n+                             MPI_DOUBLE, up" in out


GUARD = """#include <mpi.h>
#define N 4000
static double in[N], u[N];
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    in[0] = 1;
    MPI_Recv(in, N, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // RECV
    if (rank > 0)
        for (int i = 0; i < N; i++)
            u[i] += in[i];
    MPI_Finalize();
    return u[3] > 5;
}
"""


def test_a_receive_from_nobody_is_not_called() -> None:
    code, out, err = fix(GUARD, "RECV")
    assert code == 0, err
    assert "+    if (from != MPI_PROC_NULL) {\n" in out
    assert "MPI_Get_count" not in out
    assert "converts with a test of the source against MPI_PROC_NULL around the call" in err


@pytest.mark.parametrize(
    ("old", "new", "mark", "message"),
    [
        ("/* SEND */", "/* SEND */", "printf", "no message's call begins here; the table names"),
        ("&u[t], n,", "&u[t], n++,", "SEND", "no change is known that surely keeps what the program does"),
        ("MPI_Send(&u[t]", "if (MPI_Send(&u[t]", "SEND", "no change is known that surely keeps"),
        ("static int n = 40;", "static volatile int n = 40;", "SEND", "no change is known that surely keeps"),
        ("static int n = 40;", "static int n = 40; void *malloc(unsigned long s) { (void)s; return 0; }", "SEND",
         "no change is known that surely keeps"),
        ("MPI_STATUS_IGNORE); // RECV", "&st); MPI_Get_count(&st, MPI_DOUBLE, &n); // RECV", "RECV", "no change is"),
    ],
)  # fmt: skip
def test_what_cannot_be_changed_is_told(old: str, new: str, mark: str, message: str) -> None:
    text = HALO.replace(old, new, 1).replace("int rank;", "int rank; MPI_Status st; (void)st;", 1)
    if "if (MPI_Send" in new:
        text = text.replace("up, 0, MPI_COMM_WORLD);", "up, 0, MPI_COMM_WORLD)) n = 3;", 1)
    code, out, err = fix(text, mark)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err


def test_what_converts_needs_no_change(folder: Path) -> None:
    Path("a.c").write_text(HALO, encoding="utf-8")
    fix(HALO, "SEND", "-i")
    text = Path("a.c").read_text(encoding="utf-8")
    code, _, err = fix(text, "SEND", "-i")
    assert (code, Path("a.c").read_text(encoding="utf-8")) == (2, text)
    assert "what is here converts as it is" in err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("-o", "out"), "--fix changes the program's own text, which has no -o; run them apart"),
        (("--check",), "which has no --check"),
        (("--output-format", "json"), "which has no --output-format json"),
        (("--advise",), "which has no --advise"),
    ],
)
def test_what_goes_with_a_transformed_program_does_not_go_with_it(more: tuple[str, ...], message: str) -> None:
    code, _, err = fix(HALO, "SEND", *more)
    assert code == 2
    assert message in err


@pytest.mark.parametrize("where", ["a.c", "a.c:", "a.c:x", ":3", "a.c:0"])
def test_a_place_that_is_none(where: str) -> None:
    Path("a.c").write_text(HALO, encoding="utf-8")
    code, _, err = run_tool(["a.c", "-j", "1", "--fix", where])
    assert code == 2
    assert "--fix needs FILE:LINE" in err


def test_a_count_in_memory_that_nobody_else_reaches_may_be_read_once_more() -> None:
    text = HALO.replace("static int n = 40;", "static int n = 40; struct box { int n, up; }; static struct box *box;")
    text = text.replace("int rank;", "int rank; box = malloc(sizeof *box); box->n = 40;", 1)
    text = text.replace("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>").replace(
        "&u[t], n,", "&u[t], box->n,"
    )
    code, out, err = fix(text, "SEND")
    assert code == 0, err
    assert "+                    double *u_copy = malloc(((size_t)(box->n) + 1) * sizeof(double));\n" in out
