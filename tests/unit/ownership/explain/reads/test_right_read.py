"""The read that a reason names is one that the process of the site does, of the bytes that the reason speaks of."""

from __future__ import annotations

from pathlib import Path

import pytest
from read_programs import TO, line_of, sites, sites_of

FROM = "1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


def test_what_rank_0_reads_is_no_reason_of_a_rank_that_is_no_multiple(tmp_path: Path) -> None:
    """`rank % (2 * step) != 0` says that the rank is not 0."""
    before = """static double *joined(double *a, int n)
{
    double *c = malloc(2 * n * 8);
    for (int i = 0; i < n; i++)
        c[i] = c[n + i] = a[i];
    return c;
}
"""
    lines = ["double *b = malloc(n * 8);", "for (int i = 0; i < n; i++) b[i] = i;"]
    lines += ["for (int step = 1; step < size; step *= 2) {", "if (rank % (2 * step) == 0) b = joined(b, n);"]
    lines += ["else { MPI_Send(b, n, MPI_DOUBLE, rank - step, 0, MPI_COMM_WORLD); break; }", "}"]
    lines += ['if (rank == 0) for (int i = 0; i < n; i++) printf("%g\\n", b[i]);']
    assert "may read" not in sites(lines, tmp_path, before)[1][0]["message"]


def test_a_read_of_the_rest_of_the_buffer_is_told_as_that(tmp_path: Path) -> None:
    lines = ["double *b = malloc(N * 8);", "for (int i = 0; i < N; i++) b[i] = i;"]
    lines += [f"MPI_Send(b, 100, MPI_DOUBLE, {TO}", "for (int i = 100; i < N; i++) s += b[i]; // HERE"]
    text, found = sites(lines, tmp_path)
    message = f"line {line_of(text)} may read bytes of `b` beside the message after the send"
    assert (found[0]["code"], found[0]["message"].partition("; ")[0]) == ("OPI101", message)


def test_a_read_in_the_next_turn_only_may_be_of_the_message(tmp_path: Path) -> None:
    """The read stands before the send, with other numbers by the same names in each turn."""
    lines = ["double *b = malloc(N * 8);", "for (int i = 0; i < N; i++) b[i] = i;", "for (int t = 0; t < n; t++) {"]
    lines += ["int k = atoi(argv[t]);", "for (int i = 0; i < k; i++) s += b[i]; // HERE"]
    lines += [f"MPI_Send(b, k, MPI_DOUBLE, {TO}", "}"]
    text, found = sites(lines, tmp_path)
    assert found[0]["message"] == f"`b` may be read at line {line_of(text)} after the send"


def test_a_parameter_is_told_by_its_own_name(tmp_path: Path) -> None:
    before = f"""static double ship(double *out)
{{
    double s = 0;
    MPI_Send(out, N, MPI_DOUBLE, {TO}
    for (int i = 0; i < N; i++)
        s += out[i]; // HERE
    return s;
}}
"""
    lines = ["double *all = malloc(N * 8);", "for (int i = 0; i < N; i++) all[i] = i;", "s = ship(all);"]
    text, found = sites(lines, tmp_path, before)
    assert found[0]["message"].startswith(f"`out` is read at line {line_of(text)} after the send")
    assert [note["message"] for note in found[0]["notes"]] == ["`out` is read here"]


def test_pointers_that_a_function_makes_change_places(tmp_path: Path) -> None:
    before = "static void swap(double **a, double **b) { double *t = *a; *a = *b; *b = t; }\n"
    lines = ["double *in = malloc(n * 8), *now = malloc(n * 8);", "double *keep = now;"]
    lines += ["for (int i = 0; i < n; i++) now[i] = in[i] = i;", "for (int t = 0; t < n; t++) {"]
    lines += [f"MPI_Recv(in, n, MPI_DOUBLE, {FROM}", "swap(&in, &now); // HERE", "}", "s = now[0] + keep[0];"]
    text, found = sites(lines, tmp_path, before)
    message = f"`in` changes places with `now` at line {line_of(text)}, so it may be either buffer"
    assert (found[0]["code"], found[0]["message"]) == ("OPI402", message)


