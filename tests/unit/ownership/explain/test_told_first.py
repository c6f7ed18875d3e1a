"""What is told first is what a person would say: of several true reasons the lasting one, by names of the call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool

from opi_xform.ownership.explain.pointers.row_uses import SHOWN
from opi_xform.ownership.liveness.liveness import Judge

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
"""
MAIN = """
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
"""
TAIL = """
    MPI_Finalize();
    return 0;
}
"""
TO = "1, 0, MPI_COMM_WORLD);"
CELL = "struct cell { int old, now; };\n"
ROWS = [
    "struct cell **a = calloc(n, sizeof *a);",
    "for (int i = 0; i < n; i++) a[i] = calloc(n, sizeof(struct cell));",
]


def sites(lines: list[str], folder: Path, before: str = "", *flags: str) -> tuple[str, list[dict[str, Any]]]:
    text = HEAD + before + MAIN + "\n".join(lines) + TAIL
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "-j", "1", "--output-format", "json", "--", *flags])
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["sites"]
    assert {site["decision"] for site in found} == {"keep"}
    return text, found


def line_of(text: str, what: str = "HERE") -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if what in line)


def test_a_row_of_structs_is_read_by_their_members(tmp_path: Path) -> None:
    """The rows are memory of their own each, and of a type with a gap: the grid is what lasts."""
    made = "MPI_Datatype t; MPI_Type_vector(2, 1, 2, MPI_INT, &t); MPI_Type_commit(&t);"
    lines = [*ROWS, made, f"MPI_Send(&a[1][1], 1, t, {TO}", "int s = 0;"]
    lines += ["for (int i = 0; i < n; i++)", "for (int j = 0; j < n; j++)", "s += a[i][j].now; // HERE"]
    text, found = sites([*lines, 'printf("%d\\n", s);'], tmp_path, CELL)
    made = line_of(text, "MPI_Type_vector")
    wanted = (
        f"the message lies in `a`, and line {line_of(text)} may read there after the send, of the message or beside it"
        f"; also, could not show that the datatype has no gaps: it is made by `MPI_Type_vector` at line {made}"
    )
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", wanted)
    assert [note["line"] for note in found[0]["notes"]] == [line_of(text), made]


def test_a_line_that_reads_twice_is_noted_once(tmp_path: Path) -> None:
    lines = [*ROWS, "struct cell **b = a, **was = calloc(n, sizeof *was), **swap;", "int s = 0;"]
    lines += ["for (int i = 0; i < n; i++) was[i] = calloc(n, sizeof(struct cell));"]
    lines += ["for (int t = 0; t < n; t++) {", f"MPI_Send(&a[n - 2][1], n, MPI_INT, {TO}"]
    lines += ["for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) s += a[i][j].now + a[i - 1][j].old; // HERE"]
    lines += ["swap = a; a = was; was = swap;", "}", 'printf("%d %d\\n", s, b[0][0].now);']
    text, found = sites(lines, tmp_path, CELL)
    places = [(note["line"], note["message"]) for note in found[0]["notes"]]
    assert line_of(text) in [line for line, _ in places]
    assert len(places) == len(set(places))


def test_a_read_in_the_loop_of_the_send_goes_before_one_behind_it(tmp_path: Path) -> None:
    before = """struct cell { unsigned char old, now; };
static void blur(struct cell **to, struct cell **from, int n)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < n; j++)
            to[i][j].now = (from[i - 1][j].now + from[i + 1][j].now) / 2; // HERE
}
static void save(struct cell **a, int n)
{
    for (int i = 0; i < n; i++)
        fwrite(a[i], sizeof(struct cell), n, stdout);
}
"""
    two = [line.replace("a", "b", 1).replace(" a[", " b[") for line in ROWS]
    lines = [*ROWS, *two, "for (int t = 0; t < n; t++) {"]
    lines += [f"for (int k = 1; k < n; k++) MPI_Send(&a[k * 2][0], 2 * n, MPI_BYTE, {TO}"]
    lines += ["if (argv[1][0] == 'x') putchar('x');", "else if (t % 2) blur(b, a, n);", "else blur(a, b, n);", "}"]
    text, found = sites([*lines, "save(a, n);"], tmp_path, before)
    assert f"line {line_of(text)} may read there after the send, as `from`, of" in found[0]["message"]


