"""What is told of a message whose pointer changes places (``explain.pointers.exchanged``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from case_tools import run_tool

from opi_xform.codes import Reason
from opi_xform.ir.span import NOWHERE
from opi_xform.ownership.explain.culprits import EXCHANGED
from opi_xform.ownership.explain.pointers.exchanged import by_the_other_name
from opi_xform.ownership.model.buffers import Refusal
from tests.unit.ownership.explain.test_reasons import line_of, sites

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, n[2] = {500, 600};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n[1] += argc;
    double *a = malloc(1000 * sizeof *a), *b = malloc(1000 * sizeof *b), s = 0;
    for (int i = 0; i < 1000; i++)
        a[i] = b[i] = i;
    for (int step = 0; step < 4; step++) {
        int mine = n[step % 2], theirs = n[(step + 1) % 2];
        for (int i = 0; i < mine; i++)
            s += a[i]; // READ
        if (rank == 0) {
            MPI_Send(a, mine, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); // SEND
            MPI_Recv(b, theirs, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // RECV
        } else {
            MPI_Recv(b, theirs, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(a, mine, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
        double *t = a; a = b; b = t; // SWAP
    }
    printf("%g\\n", s);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
"""


def told(text: str, folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """The sites, by side and line."""
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "--output-format", "json"])
    assert code == 0, err
    return {(site["side"], site["line"]): site for site in json.loads(out)["sites"]}


def at(text: str, what: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if f"// {what}" in line)


def test_the_reading_line_and_both_lengths_are_named(tmp_path: Path) -> None:
    sites = told(PROGRAM, tmp_path)
    read, sent, received, swap = (at(PROGRAM, what) for what in ("READ", "SEND", "RECV", "SWAP"))
    message = f"could not show that line {read} reads and line {sent} sends (`mine`) no more of `a` than"
    send, recv = sites["send", sent], sites["recv", received]
    assert recv["message"] == f"{message} this receive brings (`theirs`): `b` changes places with `a` at line {swap}"
    there = f"the receive at line {received}"
    assert send["message"] == f"{message} {there} brings (`theirs`): `a` changes places with `b` at line {swap}"
    assert [note["line"] for note in send["notes"]] == [read, sent, swap]


def test_what_is_sent_may_be_read_by_the_other_name(tmp_path: Path) -> None:
    text = PROGRAM.replace("b = t; // SWAP", "b = t; // SWAP\n        s += b[3]; // OTHER")
    site = told(text, tmp_path)["send", at(text, "SEND")]
    assert site["message"].endswith("what this call sends may be read by that name then")
    assert [(n["line"], n["message"]) for n in site["notes"]][1:] == [(at(text, "OTHER"), "`b` may be read here")]


def test_equal_lengths_leave_the_line_that_reads(tmp_path: Path) -> None:
    text = PROGRAM.replace("b, theirs", "b, mine").replace("i < mine", "i < 700")
    site = told(text, tmp_path)["recv", at(text, "RECV")]
    assert f"line {at(text, 'READ')} reads no more of `a` than this receive brings (`mine`)" in site["message"]


def test_another_reason_is_left_as_it_is() -> None:
    nothing = cast(Any, None)
    for reason, what in ((Reason.READ_LATER, "here"), (Reason.PENDING, EXCHANGED)):
        refusal = Refusal(reason, "why", ((NOWHERE, what),))
        assert by_the_other_name(nothing, nothing, refusal) is refusal


def test_pairs_of_global_pointers_that_change_places_are_told_by_their_own_names(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two calls for two pairs: the pointers count as tables then, and each goes by its own call."""
    before = """static double *row, *work_row, *col, *work_col;
static void swap(double **a, double **b) { double *c = *a; *a = *b; *b = c; }
static void step(int n)
{
    for (int i = 1; i < n; i++) {
        work_row[i] = row[i] + row[i - 1];
        work_col[i] = col[i] + row[i];
    }
    swap(&work_row, &row);
    swap(&work_col, &col); // COL
}
"""
    lines = ["int n = argc * 100, r = argc - 1;"]
    lines += [f"{name} = calloc(n, sizeof(double));" for name in ("row", "work_row", "col", "work_col")]
    lines += ["for (int t = 0; t < argc; t++) step(n);"]
    lines += ["if (r) { MPI_Send(row, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);"]
    lines += ["MPI_Send(col, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD); }"]
    text, found = sites(lines, tmp_path, capfd, before)
    line = line_of(text, "COL")
    message = f"`col` changes places with `work_col` at line {line}, so it may be either buffer"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI402", message)
    assert [note["line"] for note in found[-1]["notes"]] == [line]


def test_a_count_that_cannot_be_named_again_is_left_out(tmp_path: Path) -> None:
    """How much comes is a product; the loop that reads has a bound that shrinks, which is not known."""
    text = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, w = 200;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = w / size + (rank < w % size);
    int *mine = malloc(w * rows * sizeof *mine), *come = malloc(w * rows * sizeof *come);
    for (int i = 0; i < w * rows; i++)
        mine[i] = i;
    if (rank != 0)
        MPI_Send(mine, w * rows, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 1; i < size && rank == 0; i++) {
        MPI_Request r;
        MPI_Irecv(come, w * rows, MPI_INT, i, 0, MPI_COMM_WORLD, &r);
        for (int j = 0; j < w * rows; j++)
            printf("%d ", mine[j]); // READ
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        int *t = come; come = mine; mine = t; // SWAP
        if (i == w % size)
            rows--;
    }
    free(mine);
    free(come);
    MPI_Finalize();
    return 0;
}
"""
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    _, site = json.loads(out)["sites"]
    read, swap = line_of(text, "// READ"), line_of(text, "// SWAP")
    message = f"could not show that line {read} reads no more of `mine` than this receive brings"
    assert site["message"] == f"{message}: `come` changes places with `mine` at line {swap}"


def test_a_single_element_stays_small_where_its_array_changes_places(tmp_path: Path) -> None:
    text = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, n = 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *now = malloc((n + 2) * sizeof *now), *next = malloc((n + 2) * sizeof *next);
    for (int i = 0; i < n + 2; i++)
        now[i] = next[i] = i;
    for (int step = 0; step < 4; step++) {
        if (rank == 0)
            MPI_Send(&now[n], 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(&now[0], 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= n; i++)
            next[i] = 0.5 * (now[i - 1] + now[i + 1]);
        double *t = now;
        now = next;
        next = t;
    }
    printf("%g\\n", now[1]);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
"""
    assert sorted(site["code"] for site in told(text, tmp_path).values()) == ["OPI108", "OPI208"]