def test_numbers_behind_a_short_message_are_no_text(tmp_path: Path) -> None:
    lines = ["int in[N] = {0};", f"MPI_Recv(in, N, MPI_INT, {FROM}", "for (int i = 0; i < N; i++) s += in[i];"]
    found = sites(lines, tmp_path)[1]
    message = "what is read after a message that is short may be the initialiser of `in`"
    message += "; without that, nothing but the message counts as read (A1)"
    assert (found[0]["code"], found[0]["message"]) == ("OPI210", message)


def test_a_count_that_may_be_negative(tmp_path: Path) -> None:
    """As many bytes as `n * 8` says are copied, of which there are very many where `n` is negative."""
    lines = ["double *b = malloc(N * 8);", "for (int i = 0; i < N; i++) b[i] = i;"]
    lines += [f"MPI_Recv(b, n, MPI_DOUBLE, {FROM}", "if (n < 1) s = b[0]; // HERE", "else s = b[n - 1];"]
    text, found = sites(lines, tmp_path)
    why = "could not show that `n` is at least 1; where it is not"
    message = f"{why}, line {line_of(text)} may read bytes of `b` that this receive does not bring"
    assert (found[0]["code"], found[0]["message"]) == ("OPI201", message)


def test_what_fills_more_than_was_received_is_what_goes_beyond(tmp_path: Path) -> None:
    """The nearest use of the buffer is of what came."""
    lines = ["double *b = malloc(N * 8);", "for (int t = 0; t < 3; t++) {", f"MPI_Recv(b, n, MPI_DOUBLE, {FROM}"]
    lines += [
        "for (int i = 0; i < n; i++) s += b[i];",
        "for (int i = 1; i < N; i++) b[i] = i; // HERE",
        "if (n > 0) s += b[0];",
        "}",
    ]
    text, found = sites(lines, tmp_path)
    message = f"line {line_of(text)} may touch bytes of `b` beyond those the receive makes room for"
    assert (found[0]["code"], found[0]["message"]) == ("OPI216", message)
    assert found[0]["notes"][0]["message"] == "`b` is written here"


def test_live_data_goes_before_who_else_gets_the_address(tmp_path: Path) -> None:
    lines = ["double *b = malloc(N * 8);", "for (int i = 0; i < N; i++) b[i] = i;"]
    lines += [f"MPI_Send(b, N, MPI_DOUBLE, {TO}", "s = b[3]; // HERE", "draw(b);"]
    text, found = sites(lines, tmp_path, "void draw(double *);\n")
    assert found[0]["message"] == f"`b` is read at line {line_of(text)} after the send"
    lines[3] = ""
    assert sites(lines, tmp_path, "void draw(double *);\n")[1][0]["code"] == "OPI403"


def test_a_part_of_a_received_array_that_others_get_is_live_data(tmp_path: Path) -> None:
    lines = [f"MPI_Recv(&u[n], 100, MPI_DOUBLE, {FROM}", "for (int i = 0; i < N; i++) s += (u[i] += 1); // HERE"]
    text, found = sites([*lines, "draw(u);"], tmp_path, "void draw(double *);\n")
    message = f"the message lies in `u`, and line {line_of(text)} may read bytes there that this receive does not bring"
    assert (found[0]["code"], found[0]["message"]) == ("OPI201", message)


def test_several_rows_at_once_are_not_one_row(tmp_path: Path) -> None:
    lines = ["for (int i = 0; i < 4; i++) for (int j = 0; j < N; j++) g[i][j] = i;", "for (int p = 0; p < n; p++)"]
    lines += [f"MPI_Send(&g[p][0], n * N, MPI_DOUBLE, {TO}"]
    message = "the call begins inside `g`, at another place in each turn of a loop; a message needs a buffer of its own"
    found = sites(lines, tmp_path)[1]
    assert (found[0]["code"], found[0]["message"]) == ("OPI104", message)


