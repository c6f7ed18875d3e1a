"""An address that is printed keeps a buffer; what the program does with its data is told before that."""

from __future__ import annotations

from pathlib import Path

import pytest
from read_programs import TO, line_of, sites

FROM = "1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
PRINTS = 'if (u[1] < 0) { printf("%d: %p\\n", rank, (void *)u); MPI_Abort(MPI_COMM_WORLD, 1); } // PRINTS'
PRINTED = "argument of `printf` with a format with %p"


def test_what_is_read_after_the_send_is_told_before_a_printed_address(tmp_path: Path) -> None:
    lines = ["for (int i = 0; i < N; i++) u[i] = i;", f"MPI_Send(u, N, MPI_DOUBLE, {TO}", PRINTS.replace("u[1]", "n")]
    text, found = sites([*lines, "for (int i = 0; i < N; i++) s += u[i]; // HERE"], tmp_path)
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", f"`u` is read at line {line_of(text)} after the send")
    _, found = sites(lines, tmp_path)
    assert (found[0]["code"], found[0]["message"]) == ("OPI103", f"`u`: {PRINTED}")


def test_what_is_sent_in_each_turn_is_told_before_a_printed_address(tmp_path: Path) -> None:
    before = """struct end { double *out; };
static void turns(struct end *e, int n)
{
    for (int k = 0; k < n; k++)
        MPI_Send(e->out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
"""
    lines = ["struct end e = {malloc(N * 8)};", 'if (!e.out) { printf("%p\\n", (void *)e.out); exit(1); }']
    lines += ["for (int i = 0; i < N; i++) e.out[i] = i;", "turns(&e, n);", "free(e.out);"]
    _, found = sites(lines, tmp_path, before)
    assert (found[0]["code"], "in which nothing is written to it" in found[0]["message"]) == ("OPI102", True)


def test_a_message_inside_a_buffer_is_told_before_a_printed_address(tmp_path: Path) -> None:
    _, found = sites([f"MPI_Recv(u + n, 100, MPI_DOUBLE, {FROM}", "s += u[n];", PRINTS.replace("u[1]", "n")], tmp_path)
    assert found[0]["code"] == "OPI204"


@pytest.mark.parametrize("print_", ['printf("%s %p\\n", t, (void *)u);', 'printf("%*p\\n", 9, (void *)u);'])
def test_what_a_print_reads_is_not_mistaken(print_: str, tmp_path: Path) -> None:
    """With `%s` it reads another argument; where the places of the arguments are not counted, it may read all."""
    lines = ["char t[8] = {0};", f"MPI_Recv(u, N, MPI_DOUBLE, {FROM}", "s += u[1];", print_]
    _, found = sites(lines, tmp_path)
    assert (found[0]["code"], found[0]["message"]) == ("OPI214", f"`u`: {PRINTED}")


@pytest.mark.parametrize("call", ['sprintf(t, "%n", (int *)u);', 'sscanf(t, "%p", (void **)u);'])
def test_a_format_that_writes_or_reads_an_address_is_told(call: str, tmp_path: Path) -> None:
    lines = ["char t[80] = {0};", call, f"MPI_Send(u, N, MPI_DOUBLE, {TO}"]
    _, found = sites(lines, tmp_path)
    assert (found[0]["code"], found[0]["message"].endswith("a format with %n, %m or %p")) == ("OPI103", True)


WINDOW = [
    "double *all;",
    "MPI_Win win;",
    "MPI_Win_allocate_shared(n * 16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &all, &win);",
]
WINDOW += ["double *out, *in;", "out = all;", "in = all + n;", 'printf("%p %p\\n", (void *)out, (void *)in);']


def test_places_in_a_block_are_told_before_a_printed_address(tmp_path: Path) -> None:
    """What comes at one place is not told as written at the other one."""
    lines = [*WINDOW, "MPI_Request q[2];", "for (int t = 0; t < 3; t++) {  // LOOP"]
    lines += [f"MPI_Irecv(in, n, MPI_DOUBLE, {TO[:-2]}, &q[0]);", f"MPI_Isend(out, n, MPI_DOUBLE, {TO[:-2]}, &q[1]);"]
    text, found = sites([*lines, "MPI_Waitall(2, q, MPI_STATUSES_IGNORE);", "}"], tmp_path)
    place = "`in` points into `all`, at a place that the program computes; a message needs a buffer of its own"
    turn = f"`out` may be sent again in the next turn of the loop in line {line_of(text, 'LOOP')}"
    assert [site["code"] for site in found] == ["OPI204", "OPI102"]
    assert found[0]["message"] == place
    assert found[1]["message"] == f"{turn}, in which nothing is written to it"


def test_receives_that_are_open_at_once_are_told_before_a_printed_address(tmp_path: Path) -> None:
    lines = [
        *WINDOW,
        "MPI_Request q[8];",
        f"for (int t = 0; t < 8; t++) MPI_Irecv(all, n, MPI_DOUBLE, {TO[:-2]}, &q[t]);",
    ]
    _, found = sites([*lines, "MPI_Waitall(8, q, MPI_STATUSES_IGNORE);"], tmp_path)
    assert (found[0]["code"], "and none in it is completed" in found[0]["message"]) == ("OPI206", True)
