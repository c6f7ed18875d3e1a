"""A block that is handed on in parts: what is told of the first of them.

That is ``opi_xform.ownership.explain.choosing.beginnings``.
"""

from __future__ import annotations

from pathlib import Path

from opi_xform.ownership.explain.choosing.beginnings import only_the_beginning
from tests.unit.ownership.explain.pointers.told_programs import kept, line_of

WORDS = (only_the_beginning,)  # what is tested here, by way of the whole tool

HALVES = """
    int *v;
    if (rank != 0) {
        v = malloc(n * sizeof(int));
        MPI_Recv(v, n, MPI_INT, (rank - 1) / 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        v = malloc(n * sizeof(int));
        for (int i = 0; i < n; i++) v[i] = n - i;
    }
    if (n > 1000) {
        MPI_Send(v, n / 2, MPI_INT, 2 * rank + 1, 0, MPI_COMM_WORLD);
        MPI_Send(&v[n / 2], n / 2, MPI_INT, 2 * rank + 2, 0, MPI_COMM_WORLD); // FURTHER
        MPI_Recv(v, n / 2, MPI_INT, 2 * rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&v[n / 2], n / 2, MPI_INT, 2 * rank + 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        v = joined(v, n);
    }
    printf("%d\\n", v[0]);
    free(v);
"""
JOINED = """static int *joined(int *a, int n)
{
    int *all = malloc(n * sizeof(int));
    for (int i = 0, l = 0, r = n / 2; i < n; i++)
        all[i] = r == n || (l < n / 2 && a[l] < a[r]) ? a[l++] : a[r++];
    return all;
}
"""


def test_the_first_part_of_a_block_that_is_sent_in_parts(tmp_path: Path) -> None:
    text, site = kept(JOINED, HALVES, tmp_path)
    message = f"the message is the beginning of the block that `v` names, and line {line_of(text, '// FURTHER')} sends"
    assert (site["code"], site["message"]) == (
        "OPI104",
        f"{message} from further in; a message needs a buffer of its own",
    )


def test_what_is_received_there_again_is_read_in_its_place(tmp_path: Path) -> None:
    first = "        MPI_Send(v, n / 2, MPI_INT, 2 * rank + 1, 0, MPI_COMM_WORLD);\n"
    _, site = kept(JOINED, HALVES.replace(first, ""), tmp_path)
    message = "the call begins inside `v`, at a place that the program computes; a message needs a buffer of its own"
    assert (site["code"], site["message"]) == ("OPI104", message)


def test_what_lies_further_in_a_block_of_another_struct(tmp_path: Path) -> None:
    """The same member of two structs points to two blocks."""
    top = "struct part { int *array; int n; };\n"
    body = """
    struct part *few[3], whole;
    for (int i = 0; i < 3; i++) {
        few[i] = malloc(sizeof(struct part));
        few[i]->array = malloc(n * sizeof(int));
        few[i]->n = 0;
    }
    whole.array = malloc(4 * n * sizeof(int));
    for (int i = 0; i < n; i++) few[i % 3]->array[few[i % 3]->n++] = i;
    for (int i = 0; i < 3; i++)
        if (i != rank) MPI_Send(few[i]->array, n, MPI_INT, i, 0, MPI_COMM_WORLD); // FIRST
    MPI_Recv(&whole.array[n * rank], n, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d\\n", whole.array[n]);
"""
    text, site = kept(top, body, tmp_path)
    assert site["line"] == line_of(text, "// FIRST")
    assert "further in" not in site["message"]
