"""What is read or written is told by the name that it has where that is done, and of the function that does it."""

from __future__ import annotations

from pathlib import Path

from read_programs import TO, line_of, sites


def test_what_packs_a_message_is_told_of_its_own_function(tmp_path: Path) -> None:
    """What others write into the buffer is told where the function itself, with what it calls, writes nothing."""
    before = """void other(int *n);
static double *b;
static void clear(void) { b[0] = 0; }
static void pack(int n) { for (int i = 0; i < n; i++) b[i] = u[i]; } // HERE
static void give(int n)
{
    int got = 0;
    other(&got);
    pack(got);
    MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
"""
    lines = ["b = malloc(n * 8);", "for (int t = 0; t < n; t++) {", "if (t > 5) clear();", "give(n);", "}"]
    text, found = sites(lines, tmp_path, before)
    assert found[0]["code"] == "OPI102"
    written = [note["line"] for note in found[0]["notes"] if note["message"] == "`b` is written here"]
    assert written == [line_of(text)]


def test_a_read_in_another_function_goes_by_the_name_there(tmp_path: Path) -> None:
    """The call's own pointer has changed places with its parameter, and is not there where that is read."""
    before = f"""static void trade(double **a, double **b) {{ double *t = *a; *a = *b; *b = t; }}
static double sum(const double *tally, int n)
{{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += tally[i]; // HERE
    return s;
}}
static void show(double *given, int n)
{{
    double *space = malloc(n * 8), *here = space;
    trade(&given, &here); // TRADED
    MPI_Send(here, n, MPI_DOUBLE, {TO}
    free(space);
}}
"""
    lines = [
        "double *all = malloc(n * 8);",
        "for (int i = 0; i < n; i++) all[i] = i;",
        "show(all, n);",
        "s = sum(all, n); // LATER",
    ]
    text, found = sites(lines, tmp_path, before)
    assert found[0]["message"] == f"`here` is read at line {line_of(text)} after the send, as `tally`"
    wanted = [(line_of(text, "TRADED"), "`here` is set here"), (line_of(text), "`tally` is read here")]
    wanted.append((line_of(text, "LATER"), "called from here"))
    assert [(note["line"], note["message"]) for note in found[0]["notes"]] == wanted


def test_what_a_call_reads_is_told_by_the_name_that_the_call_has_for_it(tmp_path: Path) -> None:
    """`memcpy` writes to the memory by one name, and reads what the other one may stand for."""
    before = """static void copy(double *all, double *mine, int n, int at)
{
    memcpy(all + at, mine, n * sizeof *all); // HERE
}
static void ship(double *all, double *mine, int n, int at)
{
    if (all == NULL)
        all = mine;
    else
        memcpy(all + at, mine, n * sizeof *all);
    MPI_Send(all + at, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
"""
    lines = ["double *a = malloc(n * 80), *b = malloc(n * 80);", "for (int i = 0; i < 10 * n; i++) a[i] = b[i] = i;"]
    lines += ["for (int t = 0; t < n; t++) {", "ship(t < 4 ? NULL : a, b, n, t % 9);", "copy(a, b, n, t % 9);", "}"]
    text, found = sites([*lines, 'printf("%g\\n", a[n]);'], tmp_path, before)
    message = f"the message lies in `all`, and line {line_of(text)} may read there after the send, as `mine`"
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", f"{message}, of the message or beside it")
    assert (found[0]["notes"][0]["line"], found[0]["notes"][0]["message"]) == (line_of(text), "`mine` may be read here")


def test_of_several_structs_that_one_function_gets_the_site_s_own_is_told(tmp_path: Path) -> None:
    before = """struct data { double *of; };
static void clean(struct data *d) { free(d->of); }
static void count(struct data *in, struct data *sums, int n)
{
    double *which = in->of, *many = sums->of;
    for (int k = 0; k < 64; k++) many[k] = 0;
    for (int i = 0; i < n; i++) many[(int)which[i]] += 1; // COUNT
}
"""
    lines = [
        "struct data all, sums;",
        "all.of = malloc(n * sizeof(double));",
        "sums.of = malloc(64 * sizeof(double));",
        "for (int i = 0; i < n; i++) all.of[i] = i % 64;",
        "for (int t = 0; t < 3; t++) { count(&all, &sums, n);",
        "  MPI_Send(sums.of, 64, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }",
        "clean(&all); clean(&sums);",
    ]
    text, found = sites(lines, tmp_path, before)
    line = line_of(text, "COUNT")
    words = f"could not show that line {line} reads only those bytes of `sums.of` that are written before it"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI101", words)


GRID = """typedef struct { int n, m; double *p; } Grid;
static void *room(size_t n) { void *p; if (posix_memalign(&p, 64, n)) exit(1); return p; }
static void begin(Grid *grid, int n)
{
    grid->n = grid->m = n;
    grid->p = room((size_t)n * n * 8);
    double *p = grid->p;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            p[i * n + j] = i;
}
static void exchange(Grid *grid, int rank)
{
    if (rank > 0) {
        double *src = &grid->p[grid->n], *dst = &grid->p[0];
        MPI_Send(src, grid->n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(dst, grid->n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
static double step(Grid *grid)
{
    double *p = grid->p, s = 0;
    for (int i = 1; i < grid->m; i++)
        for (int j = 0; j < grid->n; j++)
            s += p[i * grid->n + j] - p[(i - 1) * grid->n + j]; // HERE
    return s;
}
"""


def test_a_pointer_to_a_place_is_told_by_the_block_that_it_points_into(tmp_path: Path) -> None:
    """What another function reads is told of the block, which that function has, and not of the call's own pointer."""
    lines = [
        "Grid grid; begin(&grid, n);",
        "for (int t = 0; t < 9; t++) { exchange(&grid, rank); s += step(&grid); }",
    ]
    text, found = sites(lines, tmp_path, GRID)
    assert [site["code"] for site in found] == ["OPI101", "OPI201"]
    assert all("`grid->p`" in site["message"] and f"line {line_of(text)}" in site["message"] for site in found)
    assert not any("`src`" in site["message"] or "`dst`" in site["message"] for site in found)


def test_what_another_function_reads_is_told_with_the_call_of_both(tmp_path: Path) -> None:
    """No function of the send leads to the read: what leads to both does."""
    before = f"""static void send(double *b, int n) {{ MPI_Send(b, n, MPI_DOUBLE, {TO} }}
static double show(const double *b, int n) {{ double s = 0; for (int i = 0; i < n; i++) s += b[i]; return s; }} // HERE
"""
    lines = ["double *b = malloc(n * 8);", "for (int i = 0; i < n; i++) b[i] = i;", "send(b, n);"]
    text, found = sites([*lines, "s = show(b, n); // CALLED"], tmp_path, before)
    wanted = [(line_of(text), "`b` is read here"), (line_of(text, "CALLED"), "called from here")]
    assert [(note["line"], note["message"]) for note in found[0]["notes"]] == wanted