def test_a_place_that_a_call_gives_has_the_name_behind_it(tmp_path: Path) -> None:
    before = """struct grid { int nx, ny; double *cells; };
static double *at(struct grid *g, int i, int j) { return g->cells + (i + j * g->nx); }
static void share(struct grid *g) { MPI_Send(at(g, 1, 0), g->nx, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }
static double sum(struct grid *g)
{
    double out = 0;
    for (int i = 0; i < g->nx; i++)
        out += *at(g, i, 1); // HERE
    return out;
}
"""
    lines = ["struct grid g = {n, n, NULL}, h = {n, n, NULL}, *of = n > 4 ? &g : &h;"]
    lines += ["g.cells = malloc(n * n * 8); h.cells = malloc(n * n * 8);"]
    lines += ["for (int i = 0; i < n * n; i++) g.cells[i] = h.cells[i] = i;"]
    text, found = sites([*lines, "share(of);", 'printf("%g\\n", sum(of));'], tmp_path, before)
    wanted = f"the message lies in `g->cells`, and line {line_of(text)} may read there after the send"
    wanted += ", of the message or beside it"
    assert found[0]["message"] == wanted


def test_a_datatype_is_told_where_a_function_makes_it_for_its_caller(tmp_path: Path) -> None:
    before = """static void made(MPI_Datatype *out, int k)
{
    MPI_Aint at[2] = {0, k};
    int of[2] = {1, 1};
    MPI_Type_create_hindexed(2, of, at, MPI_INT, out); // HERE
    MPI_Type_commit(out);
}
static void other(MPI_Datatype *out) { MPI_Type_vector(2, 1, 3, MPI_INT, out); }
"""
    lines = ["MPI_Datatype t, o; made(&t, n); other(&o);", "int *b = malloc(n * 8);"]
    lines += ["for (int k = 0; k < 4; k++) {", "for (int i = 0; i < 2 * n; i++) b[i] = i * k;"]
    text, found = sites([*lines, f"MPI_Send(b, 1, t, {TO}", "}", "MPI_Type_free(&o);"], tmp_path, before)
    wanted = f"it is made by `MPI_Type_create_hindexed` at line {line_of(text)}"
    assert (found[0]["code"], found[0]["message"].partition(": ")[2]) == ("OPI107", wanted)
    assert [note["line"] for note in found[0]["notes"]] == [line_of(text)]


def test_a_place_inside_and_live_data_go_before_the_recursion(tmp_path: Path) -> None:
    before = """static void sort(int *part, int n, int depth)
{
    int k = n / 2;
    if (depth == 0)
        return;
    MPI_Send(part, k, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(part + k + 1, n - k - 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    part[k]++; // HERE
    sort(part, k, depth - 1);
}
"""
    lines = ["static int all[1000];", "for (int i = 0; i < 1000; i++) all[i] = i * n;", "sort(all, 1000, n);"]
    text, found = sites([*lines, 'printf("%d\\n", all[n]);'], tmp_path, before)
    live = f"the message lies in `part`, and line {line_of(text)} may read there after the send"
    live += ", of the message or beside it"
    place = "the call begins inside `part`, at a place that the program computes; a message needs a buffer of its own"
    assert [(site["code"], site["message"]) for site in found] == [("OPI101", live), ("OPI104", place)]


def test_what_each_thread_does_goes_before_what_it_declares(tmp_path: Path) -> None:
    before = """static double u[1000];
static void fill(double *b, int n)
{
#pragma omp parallel // HERE
    {
        int at = 0;
        if (n > 4)
            at = n;
#pragma omp for
        for (int i = 0; i < n; i++)
            b[at++] = u[i];
    }
}
"""
    lines = ["double *b = malloc(8000);", "fill(b, n);", f"MPI_Send(b, n, MPI_DOUBLE, {TO}"]
    text, found = sites(lines, tmp_path, before, "-fopenmp")
    wanted = f"OpenMP `parallel` in line {line_of(text)} has statements that each of its threads runs"
    assert wanted in found[0]["message"]


