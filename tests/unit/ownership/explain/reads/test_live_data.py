"""A message in live data says so, also where the analysis of its pointer does not come that far."""

from __future__ import annotations

from pathlib import Path

import pytest
from grid_programs import FIRST, ROW, TAKE, TWO, sites, told
from read_programs import line_of

from opi_xform.ownership.liveness.liveness import Judge

SWEEP = "for (int i = m; i < m * m - m; i++) b[i] = a[i - m] + a[i + m]; // HERE"
SWAP = "was = a; a = b; b = was; }"
OUT = 'printf("%g\\n", a[n]);'


def test_a_row_of_two_grids_that_change_places(tmp_path: Path) -> None:
    lines = [
        *TWO,
        FIRST,
        "for (int t = 0; t < 4; t++) {",
        f"double *edge = a + m * (n % 3); MPI_Send(edge, {ROW});",
        f"MPI_Recv(&a[(m - 1) * m], {ROW}, {TAKE}",
        SWEEP,
        "if (t % 3) { was = a; a = b; b = was; } }",
        OUT,
    ]
    text, found = sites(lines, tmp_path)
    at = line_of(text)
    assert [told(site) for site in found] == [("keep", "OPI101"), ("keep", "OPI201")]
    message = f"`edge` may be read at line {at} after the send, as `a`"  # which row goes out depends on n
    assert found[0]["message"] == message
    assert found[1]["message"] == f"line {at} may read bytes of `a` that this receive does not bring"


