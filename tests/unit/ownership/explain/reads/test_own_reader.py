"""What is told to read a message after it is what the call's own process comes to, and reads the message's own bytes.

``in_other_arm`` (``reaching/branches.py``), ``each_turn`` (``reaching/ways.py``), ``of_another_row``
(``other_memory.py``), ``brings_all`` (``other_pointers.py``), ``wrapping_index`` (``datatypes.py``).
"""

from __future__ import annotations

from pathlib import Path

from read_programs import TO, line_of, sites, sites_of

PULL = "0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
FROM = PULL.replace("0,", "1,", 1)
ADD = "static void add(double *a, const double *b, int m) { for (int i = 0; i < m; i++) a[i] += b[i]; }\n"
TREE = [
    "double *sum = malloc(n * sizeof(double)), *part = malloc(n * sizeof(double));",
    "for (int i = 0; i < n; i++) sum[i] = rank + i;",
    "for (int k = 0; (1 << k) < size; k++)",
    "    if (rank & (1 << k))",
    "        MPI_Send(sum, n, MPI_DOUBLE, rank ^ (1 << k), 0, MPI_COMM_WORLD);",
    "    else {",
    "        MPI_Recv(part, n, MPI_DOUBLE, rank ^ (1 << k), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    "        add(sum, part, n);",
    "    }",
]


def test_a_read_behind_the_loop_goes_before_one_in_the_other_arm(tmp_path: Path) -> None:
    """A process that sends comes to the other arm in a later turn only, if it does."""
    text, found = sites([*TREE, "for (int i = 0; i < n; i++) s += sum[i]; // HERE", "free(sum);"], tmp_path, ADD)
    assert (found[0]["code"], found[0]["message"]) == (
        "OPI101",
        f"`sum` is read at line {line_of(text)} after the send",
    )
    assert [note["line"] for note in found[0]["notes"]][:1] == [line_of(text)]


def test_the_other_arm_is_told_where_nothing_else_reads(tmp_path: Path) -> None:
    _, found = sites([*TREE, "s = part[0];", "free(sum);"], tmp_path, ADD)
    assert found[0]["code"] in ("OPI101", "OPI102")
    assert "line" in found[0]["message"]


STRIP = [
    "a = malloc((n + 2) * sizeof *a);",
    "for (int i = 0; i <= n + 1; i++) a[i] = calloc(n + 2, sizeof(double));",
    "if (rank != 0) MPI_Recv(a[0] + 1, n, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    "if (rank != size - 1) MPI_Send(a[n] + 1, n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);",
    "if (rank != size - 1) MPI_Recv(a[n + 1] + 1, n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    "double **b = malloc((n + 2) * sizeof *b);",
    "for (int i = 0; i <= n + 1; i++) b[i] = calloc(n + 2, sizeof(double));",
    "for (int i = 1; i <= n; i++)",
    "    for (int j = 1; j <= n; j++) {",
    "        s += a[i - 1][j] + a[i - 1][j - 1]; // ABOVE",
    "        s += a[i][j] + a[i][j - 1]; // HERE",
    "        s += a[i + 1][j] + a[i + 1][j - 1]; // BELOW",
    "        b[i][j] = s;",
    "    }",
    "for (int i = 0; i <= n + 1; i++) free(a[i]);",
    "free(a); a = b;",
    "for (int i = 1; i <= n; i++) for (int j = 1; j <= n; j++) s += a[i][j];",
]
ROWS = "static double **a;\n"


def test_a_read_of_the_message_s_own_row_is_told(tmp_path: Path) -> None:
    """Rows 0 to n - 1 are none of row n, and rows 2 to n + 1 none of row 0."""
    text, found = sites(STRIP, tmp_path, ROWS)
    wanted = ["ABOVE", "HERE", "BELOW"]
    for site, mark in zip(found, wanted, strict=True):
        assert site["decision"] == "keep"
        assert f"line {line_of(text, mark)} " in site["message"], site
        assert site["notes"][0]["line"] == line_of(text, mark)


