"""What is told of calls (``opi_xform.ownership.explain.called``): which pointer, which line, how a read is reached."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import run_tool
from told_programs import kept, line_of


def test_a_pointer_that_is_called(tmp_path: Path) -> None:
    before = "struct hooks { double (*unpack)(double *); };\nstruct hooks *hooks;\n"
    before += "static double first(double *a, int n) { return a[n]; }\n"
    inside = """
    hooks = malloc(sizeof *hooks);
    hooks->unpack = (double (*)(double *))first;
    double *b = malloc(n * sizeof *b);
    MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s = hooks->unpack(b); // CALL
    free(b);
"""
    text, site = kept(before, inside, tmp_path)
    said = "it is given to what `hooks->unpack` points to, and could not show which function that is"
    assert site["message"] == f"`b`: {said}"
    assert [(note["line"], note["message"]) for note in site["notes"]] == [(line_of(text, "CALL"), said)]


def test_a_function_that_calls_itself(tmp_path: Path) -> None:
    before = """
static void halves(int *a, int from, int to, int m, int id, int rank)
{
    int n = -1, *tmp;
    if (m == 0)
        return;
    if (rank == id + m) {
        n = to - from;
        tmp = malloc(n * sizeof *tmp);
        MPI_Recv(tmp, n, MPI_INT, id, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (n > 1)
        halves(tmp, 0, n - 1, m - 1, id + m, rank); // AGAIN
    if (rank == id + m)
        MPI_Send(tmp, n, MPI_INT, id, 0, MPI_COMM_WORLD);
}
"""
    text, site = kept(before, "int *b = calloc(n + 1, 4);\nhalves(b, 0, n, 3, 0, rank);\n", tmp_path)
    assert f"which calls itself at line {line_of(text, 'AGAIN')}" in site["message"]
    assert (line_of(text, "AGAIN"), "calls itself here") in [(n["line"], n["message"]) for n in site["notes"]]


@pytest.mark.parametrize("pointer", [False, True])
def test_a_function_below_one_that_calls_itself_through_another(tmp_path: Path, pointer: bool) -> None:
    before = """
static MPI_Request r[9];
static void lu(int *x, int n);
static void gather(int *x, int n)
{
    if (n > 4)
        lu(x, n / 2); // AGAIN
}
static void jacobi(int *x, int n)
{
    int *out = malloc(n * sizeof *out);
    for (int i = 0; i < n; i++)
        out[i] = x[i];
    MPI_Isend(out, n, MPI_INT, 1, 0, MPI_COMM_WORLD, &r[n % 9]); // SENT
}
static void step(int *x, int n) { jacobi(x, n); }
static void lu(int *x, int n)
{
    gather(x, n); // THROUGH
    step(x, n);
}
"""
    if pointer:
        before = before.replace("lu(x, n / 2)", "again(x, n / 2)").replace(
            "(int *x, int n);", "(int *x, int n);\n" + "static void (*again)(int *, int) = lu;", 1
        )
    text, site = kept(
        before, "int *b = calloc(n + 1, 4);\nlu(b, n);\nMPI_Waitall(9, r, MPI_STATUSES_IGNORE);\n", tmp_path
    )
    used = "`out`: it is used in `jacobi`, to which `lu` leads; `lu`"
    if pointer:
        message, notes = "may be entered once more before it has returned", [("SENT", "used here")]
    else:
        message = "calls itself through `gather`: could not show that it is of one of these calls alone"
        notes = [("THROUGH", "`gather` is called here"), ("AGAIN", "`lu` is called here")]
    assert (site["code"], site["message"]) == ("OPI103", f"{used} {message}")
    assert [(n["line"], n["message"]) for n in site["notes"]] == [(line_of(text, mark), what) for mark, what in notes]


def test_the_call_that_leads_to_a_read(tmp_path: Path) -> None:
    before = """
static double **rows(int m)
{
    double **a = malloc(m * sizeof *a);
    a[0] = malloc(m * m * sizeof **a);
    for (int i = 1; i < m; i++)
        a[i] = a[0] + i * m;
    return a;
}
static double sum(const double *vector, int m)
{
    double t = 0;
    for (int i = 0; i < m; i++)
        t += vector[i]; // READ
    return t;
}
"""
    inside = """
    int m = n + 2;
    double **a = rows(m), **b = rows(m), **was;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = b[i][j] = i + j;
    for (int t = 0; t < 4; t++) {
        MPI_Send(a[1], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        s += sum(a[1], m); // CALL
        was = a;
        a = b;
        b = was;
    }
"""
    text, site = kept(before, inside, tmp_path)
    notes = [(note["line"], note["message"]) for note in site["notes"]]
    assert (line_of(text, "CALL"), "called from here") in notes
    assert line_of(text, "READ") in [line for line, _ in notes]


def test_a_thread_goes_before_whose_buffer_it_is(tmp_path: Path) -> None:
    before = """#include <pthread.h>
static int *(*make)(int);
int *twice(int n, int k) { return calloc(n * k, 4); }
static void *listen(void *a)
{
    int *b = make(1000);
    MPI_Send(b, 1000, MPI_INT, 1, 1, MPI_COMM_WORLD);
    free(b);
    return a;
}
"""
    inside = """
    pthread_t thread;
    make = (int *(*)(int))twice;
    listen(NULL);
    pthread_create(&thread, NULL, listen, NULL); // START
    pthread_join(thread, NULL);
"""
    text, site = kept(before, inside, tmp_path)
    said = "`listen`, which leads to the call, is not followed: `pthread_create` runs it in a thread of its own"
    assert (site["code"], site["message"]) == ("OPI111", said)
    assert [note["line"] for note in site["notes"]] == [line_of(text, "START")]


def test_a_persistent_request_goes_before_its_place(tmp_path: Path) -> None:
    inside = """
    MPI_Request q[2];
    char *all = malloc(2 * n);
    for (int i = 0; i < 2; i++)
        MPI_Recv_init(all + n * i, n, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &q[i]);
    for (int t = 0; t < 3; t++) {
        MPI_Startall(2, q);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            s += all[i + n / 2];
    }
"""
    _, site = kept("", inside, tmp_path)
    assert site["code"] == "OPI207"
    assert "persistent request" in site["message"]


@pytest.mark.parametrize("included", [True, False])
def test_memory_that_is_one_at_a_time_where_all_calls_in_between_are_followed(tmp_path: Path, included: bool) -> None:
    before = """static double *out;
static MPI_Request sent = MPI_REQUEST_NULL;
static void work(double *q, int n)
{
#include "more.h"
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        q[i] = i;
}
static void send(double *q, int n)
{
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    if (out == NULL)
        out = malloc(n * sizeof(double)); // MADE
    for (int i = 0; i < n; i++)
        out[i] = q[i];
    MPI_Isend(out, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &sent);
}
"""
    (tmp_path / "more.h").write_text("")
    before = before if included else before.replace('#include "more.h"\n', "")
    inside = """
    double *q = malloc(n * sizeof *q), one[1000];
    work(q, n); // CALLED
    send(q, n);
    for (int t = 0; t < 9; t++) {
        work(q, n);
        send(q, n);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    free(out);
    MPI_Send(one, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    s = q[0];
"""
    text, site = kept(before, inside, tmp_path)
    message = (
        f"`out` is set at line {line_of(text, 'MADE')}; could not show that it is one buffer at a time, as `work` "
    )
    message += "is not followed: OpenMP in a file that is included in the function is not followed"
    assert (site["message"] == message) == included
    if included:
        notes = [(line_of(text, "MADE"), "set here"), (line_of(text, "CALLED"), "`work` is called here")]
        assert [(n["line"], n["message"]) for n in site["notes"]] == notes


def test_what_a_library_calls_for_elements_that_are_not_known(tmp_path: Path) -> None:
    before = "static int by_value(const void *a, const void *b) { return *(int *)a - *(int *)b; } // READ\n"
    inside = """
    int *d = malloc(5000 * sizeof(int));
    if (rank == 0)
        MPI_Recv(d, n, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    qsort(d, n, sizeof(int), by_value); // SORTED
    s = d[0];
    free(d);
"""
    text, site = kept(before, inside, tmp_path)
    message = f"could not show that line {line_of(text, 'READ')} reads only those bytes of `d` that this receive brings"
    message += f": `qsort` at line {line_of(text, 'SORTED')} calls `by_value`, and for which elements is not known"
    assert site["message"] == message


@pytest.mark.parametrize("both", [True, False])
def test_a_function_that_frees_more_than_one_buffer(both: bool, tmp_path: Path) -> None:
    before = "static void done(double *a) { free(a); }\n"
    if both:
        before = "static void done(double *a, double *b) { if (a) free(b); free(a); } // FREED\n"
    inside = """
    double *b = aligned_alloc(64, n * sizeof *b), *c = aligned_alloc(64, n * sizeof *c), none[1];
    MPI_Recv(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(c, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s = b[n - 1] + c[n - 1];
"""
    inside += "    done(b, c);\n" if both else "    done(b);\n    done(c);\n"
    inside += "    MPI_Send(none, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);\n"
    text, site = kept(before, inside, tmp_path)
    assert (site["call"] == "MPI_Recv") == both
    if both:
        message = f"`b` is freed at line {line_of(text, 'FREED')} by another name, `a`, a parameter of `done`"
        message += "; only a function that frees its one parameter, and does nothing else, counts as `free` of `a`"
        assert site["message"] == message


@pytest.mark.parametrize("anew", [True, False])
def test_a_variable_that_is_set_anew_before_what_is_read(anew: bool, tmp_path: Path) -> None:
    """Not where some way leads there without that."""
    before = """static double *next(double *a, int n)
{
    double *out = malloc(9 * n * sizeof *out);
    for (int i = 0; i < n; i++)
        out[i] = a[i];
    return out;
}
"""
    inside = """
    double *b = malloc(5000 * sizeof *b), *c = malloc(n * sizeof *c);
    MPI_Recv(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (n % 2) b = next(b, n); // SET
    else b = next(b, n); // TOO
    memcpy(c, b + n, n * sizeof *b); // READ
    s = c[n - 1];
"""
    inside = inside if anew else inside.replace("else b", "else if (n % 3) b")
    text, site = kept("#include <string.h>\n" + before, inside, tmp_path)
    told = (
        f"line {line_of(text, 'SET')} and {line_of(text, 'TOO')} set `b` anew, to what could not be shown to be other"
    )
    assert site["call"] == "MPI_Recv"
    assert (told in site["message"]) == anew


def test_a_table_that_may_not_be_set_where_it_is_freed(tmp_path: Path) -> None:
    before = "static double **rows;\nstatic int wide;\n"
    inside = """
    MPI_Comm_size(MPI_COMM_WORLD, &wide);
    rows = malloc(wide * sizeof *rows);
    for (int i = 0; i < wide; i++)
        rows[i] = malloc(n * sizeof(double)); // MADE
    for (int i = 0; i < wide - 1; i++)
        MPI_Recv(rows[i], n, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < wide - 1; i++)
        s += rows[i][n - 1];
    for (int i = 0; i < wide; i++)
        free(rows[i]); // FREED
    free(rows);
"""
    text, site = kept(before, inside, tmp_path)
    message = f"could not show that `rows[…]` has been set, which line {line_of(text, 'MADE')} does"
    assert site["message"] == f"{message}, where line {line_of(text, 'FREED')} frees it"


def test_a_parameter_that_stands_for_a_pointer_which_may_change(tmp_path: Path) -> None:
    before = """static double *b;
static void take(double *a, int n)
{
    MPI_Recv(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s += a[n - 1];
    b = NULL; // CHANGED
}
"""
    inside = """
    b = malloc(n * sizeof *b);
    take(b, n);
"""
    text, site = kept(before, inside, tmp_path)
    changed = line_of(text, "CHANGED")
    message = f"`a` is a parameter, and `b` itself may change at line {changed} while it stands for it"
    assert (site["message"], site["notes"][0]["line"]) == (message, changed)


def test_the_struct_whose_buffer_nothing_is_written_to(tmp_path: Path) -> None:
    before = """struct matrix { double *at; };
static void make(struct matrix *m, int n) { m->at = malloc(n * n * sizeof(double)); }
static double of(struct matrix *m, int i) { return m->at[i]; }
static void done(struct matrix *m)
{
    if (m->at)
        free(m->at);
    m->at = NULL;
}
"""
    inside = """
    struct matrix one, two;
    one.at = two.at = NULL;
    if (rank == 0)
        make(&two, n); // MADE
    make(&one, n);
    for (int i = 0; i < n * n; i++)
        one.at[i] = i;
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < n * n; i++)
            s += of(&one, i) + of(&two, i);
        MPI_Sendrecv_replace(one.at, n * n, MPI_DOUBLE, 1, 0, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    done(&one);
    done(&two);
"""
    text, site = kept(before, inside, tmp_path)
    assert "could not show that something has come into `one.at`" in site["message"]
    note = (line_of(text, "MADE"), "the memory that is read there comes from here")
    assert note in [(n["line"], n["message"]) for n in site["notes"]]


def test_an_allocator_that_no_header_declares(tmp_path: Path) -> None:
    inside = """
    static double *b;
    b = (double *)_mm_malloc(1000 * sizeof *b, 64); // CALL
    if (rank == 0) {
        for (int i = 0; i < 1000; i++)
            b[i] = i + n;
        MPI_Send(b, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    }
    _mm_free(b);
"""
    text, site = kept("", inside, tmp_path)
    declares = "no header that is included declares `_mm_malloc`, as `<mm_malloc.h>` does"
    assert site["message"].startswith(f"{declares}, by which line {line_of(text, 'CALL')} allocates `b`")
    (tmp_path / "a.c").write_text(text.replace("#include <stdio.h>", "#include <stdio.h>\n#include <mm_malloc.h>"))
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    assert [one["decision"] for one in json.loads(out)["sites"]] == ["convert"]


TABLE = """static int **table(int rows)
{
    int *data = malloc(rows * 8 * sizeof(int)), **rows_of = malloc(rows * sizeof(int *));
    for (int i = 0; i < rows; i++)
        rows_of[i] = &data[8 * i]; // PARTS
    return rows_of;
}
void calculate(int **what);
"""


@pytest.mark.parametrize("other", [False, True])
def test_a_table_of_which_nothing_is_known_is_of_rows_of_one_block(other: bool, tmp_path: Path) -> None:
    """What the other arm of a test sets it to does not come to the call; what the same one sets it to does."""
    inside = f"""
    int **mine = table(n), **all = NULL;
    MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
    calculate(&mine[0]);
    if (rank == 0)
        mine = all;
    {"if (n > 7) mine = all;" if other else ""}
    if (rank != 0)
        MPI_Send(&mine[0][0], n * 8, MPI_INT, 0, 0, MPI_COMM_WORLD);
"""
    text, site = kept(TABLE, inside, tmp_path)
    told = f"the call names a row of `mine`, and line {line_of(text, 'PARTS')} makes its rows parts of one block"
    assert site["message"].startswith(told) == (not other)


@pytest.mark.parametrize("test", ["if (!ptr)", "if (*(char *)ptr)"])
def test_a_function_that_tests_for_null_is_not_what_keeps_parts_together(test: str, tmp_path: Path) -> None:
    before = f"static int check(void *ptr)\n{{\n    {test}\n        exit(1);\n    return 0;\n}}\n"
    inside = """
    char *txt = malloc(n * 100);
    check(txt);
    for (int i = 1; i < n; i++)
        MPI_Send(txt + i * 100, 100, MPI_CHAR, i, 0, MPI_COMM_WORLD);
    free(txt);
"""
    _, site = kept(before, inside, tmp_path)
    assert "begins inside `txt`" in site["message"]
    assert not any("compares an address" in note["message"] for note in site["notes"])