@pytest.mark.parametrize(
    ("send", "name"), [("a[0]", "a"), ("&a[n][0]", "a"), ("&a[1][1]", "a"), ("a[1] + 1", "a"), ("*(a + 1)", "a")]
)
def test_a_row_of_a_table_of_rows(send: str, name: str, tmp_path: Path) -> None:
    before = """static double **rows(int m)
{
    double **a = malloc(m * sizeof *a);
    a[0] = malloc(m * m * sizeof **a);
    for (int i = 1; i < m; i++) a[i] = a[0] + i * m;
    return a;
}
"""
    lines = [
        "int m = n + 2;",
        "double **a = rows(m), **b = rows(m), **was;",
        "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) a[i][j] = b[i][j] = i + j;",
        "for (int t = 0; t < 4; t++) {",
        f"MPI_Send({send}, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        f"MPI_Recv(&a[n + 1][1], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, {TAKE}",
        "for (int i = 1; i < m - 1; i++) for (int j = 1; j < m - 1; j++) b[i][j] = a[i - 1][j] + a[i + 1][j]; // HERE",
        SWAP,
        'printf("%g\\n", a[1][1]);',
    ]
    text, found = sites(lines, tmp_path, before)
    assert told(found[0]) == ("keep", "OPI101")
    where = f"the message lies in `{name}`, and line {line_of(text)} may read"
    assert found[0]["message"] == f"{where} there after the send, of the message or beside it"
    assert (told(found[1]), found[1]["message"]) == (
        ("keep", "OPI201"),
        f"{where} bytes there that this receive does not bring",
    )


def test_a_place_that_a_function_returns(tmp_path: Path) -> None:
    before = """static double *row(struct grid *g, int k) { return &g->u[k * g->ny]; }
static void share(struct grid *g, int m)
{
    double *top = row(g, 1);
    MPI_Send(top, m, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
static double sum(struct grid *g)
{
    double out = 0;
    for (int i = 0; i < g->nx * g->ny; i++) out += g->u[i]; // HERE
    return out;
}
"""
    lines = [
        "struct grid g = {n, n, NULL, NULL, NULL}, h = {n, n, NULL, NULL, NULL}, *of = n > 4 ? &g : &h;",
        "g.u = malloc(n * n * 8); h.u = malloc(n * n * 8);",
        "for (int i = 0; i < n * n; i++) g.u[i] = h.u[i] = i;",
        "share(of, n);",
        'printf("%g\\n", sum(of));',
    ]
    text, found = sites(lines, tmp_path, before)
    assert told(found[0]) == ("keep", "OPI101")
    wanted = f"the message lies in `top`, and line {line_of(text)} may read there after the send, as `g->u`"
    assert found[0]["message"] == f"{wanted}, of the message or beside it"


def test_a_buffer_that_is_packed_anew_is_no_live_data(tmp_path: Path) -> None:
    """Two buffers by turns, each filled before it is sent, and never read otherwise."""
    lines = [
        *TWO,
        "for (int t = 0; t < 4; t++) {",
        "double *p = t % 2 ? a : b;",
        "for (int i = 0; i < m; i++) p[i] = t + i;",
        f"MPI_Send(p, {ROW});",
        "}",
    ]
    _, found = sites(lines, tmp_path)
    assert told(found[0]) == ("keep", "OPI402")


def test_a_buffer_of_either_that_is_sent_twice(tmp_path: Path) -> None:
    lines = [
        *(line.replace("malloc(", "aligned_alloc(64, ") for line in TWO),  # of no pool
        "double *p = n > 7 ? a : b;",
        "for (int i = 0; i < m; i++) p[i] = i;",
        f"MPI_Send(p, {ROW});",
        f"MPI_Send(p, {ROW}); // HERE",
    ]
    text, found = sites(lines, tmp_path)
    wanted = f"the message lies in `p`, and line {line_of(text)} sends it, perhaps without all of it being written anew"
    assert (told(found[0]), found[0]["message"]) == (("keep", "OPI102"), wanted)
    assert told(found[1]) == ("keep", "OPI402")


def test_gaps_are_told_before_what_may_be_sent_again(tmp_path: Path) -> None:
    lines = [
        *TWO,
        "MPI_Datatype t;",
        "MPI_Type_vector(m / 2, 1, 2, MPI_DOUBLE, &t); // MADE",
        "MPI_Type_commit(&t);",
        "double *p = n > 7 ? a : b;",
        "for (int i = 0; i < m; i++) p[i] = i;",
        "MPI_Send(p, 1, t, 1, 7, MPI_COMM_WORLD);",
        "MPI_Send(p, 1, t, 1, 7, MPI_COMM_WORLD); // HERE",
    ]
    text, found = sites(lines, tmp_path)
    assert told(found[0]) == ("keep", "OPI107")
    gaps, again = (
        "could not show that the datatype has no gaps: ",
        f"; also, the message lies in `p`, and line {line_of(text)}",
    )
    assert found[0]["message"].startswith(gaps)
    assert again in found[0]["message"]


def test_pieces_that_a_loop_brings_are_not_told_as_live_data(tmp_path: Path) -> None:
    lines = [
        *TWO,
        "double *p = n > 7 ? a : b;",
        "for (int i = 0; i < m; i++) p[i] = i;",
        f"for (int k = 1; k < size; k++) MPI_Recv(&p[k * m], {ROW.replace('1, 0', 'k, 0')}, {TAKE}",
        'for (int i = 0; i < m * size; i++) printf("%g\\n", p[i]);',
    ]
    _, found = sites(lines, tmp_path)
    assert told(found[0]) == ("keep", "OPI204")
    wanted = "the call begins inside `p`, at a place that the program computes; a message needs a buffer of its own"
    assert found[0]["message"] == wanted


def test_a_row_of_its_own_is_brought_whole(tmp_path: Path) -> None:
    """Rows that are allocated one by one: what is read beside the message is another row."""
    lines = [
        "int m = n + 2;",
        "double **a = malloc(m * sizeof *a), **b = malloc(m * sizeof *b), **was;",
        "for (int i = 0; i < m; i++) { a[i] = malloc(m * 8); b[i] = malloc(m * 8); }",
        "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) a[i][j] = b[i][j] = i + j;",
        "for (int t = 0; t < 4; t++) {",
        f"MPI_Recv(a[0], {ROW}, {TAKE}",
        "for (int i = 1; i < m - 1; i++) for (int j = 0; j < m; j++) b[i][j] = a[i - 1][j] + a[i + 1][j];",
        SWAP,
    ]
    _, found = sites(lines, tmp_path)
    assert told(found[0]) == ("keep", "OPI402")


def test_what_lasts_goes_before_what_one_can_remove(tmp_path: Path) -> None:
    """A name in other text, and a form of call, are told where nothing else keeps the site."""
    before = """static double u[M];
#ifdef _WIN32
static double *other(void) { return u; }
#endif
"""
    fill = "for (int i = 0; i < M; i++) u[i] = i;"
    send = "MPI_{}(u, M, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
    again = 'printf("%g\\n", u[3]); // HERE'
    assert told(sites([fill, send.format("Send")], tmp_path, before)[1][0]) == ("keep", "OPI112")
    text, found = sites([fill, send.format("Send"), again], tmp_path, before)
    assert told(found[0]) == ("keep", "OPI101")
    assert found[0]["message"].startswith(f"`u` is read at line {line_of(text)} after the send")
    plain = "static double u[M];\n"
    assert told(sites([fill, send.format("Bsend")], tmp_path, plain)[1][0]) == ("keep", "OPI107")
    assert told(sites([fill, send.format("Bsend"), again], tmp_path, plain)[1][0]) == ("keep", "OPI101")
    assert told(sites([fill, send.format("Bsend")], tmp_path, before)[1][0]) == ("keep", "OPI107")


def test_a_persistent_request_is_told_as_such(tmp_path: Path) -> None:
    before = """static double u[M];
#ifdef _WIN32
static double *other(void) { return u; }
#endif
"""
    lines = [
        "MPI_Request rq;",
        "MPI_Send_init(u, M, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &rq);",
        "for (int i = 0; i < M; i++) u[i] += i;",
        "MPI_Start(&rq); MPI_Wait(&rq, MPI_STATUS_IGNORE);",
    ]
    assert told(sites(lines, tmp_path, before)[1][0]) == ("keep", "OPI107")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("int to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL; // HERE", "line {} sets it so"),
        ("int to = -1; if (rank) to = rank - 1; // HERE", "line {} sets it to -1, which that is"),
        ("int to = atoi(argv[2]); // HERE", "it depends on what `atoi` gives at line {}"),
        (
            "int to, by; MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &by, &to); // HERE",
            "`MPI_Cart_shift` at line {} may say so",
        ),
        (
            "int at[4]; for (int i = 0; i < 4; i++) at[i] = MPI_PROC_NULL; /* HERE */ at[n & 3] = n; int to = at[1];",
            "line {} sets it so",
        ),
        ('int to; scanf("%d", &to); // HERE', "it depends on what `scanf` gives at line {}"),
        (
            "int to; MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD); to = n; // HERE",
            "it depends on what comes with `MPI_Bcast` at line {}",
        ),
    ],
)
def test_where_the_source_comes_from(source: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Judge, "may_replace", lambda judge, use: False)  # as where the buffer cannot be left in place
    lines = [
        source,
        "double b[M]; for (int i = 0; i < M; i++) b[i] = i;",
        f"MPI_Recv(b, M, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, {TAKE}",
        'printf("%g\\n", b[3]);',
    ]
    text, found = sites(lines, tmp_path)
    assert told(found[0]) == ("keep", "OPI203")
    null = "could not show that the source is not" if "depends on" in why else "the source may be"
    assert f"{null} MPI_PROC_NULL ({why.format(line_of(text))}" in found[0]["message"]
    hint = "a test of the source against MPI_PROC_NULL around the call would let it convert"
    assert found[0]["message"].endswith(hint)
    lines[2] = f"if (to != MPI_PROC_NULL) {lines[2]}"
    assert told(sites(lines, tmp_path)[1][0])[0] == "convert"


