"""What the text right after a call does with its memory is told before what is not followed elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.ownership.explain.choosing.right_after import (
    freed_while_pending,
    given_to_a_pointer,
    part_of_its_own,
    put_away,
)
from opi_xform.ownership.explain.reaching.turns import next_struct
from tests.unit.ownership.explain.pointers.told_programs import kept, line_of

WORDS = (
    freed_while_pending,
    given_to_a_pointer,
    part_of_its_own,
    put_away,
    next_struct,
)

TABLE = """
static void move(double **t, int n, int rank)
{
    MPI_Request q[64];
    for (int j = 0; j < n; j++) {
        MPI_Isend(t[rank + j], n, MPI_DOUBLE, 1, j, MPI_COMM_WORLD, &q[j]);
        {between}free(t[rank + j]); // gone
    }
    MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
}
"""
MADE = "double **t = malloc(64 * sizeof *t); for (int i = 0; i < 64; i++) t[i] = calloc(n, 8);\nmove(t, n, rank);\n"


def test_memory_that_is_freed_while_a_send_is_pending(tmp_path: Path) -> None:
    text, site = kept(TABLE.replace("{between}", ""), MADE, tmp_path)
    message = f"line {line_of(text, '// gone')} frees `t[…]`, and nothing before that completes the operation"
    assert (site["code"], site["message"]) == ("OPI106", message)


@pytest.mark.parametrize("between", ["MPI_Wait(&q[j], MPI_STATUS_IGNORE); ", "rank++; "])
def test_a_wait_or_another_row_before_that_says_nothing(between: str, tmp_path: Path) -> None:
    _, site = kept(TABLE.replace("{between}", between), MADE, tmp_path)
    assert "completes the operation" not in site["message"]


FINISHED = """
static MPI_Request known;
static void finish(void) { MPI_Wait(&known, MPI_STATUS_IGNORE); }
static void move(double **t, int n, int rank)
{
    MPI_Request mine, *p = &known;
    for (int j = 0; j < n; j++) {
        MPI_Isend(t[rank + j], n, MPI_DOUBLE, 1, j, MPI_COMM_WORLD, {request});
        {between}; free(t[rank + j]); // gone
    }
    MPI_Wait(&mine, MPI_STATUS_IGNORE);
    MPI_Wait(p, MPI_STATUS_IGNORE);
}
"""


@pytest.mark.parametrize(
    ("given", "between", "told"),
    [
        ("&mine", "finish()", True),
        ("&known", "finish()", False),
        ("&known", "MPI_Wait(p, MPI_STATUS_IGNORE)", False),
        ("p", "MPI_Wait(&known, MPI_STATUS_IGNORE)", False),
    ],
)
def test_a_request_that_others_know_may_be_complete(given: str, between: str, told: bool, tmp_path: Path) -> None:
    program = FINISHED.replace("{request}", given).replace("{between}", between)
    text, site = kept(program, MADE, tmp_path)
    message = f"line {line_of(text, '// gone')} frees `t[…]`, and nothing before that completes the operation"
    assert ((site["code"], site["message"]) == ("OPI106", message)) == told, site


COMBINE = """
struct part { int n; double *all; };
static void combine(struct part *p, int rank, void (*op)(int, double *))
{
    for (int t = 1; t < 4; t++) {
        MPI_Send(p->all, p->n, MPI_DOUBLE, rank ^ t, 3, MPI_COMM_WORLD);
        op(p->n, p->all); // combined
    }
}
void (*const *table(void))(int, double *);
"""


def test_a_function_that_nobody_names_may_read_what_is_sent(tmp_path: Path) -> None:
    inside = "struct part *p = malloc(sizeof *p); p->n = n; p->all = calloc(n, 8);\ncombine(p, rank, table()[0]);\n"
    text, site = kept(COMBINE, inside, tmp_path)
    message = f"`p->all` may be read at line {line_of(text, '// combined')} after the send: it is given to what `op`"
    assert site["message"] == f"{message} points to, and could not show which function that is"
    assert site["code"] == "OPI101"


LIST = """
struct node { double *all; struct node *next; };
static void keep(struct node **list, double *given)
{
    struct node *node = malloc(sizeof *node);
    node->all = given; // kept
    node->next = *list;
    *list = node;
}
static int depth(struct node *l, int n) { return l == NULL || n == 0 ? 0 : 1 + depth(l->next, n - 1); }
static void gather(struct node **list, int n, int turns)
{
    for (int t = 0; t < turns; t++) {
        double *in = malloc(n * sizeof *in);
        MPI_Recv(in, n, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        keep(list, in); // given
    }
}
"""


def test_a_pointer_that_a_function_puts_into_a_list(tmp_path: Path) -> None:
    inside = "struct node *l = NULL;\ngather(&l, n, 3);\ns = depth(l, n);\nif (l) s += l->all[0];\n"
    text, site = kept(LIST, inside, tmp_path)
    assert (site["code"], site["message"]) == ("OPI205", "the address of `in` is stored in `node->all`")
    assert [note["line"] for note in site["notes"]] == [line_of(text, "// kept")]


def test_a_send_from_a_list_that_the_loop_goes_along(tmp_path: Path) -> None:
    lists = LIST.replace("MPI_Recv(in, n, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "in[0] = n;")
    lists += """
struct context { struct node *at; };
static void send_all(struct context *c, int n)
{
    while (c->at != NULL) {
        MPI_Send(c->at->all, n, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
        struct node *old = c->at;
        c->at = c->at->next;
        free(old->all);
        free(old);
    }
}
"""
    inside = "struct context c = {NULL};\ngather(&c.at, n, 3);\nsend_all(&c, n);\n"
    _, site = kept(lists, inside, tmp_path)
    not_known = "which object `c->at` points to is not known, so `c->at->all` may be any of several buffers"
    assert (site["code"], site["message"]) == ("OPI402", not_known), "not that it sends the same once more"


def test_a_function_that_calls_itself_for_a_part_of_its_block(tmp_path: Path) -> None:
    sort = """
static void sort(double *a, int n, int to)
{
    if (n < 2)
        return;
    MPI_Send(a, n / 2, MPI_DOUBLE, to, 3, MPI_COMM_WORLD);
    sort(a + n / 2, n - n / 2, to + 1); // the rest
    MPI_Recv(a, n / 2, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
"""
    inside = "double *a = malloc(n * 8); for (int i = 0; i < n; i++) a[i] = i;\nsort(a, n, 1);\ns = a[n - 1];\n"
    text, site = kept(sort, inside, tmp_path)
    message = f"`sort` calls itself at line {line_of(text, '// the rest')} for a part of `a`, which may be a part of"
    assert site["message"] == f"{message} another block itself; a message needs a buffer of its own"
