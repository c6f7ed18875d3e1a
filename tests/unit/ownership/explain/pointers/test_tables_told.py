"""``opi_xform.ownership.explain.pointers.same_words``: one text for the rows of several tables."""

from __future__ import annotations

from pathlib import Path

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
