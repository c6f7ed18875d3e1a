"""What is told of messages in functions that are called for several buffers, for parts of one, or from inside, and of
those that come again: ``sent_twice``, ``begun_again`` of ``opi_xform.ownership.explain.later``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from read_programs import TO, line_of, sites, sites_of

FROM = "1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
HELPERS = f"""static void put(double *x, int n)
{{
    MPI_Send(x, n, MPI_DOUBLE, {TO}
}}
static void get(double *x, int n)
{{
    MPI_Recv(x, n, MPI_DOUBLE, {FROM}
}}
"""
ROWS = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), rank, to[4];
    double *out[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int g = 0; g < 4; g++) {
        out[g] = malloc(n * sizeof(double));
        to[g] = rank + g < 4 ? rank + g : -1;
    }
    for (int t = 0; t < 9; t++)
        for (int g = 0; g < 4; g++)
            if (to[g] != -1)
                MPI_Send(out[g], n, MPI_DOUBLE, to[g], 0, MPI_COMM_WORLD);
    for (int g = 0; g < 4; g++)
        free(out[g]);
    MPI_Finalize();
    return 0;
}
"""


def test_data_of_a_function_that_calls_itself_are_told_as_live(tmp_path: Path) -> None:
    """Memory of its own in each call would not help: what is read after the messages is of the caller's array."""
    before = f"""static void merge(double *a, int n)
{{
    for (int i = 0; i < n / 2; i++)
        if (a[i] > a[i + n / 2]) // HERE
            a[i] = a[i + n / 2];
}}
static void sort(double *a, int n, int rank)
{{
    if (n <= 1)
        return;
    sort(a, n / 2, rank);
    if (rank == 0) {{
        MPI_Send(a, n / 2, MPI_DOUBLE, {TO}
    }} else {{
        MPI_Send(a + n / 2, n / 2, MPI_DOUBLE, {TO}
        MPI_Recv(a, n / 2, MPI_DOUBLE, {FROM}
    }}
    merge(a, n);
}}
"""
    lines = ["double *b = malloc(n * 8);", "for (int i = 0; i < n; i++) b[i] = rand();", "sort(b, n, rank);"]
    text, found = sites([*lines, "s = b[0];"], tmp_path, before)
    where = f"the message lies in `a`, and line {line_of(text)} may read"
    assert found[0]["message"].startswith(f"{where} there after the send")
    assert found[2]["message"].startswith(f"{where} bytes there that this receive does not bring")


def test_the_call_that_gives_a_place_inside_a_buffer(tmp_path: Path) -> None:
    lines = [
        "double *b = malloc(n * 8);",
        "for (int i = 0; i < size; i++)",
        "get(b + i * (n / size), n / size); // HERE",
    ]
    text, found = sites([*lines, "for (int i = 0; i < n; i++) s += b[i];", "put(b, n);"], tmp_path, HELPERS)
    told = f"line {line_of(text)} gives `get` a place inside `b`, at another place in each turn of a loop"
    assert found[1]["message"].startswith(f"{told}; a message needs a buffer of its own")


@pytest.mark.parametrize("inside", [False, True])
def test_what_is_sent_again_goes_before_a_read_of_what_came_meanwhile(inside: bool, tmp_path: Path) -> None:
    lines = ["double *b = malloc(n * 8);", "for (int i = 0; i < n; i++) b[i] = i;", "for (int i = 1; i < size; i++)"]
    lines += ["put(b, n); // HERE", "for (int i = 1; i < size; i++) get(b + i * (n / size), n / size);"]
    lines += ["for (int i = 0; i < n; i++) s += b[i];"]
    text, found = sites([*lines, "if (rank) put(b + n / 2, n / 2);"] if inside else lines, tmp_path, HELPERS)
    again = f"sent again in the next turn of the loop in line {line_of(text) - 1}"
    assert again in found[0]["message"]


def test_an_index_that_is_made_by_a_multiplication(tmp_path: Path) -> None:
    lines = [
        "int w[4] = {n, n + 1, rank, size}, k[4] = {n, n + 2, size, rank};",
        "double *b = malloc(n * n * 8);",
        "for (int t = 0; t < 4; t++) {",
    ]
    lines += [f"MPI_Recv(b, k[t] * w[t], MPI_DOUBLE, {FROM}", "for (int i = 0; i < n; i++)"]
    lines += ["for (int j = 0; j < w[t]; j++) s += b[i * w[t] + j]; // HERE", "}"]
    text, found = sites(lines, tmp_path)
    told = f"could not show that line {line_of(text)} reads only those bytes of `b` that this receive brings"
    assert f"{told}: the index there is a product of numbers" in found[0]["message"]


def test_an_index_with_a_number_that_a_message_brings(tmp_path: Path) -> None:
    lines = ["int k, m;", "double *b = malloc(n * 8);", "for (int t = 0; t < 4; t++) {"]
    lines += ["MPI_Bcast(&k, 1, MPI_INT, 0, MPI_COMM_WORLD);", "MPI_Bcast(&m, 1, MPI_INT, 0, MPI_COMM_WORLD);"]
    lines += [f"MPI_Recv(b, m, MPI_DOUBLE, {FROM}", "for (int i = 0; i < m; i += 2) s += b[i + k]; // HERE", "}"]
    _, found = sites(lines, tmp_path)
    assert "what `k` is there is not known" in found[0]["message"]


def test_rows_of_one_block_that_come(tmp_path: Path) -> None:
    before = f"""static double **m;
static void make(int n)
{{
    double *next = malloc(n * n * sizeof *next);
    m = malloc(n * sizeof *m);
    for (int i = 0; i < n; i++) {{
        m[i] = next; // HERE
        next = next + n;
    }}
}}
static void come(int n)
{{
    for (int t = 0; t < n; t++) {{
        if (m[t][t] == 0)
            exit(1);
        for (int j = t + 1; j < n; j++)
            MPI_Send(m[j], n, MPI_DOUBLE, {TO}
        for (int j = t + 1; j < n; j++)
            MPI_Recv(m[j], n, MPI_DOUBLE, {FROM}
    }}
}}
"""
    lines = ["make(n);", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) m[i][j] = i + j;", "come(n);"]
    text, found = sites([*lines, "s = m[n - 1][n - 1];"], tmp_path, before)
    assert f"the call names a row of `m`, and line {line_of(text)} makes its rows parts" in found[1]["message"]


def test_a_grid_that_is_an_array_is_not_another_one_where_it_is_written(tmp_path: Path) -> None:
    """What else comes into the grid before the read does not bring all of it."""
    before = """static void step(double u[][64], double v[][64], int from, int to)
{
    MPI_Request q[2];
    MPI_Isend(&u[to][from], to, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(&u[from - 1][from], to, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    for (int i = from; i <= to; i++)
        for (int j = 1; j < 63; j++)
            v[i][j] = u[i - 1][j] + u[i][j - 1]; // HERE
}
"""
    lines = ["double a[64][64], b[64][64];", "int t = atoi(argv[2]);"]
    lines += ["for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) a[i][j] = b[i][j] = i;"]
    lines += ["for (int k = 0; k < n; k++) {", "step(a, b, t, n);", "step(b, a, t, n);", "}", "s = a[1][1];"]
    text, found = sites(lines, tmp_path, before)
    told = f"the message lies in `u`, and line {line_of(text)} may read there after the send"
    assert found[0]["message"].startswith(told)


def test_a_read_of_the_same_turn_goes_before_the_place_of_that_turn(tmp_path: Path) -> None:
    before = """static void count(int row, int w, int h, int now, double *u)
{
    for (int i = 0; i < w; i++)
        u[(1 - now) * w * h + row * w + i] = u[now * w * h + (row - 1) * w + i]; // HERE
}
"""
    lines = ["int now = 0, h = atoi(argv[2]);", "MPI_Request q;", "double *u = calloc(2 * n * h, 8);"]
    lines += ["for (int t = 0; t < 9; t++) {"]
    lines += ["MPI_Isend(&u[now * n * h + (h - 2) * n], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q);"]
    lines += ["for (int y = 1; y < h - 1; y++) count(y, n, h, now, u);", "MPI_Wait(&q, MPI_STATUS_IGNORE);"]
    text, found = sites([*lines, "now = 1 - now;", "}", "s = u[n];"], tmp_path, before)
    assert found[0]["message"].startswith(f"the message lies in `u`, and line {line_of(text)} may read")


def test_a_request_that_is_given_to_another_call_first(tmp_path: Path) -> None:
    lines = ["MPI_Request q;", "double *a = calloc(n, 8), *b = calloc(n, 8);"]
    lines += ["MPI_Irecv(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q);"]
    lines += ["MPI_Irecv(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &q); // HERE", "MPI_Wait(&q, MPI_STATUS_IGNORE);"]
    text, found = sites([*lines, "for (int i = 0; i < size; i++) s += a[i] + b[i];"], tmp_path)
    first = f"its request, `q`, is given to line {line_of(text)} before anything completes it"
    assert [first in site["message"] for site in found] == [True, False]


def test_what_each_turn_of_a_loop_begins_into_the_same_memory(tmp_path: Path) -> None:
    """The pointer comes by its address: which memory it stands for is not known."""
    before = "static int make(void **p) { return posix_memalign(p, 64, 1 << 20); }\n"
    lines = ["char *in, *out;", "MPI_Request q[64];", "if (make((void **)&in) || make((void **)&out)) exit(1);"]
    lines += ["for (int t = 1; t < n; t *= 2) {", "memset(out, 'a', t);", "memset(in, 'b', t);"]
    lines += ["for (int k = 0; k < 64; k++) // RECV", "MPI_Irecv(in, t, MPI_CHAR, 1, 0, MPI_COMM_WORLD, q + k);"]
    lines += ["MPI_Waitall(64, q, MPI_STATUSES_IGNORE);", "for (int k = 0; k < 64; k++) // SEND"]
    lines += [
        "MPI_Isend(out, t, MPI_CHAR, 1, 0, MPI_COMM_WORLD, q + k);",
        "MPI_Waitall(64, q, MPI_STATUSES_IGNORE);",
        "}",
    ]
    text, found = sites(lines, tmp_path, before)
    again = (
        f"each turn of the loop in line {line_of(text, 'RECV')} begins a receive into `in`, and none in it is completed"
    )
    assert found[0]["message"] == again
    assert f"again in the next turn of the loop in line {line_of(text, 'SEND')}, in which" in found[1]["message"]


def test_what_another_process_receives_is_not_written_meanwhile(tmp_path: Path) -> None:
    before = f"""static double often(int rank, int n)
{{
    double *b = malloc(n * 8), s = 0;
    if (rank == 0)
        memset(b, 1, n * 8);
    for (int i = 0; i < 9; i++) {{ // LOOP
        if (rank == 0)
            MPI_Ssend(b, n, MPI_DOUBLE, {TO}
        if (rank == 1)
            MPI_Recv(b, n, MPI_DOUBLE, {FROM}
    }}
    free(b);
    return s;
}}
"""
    text, found = sites(["s = often(rank, n);"], tmp_path, before)
    again = (
        f"may be sent again in the next turn of the loop in line {line_of(text, 'LOOP')}, in which nothing is written"
    )
    assert again in found[0]["message"]


def test_what_comes_in_the_next_turn_before_it_is_read_there(tmp_path: Path) -> None:
    lines = ["double *b = malloc(n * n * 8);", "int k, m;", "while (1) {"]
    lines += ["MPI_Bcast(&k, 1, MPI_INT, 0, MPI_COMM_WORLD);", "MPI_Bcast(&m, 1, MPI_INT, 0, MPI_COMM_WORLD);"]
    lines += ["if (k < 0) break;", "if (m < 0) continue;", f"MPI_Recv(b, n * m, MPI_DOUBLE, {FROM}"]
    lines += ["for (int j = 0; j < n * m; j += n) {", "s = b[j + k]; // HERE", "b[j] -= s;", "}"]
    text, found = sites([*lines, f"MPI_Send(b, n * m, MPI_DOUBLE, {TO}", "}"], tmp_path)
    told = f"could not show that all that line {line_of(text)} reads of `b` is written or comes after this send"
    assert found[1]["message"].startswith(told)


def test_the_loop_that_sends_rows_again_is_named(tmp_path: Path) -> None:
    (site,) = sites_of(ROWS, tmp_path)
    again = f"`out` may be sent again in a later turn of the loop in line {line_of(ROWS, 'int t = 0')}"
    assert (site["code"], site["message"]) == ("OPI102", f"{again}, in which nothing is written to its rows")