def test_no_test_of_the_source_is_advised_where_nothing_is_written_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Judge, "may_replace", lambda judge, use: False)  # as where the buffer cannot be left in place
    take = "MPI_Recv(b, 100, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    lines = ["double *b = malloc(808);", "int from = atoi(argv[2]);", take, 'printf("%g\\n", b[3]);']
    _, found = sites(lines, tmp_path)
    assert found[0]["code"] == "OPI203"
    assert "around the call" not in found[0]["message"]
    lines[2] = f"if (from != MPI_PROC_NULL) {take}"
    assert sites(lines, tmp_path)[1][0]["code"] == "OPI215"


def test_a_datatype_with_gaps_goes_before_an_address_that_is_made_a_number(tmp_path: Path) -> None:
    before = "struct part { float at[3]; int charge; char label[2]; };\n"
    lines = ["static struct part b[100]; MPI_Datatype t, old[3] = {MPI_FLOAT, MPI_INT, MPI_CHAR};"]
    lines += ["int of[3] = {3, 1, 2}; MPI_Aint first, at[3] = {0, 12, 16};", "MPI_Get_address(b, &first);"]
    lines += ["MPI_Type_create_struct(3, of, at, old, &t); // HERE", "MPI_Type_commit(&t);"]
    lines += ["for (int i = 0; i < 100; i++) b[i].charge = i * n;", f"MPI_Send(b, 100, t, {TO}"]
    text, found = sites([*lines, 'printf("%d\\n", first != 0);'], tmp_path, before)
    assert found[0]["code"] == "OPI107"
    assert f"it is made by `MPI_Type_create_struct` at line {line_of(text)}" in found[0]["message"]


def test_what_a_call_writes_is_not_read_by_it(tmp_path: Path) -> None:
    """The two tables are made by one function: what is read of one of them is no reading of the other."""
    before = """struct info { int *ranks, *other; };
static int *made(int n) { return malloc(n * sizeof(int)); }
static void share(struct info *s, int n, MPI_Group a, MPI_Group b)
{
    MPI_Send(s->ranks, n, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (n > 5)
        MPI_Group_translate_ranks(a, n, s->other, b, s->ranks); // WRITES
}
"""
    lines = ["struct info one, two, *of = n > 4 ? &one : &two; MPI_Group a, b;"]
    lines += ["MPI_Comm_group(MPI_COMM_WORLD, &a); MPI_Comm_group(MPI_COMM_SELF, &b);"]
    lines += ["one.ranks = made(n); one.other = made(n); two.ranks = made(n); two.other = made(n);"]
    lines += ["for (int i = 0; i < n; i++) one.other[i] = two.other[i] = one.ranks[i] = two.ranks[i] = i;"]
    lines += ["share(of, n, a, b);", 'printf("%d\\n", of->ranks[3]); // HERE']
    text, found = sites(lines, tmp_path, before)
    noted = [note["line"] for note in found[0]["notes"]]
    assert line_of(text, "WRITES") not in noted
    assert line_of(text) in noted


def test_a_send_in_each_turn_of_what_no_turn_writes_goes_before_a_read_behind_the_loop(tmp_path: Path) -> None:
    before = """struct box { double *out; };
static void ship(struct box *b, int n, int fresh)
{
    for (int t = 0; t < n; t++) {
        FILL
        MPI_Send(b->out, n, MPI_DOUBLE, 1, t, MPI_COMM_WORLD); // SEND
    }
}
"""
    lines = ["struct box one, two, *of = n > 4 ? &one : &two;", "one.out = malloc(n * 8); two.out = malloc(n * 8);"]
    lines += ["for (int i = 0; i < n; i++) one.out[i] = two.out[i] = i;", "ship(of, n, argc);"]
    lines += ['printf("%g\\n", of->out[3]); // HERE']
    text, found = sites(lines, tmp_path, before.replace("FILL", ""))
    again = f"this call sends it again in the next turn of the loop in line {line_of(text, 'for (int t')}"
    again = f"the message lies in `b->out`, and {again}, in which nothing is written to it"
    assert (found[0]["code"], found[0]["message"]) == ("OPI102", again)
    assert not found[0]["notes"]  # the call's own line would say nothing
    text, found = sites(lines, tmp_path, before.replace("FILL", "fread(b->out, 8, n, stdin);"))
    assert (found[0]["code"], found[0]["notes"][0]["line"]) == ("OPI101", line_of(text))


