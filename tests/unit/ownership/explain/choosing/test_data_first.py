"""What a program does with its data is told before how a call or its pointer is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.ownership.explain.pointers.told_programs import first_site, kept

EDGE = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
MPI_Datatype real;
void edge(float *f, int n, int to)
{
    MPI_Send(f, n, real, to, 1, MPI_COMM_WORLD); // HERE
}
int main(int argc, char **argv)
{
    float *f = malloc(900 * sizeof(float)), sum = 0;
    MPI_Init(&argc, &argv);
    if (argc > 1)
        real = MPI_FLOAT;
    else
        real = MPI_INT;
    for (int i = 0; i < 900; i++)
        f[i] = i;
    edge(f, 100, argc);
    for (int i = 0; i < 900; i++)
        sum += f[i];
    printf("%f\\n", sum);
    MPI_Finalize();
}
"""


def test_which_datatype_without_gaps_it_is_matters_less_than_what_is_read(tmp_path: Path) -> None:
    site = first_site(EDGE, tmp_path)
    reads = "the message lies in `f`, and line 21 may read it there after the send"
    which = "could not show which datatype `real` is: it is set at line 14 and 16"
    assert (site["code"], site["message"]) == ("OPI101", f"{reads}; also, {which}")


def test_nothing_is_read_and_the_datatype_is_told(tmp_path: Path) -> None:
    site = first_site(EDGE.replace("sum += f[i];", "sum += i;"), tmp_path)
    assert (site["code"], site["message"][:36]) == ("OPI107", "could not show which datatype `real`")


def test_a_receive_that_several_turns_begin_is_told_before_how_its_memory_was_made(tmp_path: Path) -> None:
    take = "MPI_Irecv(in, 4096, MPI_BYTE, i, 1, MPI_COMM_WORLD, &r[i]);"
    begin = "char *in; MPI_Request r[9]; posix_memalign((void **)&in, 64, 4096);"
    inside = f"{begin}\nfor (int i = 0; i < 9; i++)\n {take}\nMPI_Waitall(9, r, MPI_STATUSES_IGNORE);\nfree(in);\n"
    text, site = kept("", inside, tmp_path)
    loop = next(i for i, line in enumerate(text.splitlines(), 1) if "i < 9" in line)
    turn = f"each turn of the loop in line {loop} begins a receive into `in`, and none in it is completed"
    assert (site["code"], site["message"]) == ("OPI206", turn)


@pytest.mark.parametrize(("call", "also"), [("Issend", True), ("Isend", False)])
def test_a_call_without_another_form_that_begins_inside_is_told_to(call: str, also: bool, tmp_path: Path) -> None:
    inside = f"""char *out = malloc(9000), *p = out; MPI_Request r[9];
    for (int i = 0; i < 9000; i++) out[i] = i;
    for (int i = 0; i < 9; i++) {{
        MPI_{call}(p, 1000, MPI_BYTE, i, 1, MPI_COMM_WORLD, &r[i]);
        p += 1000;
    }}
    MPI_Waitall(9, r, MPI_STATUSES_IGNORE);
"""
    _, site = kept("", inside, tmp_path)
    part = "`p` points into `out`, at a place that the program computes; a message needs a buffer of its own"
    assert site["message"].endswith(f"; also, {part}" if also else part)
    assert (site["code"] == "OPI107") is also


SOLVER = """#include <mpi.h>
#include <stdlib.h>
struct all { double *in, *out, *whole; int n; };
int solve(int (*f)(struct all *), void *);
static void put(double out[], int n)
{
    double *left = out, *right = out + n; // PART
    for (int i = 0; i < n; i++) { left[i] = i; right[i] = -i; }
    MPI_Send(right, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
static int step(struct all *a) { put(a->out, a->n); return 0; }
int main(int argc, char **argv)
{
    struct all *a = malloc(sizeof *a);
    MPI_Init(&argc, &argv);
    a->n = atoi(argv[1]);
    a->out = malloc(2 * a->n * sizeof(double));
    solve(step, a); // HERE
    MPI_Finalize();
}
"""


def test_a_function_that_is_given_away_and_a_part_of_a_block(tmp_path: Path) -> None:
    """Both keep the call; the array of the parameter is a pointer, and what is added to it is a place inside."""
    site = first_site(SOLVER, tmp_path)
    part = "line 7 sets `right` to a place in the block of `out`; a message needs a buffer of its own"
    given = "`step`, which leads to the call, is given to `solve`, of which nothing is known"
    assert (site["code"], site["message"]) == ("OPI104", f"{part}; also, {given}")
    whole = first_site(SOLVER.replace("Send(right", "Send(left"), tmp_path)
    there = "sets `right` to a place in the block that `left` names; a message needs a buffer of its own"
    assert (whole["code"], whole["message"]) == ("OPI104", f"line 7 {there}; also, {given}")