def test_a_row_of_a_grid_in_a_loop_is_read_in_the_same_turn(tmp_path: Path) -> None:
    lines = ["for (int i = 0; i < 4; i++) for (int j = 0; j < N; j++) g[i][j] = i;", "int k = 0;"]
    lines += ["for (int t = 0; t < n; t++) {", f"if (rank > 0) MPI_Send(g[k], N, MPI_DOUBLE, {TO}"]
    lines += ["for (int j = 0; j < N; j++) g[1 - k][j] = g[k][j]; // HERE", "k = 1 - k;", "}"]
    text, found = sites(lines, tmp_path)
    assert found[0]["code"] == "OPI101"
    assert f"line {line_of(text)}" in found[0]["message"]


def test_memcpy_of_the_whole_message_is_packing_it_anew(tmp_path: Path) -> None:
    text = f"""#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static double *out;
void ship(int n, double *from)
{{
    int bytes = n * 8;
    if (!out)
        out = malloc(bytes);
    memcpy(out, from, bytes);
    MPI_Send(out, bytes, MPI_BYTE, {TO}
}}
"""
    site = sites_of(text, tmp_path)[0]
    message = "could not show which buffer `out` is: other files may call what sets it"
    assert (site["code"], site["message"]) == ("OPI402", message)


def test_memory_that_a_function_fills_is_told_by_its_name(tmp_path: Path) -> None:
    before = """static double *made(int n)
{
    double *b = malloc(n * 8);
    for (int i = 0; i < n; i++)
        b[i] = i;
    return b;
}
"""
    lines = ["double *b = made(n); // HERE", "if (rank > 0)", f"MPI_Recv(b, n, MPI_DOUBLE, {FROM}"]
    lines += ["for (int i = 0; i < n; i++) s += b[i];"]
    text, found = sites(lines, tmp_path, before)
    assert found[0]["message"].endswith(f"that nothing but `made` at line {line_of(text)} surely writes")


def test_what_a_loop_does_that_ends_after_the_send_is_no_reason(tmp_path: Path) -> None:
    before = """static int *merged(int *a, int *b, int n)
{
    int *c = malloc(2 * n * sizeof(int));
    for (int i = 0; i < n; i++)
        c[i] = a[i], c[n + i] = b[i];
    return c;
}
static int *sorted(int height, int *mine, int n, int rank)
{
    int *half = mine, h = 0;
    while (h < height) {
        if (rank & (1 << h)) {
            MPI_Send(half, n, MPI_INT, rank ^ (1 << h), 0, MPI_COMM_WORLD);
            h = height;
        } else {
            half = merged(half, mine, n);
            n *= 2;
            h++;
        }
    }
    return half;
}
"""
    lines = ["int *mine = calloc(n, sizeof(int));", "int *all = sorted(n, mine, n, rank);"]
    lines += ["if (rank == 0) s = all[0];"]
    found = sites(lines, tmp_path, before)[1]
    assert "may read" not in found[0]["message"]


def test_a_request_that_is_cancelled_is_not_to_be_waited_for(tmp_path: Path) -> None:
    lines = ["MPI_Request r;", "double *b = malloc(n * 8);", "for (int i = 0; i < n; i++) b[i] = i;"]
    lines += ["MPI_Isend(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r);", "MPI_Cancel(&r); // HERE"]
    lines += ["MPI_Wait(&r, MPI_STATUS_IGNORE);", "for (int i = 0; i < n; i++) b[i] = i;"]
    lines += [f"MPI_Send(b, n, MPI_DOUBLE, {TO}"]
    text, found = sites(lines, tmp_path)
    assert found[0]["message"] == "the request may be cancelled or freed before it completes"
    message = (
        f"another operation on `b` may still be pending: its request may be cancelled or freed at line {line_of(text)}"
    )
    assert (found[1]["code"], found[1]["message"]) == ("OPI106", message)


