"""What is told is what stands in the way: not a read that may be of other bytes, nor a send that another line fills."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool

from opi_xform.ownership.model.buffers import Use
from opi_xform.ownership.patterns.agree import Patterns
from opi_xform.ownership.patterns.happenings import Happening

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""
MAIN = """
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), rank, size;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
"""
TAIL = """
    printf("%g\\n", s);
    MPI_Finalize();
    return 0;
}
"""
TO = "0, MPI_COMM_WORLD);"
FROM = "0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
TABLE = ["double **a = malloc(n * sizeof(double *));", "a[0] = malloc(n * n * sizeof(double));"]
TABLE += ["for (int i = 1; i < n; i++) a[i] = a[i - 1] + n; // ROWS"]
TABLE += ["for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = i * j;"]
NEEDED = "a message needs a buffer of its own"


def sites(lines: list[str], folder: Path, before: str = "") -> tuple[str, list[dict[str, Any]]]:
    text = HEAD + before + MAIN + "\n".join(lines) + TAIL
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "--output-format", "json"])
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["sites"]
    return text, found


def line_of(text: str, what: str = "HERE") -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if what in line)


def told(site: dict[str, Any]) -> tuple[str, str]:
    return site["code"], site["message"]


def test_a_form_of_call_that_never_converts_goes_before_what_may_be_read(tmp_path: Path) -> None:
    """The other branch reads the part of the other direction: it cannot be shown that it is not the message."""
    before = """struct halo { double *out; int *many, other; };