def test_threads_that_use_a_buffer_go_before_what_is_not_known_of_it(tmp_path: Path) -> None:
    before = """#include <pthread.h>
static double *part, *other;
static int n;
static void fill(int k) { for (int i = 0; i < n; i++) part[k * n + i] = i; }
static void *work(void *id) { fill(*(int *)id); return NULL; }
"""
    lines = ["pthread_t t[2]; int ids[2] = {0, 1};", "part = malloc(16 * n); other = malloc(16 * n);"]
    lines += ["for (int s = 0; s < 9; s++) {", "for (int i = 0; i < 2; i++)"]
    lines += ["pthread_create(&t[i], NULL, work, &ids[i]); // HERE"]
    lines += ["for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);", f"MPI_Send(part, 2 * n, MPI_DOUBLE, {TO}", "}"]
    text, found = sites(lines, tmp_path, before.replace("static int n;", "int n;"), "-pthread")
    wanted = f"`part` is used in `work`, which line {line_of(text)} starts beside the rest of the program"
    assert (found[0]["code"], found[0]["message"]) == ("OPI405", wanted)
    text, found = sites(
        lines, tmp_path, before.replace("static int n;", "int n;").replace("part[", "other["), "-pthread"
    )
    assert found[0]["code"] != "OPI405"


def test_a_function_that_calls_itself_goes_before_where_its_buffer_comes_from(tmp_path: Path) -> None:
    before = """static int sort(int *a, int *s, int n, int low, int high)
{
    MPI_Status st;
    int got;
    if (high - low < 2) return n;
    int *part = malloc(n * sizeof(int));
    MPI_Recv(s, n, MPI_INT, low, 0, MPI_COMM_WORLD, &st);
    MPI_Recv(low > 3 ? part : s, n, MPI_INT, high, 0, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_INT, &got);
    for (int i = 0; i < got; i++) a[i] += s[i] + part[0];
    free(part);
    return sort(a, s, n, low, (low + high) / 2); // HERE
}
"""
    lines = ["int *a = malloc(n * sizeof(int)), *s = malloc(n * sizeof(int));", "for (int i = 0; i < n; i++) a[i] = i;"]
    text, found = sites([*lines, 'printf("%d %d\\n", sort(a, s, n, 0, argc), a[1]);', "free(s);"], tmp_path, before)
    wanted = f"`sort` calls itself at line {line_of(text)}, and what that does with `s` could not be followed"
    assert (found[0]["code"], found[0]["message"]) == ("OPI402", wanted)


def test_a_pointer_of_a_table_that_a_loop_sets(tmp_path: Path) -> None:
    start = "static void start(double **p, int n) { for (int i = 0; i < n; i++) p[i][0] = i; }\n"
    lines = ["double **g = malloc(n * sizeof(double *)), **h = malloc(n * sizeof(double *));"]
    lines += ["for (int i = 0; i < n; i++) {", "g[i] = malloc(n * sizeof(double)); // HERE", "h[i] = malloc(n * 8); }"]
    lines += ["start(g, n); start(h, n);"]
    lines += ["MPI_Recv(g[0], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"]
    _, found = sites([*lines, 'printf("%g %g\\n", g[0][1], h[n - 1][0]);'], tmp_path, start)
    wanted = "line 4, in `start`, names rows of `g` and of other tables by the same words"
    wanted += ": rows are followed where such words mean one table"
    assert (found[0]["code"], found[0]["message"]) == ("OPI402", wanted)
    assert found[0]["notes"][0]["message"] == "rows of several tables are named here"


def test_a_datatype_goes_before_a_call_that_has_no_counterpart(tmp_path: Path) -> None:
    made = "MPI_Datatype t; MPI_Type_vector(n, 1, 2, MPI_INT, &t); MPI_Type_commit(&t); // HERE"
    lines = [
        "int *a = malloc(2 * n * sizeof(int));",
        "for (int i = 0; i < 2 * n; i++) a[i] = i;",
        made,
        "MPI_Request r;",
    ]
    lines += ["MPI_Issend(a, 1, t, 1, 0, MPI_COMM_WORLD, &r);", "MPI_Wait(&r, MPI_STATUS_IGNORE);", "free(a);"]
    text, found = sites(lines, tmp_path)
    assert (found[0]["code"], found[0]["notes"][0]["line"]) == ("OPI107", line_of(text))
    assert "it is made by `MPI_Type_vector`" in found[0]["message"]