def test_a_place_inside_goes_before_who_else_gets_the_address(tmp_path: Path) -> None:
    """The unknown function runs on another rank than the one that receives."""
    lines = [f"if (rank == 0) MPI_Recv(&u[n], n, MPI_DOUBLE, {FROM}", "else draw(u);"]
    found = sites(lines, tmp_path, "void draw(double *);\n")[1]
    message = "the call begins inside `u`, at a place that the program computes; a message needs a buffer of its own"
    assert (found[0]["code"], found[0]["message"]) == ("OPI204", message)


def test_a_small_message_stays_small_whoever_gets_its_address(tmp_path: Path) -> None:
    lines = ["double b[3] = {1, 2, 3};", f"MPI_Send(b, 3, MPI_DOUBLE, {TO}", "draw(b);"]
    assert sites(lines, tmp_path, "void draw(double *);\n")[1][0]["code"] == "OPI108"


def test_a_function_that_reads_is_told_by_its_name_alone(tmp_path: Path) -> None:
    """A static function is one of its file, whose path is no part of what a reader knows it by."""
    before = """typedef struct { double v[N]; } cells_t;
static double energy(cells_t cells) { return cells.v[1]; }
"""
    lines = ["cells_t cells;", "for (int i = 0; i < N; i++) cells.v[i] = i;"]
    lines += [f"MPI_Send(cells.v, N, MPI_DOUBLE, {TO}", "s = energy(cells);"]
    site = sites(lines, tmp_path, before)[1][0]
    assert [note["message"] for note in site["notes"]][:1] == ["`energy` reads `cells` here"]


CHANGING = ["double *a = malloc(N * 8), *b = malloc(N * 8), *was = a;", "for (int i = 0; i < N; i++) a[i] = b[i] = i;"]
CHANGING += ["if (n % 3) { a = b; b = was; }"]


@pytest.mark.parametrize(
    ("read", "what"),
    [
        ("for (int i = k; i < N; i++) s += a[i]; // HERE", "there after the send, of the message or beside it"),
        ("for (int i = 0; i < k; i++) s += a[i]; // HERE", "it there after the send"),
        ("s += a[3]; // HERE", "it there after the send"),
    ],
)
def test_what_lies_behind_the_message_is_not_told_as_the_message(read: str, what: str, tmp_path: Path) -> None:
    """The first `k` elements are sent, of one of two blocks; only what begins where they do is surely of them."""
    lines = [*CHANGING, "int k = n;", f"MPI_Send(a, k, MPI_DOUBLE, {TO}", read, "s += b[3];"]
    text, found = sites(lines, tmp_path)
    message = f"the message lies in `a`, and line {line_of(text)} may read {what}"
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", message)


def test_a_read_by_the_words_of_the_call_goes_before_another_arm(tmp_path: Path) -> None:
    """Rank 0 does not receive, nor does what reads by the numbers of another arm."""
    before = f"""static void step(double *to, double *from, int first, int last, int nx, int ny, int rank, int size)
{{
    if (rank != size - 1) MPI_Recv(&from[(last + 1) * nx], nx, MPI_DOUBLE, {FROM}
    if (last == ny - 1)
        for (int i = 0; i < nx; i++) to[last * nx + i] = from[(ny - 2) * nx + i];
    else
        to[last * nx] = from[(last + 1) * nx]; // HERE
}}
"""
    lines = ["double *a = calloc(n * n, 8), *b = calloc(n * n, 8), *was = a;", "if (n % 3) { a = b; b = was; }"]
    lines += ["int first = rank * (n / size), last = first + n / size - 1;", "for (int t = 0; t < 3; t++) {"]
    lines += ["step(a, b, first, last, n, n, rank, size);", "step(b, a, first, last, n, n, rank, size);", "}"]
    text, found = sites([*lines, "for (int i = 0; i < n; i++) s += a[i];"], tmp_path, before)
    assert (found[0]["code"], [note["line"] for note in found[0]["notes"]]) == ("OPI201", [line_of(text)])


