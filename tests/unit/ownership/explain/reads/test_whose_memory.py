"""What is told as read, and as a second name, is of the message's own memory: no other row, nothing that was freed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from read_programs import TO, line_of, sites

FROM = "1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
MAKE = """static void make(double **p, int n)
{
    *p = malloc(n * 8); // MADE
}
"""
ROWS = """static double **rows(int n, int m)
{
    double *all = malloc(n * m * 8), **a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++)
        a[i] = all + i * m; // PARTS
    return a;
}
"""
ALIGNED = """static struct made { struct made *next, *prev; void *at; size_t n; } made = {&made, &made, NULL, 0};
static void *aligned(size_t n)
{
    union { void *p; unsigned long l; } a;
    struct made *m = malloc(sizeof *m);
    a.p = malloc(n + 16);
    m->next = &made, m->prev = made.prev, m->prev->next = m, m->next->prev = m;
    a.l = (a.l + 15) & ~15ul;
    m->at = a.p;
    return a.p;
}
struct table { int *to, n; };
static struct table *list(int *map, int n, int size)
{
    MPI_Request rq[64];
    struct table *t = aligned(sizeof *t);
    int k = 0, at = 0, *counts = aligned(size * 4), *all = aligned(n * 4);
    for (int i = 0; i < n; i++) all[i] = map[i];
    memset(counts, 0, size * 4);
    for (int i = 0; i < n; i++) {
        while (all[i] >= map[k + 1]) k++; // READ
        counts[k]++;
    }
    for (int i = 0; i < size; at += counts[i++])
        MPI_Isend(&all[at], counts[i], MPI_INT, i, 0, MPI_COMM_WORLD, &rq[i]);
    MPI_Waitall(size, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) all[i] = k++;
    t->to = all;
    return t;
}
"""
FIELDS = """struct part { double x[3]; int id; };
struct field { double *value; int n; };
static struct field *field(int n)
{
    struct field *f = malloc(sizeof *f);
    f->value = calloc(n, 8);
    return f;
}
"""


def test_a_second_pointer_is_told_with_the_one_that_it_is_a_copy_of(tmp_path: Path) -> None:
    before = f"""{MAKE}static void pass(double **p, int n)
{{
    double *x = *p; // COPIED
    for (int i = 0; i < n; i++)
        x[i] = i;
    MPI_Send(x, n, MPI_DOUBLE, {TO}
}}
"""
    text, found = sites(["double *a;", "make(&a, n);", "pass(&a, n);", "free(a);"], tmp_path, before)
    copied = line_of(text, "COPIED")
    message = f"line {copied} makes `x` a copy of `*p`, which would go on pointing to memory that is gone"
    assert (found[0]["code"], found[0]["message"]) == ("OPI105", message)
    assert (found[0]["notes"][0]["line"], found[0]["notes"][0]["message"]) == (copied, "copied here")


def test_a_row_of_another_number_is_other_memory(tmp_path: Path) -> None:
    """Each row is a block of its own, and the two go by constants."""
    before = """static void make(double ***m, int rows, int n)
{
    *m = malloc(rows * sizeof(double *));
    for (int i = 0; i < rows; i++)
        (*m)[i] = malloc(n * 8);
}
"""
    lines = ["double **u, **w;", "make(&u, n, n);", "make(&w, 2, n);"]
    lines += ["for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) u[i][k] = i;", "for (int t = 0; t < n; t++) {"]
    lines += ["for (int k = 0; k < n; k++) w[0][k] = u[1][k];", f"MPI_Send(w[0], n, MPI_DOUBLE, {TO}"]
    lines += [f"MPI_Recv(w[1], n, MPI_DOUBLE, {FROM}", "for (int k = 0; k < n; k++) u[n - 1][k] = w[1][k]; }"]
    _, found = sites(lines, tmp_path, before)
    assert "may read" not in found[0]["message"]


def test_what_is_read_after_the_block_is_freed_is_other_memory(tmp_path: Path) -> None:
    before = """static void step(double *u[2], int s, int n)
{ for (int i = 0; i < n; i++) u[!s][i] = u[s][i] + 1; } // STEP
static void renew(double *u[2], int s, int from, int n)
{
    double *other[2];
    other[0] = malloc(n * 8);
    other[1] = malloc(n * 8);
    double *src = u[s];
    double *out = src + from;
    MPI_Send(out, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    memcpy(other[s], src + 1, n * 8); // COPY
    free(u[0]);
    free(u[1]);
    u[0] = other[0];
    u[1] = other[1];
}
"""
    lines = ["double *u[2];", "u[0] = malloc(2 * n * 8); u[1] = malloc(2 * n * 8);", "int k = 1;"]
    lines += ["for (int i = 0; i < n; i++) u[0][i] = u[1][i] = i;"]
    lines += ["for (int t = 0; t < size; t++) { renew(u, k, rank, n); step(u, k, n); k = !k; }"]
    text, found = sites(lines, tmp_path, f"#include <string.h>\n{before}")
    assert f"line {line_of(text, 'COPY')} may read" in found[0]["message"]
    assert line_of(text, "STEP") not in [note["line"] for note in found[0]["notes"]]


def test_a_block_of_rows_that_comes_anew_is_not_told_as_read(tmp_path: Path) -> None:
    before = f"""{ROWS}static double **sum(double **a, double **b, int n)
{{
    double **c = rows(n, n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            c[i][k] = a[i][k] + b[k][i];
    return c;
}}
"""
    lines = ["double **a = rows(n, n), **b = rows(n, n), **c = rows(n, n);", "if (rank == 0) {"]
    lines += ["for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) a[i][k] = i;"]
    lines += [f"MPI_Send(&a[0][0], n * n / size, MPI_DOUBLE, {TO} }}"]
    lines += [f"MPI_Recv(&a[0][0], n * n / size, MPI_DOUBLE, {FROM}"]
    lines += ["for (int t = 0; t < size; t++) c = sum(c, sum(a, b, n), n);", "s = c[1][1];"]
    text, found = sites(lines, tmp_path, before)
    message = f"line {line_of(text, 'PARTS')} makes the rows of `a` parts of the block in which the message begins"
    assert found[0]["message"] == f"{message}: they would point to memory that is gone"


def test_a_line_that_reads_is_told_before_a_call_of_which_nothing_is_known(tmp_path: Path) -> None:
    before = "void hint(const double *p, int n);\n"
    lines = ["double *a = malloc(n * n * 8);", "for (int i = 0; i < n * n; i++) a[i] = i;"]
    lines += ["for (int t = 0; t < n; t++) {", f"MPI_Send(&a[t * n], n, MPI_DOUBLE, {TO}"]
    lines += ["hint(a, 32);", "for (int i = 0; i < n * n; i++) s += a[i]; // HERE", "}"]
    text, found = sites(lines, tmp_path, before)
    if "may read" in found[0]["message"]:
        assert f"line {line_of(text)}" in found[0]["message"]


def test_what_a_library_function_reads_is_told_by_the_name_that_it_is_given(tmp_path: Path) -> None:
    lines = ["double *all = malloc(n * 8);", "int much = n;", "for (int i = 0; i < n; i++) all[i] = i;"]
    lines += ["for (int t = 0; t < size; t++) {", "int more = t % 7;", "double *in = malloc((much + more) * 8);"]
    lines += [f"if (more > 0) MPI_Recv(in, more, MPI_DOUBLE, {FROM}", "memcpy(in + more, all, much * 8); // HERE"]
    lines += ["free(all);", "all = in;", "much += more;", "}", "s = all[0];"]
    text, found = sites(lines, tmp_path)
    assert found[0]["message"].startswith(f"line {line_of(text)} reads `in` as `all`")


def test_a_call_that_no_process_comes_to_is_told_as_that(tmp_path: Path) -> None:
    """Two analyses know it of each other's lines only, and would disagree."""
    lines = ["double *a = malloc(n * 8);", "for (int i = 0; i < n; i++) a[i] = i;"]
    lines += [f"if (rank == 0 && rank == 1) MPI_Send(a, n, MPI_DOUBLE, {TO}", "s = a[0];", "free(a);"]
    _, found = sites(lines, tmp_path)
    message = "no process comes to the call: what is tested around it holds for none"
    assert (found[0]["code"], found[0]["message"]) == ("OPI111", message)


ARMS = """struct part { int rank, turn; };
static double show(struct part *p, double **a, int n)
{
    double s = 0;
    if (p->rank != 0)
        MPI_Send(a[1], n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    if (p->turn == 0)
        MPI_Send(a[2], n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (p->READER)
        for (int i = 0; i < n; i++)
            s += a[i][1]; // HERE
    p->turn++;
    return s;
}
"""


def test_a_read_in_the_other_arm_of_a_test_of_the_rank_is_not_told_as_one_of_the_sender(tmp_path: Path) -> None:
    lines = ["struct part p, *of = &p;", "of->rank = of->turn = 0;", "MPI_Comm_rank(MPI_COMM_WORLD, &of->rank);"]
    lines += ["double **a = rows(n, n);", "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) a[i][k] = i;"]
    lines += ["double **b = rows(n, n);", "if (n > 7) { double **t = a; a = b; b = t; }", "s += show(of, a, n);"]
    text, found = sites(lines, tmp_path, ROWS + ARMS.replace("READER", "rank == 0"))
    assert f"line {line_of(text)} may read" not in found[0]["message"]


NODES = """struct node { double *data; struct node *next; };
static struct node *node(void)
{
    struct node *p = malloc(sizeof *p);
    if (!p)
        exit(1);
    p->data = malloc(N * 8);
    return p;
}
static void fill(double *p)
{
    p[0] = 1;
    for (int i = 1; i < N; i++)
        p[i] = p[i - 1] / 2; // FILLS
}
"""
LIST = "while (head) { struct node *a = head; head = a->next; @ free(a->data); free(a); } // FREED"


def listed(body: list[str], walk: str, folder: Path) -> tuple[str, list[dict[str, Any]]]:
    lines = ["struct node *head = NULL;", "for (int k = 0; k < n; k++) {", *body, "}", LIST.replace("@", walk)]
    return sites(lines, folder, NODES)


def test_what_fills_the_block_of_the_next_turn_reads_other_memory(tmp_path: Path) -> None:
    """Each turn allocates a struct and its data: what is before the send reads the data of its own turn."""
    body = ["struct node *a = node();", "fill(a->data);", "a->next = head;", "head = a;"]
    body += [f"MPI_Send(a->data, N, MPI_DOUBLE, {TO}"]
    text, found = listed(body, "", tmp_path)
    message = f"what `a->data` lies in may be what is freed at line {line_of(text, 'FREED')}"
    assert (found[0]["code"], found[0]["message"]) == ("OPI402", message)
    text, found = listed(body, "s += a->data[n]; // HERE\n", tmp_path)
    assert (found[0]["code"], f"line {line_of(text)} may read" in found[0]["message"]) == ("OPI101", True)


def test_what_fills_a_block_that_is_not_made_anew_reads_it(tmp_path: Path) -> None:
    """The structs of all turns have the same data."""
    body = [
        "static double *one;",
        "if (!one) one = malloc(N * 8);",
        "struct node *a = node();",
        "a->data = one;",
        "fill(a->data);",
        "a->next = head;",
        "head = a;",
    ]
    body += [f"MPI_Send(a->data, N, MPI_DOUBLE, {TO}"]
    text, found = listed(body, "", tmp_path)
    assert (found[0]["code"], f"line {line_of(text, 'FILLS')} may read" in found[0]["message"]) == ("OPI101", True)


def test_each_call_of_a_function_hands_out_memory_of_its_own(tmp_path: Path) -> None:
    """What reads the list before it is sent reads that of the next call then, which has another one."""
    lines = ["int *map = aligned(n * 4);", "for (int i = 0; i < n; i++) map[i] = i;", "struct table *t = NULL;"]
    lines += ["for (int r = 0; r < 3; r++) t = list(map, n / 2, size);", "s = t->to[3];"]
    message = sites(lines, tmp_path, ALIGNED)[1][0]["message"]
    assert message.startswith("the call begins inside `all`, at a place that the program computes"), message


def test_another_parameters_struct_is_not_told_as_that_of_the_call(tmp_path: Path) -> None:
    """What is copied from `in` is no reason for `*out`, whose name has brackets in front of an arrow."""
    before = f"""{FIELDS}static void spread(struct field *in, struct field **out, int k, int n)
{{
    *out = field(n);
    for (int i = 0; i < k; i++)
        (*out)->value[n + i] = in->value[i]; // OTHER
    MPI_Recv(&(*out)->value[n + k], n, MPI_DOUBLE, {FROM}
}}
"""
    lines = ["struct field *a = field(n), *b;", "a->value[0] = n;"]
    lines += ["for (int t = 0; t < 3; t++) spread(a, &b, n / 2, n / 4);", "s = b->value[2]; // REST"]
    text, found = sites(lines, tmp_path, before)
    assert f"the message lies in `(*out)->value`, and line {line_of(text, 'REST')} may" in found[0]["message"]


def test_an_array_in_a_struct_lies_where_the_struct_does(tmp_path: Path) -> None:
    """`p[i].x[0]` reads of what `p + k` is sent."""
    before = f"""{FIELDS}static void *room;
static int ship(struct part *p, int n, double low)
{{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (p[i].x[0] < low) {{ struct part t = p[k]; p[k++] = p[i]; p[i] = t; }} // HERE
    struct part *out = p + k;
    MPI_Send(out, (n - k) * sizeof *p, MPI_BYTE, {TO}
    return k;
}}
"""
    lines = ["room = calloc(n, sizeof(struct part));", "for (int left = n, t = 0; t < 4; t++) {"]
    lines += ["left = ship(room, left, t); left = ship(room, left, t + 9); }", "double *grid = room;"]
    lines += ["for (int i = 0; i < n; i++) grid[i] = i;", "s = grid[3];"]
    text, found = sites(lines, tmp_path, before)
    assert f"line {line_of(text)} may read there after the send" in found[0]["message"], found[0]["message"]


def test_a_read_as_far_inside_as_the_message_begins_reads_what_came(tmp_path: Path) -> None:
    """Only the loop over the first ones reads what this receive does not bring."""
    before = f"""static void get(int *to, int n) {{ MPI_Recv(to, n, MPI_INT, {FROM} }}
static void more(int *group, int here, int n)
{{
    get(group + here, n);
    for (int i = 0; i < n; i++) group[i + here] += 7; // CAME
    for (int i = 0; i < here; i++) if (group[i] > 3) group[0]++; // REST
}}
"""
    lines = ["int *group = calloc(n, 4);", "group[0] = n;", "for (int t = 0; t < 3; t++) more(group, n / 2, n / 4);"]
    text, found = sites([*lines, "s = group[1];"], tmp_path, before)
    assert f"line {line_of(text, 'REST')} may read" in found[0]["message"], found[0]["message"]