def test_one_message_of_each_struct_in_an_array_is_sent_once(tmp_path: Path) -> None:
    before = "struct bucket { int at, *items; };\n"
    before += "static void put(struct bucket *b, int k) { b->items[b->at++] = k; }\n"
    lines = ["struct bucket **b = malloc(n * sizeof *b);", "MPI_Request r;"]
    lines += ["for (int i = 0; i < n; i++) {", "b[i] = malloc(sizeof(struct bucket)); // HERE"]
    lines += ["b[i]->items = malloc(n * sizeof(int)); b[i]->at = 0; }", "for (int i = 0; i < n; i++) put(b[i % 7], i);"]
    lines += ["for (int i = 0; i < n; i++) {", "MPI_Isend(b[i]->items, n, MPI_INT, i, 0, MPI_COMM_WORLD, &r);"]
    text, found = sites([*lines, "MPI_Wait(&r, MPI_STATUS_IGNORE); }"], tmp_path, before)
    wanted = f"the struct of `b[…]->items` is allocated in a loop, at line {line_of(text)}: there are several"
    assert (found[0]["code"], found[0]["message"]) == ("OPI402", wanted)
    again = [*lines[:6], "for (int t = 0; t < 3; t++)", *lines[6:], "MPI_Wait(&r, MPI_STATUS_IGNORE); }"]
    _, found = sites(again, tmp_path, before)
    assert found[0]["code"] == "OPI102"