def test_a_read_at_a_place_that_is_not_known_where_the_message_is_written_before(tmp_path: Path) -> None:
    """No byte of the message is read there: it may be one beside it, as nothing is known of `at`."""
    lines = ["double *b = malloc(2 * n * 8);", "for (int t = 0; t < n; t++) {", "int at = atoi(argv[t]);"]
    lines += ["for (int i = 0; i < n; i++) b[i] = 0;", "b[at] += 1; // HERE", f"MPI_Send(b, n, MPI_DOUBLE, {TO}", "}"]
    text, found = sites(lines, tmp_path)
    message = f"could not show that line {line_of(text)} reads only those bytes of `b` that are written before it"
    message += ": what `at` is there is not known"
    assert (found[0]["code"], found[0]["message"].partition("; ")[0]) == ("OPI101", message)


def test_what_is_read_where_nobody_has_written_is_told_by_its_own_name(tmp_path: Path) -> None:
    """`a.items` and `b.items` are freed by the same text, so they are one buffer of the analysis."""
    before = "struct list { int n; double *items; };\nstatic void done(struct list *l) { free(l->items); }\n"
    lines = [
        "struct list a, b;",
        "for (int m = 0; m < n; m++) {",
        "a.items = malloc(n * 8);",
        "b.items = malloc(n * 8);",
    ]
    lines += ["for (int i = 0; i < n; i++) a.items[i] = i;", f"MPI_Send(a.items, n, MPI_DOUBLE, {TO}"]
    lines += [f"if (m != rank) MPI_Recv(b.items, n, MPI_DOUBLE, {FROM}"]
    lines += [f"MPI_Send(b.items, n, MPI_DOUBLE, {TO} // HERE", "done(&a);", "done(&b);", "}"]
    text, found = sites(lines, tmp_path, before)
    where = "could not show that something has come into `b.items` or been written to it wherever "
    where += f"line {line_of(text)} sends it"
    why = "; the same text of the program names it and `a.items`"
    assert [site["message"] for site in found] == [where + why] * 3


def test_the_pointer_to_the_next_part_is_what_is_read_of_a_part_that_is_sent(tmp_path: Path) -> None:
    """`h->used` is read of the next part before its send, by the same name; `t->next` of this one after it."""
    before = """struct head { int used; };
struct tail { void *next; };
struct ctl { int size; void *active; struct ctl *next; };
static void deliver(struct ctl *first, int turns)
{
    MPI_Request r[100];
    int k = 0;
    while (turns--)
        for (struct ctl *c = first; c != NULL; c = c->next) {
            struct head *h = (struct head *)c->active;
            int bytes = sizeof(struct head) + h->used;
            MPI_Isend(c->active, bytes, MPI_CHAR, k, 0, MPI_COMM_WORLD, &r[k]);
            k++;
            struct tail *t = (struct tail *)((char *)c->active + sizeof(struct head) + c->size);
            c->active = t->next; // HERE
        }
    MPI_Waitall(k, r, MPI_STATUSES_IGNORE);
}
"""
    lines = ["struct ctl *first = NULL;", "for (int i = 0; i < n; i++) {"]
    lines += ["struct ctl *c = malloc(sizeof(struct ctl));", "c->size = 80;", "c->active = calloc(100, 1);"]
    lines += ["c->next = first;", "first = c;", "}", "deliver(first, n);"]
    text, found = sites(lines, tmp_path, before)
    said = f"the message lies in `c->active`, and line {line_of(text)} may read there after the send, as `t->next`"
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", said + ", of the message or beside it")


