"""``opi_xform.ownership.explain.pointers.same_words``: one text for the rows of several tables; and ``touched``."""

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
    assert (site["code"], site["message"]) == ("OPI402", f"{told}: all of them change, or none")
    lines = [line_of(text, mark) for mark in ("HERE", "ONE", "OTHER")]
    assert [note["line"] for note in site["notes"]] == lines


def test_the_first_row_of_such_a_table(tmp_path: Path) -> None:
    """That a number names one row, and a loop others, is no reason where the rows of two tables are named alike."""
    first = INSIDE.replace("for (int i = 0; i < n; i++) MPI_Recv(a[i]", "MPI_Recv(a[0]")
    text, site = kept(SHOW, first, tmp_path)
    told = f"line {line_of(text, 'HERE')}, in `show`, names rows of `a` and of other tables by the same words"
    assert (site["code"], site["message"]) == ("OPI402", f"{told}: all of them change, or none")


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
