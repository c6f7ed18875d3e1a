"""What is told comes after the call in one run, and is whose memory it is: choices of functions, copies of structs."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.ownership.explain.called import of_another_choice
from opi_xform.ownership.explain.pointers.settings import set_elsewhere
from opi_xform.ownership.explain.reaching.copied import copied_into
from tests.unit.ownership.explain.pointers.told_programs import first_site, kept, line_of

WORDS = (of_another_choice, set_elsewhere, copied_into)  # what is tested here, by way of the whole tool
FROM = "MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


def test_a_function_that_is_chosen_instead_reads_nothing_after_this_one(tmp_path: Path) -> None:
    before = """
static void plain(double *b, int n) { MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); } // SENT
static void summed(double *b, int n) { for (int i = 0; i < n; i++) s += b[i]; } // READ
static void (*step)(double *, int);
"""
    inside = """
    double *b = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) b[i] = i;
    if (argc > 2) step = plain; else step = summed;
    for (int t = 0; t < 9; t++) step(b, n); // CALLED
    free(b);
"""
    text, site = kept(before, inside, tmp_path)
    assert f"line {line_of(text, 'READ')}" not in site["message"], site


def test_of_several_requests_that_a_call_completes_each_is_waited_for(tmp_path: Path) -> None:
    inside = f"""
    MPI_Request r[2];
    double *b = malloc(n * 8);
    for (int t = 0; t < n; t++) {{
        int posted = 0, i;
        r[0] = r[1] = MPI_REQUEST_NULL;
        if (rank < n) {{ MPI_Irecv(b, n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, &r[1]); posted++; }}
        while (posted-- > 0) {{
            MPI_Waitany(2, r, &i, MPI_STATUS_IGNORE); // WAIT
            s += i ? b[0] : 0;
        }}
    }}
    MPI_Recv(&s, 1, MPI_DOUBLE, 0, 0, {FROM}
"""
    text, site = kept("", inside, tmp_path)
    message = "could not show that this receive into `b` is complete when the call comes once more"
    assert (site["code"], site["message"].partition(";")[0]) == ("OPI206", message), site
    assert [note["line"] for note in site["notes"]] == [line_of(text, "WAIT")]


STRUCTS = """
struct packet { unsigned char *data; int len; };
static struct packet *made(int n)
{
    struct packet *all = malloc(n * sizeof *all);
    for (int i = 0; i < n; i++) all[i].data = malloc(all[i].len = i);
    return all;
}
"""


def test_a_whole_struct_that_is_copied_brings_the_pointer_of_another_one(tmp_path: Path) -> None:
    inside = f"""
    struct packet *mine = malloc(n * sizeof *mine), *all = made(n);
    for (int j = 0; j < n; j++) {{
        if (rank == 0) mine[j] = all[j]; // COPIED
        else {{
            mine[j].len = n;
            mine[j].data = malloc(n);
            MPI_Recv(mine[j].data, n, MPI_BYTE, 0, 0, {FROM}
        }}
    }}
    for (int j = 0; j < n; j++) for (int i = 0; i < mine[j].len; i++) s += mine[j].data[i];
"""
    text, site = kept(STRUCTS, inside, tmp_path)
    message = f"line {line_of(text, 'COPIED')} copies a whole struct to `mine[…]`, so that `mine[…].data` is a pointer"
    assert (site["code"], site["message"]) == ("OPI402", f"{message} which another struct has, too")


def test_whose_object_a_parameter_is_is_told_by_what_the_caller_passes(tmp_path: Path) -> None:
    before = """
typedef struct { int n; double *data; } Mat;
static Mat *made(int n)
{
    Mat *m = malloc(sizeof *m);
    m->n = n;
    m->data = malloc(n * 8);
    return m;
}
static Mat **shares(int n)
{
    Mat **parts = malloc(n * sizeof *parts);
    for (int i = 0; i < n; i++) parts[i] = made(n);
    if (n > 1) parts[0] = parts[1];
    return parts;
}
static void give(Mat **mine, Mat **parts)
{
    *mine = parts[0]; // SET
    parts[0] = NULL;
}
static void drop(Mat **m) { free((*m)->data); free(*m); *m = NULL; }
static void turn(Mat *m)
{
    MPI_Sendrecv_replace(m->data, m->n, MPI_DOUBLE, 1, 0, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
"""
    inside = """
    Mat **parts = shares(n), *mine = NULL;
    give(&mine, parts);
    for (int t = 0; t < n; t++) turn(mine);
    drop(&mine);
"""
    text, site = kept(before, inside, tmp_path)
    message = f"`m` is `mine` there, which line {line_of(text, 'SET')} sets, and which object that points to is not"
    assert (site["code"], site["message"]) == ("OPI402", f"{message} known: `m->data` may be any of several buffers")


def test_a_small_struct_is_a_small_message_whatever_its_datatype_is(tmp_path: Path) -> None:
    before = """
struct summary { int all, near; };
static void master(MPI_Datatype type)
{
    #pragma omp parallel sections
    {
        #pragma omp section
        {
            struct summary one;
            MPI_Recv(&one, 1, type, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            s += one.all;
        }
    }
}
"""
    inside = """
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    master(type);
"""
    site = kept(before, inside, tmp_path)[1]
    assert (site["code"], site["message"].partition(",")[0]) == ("OPI208", "the message has at most 8 bytes")


def test_two_places_of_one_table_are_not_one_place(tmp_path: Path) -> None:
    before = "typedef struct { double u; char type; } Cell;\n"
    inside = """
    MPI_Datatype row;
    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    Cell **cells = malloc(2 * sizeof *cells);
    cells[0] = calloc(n * n, sizeof(Cell));
    cells[1] = calloc(n * n, sizeof(Cell));
    for (int t = 0; t < n; t++) {
        int at = t % 2;
        MPI_Sendrecv(&(cells[at][n + 1].u), 1, row, 1, 0, &(cells[at][n * (n - 1) + 1].u), 1, row, 1, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) s += cells[at][i].u;
    }
"""
    assert "same place" not in kept(before, inside, tmp_path)[1]["message"]
    text = kept(before, inside.replace("n * (n - 1) + 1", "n + 1"), tmp_path)[1]["message"]
    assert text.startswith("the call sends from the same place in `cells` at which it receives")


def test_a_row_of_an_array_lies_beside_the_others(tmp_path: Path) -> None:
    inside = f"""
    int x[n / 4 + 2][n];
    for (int i = 1; i <= n / 4; i++) for (int j = 0; j < n; j++) x[i][j] = rank;
    MPI_Recv(x[0], n, MPI_INT, 0, 0, {FROM}
    for (int i = 1; i <= n / 4; i++) for (int j = 0; j < n; j++) s += x[i][j]; // READ
"""
    text, site = kept("", inside, tmp_path)
    message = (
        f"the message lies in `x`, and line {line_of(text, 'READ')} may read bytes there that this receive does not"
    )
    assert (site["code"], site["message"]) == ("OPI201", f"{message} bring")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);", "", True),
        ("", "MPI_Send(&all, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);", False),
    ],
)
def test_a_count_that_came_by_a_message_is_told(before: str, after: str, told: bool, tmp_path: Path) -> None:
    inside = """
    int rows = n, cols = n, all = 0;
    if (rank == 0) all = rows * cols;
    MPI_Bcast(&cols, 1, MPI_INT, 0, MPI_COMM_WORLD);
    {before} // CAME
    double *m = malloc(all * sizeof(double));
    for (int to = 1; to < 9; to++) {
        for (int i = 0; i < rows; i++) for (int j = 0; j < cols; j++) m[i * cols + j] = i - j;
        MPI_Send(m, all, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
    }
    free(m);
"""
    text, site = kept("", inside.replace("{before}", before) + after, tmp_path)
    assert site["code"] == "OPI102", site
    words = f": how many it sends, `all`, comes by a message at line {line_of(text, 'CAME')}"
    assert (words in site["message"]) == told, site


def test_what_writes_before_the_next_turns_send_is_of_the_loop(tmp_path: Path) -> None:
    """Other files may call the function again: what comes after its loop is then before a send, too."""
    text = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
void scatter(FILE *in, double **all, int rows, int n, int p, int id)
{
    *all = malloc(rows * n * sizeof(double));
    if (id == p - 1) {
        for (int i = 0; i < p - 1; i++) {
            fread(*all, 8, rows * n - i, in); // READ
            MPI_Send(*all, (rows - i) * n, MPI_DOUBLE, i, 0, MPI_COMM_WORLD);
        }
        fread(*all, 8, rows * n, in);
        fclose(in);
    }
}
"""
    site = first_site(text, tmp_path)
    assert site["code"] == "OPI102", site
    assert f"line {line_of(text, 'READ')} writes into it before that" in site["message"]