def test_a_function_that_this_call_does_not_pass_reads_nothing(tmp_path: Path) -> None:
    """`by_number` is what only `least` is passed: the ranks compare by `by_text`."""
    before = """typedef int (*order)(const void *, const void *);
static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_text(const void *a, const void *b)
{
    return strcmp(a, b); // HERE
}
static void moved(void *value, void *other, MPI_Datatype type, order less, int rank)
{
    MPI_Request r;
    MPI_Isend(value, 1, type, rank ^ 1, 0, MPI_COMM_WORLD, &r);
    MPI_Recv(other, 1, type, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (less(other, value) < 0)
        memcpy(value, other, 4);
}
static int *least(int *k, int n, order less)
{
    int *found = k;
    for (int i = 1; i < n; i++)
        if (less(k + i, found) < 0)
            found = k + i;
    return found;
}
"""
    lines = ["MPI_Datatype type;", "MPI_Type_contiguous(n, MPI_CHAR, &type);", "MPI_Type_commit(&type);"]
    lines += [
        "char *a = malloc(n), *b = malloc(n);",
        "fgets(a, n, stdin);",
        "moved(a, b, type, by_text, rank);",
        "puts(a);",
    ]
    lines += [
        "int *k = malloc(4 * n);",
        "for (int i = 0; i < n; i++) k[i] = atoi(argv[i]);",
        "s = *least(k, n, by_number);",
    ]
    text, found = sites(lines, tmp_path, before)
    told = {note["line"] for note in found[0]["notes"]}
    read = f"`value` may be read at line {line_of(text)} after the send, where line {line_of(text, 'if (less(other')}"
    assert found[0]["message"] == f"{read} calls `by_text` through a pointer"
    assert line_of(text) in told
    assert line_of(text, "by_number") not in told


def test_what_is_printed_by_no_rank_is_not_the_read_that_is_told(tmp_path: Path) -> None:
    """`rank == -1` is how a program leaves out what it prints for its author."""
    lines = ["double *b = malloc(N * 8);", "for (int i = 0; i < N; i++) b[i] = i;", "for (int t = 0; t < n; t++) {"]
    lines += ['if (rank == -1) for (int i = 0; i < N; i++) printf("%g\\n", b[i]);']
    lines += ["for (int i = 0; i < N; i++) s += b[i]; // HERE", f"MPI_Send(b, N, MPI_DOUBLE, {TO}", "}"]
    text, found = sites(lines, tmp_path)
    assert found[0]["message"].startswith(f"`b` is read at line {line_of(text)} after the send")
    assert [note["line"] for note in found[0]["notes"]] == [line_of(text)]


def test_a_loop_over_other_rows_is_told_before_one_place_that_may_be_what_came(tmp_path: Path) -> None:
    lines = [
        "double *rows = calloc(n * n, 8);",
        "for (int k = 0; k < n; k++) {",
        "int at; MPI_Bcast(&at, 1, MPI_INT, 0, MPI_COMM_WORLD);",
        f"MPI_Recv(rows + (at - rank) * n, n, MPI_DOUBLE, {FROM}",
        "double first = rows[(k - rank) * n + k];",
        "for (int i = k; i < n; i++)",
        "rows[i * n + k] /= first; // HERE",
        "}",
    ]
    text, found = sites(lines, tmp_path)
    read = f"line {line_of(text)} may read bytes there that this receive does not bring"
    assert (found[0]["code"], found[0]["message"]) == ("OPI201", f"the message lies in `rows`, and {read}")


def test_memory_that_is_written_under_the_same_test_has_the_lines_that_write_it(tmp_path: Path) -> None:
    """Both tests are of one number, so it is written wherever it is sent: it is said that this was not seen."""
    lines = [
        "double *own = NULL;",
        "double *part;",
        "for (int i = 0; i < n; i++) {",
        "if (i == 0) own = malloc(n * n * 8); else part = malloc(n * n * 8);",
        "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)",
        "if (i == 0) own[k + j * n] = j;",
        "else part[k + j * n] = i + j; // WRITTEN",
        "if (i != 0) MPI_Send(part, n * n, MPI_DOUBLE, i, 0, MPI_COMM_WORLD); // HERE",
        "}",
        'printf("%g\\n", own[0]);',
    ]
    text, found = sites(lines, tmp_path)
    message = "could not show that something has come into `part` or been written to it wherever "
    message += f"line {line_of(text)} sends it"
    assert [(site["code"], site["message"]) for site in found] == [("OPI115", message)]
    assert [(note["line"], note["message"]) for note in found[0]["notes"]] == [
        (line_of(text, "WRITTEN"), "`part` is written here, where `i == 0` does not hold")
    ]