def test_a_receive_of_a_part_brings_no_other_part_anew(tmp_path: Path) -> None:
    """What is sent from further in is read after a receive at the beginning of the same grid."""
    lines = [
        "MPI_Datatype column; MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column); MPI_Type_commit(&column);",
        "double *in = malloc(n * n * sizeof(double)), *to = malloc(n * n * sizeof(double)), *swap;",
        "for (int i = 0; i < n * n; i++) in[i] = to[i] = i;",
        "for (int t = 0; t < n; t++) {",
        f"    MPI_Send(in + (n - 2) * n, n, MPI_DOUBLE, {TO}",
        f"    MPI_Recv(in, 1, column, {FROM}",
        "    for (int i = 1; i < n - 1; i++) for (int j = 0; j < n; j++)",
        "        to[i * n + j] = in[(i - 1) * n + j] + in[(i + 1) * n + j]; // HERE",
        "    swap = in; in = to; to = swap;",
        "}",
        "s = in[0];",
    ]
    text, found = sites(lines, tmp_path)
    assert found[0]["code"] == "OPI101"
    assert f"may be read at line {line_of(text)} after the send" in found[0]["message"]
    assert "changes places" not in found[0]["message"]


def test_an_index_of_unsigned_numbers_is_said(tmp_path: Path) -> None:
    lines = [
        "double *m = malloc((n + 2) * (n + 2) * sizeof(double));",
        "if (rank == 0) {",
        f"    MPI_Recv(m, (n + 1) * (n + 2), MPI_DOUBLE, {FROM}",
        "    size_t rows = n + 1, cols = n + 2;",
        "    for (size_t i = 0; i < rows; i++) for (size_t j = 0; j < cols; j++) s += m[i * cols + j]; // HERE",
        "}",
        "free(m);",
    ]
    text, found = sites(lines, tmp_path)
    wanted = f"could not show that line {line_of(text)} reads only those bytes of `m` that this receive brings"
    wanted += ": its index there is an unsigned number, and sums of those may wrap"
    assert (found[0]["code"], found[0]["message"]) == ("OPI202", wanted)


def test_a_test_of_the_same_rank_around_both_goes_behind_what_runs_anyway(tmp_path: Path) -> None:
    """``first == 0`` is no test of the rank, but made of it: rank 0 does not send."""
    before = """static void step(double *to, double *from, int first, int n, int rank)
{
    if (rank != 0) MPI_Send(&from[first * n], n, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD);
    if (first == 0)
        for (int i = 0; i < n; i++) to[i] = from[i] + from[n + i];
    for (int j = first + 1; j < first + n; j++) to[j * n] = from[(j - 1) * n] + from[j * n]; // HERE
}
"""
    lines = ["double *a = calloc(n * n * n, 8), *b = calloc(n * n * n, 8);", "int first = rank * n;"]
    lines += ["for (int t = 0; t < 3; t++) {", "step(a, b, first, n, rank);", "step(b, a, first, n, rank);", "}"]
    text, found = sites([*lines, "s = a[n];"], tmp_path, before)
    assert found[0]["code"] == "OPI101"
    assert found[0]["notes"][0]["line"] == line_of(text)


def test_a_pointer_that_is_set_where_the_call_does_not_come(tmp_path: Path) -> None:
    lines = [
        "double out[n], *in = NULL;",
        "for (int t = 0; t < 3; t++) {",
        "    memcpy(out, u, n * 8);",
        "    if (size > 1) {",
        f"        MPI_Send(out, n, MPI_DOUBLE, {TO}",
        "        in = g[1];",
        "    } else",
        "        in = out; // SET",
        "    memcpy(g[0], in, n * 8); // HERE",
        "}",
        "s = g[0][0];",
    ]
    text, found = sites(lines, tmp_path)
    message = f"could not show that line {line_of(text)} reads no `out` by `in`, which line {line_of(text, 'SET')} sets"
    assert found[0]["message"] == f"{message} to it, where this call does not come"


