"""Rows of tables: what sets a row to no memory of its own, and reads that are of another turn's row."""

from __future__ import annotations

from pathlib import Path

from opi_xform.ownership.explain.other_pointers import other_turns_rows
from opi_xform.ownership.explain.pointers.settings import set_once
from tests.unit.ownership.explain.pointers.test_second_names_told import sites
from tests.unit.ownership.explain.pointers.told_programs import line_of

WORDS = (set_once, other_turns_rows)  # what is tested here, by way of the whole tool

NAMES = [
    "char **names = malloc(n * sizeof(char *));",
    'for (int i = 0; i < n; i++) { names[i] = malloc(100); sprintf(names[i], "file %d", i); }',
    "int next = 0;",
    "for (int i = 1; i < n; i++) {",
    "MPI_Send(names[next], strlen(names[next]) + 1, MPI_CHAR, i, 0, MPI_COMM_WORLD); // SENT",
    "next++; }",
    'names[0] = strcpy(names[0], "none"); // COPIED',
    "for (int i = 0; i < n; i++) puts(names[i]); // READ",
]


def test_the_length_of_the_next_text_is_no_read_of_this_one(tmp_path: Path) -> None:
    text, found = sites("#include <string.h>\n", [*NAMES[:6], NAMES[7]], tmp_path)
    assert found[0]["code"] == "OPI101"
    assert f"line {line_of(text, 'SENT')} may read" not in found[0]["message"]


def test_what_a_library_function_returns_is_named(tmp_path: Path) -> None:
    lines = [
        NAMES[0],
        "for (int i = 0; i < n; i++) names[i] = malloc(100);",
        "for (int i = 0; i < n; i++)",
        "MPI_Recv(names[i], 100, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        NAMES[6],
        "for (int i = 0; i < n; i++) puts(names[i]);",
    ]
    text, found = sites("#include <string.h>\n", lines, tmp_path)
    what = "what `strcpy` returns, which is not known to be fresh memory of its own"
    message = f"line {line_of(text, 'COPIED')} sets `names[…]` to {what}"
    assert [(site["code"], site["message"]) for site in found] == [("OPI402", message)]


def test_a_receive_of_a_count_that_is_no_constant_could_not_be_shown_to_bring_all(tmp_path: Path) -> None:
    lines = [
        "int sizes[4]; double *b = malloc(n * sizeof(double));",
        "MPI_Bcast(sizes, 4, MPI_INT, 0, MPI_COMM_WORLD);",
        "MPI_Recv(b, sizes[1], MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "for (int i = 0; i < sizes[2]; i++) s += b[i]; // READ",
        "free(b);",
    ]
    text, found = sites("", lines, tmp_path)
    message = f"could not show that line {line_of(text, 'READ')} reads only those bytes of `b` that this receive brings"
    assert (found[0]["code"], found[0]["message"]) == ("OPI202", message)


def test_a_read_in_the_other_arm_of_a_test_comes_in_a_later_turn(tmp_path: Path) -> None:
    lines = [
        "int half = n; double *mine = malloc(n * sizeof(double)), *other = malloc(n * sizeof(double));",
        "for (int i = 0; i < n; i++) mine[i] = i;",
        "while (half > 1) { // LOOP",
        "if (rank >= half / 2 && rank < n) {",
        "MPI_Send(mine, n, MPI_DOUBLE, rank - half / 2, 0, MPI_COMM_WORLD);",
        "} else if (rank < half / 2) {",
        "MPI_Recv(other, n, MPI_DOUBLE, rank + half / 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "for (int i = 0; i < n; i++) mine[i] += other[i]; } // READ",
        "half /= 2; }",
        "s += other[0]; free(mine); free(other);",
    ]
    text, found = sites("", lines, tmp_path)
    turn = f"in a later turn of the loop in line {line_of(text, 'LOOP')}"
    message = f"`mine` may be read at line {line_of(text, 'READ')} {turn}"
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", message)
