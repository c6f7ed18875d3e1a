"""``opi_xform.ownership.explain.pointers.same_words``: one text for the rows of several tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from told_programs import kept, line_of

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
