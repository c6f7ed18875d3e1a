"""A line that keeps a buffer although no process of the call that stays comes to it, and what the next turn sends."""

from __future__ import annotations

from pathlib import Path

from read_programs import line_of, sites

from opi_xform.codes import Reason
from opi_xform.ownership.explain.later import longer_next_turn
from opi_xform.ownership.explain.reaching.other_processes import OF_ALL, of_another_process

WORDS = (longer_next_turn, of_another_process)  # what is tested here, by way of the whole tool
RECV = "MPI_Recv(u, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
READS = "for (int i = 0; i < N; i++) s += u[i];"
ELSEWHERE = "no process that makes this call runs line"


def test_zeros_that_only_another_rank_sends(tmp_path: Path) -> None:
    lines = [
        "if (rank == 0) {",
        "for (int p = 1; p < size; p++) MPI_Send(u, N, MPI_DOUBLE, p, 0, MPI_COMM_WORLD); // SENT",
        "} else {",
        RECV,
        READS,
        "}",
    ]
    text, found = sites(lines, tmp_path)
    where = f"; {ELSEWHERE} {line_of(text, 'SENT')}, but its buffer is one variable for all of them"
    assert (found[1]["code"], found[1]["message"].endswith(where)) == ("OPI210", True)
    assert ELSEWHERE not in found[0]["message"]
    assert Reason.FIRST_CONTENTS in OF_ALL


def test_zeros_that_the_same_rank_may_send(tmp_path: Path) -> None:
    lines = ["if (rank != 1) MPI_Send(u, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"]
    lines += [f"if (rank > 0) {{ {RECV}", READS, "}"]
    _, found = sites(lines, tmp_path)
    assert [ELSEWHERE in site["message"] for site in found if site["side"] == "recv"] == [False]


def test_the_next_turn_sends_more_than_came(tmp_path: Path) -> None:
    lines = [
        "double *v = malloc(n * sizeof *v);",
        "for (int k = 1; k <= n; k++) {",
        "if (rank == 0) {",
        "MPI_Send(v, k, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); // SENT",
        "MPI_Recv(v, k, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "} }",
        "free(v);",
    ]
    text, found = sites(lines, tmp_path)
    message = f"could not show that line {line_of(text, 'SENT')} sends no more of `v` in the next turn than this "
    assert (found[1]["code"], found[1]["message"]) == ("OPI202", message + "receive brings: `k` may be larger then")
