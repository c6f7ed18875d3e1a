"""What each thread of an OpenMP region runs is run by one after the other, where none waits for another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import run_tool

PROGRAM = """#include <mpi.h>
#include <omp.h>
#define N 2000
static double u[N], v[N];
static volatile int seen;
%s
int main(int argc, char **argv)
{
    int rank, k = 0;
    double b[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b[i] = u[i];
        MPI_Send(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    }
#pragma omp parallel %s
    {
        %s
    }
    MPI_Finalize();
    return v[0] > k;
}
"""
STRIDE = "for (int i = omp_get_thread_num(); i < N; i += omp_get_num_threads()) v[i] = u[i];"


def site(tmp_path: Path, inside: str, clauses: str = "", above: str = "") -> tuple[str, str]:
    (tmp_path / "a.c").write_text(PROGRAM % (above, clauses, inside))
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json", "--", "-fopenmp"])
    assert code == 0, err
    (found,) = json.loads(out)["sites"]
    return found["decision"], found["message"]


@pytest.mark.parametrize(
    ("inside", "clauses", "above"),
    [
        (STRIDE, "", ""),
        (f"int own[4]; own[0] = 1; {STRIDE}", "num_threads(2) default(shared)", ""),
        (f"k = 1; if (k) {STRIDE}", "private(k)", ""),
        ("copy(omp_get_thread_num());", "", "static void copy(int i) { v[i] = u[i]; }"),
    ],
)
def test_one_thread_after_the_other(tmp_path: Path, inside: str, clauses: str, above: str) -> None:
    assert site(tmp_path, inside, clauses, above)[0] == "convert"


@pytest.mark.parametrize(
    ("inside", "clauses", "above", "why"),
    [
        (f"{STRIDE}\n#pragma omp barrier\n{STRIDE}", "", "", "has statements that each of its threads runs"),
        (f"{STRIDE}\n#pragma omp atomic\nk++;", "", "", "has statements that each of its threads runs"),
        (f"while (!seen) ; {STRIDE}", "", "", "has statements that each of its threads runs"),
        (f"static int own; own = 1; {STRIDE}", "", "", "has statements that each of its threads runs"),
        (f"if (k) {STRIDE}", "private(k)", "", "may find in `k` what a thread left there"),
        (f"k++; {STRIDE}", "firstprivate(k)", "", "changes `k`, of which each thread has one"),
        (f"k++; {STRIDE}", "default(private)", "", "gives each thread what it does not name"),
        (
            "share();",
            "",
            "static void share(void)\n{\n#pragma omp for\nfor (int i = 0; i < N; i++) v[i] = u[i];\n}",
            "calls `share`, in which threads may wait for others",
        ),
        (
            "meet();",
            "",
            "static void meet(void)\n{\nv[0] = 1;\n#pragma omp barrier\nv[1] = 1;\n}",
            "calls `meet`, in which threads may wait for others",
        ),
    ],
)
def test_threads_that_wait_or_keep(tmp_path: Path, inside: str, clauses: str, above: str, why: str) -> None:
    decision, message = site(tmp_path, inside, clauses, above)
    assert decision == "keep"
    assert why in message