def test_of_whole_numbers_how_much_a_call_reads_is_said_and_no_text(tmp_path: Path) -> None:
    lines = [
        "int own[n], *in;",
        "for (int i = 0; i < n; i++) own[i] = i;",
        "for (int t = 0; t < 3; t++) {",
        "    in = malloc(n * sizeof(int));",
        f"    if (size > 1) MPI_Recv(in, n, MPI_INT, {FROM}",
        "    else in = own;",
        "    if (rank == 0) memset(in, 0, n * sizeof(int));",
        "    memcpy(g[0], in, n * sizeof(int)); // HERE",
        "}",
        "s = g[0][0];",
    ]
    text, found = sites(lines, tmp_path)
    message = (
        f"could not show how much of `in` line {line_of(text)} reads, and zeros that are put into `in` may be what"
    )
    assert (found[0]["code"], found[0]["message"]) == ("OPI210", f"{message} it reads after a shorter message")


def test_an_operation_that_may_be_on_another_row_is_told_as_that(tmp_path: Path) -> None:
    lines = [
        "double *rows[64];",
        "for (int i = 0; i < 64; i++) { rows[i] = malloc(n * 8); for (int j = 0; j < n; j++) rows[i][j] = i; }",
        "MPI_Request one, two;",
        "for (int t = 0; t < 3; t++) {",
        "    MPI_Isend(rows[1], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &one); // SENT",
        "    MPI_Irecv(rows[n + 1], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &two);",
        "    MPI_Wait(&one, MPI_STATUS_IGNORE);",
        "    MPI_Wait(&two, MPI_STATUS_IGNORE);",
        "    for (int i = 1; i <= n; i++) for (int j = 0; j < n; j++) s += rows[i + 1][j] + rows[i][j];",
        "}",
    ]
    text, found = sites(lines, tmp_path)
    message = f"could not show that line {line_of(text, 'SENT')}, whose operation on `rows` may still be pending, uses"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI206", f"{message} another row than this call")


def test_a_later_turn_reads_what_an_earlier_one_made_and_received(tmp_path: Path) -> None:
    """Only the turn that receives allocates, so the arm of other turns reads that memory."""
    before = """static double *copy(const double *a, int n)
{
    double *b = malloc(n * 8);
    for (int i = 0; i < n; i++) b[i] = a[i];
    return b;
}
"""
    lines = ["double *x = calloc(n, 8), *in = NULL;", "for (int t = 0; t < size; t++)", "if (t == 0) {"]
    lines += ["in = copy(x, n);", f"MPI_Recv(in, n / 2, MPI_DOUBLE, {PULL}"]
    lines += ["} else", "for (int i = 0; i < n; i++) s += in[i] * t; // READ"]
    text, found = sites(lines, tmp_path, before)
    assert "not reached" not in found[0]["message"]
    assert f"line {line_of(text, 'READ')}" in found[0]["message"]


def test_another_call_is_told_where_it_is_in_the_files(tmp_path: Path) -> None:
    """A function of a library may be called from elsewhere, too, which has no line."""
    text = """#include <mpi.h>
#include <stdlib.h>
double *copy(const double *a, double *b, int n)
{
    b = malloc(n * 8);
    for (int i = 0; i < n; i++) b[i] = a[i];
    return b;
}
double give(double *x, int n, int size)
{
    double *fixed, *moved, *out, s = 0;
    MPI_Status st;
    fixed = copy(x, fixed, n);
    for (int t = 0; t < size; t++) {
        if (t == 0) {
            moved = copy(fixed, moved, n);
            out = copy(moved, out, n);
            MPI_Recv(moved, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &st);
        } else {
            out = copy(moved, out, n);
            MPI_Send(out, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(moved, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &st);
        }
        s += fixed[t];
    }
    free(moved), free(fixed), free(out);
    return s;
}
"""
    site = next(site for site in sites_of(text, tmp_path) if site["call"] == "MPI_Send")
    assert f"allocates other memory for line {line_of(text, 'fixed = copy')}" in site["message"], site["message"]