def test_rows_that_cannot_be_told_apart(tmp_path: Path) -> None:
    lines = ["double **g = malloc((n + 2) * sizeof(double *));", "for (int i = 0; i < n + 2; i++)"]
    lines += ["g[i] = malloc(n * sizeof(double)); // HERE", "for (int i = 0; i < n; i++) g[n][i] = g[0][i] = i;"]
    lines += [
        "for (int t = 0; t < 9; t++) {",
        "MPI_Recv(g[0], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    ]
    lines += ["for (int i = 1; i <= n; i++) for (int j = 0; j < n; j++) g[i][j] = g[i - 1][j] + t;", "}"]
    text, found = sites([*lines, 'printf("%g\\n", g[n][1]);'], tmp_path)
    wanted = f"line {line_of(text, 'g[i - 1]')} uses two rows of `g[…]` in one turn of the loop in line"
    wanted += f" {line_of(text, 'g[i - 1]')}, so what is done to one may be done to the row of this message"
    assert (found[0]["code"], found[0]["message"]) == ("OPI215", wanted)
    at = {(note["line"], note["message"]) for note in found[0]["notes"]}
    assert len(found[0]["notes"]) <= SHOWN
    assert (line_of(text, "g[n][i]"), "this row's index counts the turns of no loop") in at
    lines[-2] = ""
    text, found = sites([*lines, 'printf("%g\\n", g[n][1]);'], tmp_path)
    wanted = f"it could not be shown which row of `g[…]` line {line_of(text, 'g[n][i]')} uses: its index counts"
    wanted += " the turns of no loop there, so what is done to it may be done to the row of this message"
    assert (found[0]["code"], found[0]["message"]) == ("OPI215", wanted)


def test_a_pointer_that_is_set_to_a_place_inside_says_where(tmp_path: Path) -> None:
    lines = ["double *b = malloc(n * 8), *all = NULL;", "for (int i = 0; i < n; i++) b[i] = i;", "if (argc > 2) {"]
    lines += ["all = malloc(n * n * 8);", "for (int i = 1; i < n; i++) {", "b = all + i * n; // HERE"]
    lines += ["MPI_Recv(b, n, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }"]
    lines += ['printf("%g\\n", all[n]); free(all);', "} else {", f"MPI_Send(b, n, MPI_DOUBLE, {TO}", "free(b); }"]
    text, found = sites(lines, tmp_path)
    send = next(site for site in found if site["side"] == "send")
    wanted = (
        f"line {line_of(text)} sets `b` to a place in the block of `all`, not for this call; another pointer for that"
    )
    assert (send["code"], send["message"]) == ("OPI104", f"{wanted} would let others be looked at")
    assert (send["notes"][0]["line"], send["notes"][0]["message"]) == (line_of(text), "`b` is set here")


SORTED = """static void sorted(double *a, int n)
{
#pragma omp parallel sections
    {
#pragma omp section
        a[0] = n;
#pragma omp section
        a[1] = n;
    }
}
"""


def test_a_place_that_moves_goes_before_a_function_that_is_not_followed(tmp_path: Path) -> None:
    """Without the sections each part would still be a place in one block; a message at its beginning would not."""
    lines = ["double *a = malloc(n * 100 * 8);", "sorted(a, n * 100);", "MPI_Request r[100];"]
    lines += ["for (int i = 0; i < n; i++) {", "int k = i * 100;"]
    lines += ["MPI_Irecv(a + k, 100, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, &r[i]);", "}", "MPI_Waitall(n, r, 0);"]
    _, found = sites([*lines, 'printf("%g\\n", a[n]);'], tmp_path, SORTED, "-fopenmp")
    place = "the call begins inside `a`, at a place that the program computes; a message needs a buffer of its own"
    assert [(site["code"], site["message"]) for site in found] == [("OPI204", place)]
    whole = [*lines[:3], "MPI_Irecv(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, r);", "MPI_Waitall(1, r, 0);"]
    text, found = sites([*whole, 'printf("%g\\n", a[n]);'], tmp_path, SORTED, "-fopenmp")
    sections = f"OpenMP `parallel sections` in line {line_of(text, 'omp parallel')} is not followed"
    assert [(site["code"], site["message"].partition(": ")[2]) for site in found] == [
        ("OPI214", f"`sorted`, which is not followed: {sections}")
    ]


def test_behind_a_region_that_is_not_followed_more_may_keep_a_call(tmp_path: Path) -> None:
    """That is not looked at, and said to be so; what the caller's text reads is told first."""
    before = f"{SORTED}static void turn(double *b, int n)\n{{\n#pragma omp parallel sections\n{{ b[0] = n; }}\n"
    before += f"MPI_Send(b, n, MPI_DOUBLE, {TO}\n}}\n"
    lines = ["double *b = calloc(n, 8);", "turn(b, n); // HERE"]
    text, found = sites(lines, tmp_path, before, "-fopenmp")
    called = (line_of(text), "called here, and what more may keep it was not looked at")
    assert found[0]["code"] == "OPI111"
    assert [(note["line"], note["message"]) for note in found[0]["notes"]] == [called]
    text, found = sites([*lines, 'printf("%g\\n", b[n - 1]); // READ'], tmp_path, before, "-fopenmp")
    assert found[0]["code"] == "OPI101"
    assert f"line {line_of(text, 'READ')} may read there after the send" in found[0]["message"]
    assert called in [(note["line"], note["message"]) for note in found[0]["notes"]]


def test_what_the_program_does_is_told_before_text_that_is_left_out(tmp_path: Path) -> None:
    """Without the other configuration it would stay all the same, for the zeros with which static memory begins."""
    before = "#ifndef _WIN32\n#define out both\n#define in both\n#endif\n#ifdef _WIN32\nstatic double out[9999];\n"
    before += "#endif\nstatic double both[9999];\n"
    lines = [
        "double s = 0.0;",
        "for (int i = 0; i < n; i++) s += out[i] + in[i]; // HERE",
        "for (int r = 0; r < argc; r++) {",
        f"MPI_Send(out, n, MPI_DOUBLE, {TO}",
        "MPI_Recv(in, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "}",
        'printf("%g\\n", s);',
    ]
    text, found = sites(lines, tmp_path, before)
    wanted = (
        f"bytes of `both` are read at line {line_of(text)} that nothing but the program's start, which fills static "
        "memory with zeros, surely writes"
    )
    assert [(site["code"], site["message"]) for site in found] == [("OPI110", wanted), ("OPI210", wanted)]
    fill, read = "for (int i = 0; i < n; i++) out[i] = r + i;", "for (int i = 0; i < n; i++) s += in[i];"
    text, found = sites([lines[0], lines[2], fill, *lines[3:5], read, *lines[5:]], tmp_path, before)
    assert [site["code"] for site in found] == ["OPI112", "OPI212"]