SHOW = """static void show(const double *a, int n)
{
    for (int i = 0; i < n; i++)
        printf("%8.3f ", a[i]); // SHOWS
}
static int debug;
"""


@pytest.mark.parametrize("around", ["if (debug) show(u, n);", "show(u, n);"])
def test_what_is_printed_under_a_test_is_told_after_what_computes(around: str, tmp_path: Path) -> None:
    """A print that always comes is told, as the nearest."""
    lines = ["debug = n > 4;", "for (int k = 0; k < n; k++) {"]
    lines += ["MPI_Recv(u, n / 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", around]
    lines += ["for (int i = 0; i < n; i++) s += u[i]; // HERE", "}"]
    text, found = sites(lines, tmp_path, SHOW)
    line = line_of(text, "HERE" if "if" in around else "SHOWS")
    assert f"line {line} " in found[0]["message"]


def test_a_print_under_a_test_is_told_where_nothing_computes(tmp_path: Path) -> None:
    lines = ["debug = n > 4;", "for (int i = 0; i < n; i++) u[i] = i;", f"MPI_Send(u, N, MPI_DOUBLE, {TO}"]
    text, found = sites([*lines, "if (debug) show(u, n);"], tmp_path, SHOW)
    assert (found[0]["code"], f"line {line_of(text, 'SHOWS')} " in found[0]["message"]) == ("OPI101", True)


def test_a_receive_into_another_row_writes_nothing_of_a_row_that_is_sent(tmp_path: Path) -> None:
    """What reads the row goes before the next turn's send of it: the rows that come beside it are others."""
    before = f"""static void swap(double **a, int k, int n)
{{
    MPI_Send(a[k], n, MPI_DOUBLE, {TO}
    MPI_Recv(a[0], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(a[k + 1], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}}
static void step(double **a, double *t, int k, int n)
{{
    for (int i = 1; i <= k; i++) for (int j = 0; j < n; j++) t[j] += a[i][j] + a[i - 1][j]; // HERE
    for (int i = 1; i <= k; i++) for (int j = 1; j < n - 1; j++) a[i][j] = t[j];
}}
"""
    lines = [
        "int k = n / size; double **a = malloc((k + 2) * sizeof *a), *t = calloc(n, 8);",
        "for (int i = 0; i < k + 2; i++) a[i] = malloc(n * 8);",
        "for (int i = 0; i < k + 2; i++) for (int j = 0; j < n; j++) a[i][j] = i + j;",
        "for (int r = 0; r < 9; r++) { swap(a, k, n); step(a, t, k, n); }",
    ]
    text, found = sites(lines, tmp_path, before)
    assert found[0]["code"] == "OPI101"
    assert found[0]["message"] == f"`a[…]` is read at line {line_of(text)} after the send"


def test_rows_of_one_block_that_are_sent_once_each(tmp_path: Path) -> None:
    """That they are parts of one block would keep them anyway."""
    before = """static double **rows(int n)
{
    double **p = malloc(n * sizeof *p), *all = malloc(n * 2 * 8);
    for (int i = 0; i < n; i++) p[i] = &all[2 * i]; // HERE
    for (int i = 0; i < 2 * n; i++) all[i] = i;
    return p;
}
"""
    lines = ["double **p = rows(n);", "for (int j = 1; j < size; j++) {"]
    lines += ["int first = n * j / size, many = n * (j + 1) / size - first;"]
    lines += ["MPI_Send(p[first], many * 2, MPI_DOUBLE, j, 0, MPI_COMM_WORLD);", "}"]
    text, found = sites(lines, tmp_path, before)
    assert found[0]["code"] == "OPI104"
    made = f"line {line_of(text)} makes its rows parts of one block"
    assert found[0]["message"] == f"the call names a row of `p`, and {made}; a message needs a buffer of its own"
