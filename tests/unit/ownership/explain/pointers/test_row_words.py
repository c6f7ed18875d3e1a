"""Rows of tables: what sets a row to no memory of its own, reads of another turn's row, and rows named by numbers.

And a table in a struct of which another pointer is freed.
"""

from __future__ import annotations

from pathlib import Path

from opi_xform.ownership.explain.other_pointers import other_turns_rows
from opi_xform.ownership.explain.pointers.overwritten import overwritten, written_over
from opi_xform.ownership.explain.pointers.settings import set_once
from opi_xform.ownership.placement.row_graph import computed_row
from tests.unit.ownership.explain.pointers.test_second_names_told import sites
from tests.unit.ownership.explain.pointers.told_programs import first_site, line_of

WORDS = (
    set_once,
    other_turns_rows,
    overwritten,
    written_over,
    computed_row,
)  # what is tested here, by way of the whole tool

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


FROM = "k + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
GRID = f"""#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct {{ char **now, **old; int n; char rule[8]; char **got; }} Grid;
static void prepare(Grid *g, int k)
{{
    g->got = malloc(k * sizeof *g->got); // TABLE
    for (int i = 0; i < k; i++) g->got[i] = malloc(g->n);
}}
static void turn(Grid *g)
{{
    for (int i = 0; g->old && i < g->n; i++) free(g->old[i]);
    free(g->old); // FREED
    g->old = g->now;
    g->now = malloc(g->n * sizeof *g->now);
    for (int i = 0; i < g->n; i++) g->now[i] = malloc(g->n);
}}
int main(int argc, char **argv)
{{
    int size, s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Grid *g = malloc(sizeof *g);
    g->now = g->old = g->got = NULL;
    g->n = argc;
    strcpy(g->rule, argv[1]); // WRITTEN
    for (int t = 0; t < 5; t++) {{ // LOOP
        prepare(g, size);
        for (int k = 0; k < size - 1; k++) MPI_Recv(g->got[k], g->n, MPI_CHAR, {FROM}
        for (int k = 0; k < size - 1; k++) for (int i = 0; i < g->n; i++) s += g->got[k][i];
        turn(g);
    }}
    printf("%d\\n", s);
    MPI_Finalize();
}}
"""
MADE = "    g->got = malloc(k * sizeof *g->got); // TABLE\n"
ROWS = f"""#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{{
    int rank, n = atoi(argv[1]), s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *letters = "ABCDE", *text = argv[2];
    int **p = malloc(argc * sizeof *p);
    for (int k = 0; k < argc; k++) p[k] = malloc(n * sizeof(int)); // MADE
    for (int k = 0; k < argc; k++) MPI_Recv(p[k], n, MPI_INT, {FROM}
    for (int i = 0; i < n; i++) {{
        int c = strchr(letters, text[i]) - letters;
        s += p[c][i]; // USED
    }}
    for (int k = 0; k < argc; k++) free(p[k]);
    free(p);
    printf("%d\\n", s);
    MPI_Finalize();
}}
"""


def test_that_there_are_several_tables_comes_before_what_another_member_frees(tmp_path: Path) -> None:
    found = first_site(GRID, tmp_path)
    message = f"`g->got` is one of several tables of pointers: line {line_of(GRID, 'TABLE')} allocates one in each turn"
    message += f" of the loop in line {line_of(GRID, 'LOOP')}; one that is allocated before that loop would be one"
    assert (found["code"], found["message"]) == ("OPI402", message)


ONCE = GRID.replace(MADE, "").replace("    g->n = argc", "    g->got = malloc(size * sizeof *g->got);\n    g->n = argc")
DEEP = """#include <mpi.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
typedef struct { char ***now, ***old; int n; char rule[5]; char **got; } Grid;
static void prepare(Grid *g, int procs) {

    for (int i = 0; i < procs; i++) g->got[i] = malloc(g->n * g->n);
}
static char ***fresh(int n) {
    char ***p = malloc(n * sizeof *p);
    for (int i = 0; i < n; i++) { p[i] = malloc(n * sizeof *p[i]); for (int j = 0; j < n; j++) p[i][j] = malloc(n); }
    return p;
}
static void turn(Grid *g, char ***next) {
    if (g->old != NULL) {
        for (int i = 0; i < g->n; i++) { for (int j = 0; j < g->n; j++) free(g->old[i][j]); free(g->old[i]); }
        free(g->old); // FREED
        g->old = NULL;
        g->old = g->now;
    }
    g->now = next;
}
int main(int argc, char **argv) {
    int rank, size; double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        Grid *g = malloc(sizeof *g);
        g->now = fresh(10); g->old = NULL; g->n = 10; strcpy(g->rule, argv[1]); // WRITTEN
        g->got = malloc(size * sizeof *g->got);
        for (int t = 0; t < 5; t++) {
            prepare(g, size - 1);
            for (int k = 0; k < size - 1; k++)
                MPI_Recv(g->got[k], g->n * g->n, MPI_CHAR, k + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int k = 0; k < size - 1; k++) for (int i = 0; i < g->n * g->n; i++) s += g->got[k][i];
            turn(g, fresh(10));
        }
        printf("%f\\n", s);
    } else {
        char *b = malloc(100);
        for (int t = 0; t < 5; t++) { for (int i = 0; i < 100; i++) b[i] = i * t;
                                      MPI_Send(b, 100, MPI_CHAR, 0, 0, MPI_COMM_WORLD); }
        free(b);
    }
    MPI_Finalize();
}
"""


def test_what_is_freed_by_another_member_is_told_with_what_may_write_both(tmp_path: Path) -> None:
    found = first_site(DEEP, tmp_path)
    message = (
        f"line {line_of(DEEP, 'FREED')} frees `g->old`, and could not show that it is not what `g->got[…]` lies in"
    )
    message += f": `strcpy` writes an unknown number of bytes to their struct at line {line_of(DEEP, 'WRITTEN')}"
    assert (found["code"], found["message"]) == ("OPI402", message)


def test_a_call_that_may_write_over_the_pointer_is_told_where_nothing_else_sets_it(tmp_path: Path) -> None:
    found = first_site(ONCE, tmp_path)
    message = f"`strcpy` writes an unknown number of bytes to the struct of `g->got` at line {line_of(ONCE, 'WRITTEN')}"
    assert (found["code"], found["message"]) == ("OPI402", f"{message}: could not show what that points to by then")


def test_a_row_that_is_computed_is_told_and_not_that_the_pointer_may_not_be_set(tmp_path: Path) -> None:
    found = first_site(ROWS, tmp_path)
    message = f"it could not be shown which row of `p[…]` line {line_of(ROWS, 'USED')} uses"
    message += ": its index counts the turns of no loop there, so what is done to it may be done to the row of this"
    assert (found["code"], found["message"]) == ("OPI215", f"{message} message")