def test_a_message_that_replaces_its_bytes_begins_inside_on_both_sides(tmp_path: Path) -> None:
    """What the receive does not bring is what the same call sends from there: that is no reason of its own."""
    before = "double **t, g[99];\n"
    lines = [
        "make(&t); for (int r = 0; r < argc; r++) {",
        "for (int i = 1; i <= n; i++) for (int j = 1; j < 9; j++) t[i][j] = g[i];",
        "MPI_Sendrecv_replace(&t[1][1], n * 8, MPI_DOUBLE, 1, 0, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "for (int i = 1; i <= n; i++) for (int j = 1; j < 9; j++) g[i] += t[i][j];",
        "}",
    ]
    _, found = sites(lines, tmp_path, before + "extern void make(double ***);\n")
    wanted = "the call begins inside `t[1]`, at its byte 8; a message needs a buffer of its own"
    assert [(site["code"], site["message"]) for site in found] == [("OPI104", wanted), ("OPI204", wanted)]


def test_a_receive_into_what_is_still_sent_is_noted(tmp_path: Path) -> None:
    lines = [
        "double *b = malloc((n + 2) * sizeof *b), s = 0.0; MPI_Request r;",
        "for (int i = 0; i < n; i++) b[i] = i;",
        "MPI_Isend(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r);",
        "MPI_Recv(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // RECEIVED",
        "MPI_Wait(&r, MPI_STATUS_IGNORE);",
        "for (int i = 0; i < n; i++) s += b[i] + b[i + 1]; // HERE",
        'printf("%g\\n", s);',
    ]
    text, found = sites(lines, tmp_path)
    message = f"could not show that line {line_of(text)} reads only those bytes of `b` that are written before it"
    note = (line_of(text, "RECEIVED"), "received into here, where this send may not be complete")
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", message)
    assert [(n["line"], n["message"]) for n in found[0]["notes"]][1:] == [note]
    text, found = sites([*lines[:3], lines[4], lines[3], *lines[5:]], tmp_path)
    assert (found[0]["code"], len(found[0]["notes"])) == ("OPI101", 1)


def test_a_read_before_the_send_is_told_with_the_call_that_comes_again(tmp_path: Path) -> None:
    before = """static double kept[9999];
static void give(double **a, int n, int j)
{
    memcpy(kept, a[j], n * sizeof(double)); // READ
    for (int i = 1; i < n; i++) MPI_Send(a[j++], n, MPI_DOUBLE, i, 0, MPI_COMM_WORLD);
}
"""
    lines = ["double **a = calloc(n, sizeof *a);"]
    lines += ["for (int i = 0; i < n; i++) a[i] = calloc(n, sizeof(double));"]
    lines += ["for (int t = 0; t < n; t++)", "give(a, n, t); // HERE"]
    text, found = sites([*lines, 'printf("%g\\n", kept[0]);'], tmp_path, "#include <string.h>\n" + before)
    read, call = line_of(text, "READ"), line_of(text)
    assert found[0]["message"] == f"`a[…]` may be read at line {read} after the send, when line {call} calls again"


def test_two_receives_into_one_buffer_at_a_time(tmp_path: Path) -> None:
    """The second begins further in: each would need a buffer of its own, pending or not."""
    text = "#include <mpi.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n"
    text += "int n = argc * 10, m = atoi(argv[1]);\n"
    text += "double s = 0, *in = malloc((2 * n + m) * 8);\nMPI_Request r[2];\nMPI_Init(&argc, &argv);\n"
    text += "for (int t = 0; t < 4; t++) {\nMPI_Irecv(in, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &r[0]);\n"
    text += "MPI_Irecv(in + m, n, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &r[1]);\nMPI_Waitall(2, r, MPI_STATUSES_IGNORE);\n"
    text += "for (int i = 0; i < n; i++) s += in[i]; }\nfree(in);\nMPI_Finalize();\nreturn s > 1;\n}\n"
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    site = json.loads(out)["sites"][0]
    message = "the message lies in `in`, and line 11 receives further in; a message needs a buffer of its own"
    assert (site["code"], site["message"]) == ("OPI204", message)