static void go(struct halo *h, double *to)
{
    MPI_Request r;
    if (h->other)
        memcpy(to, h->out, (h->many[0] + h->many[1]) * sizeof(double));
    else {
        MPI_Issend(h->out + h->many[1], h->many[0], MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}
"""
    lines = ["struct halo h; int many[2] = {n, n + 1};", "h.many = many; h.other = n % 2;"]
    lines += ["double *to = malloc(4 * n * 8);", "for (int t = 0; t < 4; t++) {", "h.out = malloc(4 * n * 8);"]
    lines += ["for (int i = 0; i < 2 * n; i++) h.out[i] = i;", "go(&h, to);", "free(h.out);", "}", "s = to[0];"]
    found = sites(lines, tmp_path, before)[1]
    assert told(found[0])[0] == "OPI107"
    assert "a synchronous send completes only when it is received" in found[0]["message"]


def test_rows_of_one_block_that_go_out_by_a_counter_of_which_the_first_is_read(tmp_path: Path) -> None:
    lines = [*TABLE, "int start = n / size, own = start;", "for (int p = 1; p < size; p++) {"]
    lines += [f"MPI_Send(a[start], n * own, MPI_DOUBLE, p, {TO}", "start += own;", "}"]
    lines += ["double *mine = malloc(own * n * 8);", "memcpy(mine, a[0], own * n * 8);", "s = mine[0];"]
    text, found = sites(lines, tmp_path)
    rows = f"line {line_of(text, 'ROWS')} makes its rows parts of one block"
    assert told(found[0]) == ("OPI104", f"the call names a row of `a`, and {rows}; {NEEDED}")


def test_what_is_read_behind_a_replacing_call_is_what_came(tmp_path: Path) -> None:
    """Both sides stay for the same: the rows are parts of one block."""
    before = (
        "static double sum(double **v, int n) { double t = 0; for (int i = 0; i < n; i++) t += v[i][i]; return t; }\n"
    )
    lines = [*TABLE, "for (int t = 0; t < n; t++) {", "s += sum(a, n);"]
    lines += ["int to = (rank + 1) % size, from = (rank + size - 1) % size;"]
    lines += [
        "MPI_Sendrecv_replace(&a[0][0], n * n, MPI_DOUBLE, to, 0, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "}",
    ]
    found = sites(lines, tmp_path, before)[1]
    assert [site["decision"] for site in found] == ["keep", "keep"]
    assert [site["code"] for site in found] == ["OPI104", "OPI204"]


PAIR = ["double *b = malloc(n * 8); int other = PARTNER; // SET", "for (int t = 0; t < 4; t++) {"]
PAIR += [f"MPI_Recv(b, n, MPI_DOUBLE, other, {FROM} // FROM", f"MPI_Send(b, n, MPI_DOUBLE, other, {TO} // HERE", "}"]


def test_a_receive_from_nobody_leaves_what_was_sent_before(tmp_path: Path) -> None:
    partner = "rank + 1 < size ? rank + 1 : MPI_PROC_NULL"
    pair = [line.replace("PARTNER", partner) for line in PAIR]
    to_somebody = [line.replace("other, ", "(rank + 1) % size, ") if "MPI_Send" in line else line for line in pair]
    text, found = sites(to_somebody, tmp_path)
    send = next(site for site in found if site["side"] == "send")
    wanted = (
        f"line {line_of(text)} may send what `b` holds once more, where line {line_of(text, 'FROM')} receives nothing"
    )
    assert send["code"] == "OPI102"
    assert send["message"].startswith(
        f"{wanted}: its source may be MPI_PROC_NULL (line {line_of(text, 'SET')} sets it so)"
    )


def test_a_call_that_does_both_sends_before_it_receives(tmp_path: Path) -> None:
    """That nothing may come there is no reason for what it sends before."""
    lines = ["double *b = malloc(n * n * 8); int up = rank ? rank - 1 : MPI_PROC_NULL;"]
    lines += ["for (int i = 0; i < n * n; i++) b[i] = i;", f"MPI_Send(b, n * n, MPI_DOUBLE, 1, {TO}"]
    lines += [f"MPI_Sendrecv(b + n, n, MPI_DOUBLE, 1, 0, b, n, MPI_DOUBLE, up, {FROM} // HERE", "s = b[0] + b[n];"]
    text, found = sites(lines[:-1], tmp_path)
    wanted = f"`b` may be sent again at line {line_of(text)}, and nothing is written to it until then"
    assert (found[0]["code"], found[0]["message"].partition("; ")[0]) == ("OPI102", wanted)
    assert [note["message"] for note in found[0]["notes"]] == ["`b` is sent again here"]


def test_a_receive_from_a_process_brings_all_anew(tmp_path: Path) -> None:
    found = sites([line.replace("PARTNER", "(rank + 1) % size") for line in PAIR], tmp_path)[1]
    assert [site["decision"] for site in found] == ["convert", "convert"]


def test_pointers_of_a_table_that_are_sent_once_each(tmp_path: Path) -> None:
    """Nothing is packed between the sends: what is to be shown is that each turn sends another one."""
    lines = ["double **p = malloc(n * sizeof(double *)); int *many = malloc(n * sizeof(int));"]
    lines += ["for (int i = 0; i < n; i++) { many[i] = atoi(argv[2]) + i; p[i] = malloc(many[i] * sizeof(double)); }"]
    lines += ["for (int i = 0; i < n; i++) for (int j = 0; j < many[i]; j++) p[i][j] = i * j;"]
    lines += [f"for (int i = rank; i < n; i += size) MPI_Send(*(p + i), many[i], MPI_DOUBLE, 0, {TO} // HERE"]
    text, found = sites(lines, tmp_path)
    wanted = f"could not show that line {line_of(text)} sends no `p[…]` twice, or writes all of it before"
    wanted += f"; each turn of the loop in line {line_of(text)} goes on by a number of rows that is no constant"
    assert told(found[0]) == ("OPI102", wanted)
    assert found[0]["notes"] == []


def test_what_the_loop_of_the_receive_reads_goes_before_what_is_printed_in_the_end(tmp_path: Path) -> None:
    before = """static void print(double *m, int n, int cells)
{
    for (int i = 0; i < n; i++) printf("%g ", m[i * cells]);
}
static void halo(double *m, int n, int cells, int up, int down)
{
    MPI_Sendrecv(m + cells, cells, MPI_DOUBLE, up, 0, m + (n + 1) * cells, cells, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
"""
    lines = ["double *m = calloc((n + 2) * n, 8), *was = calloc((n + 2) * n, 8); int t = 0;"]
    lines += ["while (t++ < n) {", "halo(m, n, n, (rank + 1) % size, (rank + size - 1) % size);"]
    lines += ["for (int i = n; i < (n + 1) * n; i++) was[i] = m[i - n] + m[i + n]; // HERE"]
    lines += ["for (int i = n; i < (n + 1) * n; i++) m[i] = was[i];", "}", "print(m, n + 2, n);"]
    text, found = sites(lines, tmp_path, before)
    receive = next(site for site in found if site["side"] == "recv")
    assert f"line {line_of(text)} may read bytes" in receive["message"]


def test_where_two_analyses_disagree_the_line_that_may_need_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(patterns: Patterns, use: Use, without: object = ()) -> Happening | None:
        return patterns.needs[0] if use.side == "send" else None

    lines = ["static double b[1000];", "for (int i = 0; i < 1000; i++) b[i] = i * n;"]
    lines += [f"MPI_Send(b, 1000, MPI_DOUBLE, 0, {TO} // HERE"]
    assert sites(lines, tmp_path)[1][0]["decision"] == "convert"
    monkeypatch.setattr(Patterns, "disallowed", never)
    text, found = sites(lines, tmp_path)
    assert told(found[0])[0] == "OPI910"
    assert found[0]["message"].startswith(f"could not show that line {line_of(text)} does not need what `b` holds")


def test_two_analyses_disagree_about_a_call_that_comes_again(tmp_path: Path) -> None:
    """It never runs, which only one of them sees: that is told, and not that they disagree."""
    lines = ["double *b = malloc(n * sizeof *b);", "for (int i = 0; i < n; i++) b[i] = i;"]
    lines += ["for (int t = 0; t < 90; t++)", "if (t > 90)", "for (int k = 1; k < size; k++)"]
    lines += ["MPI_Send(b, n, MPI_DOUBLE, k, 0, MPI_COMM_WORLD);", "free(b);"]
    _, found = sites(lines, tmp_path)
    assert told(found[0])[0] == "OPI111"
    assert found[0]["message"] == "no process comes to the call: what is tested around it holds for none"


PARTS = ["int *first = malloc(size * 4), *many = malloc(size * 4), at = 0;", "for (int p = 0; p < size; p++) {"]
PARTS += ["first[p] = at; many[p] = atoi(argv[2 + p]); at += many[p];", "}", "double *out = malloc(at * 8);"]
PARTS += ["for (int i = 0; i < at; i++) out[i] = i;", "for (int p = 0; p < size; p++)"]
PARTS += [f"MPI_Send(&out[first[p]], many[p], MPI_DOUBLE, p, {TO}"]


@pytest.mark.parametrize(("read", "code"), [("out[first[p]]", "OPI101"), ("out[many[p] % at]", "OPI104")])
def test_what_is_read_behind_the_loop_by_the_words_of_the_call(tmp_path: Path, read: str, code: str) -> None:
    """By the same words it is of the message; by others it may be of none."""
    text, found = sites([*PARTS, f"for (int p = 0; p < size; p++) s += {read}; // HERE", "free(out);"], tmp_path)
    assert told(found[0])[0] == code
    if code == "OPI101":
        assert told(found[0])[1] == f"`out` may be read at line {line_of(text)} after the send"


def test_a_recursive_call_that_gets_the_address_of_the_pointer(tmp_path: Path) -> None:
    before = f"""static double f(double **above, int n, int depth)
{{
    double t = 0, *mine = malloc(n * sizeof *mine);
    for (int i = 0; i < n; i++) mine[i] = i;
    MPI_Send(mine, n, MPI_DOUBLE, 1, {TO}
    if (above) t += (*above)[5];
    if (depth > 0) t += f(&mine, n, depth - 1); // HERE
    free(mine);
    return t;
}}
"""
    text, found = sites(["s = f(NULL, n, 3);"], tmp_path, before)
    wanted = (
        f"could not show that `mine` stays as it is: `f`, which calls itself at line {line_of(text)}, gets its address"
    )
    assert told(found[0]) == ("OPI402", wanted)


TREE = """struct box { double *in; int room; };
struct node { struct node *kids[2]; struct box *first; };
struct all { struct box *b; struct box own; struct node *tree; };
static void grow(struct box *b, int n)
{
    while (b->room < n) { b->room += 9; b->in = realloc(b->in, b->room * sizeof(double)); }
}
static int where(int i) { return i & 1; }
static void drop(struct node *it)
{
    for (int i = 0; i < 2; i++)
        if (it->kids[i]) drop(it->kids[i]); // AGAIN
    free(it); // HERE
}
"""
BOXES = [
    "struct all *all = calloc(1, sizeof *all);",
    "all->b = calloc(size, sizeof *all->b);",
    "grow(&all->own, n);",
    "for (int p = 1; p < size; p++) grow(&all->b[p], n);",
    "for (int p = 1; p < size; p++)",
    "MPI_Recv(all->b[p].in, n, MPI_DOUBLE, p, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    "for (int p = 1; p < size; p++) s += all->b[p].in[0];",
    "all->tree = calloc(1, sizeof *all->tree);",
    "all->tree->first = all->b;",
    "for (int i = 0; i < n; i++) all->tree->kids[where(i)] = calloc(1, sizeof *all->tree);",
    "drop(all->tree);",
]


@pytest.mark.parametrize("given", [False, True])
def test_a_recursive_call_that_is_about_other_memory_is_no_reason(given: bool, tmp_path: Path) -> None:
    """Points-to has one set for all pointers of a node, in which the boxes are, too."""
    before, lines = TREE, BOXES
    if given:
        before = before.replace("drop(struct node *it)", "drop(struct node *it, struct box *b)")
        before = before.replace("[i]); //", "[i], b); //").replace("free(it);", "free(it); b->in = NULL;")
        lines = [line.replace("drop(all->tree)", "drop(all->tree, all->b)") for line in BOXES]
    text, found = sites(lines, tmp_path, before)
    assert told(found[0])[0] == "OPI402"
    assert ("calls itself" in told(found[0])[1]) is given
    assert found[0]["notes"][0]["line"] == line_of(text, "AGAIN" if given else "HERE")


def test_parts_that_a_function_sends_in_a_loop_and_its_caller_shows_the_next_grid(tmp_path: Path) -> None:
    """The caller's pointer is to other memory by then, which is not seen."""
    before = f"""static double *step(double *g, int rows, int n, int rank, int size)
{{
    double *out = malloc(rows * n * sizeof(double));
    if (rank == 0)
        for (int p = 1; p < size; p++)
            MPI_Send(g + (p * (rows / size) - 1) * n, (rows / size + 2) * n, MPI_DOUBLE, p, {TO}
    for (int i = 0; i < rows * n; i++) out[i] = rank + i;
    return out;
}}
static double show(double *g, int rows, int n)
{{
    double t = 0;
    for (int i = 0; i < rows; i++) for (int j = 0; j < n; j++) t += g[i * n + j];
    return t;
}}
"""
    lines = ["double *g = malloc(n * n * 8);", "for (int i = 0; i < n * n; i++) g[i] = i;"]
    lines += ["for (int t = 0; t < 9; t++) {", "g = step(g, n, n, rank, size);", "s += show(g, n, n);", "}"]
    site = sites(lines, tmp_path, before)[1][0]
    assert site["code"] == "OPI104"
    assert site["message"].startswith("the call begins inside `g`")


def test_a_read_behind_what_writes_the_buffer_is_one_that_could_not_be_told_apart(tmp_path: Path) -> None:
    """It is not known how far `at` counts on, so not which elements are written: perhaps all that are read."""
    lines = ["int m = atoi(argv[2]); double *b = malloc(m * 16);", "for (int i = 0; i < 2 * m; i++) b[i] = i;"]
    lines += [f"MPI_Send(b, 2 * m, MPI_DOUBLE, 1, {TO}", "int at = 0;"]
    lines += ["for (int k = 0; k < 2; k++) {", "for (int j = 0; j < m; j++) b[at + j] = j; // WRITTEN", "at += n; }"]
    text, found = sites([*lines, "for (int i = 0; i < 2 * m; i++) s += b[i]; // HERE"], tmp_path)
    message = (
        f"could not show that all that line {line_of(text, 'HERE')} reads of `b` is written or comes after this send"
    )
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", message)
    assert line_of(text, "WRITTEN") in {note["line"] for note in found[0]["notes"]}


def test_an_operation_of_another_rank_is_told_as_one(tmp_path: Path) -> None:
    """The request of line 2 is lost, but no process that comes to line 1 comes there."""
    lines = ["double *b = malloc(n * 8); MPI_Request r;", "for (int t = 0; t < n; t++) {", "if (rank == 0) {"]
    lines += [f"MPI_Irecv(b, n, MPI_DOUBLE, 1, {TO.replace(');', ', &r);')} // ONE", "} else {"]
    lines += [f"MPI_Irecv(b, n, MPI_DOUBLE, 1, {TO.replace(');', ', &r);')} // TWO"]
    lines += [f"MPI_Isend(&n, 1, MPI_INT, 1, {TO.replace(');', ', &r);')}", "}", "MPI_Wait(&r, MPI_STATUS_IGNORE);"]
    text, found = sites([*lines, "for (int i = 0; i < n; i++) s += b[i];", "}"], tmp_path)
    message = f"could not show that no process runs both this call and line {line_of(text, 'TWO')}, whose operation on "
    assert found[0]["code"] == "OPI206"
    assert found[0]["message"].partition("; ")[0] == f"{message}`b` may still be pending"


def test_a_source_of_which_nothing_is_known_has_its_name(tmp_path: Path) -> None:
    """It is a rank in both arms; the second arm's is one since the first arm's test fails, which is not seen here."""
    before = f"""struct side {{ int rank, size, above, below, n; }};
static void place(struct side *p)
{{
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    p->above = p->rank == p->size - 1 ? 0 : p->rank + 1;
    p->below = p->rank == 0 ? p->rank + p->size - 1 : p->rank - 1;
    if (scanf("%d", &p->n) != 1) exit(1);
}}
static double turn(struct side at, double *out, double *b)
{{
    int n = at.n;
    double s = 0;
    for (int i = 0; i < n; i++) out[i] = i;
    MPI_Sendrecv(out, n, MPI_DOUBLE, at.below, 0, b, n, MPI_DOUBLE, at.above, {FROM}
    for (int i = 0; i < n; i++) s += b[i];
    for (int i = 0; i < n; i++) out[i] = s + i;
    MPI_Sendrecv(out, n, MPI_DOUBLE, at.above, 0, b, n, MPI_DOUBLE, at.below, {FROM}
    for (int i = 0; i < n; i++) s += b[i]; // HERE
    return s;
}}
"""
    lines = ["struct side all[2], at; place(all); place(all + 1); at = all[n > 1];"]
    lines += ["double *out = malloc(at.n * 8), *b = malloc(at.n * 8);"]
    text, found = sites([*lines, "for (int t = 0; t < 9; t++) s += turn(at, out, b);"], tmp_path, before)
    message = (
        f"could not show that the source, `at.below`, is not MPI_PROC_NULL, and line {line_of(text, 'HERE')} reads"
    )
    kept = [(site["code"], site["message"].partition(" `b`")[0]) for site in found if site["decision"] == "keep"]
    assert kept[-1] == ("OPI203", message)


def test_memory_that_is_used_behind_its_pointer_has_the_line_of_that(tmp_path: Path) -> None:
    """With `malloc` for `calloc` the receive converts: zeros may end a text."""
    before = """static char *receive(int *n, int tag)
{
    MPI_Status status;
    char *got;
    MPI_Probe(0, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, n);
    got = calloc(*n, 1); // CALLOC
    MPI_Recv(got, *n, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &status);
    return got; // LEFT
}
"""
    lines = ["char *a = receive(&n, 1), *b = receive(&n, 2);", "for (int i = 0; i < n; i++) s += a[i] * b[i];"]
    text, found = sites(lines, tmp_path, before)
    left, made = (line_of(text, mark) for mark in ("LEFT", "CALLOC"))
    message = f"`got` goes out of scope at line {left}, and what it points to is used after that; "
    message += f"`calloc` at line {made} gives it contents before a message does"
    assert (found[0]["code"], found[0]["message"]) == ("OPI215", message)
    assert [note["line"] for note in found[0]["notes"]] == [left, made]