def test_a_test_around_the_call_is_no_advice_where_that_changes_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody looks at the status, or at what the memory began with."""
    monkeypatch.setattr(Judge, "may_replace", lambda judge, use: False)
    take = "MPI_Recv(b, M, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, {});"
    lines = ["int to = atoi(argv[2]); MPI_Status s;", "double b[M];", take.format("&s"), 'printf("%g\\n", b[3]);']
    fill = "for (int i = 0; i < M; i++) b[i] = i;"
    _, found = sites([*lines[:2], fill, *lines[2:]], tmp_path)
    assert "around the call" not in found[0]["message"]
    lines[1:3] = ["static double b[M];", take.format("MPI_STATUS_IGNORE")]
    _, found = sites(lines, tmp_path)
    assert found[0]["decision"] == "keep"
    assert "around the call" not in found[0]["message"]


def test_the_read_that_decides_may_be_far_away(tmp_path: Path) -> None:
    """What is read near the send was received after it; what is sent again is only half of it written anew."""
    lines = [
        "static double b[M];",
        "for (int i = 0; i < M; i++) b[i] = i;",
        "for (int t = 0; t < 4; t++) {",
        "for (int i = 0; i < M / 2; i++) b[i] = t;",
        "MPI_Send(b, M, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); // HERE",
        "static double other; other += t;",
        f"MPI_Recv(b, M / 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, {TAKE}",
        *(f'printf("%g\\n", b[{k}]);' for k in range(12)),
        "}",
    ]
    text, found = sites(lines, tmp_path)
    wanted = f"not all bytes of `b` that line {line_of(text)} sends are surely written after this send"
    assert (told(found[0]), found[0]["message"].partition(";")[0]) == (("keep", "OPI102"), wanted)


def test_a_read_that_may_lie_beside_the_message_is_not_told_as_a_fact(tmp_path: Path) -> None:
    lines = [
        "static double b[M]; int k = atoi(argv[2]), j = atoi(argv[3]);",
        "for (int i = 0; i < M; i++) b[i] = i;",
        "MPI_Send(b, k, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        'for (int i = j; i < M; i++) printf("%g\\n", b[i]); // HERE',
    ]
    text, found = sites(lines, tmp_path)
    wanted = f"`b` may be read at line {line_of(text)} after the send"
    assert (told(found[0]), found[0]["message"].partition(";")[0]) == (("keep", "OPI101"), wanted)


def test_a_read_goes_before_a_send_that_needs_as_much(tmp_path: Path) -> None:
    lines = [
        "static double b[M], c[M];",
        "for (int i = 0; i < M; i++) b[i] = i;",
        "MPI_Send(b, M, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        "MPI_Send(b, M, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);",
        "for (int i = 0; i < M; i++) c[i] = b[i]; // HERE",
        'printf("%g\\n", c[n]);',
    ]
    text, found = sites(lines, tmp_path)
    wanted = f"`b` is read at line {line_of(text)} after the send"
    assert (told(found[0]), found[0]["message"].partition(";")[0]) == (("keep", "OPI101"), wanted)


@pytest.mark.parametrize("side", ["send", "recv"])
def test_a_row_of_a_grid_that_changes_places_is_read_by_the_other_name(side: str, tmp_path: Path) -> None:
    """The row is of the grid that was computed; the next turn reads it by the name that it has then."""
    call = f"MPI_Send(&b[m * (n % 3)], {ROW});" if side == "send" else f"MPI_Recv(&b[m * (n % 3)], {ROW}, {TAKE}"
    lines = [*TWO, FIRST, "for (int t = 0; t < 4; t++) {", SWEEP, "if (rank < size - 1)", call, SWAP, OUT]
    text, found = sites(lines, tmp_path)
    assert told(found[0]) == ("keep", "OPI101" if side == "send" else "OPI201")
    where = f"the message lies in `b`, which changes places with `a`, and line {line_of(text)} may read "
    assert found[0]["message"].startswith(where)


def test_a_place_is_told_before_its_derived_type(tmp_path: Path) -> None:
    lines = [
        "double *a = malloc(n * n * 8);",
        "MPI_Datatype column; MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column); MPI_Type_commit(&column); // HERE",
        "for (int i = 0; i < n * n; i++) a[i] = i;",
        "MPI_Send(&a[n - 1], 1, column, 1, 0, MPI_COMM_WORLD);",
        "free(a);",
    ]
    text, found = sites(lines, tmp_path)
    assert told(found[0]) == ("keep", "OPI104")
    assert f"it is made by `MPI_Type_vector` at line {line_of(text)}" in found[0]["message"]


def test_a_place_inside_is_told_before_how_the_memory_comes(tmp_path: Path) -> None:
    make = "static void make(double **p, int n) { *p = malloc(n * 8); }\n"
    make += "static void fill(double **p, int n) { make(p, n); }\n"
    lines = [
        "double *a = NULL;",
        "if (rank == 0) { a = (double *)malloc(2 * n * 8); a = a ? a : 0; } else fill(&a, 2 * n);",
        "for (int i = 0; i < 2 * n; i++) a[i] = i;",
        "if (rank == 0) MPI_Send(&a[n], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        "free(a);",
    ]
    _, found = sites(lines, tmp_path, make)
    assert "the call begins inside `a`, at a place that the program computes" in found[0]["message"]


def test_a_loop_that_keeps_the_smaller_reads_what_was_sent_before_it_writes(tmp_path: Path) -> None:
    """The block is another one in the next turn, which the loop that compares in this turn comes before."""
    before = """static void keep(double *mine, double *came, int n, int low)
{
    if (low) for (int i = 0; i < n; i++) { if (mine[i] > came[i]) mine[i] = came[i]; } // HERE
    else for (int i = 0; i < n; i++) mine[i] = came[i];
}
static void trade(int n, double *mine, int low)
{
    double *came = malloc(n * 8);
    MPI_Sendrecv(mine, n, MPI_DOUBLE, 1, 0, came, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    keep(mine, came, n, low);
    free(came);
}
static void turn(int n, double **all)
{
    double *next = malloc(n * 8);
    for (int i = 0; i < n; i++) next[n - 1 - i] = (*all)[i];
    free(*all);
    *all = next;
}
"""
    lines = ["double *a = malloc(n * 8);", "for (int i = 0; i < n; i++) a[i] = i;"]
    lines += ["for (int t = 0; t < size; t++) { trade(n, a, t & 1); turn(n, &a); }", 'printf("%g\\n", a[0]);']
    text, found = sites(lines, tmp_path, before)
    message = f"the message lies in `mine`, and line {line_of(text)} may read it there after the send"
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", message)


@pytest.mark.parametrize("one", [False, True])
def test_a_row_that_an_inner_loop_sends_to_several_ranks(tmp_path: Path, one: bool) -> None:
    """The outer loop goes on to another row, and what it reads meanwhile lies in further ones."""
    before = """static void reduce(double **a, int n, int size)
{
    for (int k = 0; k < n; k++) {
        for (int to = 1; to < size; to++) // LOOP
            MPI_Send(&a[k][0], n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
        for (int i = k + 1; i < n; i++) for (int j = 0; j < n; j++) a[i][j] += a[i][k];
    }
}
"""
    lines = []
    for name in "ab":
        lines.append(f"double **{name} = malloc(n * sizeof *a); for (int i = 0; i < n; i++) {name}[i] = malloc(n * 8);")
        lines.append(f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {name}[i][j] = i + j;")
    text, found = sites([*lines, f"reduce({'a' if one else 'n > 4 ? a : b'}, n, size);"], tmp_path, before)
    again = f"again in the next turn of the loop in line {line_of(text, 'LOOP')}, in which nothing is written to it"
    message = f"`a[…]` may be sent {again}" if one else f"the message lies in `a`, and this call sends it {again}"
    assert (found[0]["code"], found[0]["message"].partition("; ")[0]) == ("OPI102", message)


def test_a_row_that_an_inner_loop_writes_is_not_the_same_in_its_next_turn(tmp_path: Path) -> None:
    lines = [
        "double **a = malloc(n * sizeof *a); for (int i = 0; i < n; i++) a[i] = malloc(n * 8);",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = i + j;",
        "for (int k = 0; k < n; k++)",
        "for (int to = 1; to < size; to++) { a[k][0] = to; MPI_Send(a[k], n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); }",
    ]
    assert "next turn" not in sites(lines, tmp_path)[1][0]["message"]
