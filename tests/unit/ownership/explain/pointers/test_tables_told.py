"""``opi_xform.ownership.explain.pointers.same_words``: one text for the rows of several tables; and ``touched``.

``opi_xform.ownership.explain.pointers.unknown_roots``: pointers that are read through one that is not known.
``opi_xform.ownership.explain.pointers.returned``, ``settings``: where such pointers are set.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from core_support import last
from told_programs import kept, line_of

from opi_xform.ownership.explain.pointers.touched import of_other_members

SHOW = """static void show(double **t, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s += t[i][j]; // HERE
}
"""
INSIDE = """
    double **a = malloc(n * sizeof *a), **b = malloc(n * sizeof *b);
    for (int i = 0; i < n; i++) a[i] = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) b[i] = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) MPI_Recv(a[i], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i][j] = 2 * a[i][j];
    show(a, n); // ONE
    show(b, n); // OTHER
"""


def test_a_function_that_is_called_for_two_tables_is_named(tmp_path: Path) -> None:
    text, site = kept(SHOW, INSIDE, tmp_path)
    told = f"line {line_of(text, 'HERE')}, in `show`, names rows of `a` and of other tables by the same words"
    assert (site["code"], site["message"]) == ("OPI402", f"{told}: rows are followed where such words mean one table")
    lines = [line_of(text, mark) for mark in ("HERE", "ONE", "OTHER")]
    assert [note["line"] for note in site["notes"]] == lines


def test_the_first_row_of_such_a_table(tmp_path: Path) -> None:
    """That a number names one row, and a loop others, is no reason where the rows of two tables are named alike."""
    first = INSIDE.replace("for (int i = 0; i < n; i++) MPI_Recv(a[i]", "MPI_Recv(a[0]")
    text, site = kept(SHOW, first, tmp_path)
    told = f"line {line_of(text, 'HERE')}, in `show`, names rows of `a` and of other tables by the same words"
    assert (site["code"], site["message"]) == ("OPI402", f"{told}: rows are followed where such words mean one table")


ROWS = """
    DECLARED
    for (int i = 0; i < 8; i++) a[i] = malloc(n * sizeof(double)); // HARMLESS
    if (n > 4) for (int i = 2; i < 8; i++) OTHERS // HERE
    for (int i = 0; i < 8; i++) for (int j = 0; j < n; j++) a[i][j] = j;
    for (int i = 0; i < 8; i++) MPI_Send(a[i], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
"""
FRESH = "static double *fresh(int n)\n{\n    return malloc(n * sizeof(double));\n}\n"


@pytest.mark.parametrize("table", ["double *a[8]", "double **a = malloc(8 * sizeof *a)"])
@pytest.mark.parametrize("others", ["a[i] = pool + i * n;", "{ double *p = pool + i * n; a[i] = p; }"])
def test_lines_that_put_other_memory_into_a_table_are_the_obstacle(table: str, others: str, tmp_path: Path) -> None:
    """The line that allocates each row is none."""
    body = ROWS.replace("DECLARED", f"{table}, *pool = malloc(8 * n * sizeof(double));").replace("OTHERS", others)
    text, site = kept("", body, tmp_path)
    here = line_of(text, "HERE")
    if "**" in table:
        assert f"line {here} " in site["message"]
    else:
        assert (site["code"], site["message"].split(": ")[1]) == ("OPI114", f"line {here} puts other memory there")
    assert [note["line"] for note in site["notes"]] == [here]


def test_what_a_function_allocates_for_a_row_is_not_told_as_other_memory(tmp_path: Path) -> None:
    more = "double *a[8], *pool = malloc(8 * n * sizeof(double)); a[1] = pool;"
    body = ROWS.replace("DECLARED", more).replace("OTHERS", "a[i] = fresh(n);")
    _, site = kept(FRESH, body, tmp_path)
    assert "other memory" not in site["message"]


STRUCTS = "struct in { char *a, *t[4]; }; struct s { char *a, *b, *t[4]; struct in in; } v, *p; char *q, *r[3];\n"


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("p->a", "p->b", True),
        ("p->a", "v.a", False),  # which struct it is may be unknown
        ("p->t[1]", "v.t[2]", False),
        ("p->t[1]", "p->a", True),
        ("p->t[1]", "p->in.t[1]", True),
        ("p->in.a", "v.in.a", False),
        ("q", "p->a", False),  # no member: it may be anything
        ("r[1]", "p->a", False),
    ],
)
def test_members_by_their_words(one: str, other: str, apart: bool) -> None:
    first, second = (last(f"{STRUCTS}char *f(int n) {{ (void)0; return {text}; }}") for text in (one, other))
    assert of_other_members(first, second) is apart
    assert of_other_members(second, first) is apart


TABLES = """
    double ***a = malloc(n * sizeof *a);
    for (int k = 0; k < n; k++) {
        a[k] = rows(n);
        for (int j = 0; j < n; j++) a[k][j] = malloc(n * sizeof(double));
    }
    for (int k = 0; k < n; k++) for (int j = 0; j < n; j++)
        MPI_Recv(a[k][j], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) s += a[k][j][i];
"""
MAKER = """
static double **rows(int n)
{
    if (n > 3) return malloc(n * sizeof(double *)); // FEW
    return malloc(2 * n * sizeof(double *)); // MANY
}
"""
GROUPS = """
struct group { double *out; };
static struct { struct group *of[4][4]; } all;
static struct group *made(int n)
{
    struct group *g = malloc(sizeof *g);
    g->out = malloc(n * sizeof(double));
    return g;
}
static struct group *more(int n)
{
    struct group *g = malloc(2 * sizeof *g);
    g->out = malloc(n * sizeof(double));
    return g;
}
"""
ONE_OF_FOUR = """
    for (int k = 0; k < 4; k++) for (int j = 0; j < 4; j++) all.of[k][j] = n > 4 ? made(n) : more(n); // SET
    for (int k = 0; k < 4; k++) for (int j = 0; j < 4; j++)
        MPI_Recv(all.of[k][j]->out, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < 4; k++) for (int j = 0; j < 4; j++) for (int i = 0; i < n; i++) s += all.of[k][j]->out[i];
"""
NO_VALUE = """
struct halo { double *in; };
static struct halo *made(int n) // FUNCTION
{
    struct halo *h = malloc(sizeof *h);
    h->in = malloc(n * sizeof(double));
RETURN}
"""
USED = """
    struct halo *h = made(n); // USED
    MPI_Recv(h->in, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) s += h->in[i];
"""


def test_a_table_of_tables(tmp_path: Path) -> None:
    text, site = kept(MAKER, TABLES, tmp_path)
    few, many = line_of(text, "FEW"), line_of(text, "MANY")
    told = f"`a[…]` is one of several tables of pointers, which line {few} and {many} allocate"
    told += ", so `a[…][…]` may be a row of any"
    assert (site["code"], site["message"]) == (
        "OPI402",
        f"{told} of them; rows of one table, by one index, would be told apart",
    )
    assert [note["line"] for note in site["notes"]] == [few, many]


def test_rows_of_one_table_convert(tmp_path: Path) -> None:
    """What the reason says would help."""
    one = TABLES.replace("double ***a = malloc(n", "double **a = malloc(n * n").replace("        a[k] = rows(n);\n", "")
    one = one.replace("for (int k = 0; k < n; k++) {", "{").replace("for (int k = 0; k < n; k++) for", "for")
    one = one.replace("int j = 0; j < n; j++", "int j = 0; j < n * n; j++").replace("a[k][j]", "a[j]")
    _, site = kept("", one + "    MPI_Send(&n, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);\n", tmp_path)
    assert site["code"] == "OPI108"


def test_a_table_of_structs(tmp_path: Path) -> None:
    text, site = kept(GROUPS, ONE_OF_FOUR, tmp_path)
    told = f"`all.of[…][…]` is one of several structs, which line {line_of(text, 'SET')} sets"
    assert (site["code"], site["message"]) == (
        "OPI402",
        f"{told}, so `all.of[…][…]->out` may be that of any of them",
    )


def test_a_function_that_ends_without_a_value(tmp_path: Path) -> None:
    text, site = kept(NO_VALUE.replace("RETURN", ""), USED, tmp_path)
    told = "`made` ends without returning a value, so what `h` points to is not known"
    assert (site["code"], site["message"]) == ("OPI402", f"{told}, and `h->in` may be any of several buffers")
    assert [note["line"] for note in site["notes"]] == [line_of(text, "FUNCTION"), line_of(text, "USED")]


def test_with_a_value_it_converts(tmp_path: Path) -> None:
    _, site = kept(
        NO_VALUE.replace("RETURN", "    return h;\n"),
        USED + "    MPI_Send(&n, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);\n",
        tmp_path,
    )
    assert site["code"] == "OPI108"


READ = """
static double *filled(int n)
{
    double *b = malloc(n * sizeof(double)); // ALLOCATED
    for (int i = 0; i < n; i++) b[i] = i;
    return b;
}
static double *either(int n)
{
    double *b;
    if (n == 0) {
        b = malloc(sizeof(double)); // FIRST
        b[0] = 1;
        return b;
    }
    b = malloc(n * sizeof(double)); // SECOND
    for (int i = 0; i < n; i++) b[i] = i;
    return b;
}
"""
LASTING = """
    double *a = NULL;
    if (rank == 0) {
        double *other = filled(2 * n); // OTHER
        s = other[1];
        free(other);
        a = filled(n);
    } else {
        a = malloc((n + 1) * sizeof(double));
        a[n] = 0;
        MPI_Recv(a, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < n; i++) s += a[i];
    free(a);
"""


def test_a_function_that_allocates_for_other_memory(tmp_path: Path) -> None:
    text, site = kept(READ, LASTING, tmp_path)
    told = f"`filled`, which allocates `a` at line {line_of(text, 'ALLOCATED')}, allocates other memory for line"
    told += f" {line_of(text, 'OTHER')}; a function for `a` alone could be followed"
    assert (site["code"], site["message"]) == ("OPI215", told)
    alone = LASTING.replace("filled(2 * n)", "malloc(2 * n * sizeof(double))").replace("s = other[1];", "")
    _, site = kept(READ, alone + "    MPI_Send(&n, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);\n", tmp_path)
    assert site["code"] == "OPI108"


def test_a_function_that_allocates_in_several_places(tmp_path: Path) -> None:
    text, site = kept(READ, LASTING.replace("a = filled(n)", "a = either(n)"), tmp_path)
    first, second = line_of(text, "FIRST"), line_of(text, "SECOND")
    told = f"`either`, which allocates `a`, sets `b` to memory at line {first} and {second}"
    assert (site["code"], site["message"]) == ("OPI215", f"{told}; with one allocation in it, it could be followed")


MATRIX = """
struct matrix { int n; double *all; };
static struct matrix *made(int n)
{
    struct matrix *m = malloc(sizeof *m);
    m->all = malloc(n * sizeof(double));
    return m;
}
static void gone(struct matrix *m)
{
    free(m->all);
    free(m); // FREED
}
"""
EITHER = """
    struct matrix *mine;
    if (rank == 0) {
        mine = made(2 * n); // ONE
        mine->all[0] = n;
    } else {
        mine = made(n); // OTHER
        MPI_Recv(mine->all, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < n; i++) s += mine->all[i];
    gone(mine);
"""


def test_a_struct_that_is_freed_as_one_of_several(tmp_path: Path) -> None:
    text, site = kept(MATRIX, EITHER, tmp_path)
    freed, one, other = (line_of(text, mark) for mark in ("FREED", "ONE", "OTHER"))
    told = f"line {freed} frees one of several structs, by `m`, and that of `mine->all` may be it"
    assert (site["code"], site["message"]) == ("OPI402", f"{told}: `mine` is set at line {one} and {other}")
    assert [note["line"] for note in site["notes"]] == [freed, one, other]


TWICE = """
    double **a;
    if (rank == 0) {
        a = malloc(n * sizeof *a); // ONE
        for (int j = 0; j < n; j++) a[j] = calloc(n, sizeof(double));
    } else {
        a = malloc(2 * n * sizeof *a); // OTHER
        for (int j = 0; j < n; j++) a[j] = malloc(n * sizeof(double));
    }
    if (rank == 1)
        for (int j = 0; j < n; j++) MPI_Recv(a[j], n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) s += a[j][i];
"""


def test_a_table_that_is_set_in_two_arms(tmp_path: Path) -> None:
    text, site = kept("", TWICE, tmp_path)
    one, other = line_of(text, "ONE"), line_of(text, "OTHER")
    assert site["code"] == "OPI402"
    assert f"line {one}" in site["message"] or f"line {other}" in site["message"]
    assert {note["line"] for note in site["notes"]} == {one, other}


CLEARS = """
struct list { int *items; int length; };
static void clear(struct list *a)
{
    a->length = -1; // WRITTEN
}
"""
UNSET = """
    int *b = malloc(n * sizeof(int));
    struct list *lists;
    for (int k = 0; k < n; k++) {
        clear(&lists[k]); // CALLED
        MPI_Recv(b, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) s += b[i];
    }
    free(b);
"""


def test_what_is_written_by_a_pointer_that_no_line_sets(tmp_path: Path) -> None:
    """It may be the end of a message that is shorter: the line alone would tell nobody why."""
    text, site = kept(CLEARS, UNSET, tmp_path)
    written, called = line_of(text, "WRITTEN"), line_of(text, "CALLED")
    told = f"the message may be shorter than `b`, and line {written} may put its end there"
    why = "could not show which memory `a` points to there, as no line sets `lists`"
    assert (site["code"], site["message"]) == ("OPI210", f"{told}: {why}")
    assert [note["line"] for note in site["notes"]] == [written, called]
    known = UNSET.replace("*lists;", "lists[9];").replace("&lists[k]", "&lists[k % 9]")
    _, site = kept(CLEARS, known + "    MPI_Send(&n, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);\n", tmp_path)
    assert site["code"] == "OPI108"
