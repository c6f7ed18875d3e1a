"""Calls of one form say the same, each by the names, and with the lines, of what keeps it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 1000
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
TURN = "at another place in each turn of a loop; a message needs a buffer of its own"


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


def notes(site: dict[str, Any]) -> list[tuple[int, str]]:
    return [(note["line"], note["message"]) for note in site["notes"]]


def test_parts_for_each_rank_of_a_block_of_which_the_own_part_is_read(tmp_path: Path) -> None:
    """What `part` reads is the first part, which goes to nobody; that cannot be shown, nor that it is of a message."""
    before = "static double part(double *v, int n) { double t = 0; for (int i = 0; i < n; i++) t += v[i]; return t; }\n"
    lines = ["static double a[N * N];", "int rows = N / size;", "if (rank == 0)"]
    lines += ["for (int p = 1; p < size; p++) {", "int at = p * (rows * N);"]
    lines += [f"MPI_Send(&a[at], rows * N, MPI_DOUBLE, p, {TO}", "}"]
    lines += ["for (int i = 0; i < rows; i++) s += part(&a[i * N], N);", "if (rank == 0)"]
    lines += ["for (int p = 1; p < size; p++) {", "int at = p * (rows * N);"]
    lines += [f"MPI_Recv(&a[at], rows * N, MPI_DOUBLE, p, {FROM}", "}", "for (int i = 0; i < N * N; i++) s += a[i];"]
    found = sites(lines, tmp_path, before)[1]
    message = f"the call begins inside `a`, {TURN}"
    assert [told(site) for site in found] == [("OPI104", message), ("OPI204", message)]


def test_a_part_that_is_read_where_it_was_sent_from_is_live(tmp_path: Path) -> None:
    lines = ["static double a[N * N];", "for (int p = 1; p < n; p++) {", f"MPI_Send(&a[p * n], n, MPI_DOUBLE, p, {TO}"]
    lines += ["s += a[p * n]; // HERE", "}"]
    text, found = sites(lines, tmp_path)
    assert told(found[0]) == ("OPI101", f"`a` is read at line {line_of(text)} after the send")


def test_three_pointers_that_go_round(tmp_path: Path) -> None:
    before = """static void make(double **a, double **b, double **c, int n)
{
    *a = malloc(n * 8); // A
    *b = malloc(n * 8);
    *c = malloc(n * 8);
}
"""
    lines = ["double *a, *b, *room, *was;", "make(&a, &b, &room, n);", "for (int i = 0; i < n; i++) a[i] = b[i] = i;"]
    lines += ["for (int t = 0; t < 4; t++) {", "for (int i = 0; i < n; i++) s += a[i] * b[i];"]
    for name in "ab":
        lines += [f"MPI_Send({name}, n, MPI_DOUBLE, 1, {TO}", f"MPI_Recv(room, n, MPI_DOUBLE, 1, {FROM}"]
        lines += ["was = room;", f"room = {name};", f"{name} = was; // SET {name}"]
    text, found = sites([*lines, "}"], tmp_path, before)
    of_a = f"`a` may stand for several buffers: it is set at line {line_of(text, '// A')} and {line_of(text, 'SET a')}"
    assert [site["code"] for site in found] == ["OPI402"] * 4
    assert found[0]["message"] == of_a


def test_a_pointer_to_a_block_of_its_own_or_the_callers(tmp_path: Path) -> None:
    before = f"""static double work(double *all, int rank, int n)
{{
    double *x, t = 0;
    if (rank == 0)
        x = all; // ONE
    else
        x = malloc(n * 8); // OTHER
    for (int k = 0; k < 3; k++) {{
        for (int i = 0; i < n; i++) {{ x[i] = i; x[i] -= t; }}
        t += x[0];
        if (rank) MPI_Send(x, n, MPI_DOUBLE, 0, {TO}
    }}
    return t;
}}
"""
    lines = ["double *all = malloc(N * 8);", "s = work(all, rank, n);", "s += all[0];"]
    text, found = sites(lines, tmp_path, before)
    where = f"{line_of(text, 'ONE')} and {line_of(text, 'OTHER')}"
    assert told(found[0]) == ("OPI402", f"`x` may stand for several buffers: it is set at line {where}")


def test_a_pointer_of_two_blocks_that_is_read_right_behind_its_send(tmp_path: Path) -> None:
    """Whichever block it is, the line reads what was sent."""
    lines = ["double *a = malloc(n * 8), *b = malloc(n * 8), *first = a;"]
    lines += ["for (int i = 0; i < n; i++) { a[i] = i; b[i] = -i; }", "if (n % 3) { a = b; b = first; }"]
    lines += [f"MPI_Send(a, n, MPI_DOUBLE, 1, {TO}", "s = a[3]; // HERE", "s += b[3];"]
    text, found = sites(lines, tmp_path)
    message = f"the message lies in `a`, and line {line_of(text)} may read it there after the send"
    assert told(found[0]) == ("OPI101", message)


ROWS = """static double give(double **mat, int n, int size)
{
    double own = 0;
    int j = 0;
    for (int k = 0; k < n; k++) {
        own += mat[j][0]; // HERE
        j++;
        for (int p = 1; p < size; p++) {
            MPI_Send(mat[j], n, MPI_DOUBLE, p, 0, MPI_COMM_WORLD);
            j++;
        }
    }
    return own;
}
"""
BLOCK = ["double **m = malloc(n * sizeof(double *)), *at = malloc(n * n * 8);"]
BLOCK += ["for (int i = 0; i < n; i++) {", "m[i] = at; // SET", "at += n;", "}"]
BLOCK += ["for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) m[i][j] = i;"]


def test_rows_of_one_block_that_are_counted(tmp_path: Path) -> None:
    """The line that reads `mat[j]` reads the row after those that went."""
    text, found = sites([*BLOCK, "s = give(m, n, size);"], tmp_path, ROWS)
    at = line_of(text, "SET")
    message = f"the call names a row of `mat`, and line {at} makes its rows parts of one block"
    assert told(found[0]) == ("OPI104", f"{message}; a message needs a buffer of its own")


def test_rows_of_one_block_of_which_each_is_read(tmp_path: Path) -> None:
    before = ROWS.replace("    return own", "    for (int i = 0; i < n; i++) own += mat[i][i]; // ALL\n    return own")
    text, found = sites([*BLOCK, "s = give(m, n, size);"], tmp_path, before.replace("own += mat[j][0]; // HERE", ""))
    assert told(found[0]) == ("OPI101", f"`mat[…]` may be read at line {line_of(text, 'ALL')} after the send")


@pytest.mark.parametrize(("root", "code"), [("0", "OPI104"), ("1", "OPI101")])
def test_what_a_broadcast_writes_on_this_rank_is_read_by_nobody(root: str, code: str, tmp_path: Path) -> None:
    """Under `if (rank)` no rank is 0; it may be 1, which then sends what it has."""
    lines = ["double *a = malloc(n * 8);", "int low = rank * n / size;", "for (int t = 0; t < 3; t++) {"]
    lines += [
        f"MPI_Bcast(a, n, MPI_DOUBLE, {root}, MPI_COMM_WORLD); // HERE",
        "for (int i = low; i < n; i++) a[i] += i;",
    ]
    lines += [f"if (rank) MPI_Send(a + low, n - low, MPI_DOUBLE, 0, {TO}", "}"]
    text, found = sites(lines, tmp_path)
    assert found[0]["code"] == code
    assert (line_of(text) in [line for line, _ in notes(found[0])]) is (root == "1")


def test_a_pointer_that_two_allocations_come_to_may_convert(tmp_path: Path) -> None:
    before = """static double *made(int n)
{
    double *p = malloc(n * sizeof(double)); // MADE
    return p;
}
static double *filled(int n)
{
    static double *p;
    p = made(n);
    for (int i = 0; i < n; i++)
        p[i] = i;
    return p;
}
"""
    lines = [
        "double *a;",
        "if (rank == 0) {",
        "a = filled(N); // ONE",
        f"MPI_Send(a, N, MPI_DOUBLE, 1, {TO}",
        "} else {",
    ]
    lines += ["a = made(n); // OTHER", f"MPI_Recv(a, n, MPI_DOUBLE, 0, {FROM}", "}"]
    lines += ["for (int i = 0; i < n; i++) s += a[i];", "free(a);"]
    _, found = sites(lines, tmp_path, before)
    assert [site["decision"] for site in found] == ["keep", "convert"]
    assert told(found[0])[0] == "OPI101"


def test_a_read_of_more_than_the_first_element_goes_first(tmp_path: Path) -> None:
    """`in[0]`, the number of the others, comes with any message; how many others are read depends on it."""
    lines = ["int *in = malloc((n + 1) * sizeof(int));", "for (int i = 0; i < n + 1; i++) in[i] = i;"]
    lines += [f"MPI_Recv(in, n, MPI_INT, 0, {FROM}", "for (int i = 1;", "i < in[0] + 1; i++)", "s += in[i]; // HERE"]
    text, found = sites(lines, tmp_path)
    assert told(found[0])[1].startswith(f"could not show that line {line_of(text)} reads only those bytes of `in`")


def test_what_packs_only_a_part_is_named(tmp_path: Path) -> None:
    lines = ["char *b = malloc(N);", "for (int t = 0; t < n; t++) {", "int at = 0;"]
    lines += [
        "MPI_Pack(&s, 1, MPI_DOUBLE, b, N, &at, MPI_COMM_WORLD); // HERE",
        f"MPI_Send(b, N, MPI_PACKED, 1, {TO}",
        "}",
    ]
    text, found = sites(lines, tmp_path)
    assert found[0]["code"] == "OPI102"
    assert notes(found[0]) == [(line_of(text), "`MPI_Pack` writes `b` here")]


def test_a_table_by_the_name_that_the_function_of_the_call_has(tmp_path: Path) -> None:
    before = """static double **table(int m, int n)
{
    double **made = malloc(m * sizeof(double *));
    for (int i = 0; i < m; i++) made[i] = malloc(n * sizeof(double));
    return made;
}
"""
    lines = [
        "double **out = table(size, n);",
        "int *many = calloc(size, sizeof(int));",
        "for (int t = 0; t < 3; t++) {",
    ]
    lines += [
        "for (int i = 0; i < n; i++) out[i % size][many[i % size]++] = i; // HERE",
        "for (int p = 0; p < size; p++)",
    ]
    lines += [f"MPI_Send(out[p], many[p], MPI_DOUBLE, p, {TO}", "}"]
    text, found = sites(lines, tmp_path, before)
    assert found[0]["code"] == "OPI102"
    assert "`out[…]`" in found[0]["message"]
    assert notes(found[0]) == [(line_of(text), "`out[…]` is written here")]


def test_a_line_that_would_read_less_goes_beyond_nothing(tmp_path: Path) -> None:
    """The count comes in a message: `take` reads as much as it says."""
    before = "static double take(const double *v, int n)\n{\n    double t = 0;\n"
    before += "    for (int i = 0; i < n; i++)\n        t += v[i]; // HERE\n    return t;\n}\n"
    lines = ["double *in = malloc(N * 8);", "MPI_Datatype pair;", "MPI_Type_contiguous(2, MPI_DOUBLE, &pair);"]
    lines += ["MPI_Type_commit(&pair);", "for (int t = 0; t < n; t++) {", "int many;", "MPI_Status st;"]
    lines += ["MPI_Probe(0, 0, MPI_COMM_WORLD, &st);", "MPI_Get_count(&st, pair, &many);"]
    lines += [f"MPI_Recv(in, many, pair, 0, {FROM}", "s += take(in, many * 3);", "}"]
    text, found = sites(lines, tmp_path, before)
    message = f"could not show that line {line_of(text)} reads only those bytes of `in` that this receive brings"
    assert told(found[0]) == ("OPI202", message)


@pytest.mark.parametrize(("blocks", "gaps"), [("1, n, 0", False), ("n, 1, n", True)])
def test_a_vector_of_one_block_has_no_gaps(blocks: str, gaps: bool, tmp_path: Path) -> None:
    before = f"""static void take(double *u, MPI_Datatype row, int from)
{{
    MPI_Recv(u + 1, 1, row, from, {FROM}
}}
"""
    lines = ["double *u = malloc(n * n * 8), *v = malloc(n * n * 8);", "MPI_Datatype row;"]
    lines += [f"MPI_Type_vector({blocks}, MPI_DOUBLE, &row);", "MPI_Type_commit(&row);", "take(u, row, 0);"]
    lines += ["take(v, row, 1);", "s = u[0] + v[n];"]
    site = sites(lines, tmp_path, before)[1][0]
    assert site["code"] == "OPI204"
    assert ("could not show that the datatype has no gaps" in site["message"]) is gaps


def test_where_a_request_that_is_left_pending_is_asked_for(tmp_path: Path) -> None:
    """Another member of the struct that the request lies in is read by other calls: that copies no request."""
    before = "static struct side { int rank, done; MPI_Request in, out; } up;\n"
    lines = ["double *row = malloc(n * 8), *own = malloc(n * 8);", "up.rank = (rank + 1) % size;"]
    lines += ["for (int t = 0; t < 3; t++) {", "int flag = 0;", "for (int i = 0; i < n; i++) own[i] = t;"]
    lines += ["MPI_Isend(own, n, MPI_DOUBLE, up.rank, 0, MPI_COMM_WORLD, &up.out);"]
    lines += ["MPI_Irecv(row, n, MPI_DOUBLE, up.rank, 0, MPI_COMM_WORLD, &up.in);"]
    lines += ["MPI_Wait(&up.out, MPI_STATUS_IGNORE);", "for (int k = 0; k < 8; k++) {"]
    lines += ["MPI_Test(&up.in, &flag, MPI_STATUS_IGNORE); // HERE", "if (flag) s += row[3];", "}", "}"]
    text, found = sites(lines, tmp_path, before)
    receive = next(site for site in found if site["side"] == "recv")
    assert receive["code"] == "OPI206"
    assert notes(receive) == [(line_of(text), "could not show that it is complete after this call")]


def test_null_is_no_other_buffer(tmp_path: Path) -> None:
    lines = ["double *a = NULL; // NULL", "double *b = NULL, *was;", "a = malloc(n * 8); // ONE", "b = malloc(n * 8);"]
    lines += ["double *old = b;", "for (int t = 0; t < n; t++) {", "for (int i = 0; i < n; i++) a[i] = i;"]
    lines += [
        f"MPI_Send(a, n, MPI_DOUBLE, 1, {TO}",
        "was = a;",
        "if (n > t) a = b; // OTHER",
        "b = was;",
        "}",
        "s = old[0];",
    ]
    text, found = sites(lines, tmp_path)
    where = f"{line_of(text, 'ONE')} and {line_of(text, 'OTHER')}"
    assert told(found[0]) == ("OPI402", f"`a` may stand for several buffers: it is set at line {where}")


RETURNS = """static double *work(double *x, double *y, int n)
{
    for (int k = 0; k < 5; k++) {
        if (n == k)
            return x;
        if (n < -k)
            return NULL;
        for (int i = 0; i < n; i++)
            y[i] = x[i] + 1;
        x = y; // OTHER
    }
    return NULL;
}
"""


def test_a_function_returns_a_pointer_of_several_buffers(tmp_path: Path) -> None:
    """What makes it several is in the function, and not in that the pointer is NULL first."""
    lines = [
        "double *x = aligned_alloc(64, n * 8), *y = aligned_alloc(64, n * 8), *out = NULL;",
        "for (int i = 0; i < n; i++) x[i] = i;",
    ]
    lines += ["out = work(x, y, n); // CALL", f"MPI_Send(out, n, MPI_DOUBLE, 1, {TO}"]
    text, found = sites(lines, tmp_path, RETURNS)
    where = f"{line_of(text, 'OTHER')} and {line_of(text, 'CALL')}"
    message = f"`x`, which `work` returns, may stand for several buffers: it is set at line {where}"
    assert told(found[0]) == ("OPI402", message)


def test_a_function_returns_one_of_two_pointers(tmp_path: Path) -> None:
    before = """static double *chosen(double *x, double *y, int n)
{
    if (n > 3)
        return x; // ONE
    return y; // OTHER
}
"""
    lines = ["double *x = aligned_alloc(64, n * 8), *y = aligned_alloc(64, n * 8);"]
    lines += [
        "for (int i = 0; i < n; i++) x[i] = y[i] = i;",
        "double *out = chosen(x, y, n);",
        f"MPI_Send(out, n, MPI_DOUBLE, 1, {TO}",
    ]
    text, found = sites(lines, tmp_path, before)
    one, other = line_of(text, "ONE"), line_of(text, "OTHER")
    message = f"`chosen` returns one of several pointers: that of line {one} and {other}"
    assert told(found[0]) == ("OPI402", message)
    assert notes(found[0]) == [(one, "one of them is returned here"), (other, "one of them is returned here")]


def test_one_of_two_tables_of_rows_is_no_struct(tmp_path: Path) -> None:
    lines = ["double **grid[2]; int now = 0;", "grid[0] = malloc((n + 2) * sizeof *grid[0]); // ONE"]
    lines += [
        "for (int i = 0; i < n + 2; i++) grid[0][i] = calloc(n, 8);",
        "grid[1] = malloc((n + 2) * sizeof *grid[1]);",
    ]
    lines += ["for (int i = 0; i < n + 2; i++) grid[1][i] = calloc(n, 8);", "for (int t = 0; t < n; t++) {"]
    lines += [
        f"MPI_Recv(grid[now][n + 1], n, MPI_DOUBLE, 1, {FROM}",
        "s += grid[now][n + 1][0];",
        "now = 1 - now;",
        "}",
    ]
    text, found = sites(lines, tmp_path)
    one = line_of(text, "ONE")
    message = f"`grid[…]` may be one of several tables of pointers: line {one} may allocate more than one"
    assert told(found[0]) == ("OPI402", message)


def test_a_place_that_is_computed_goes_by_the_pointer_of_its_function(tmp_path: Path) -> None:
    """It is no other pointer: each turn computes a place inside one block, as the function around the call names it."""
    give = "for (int p = 1; p < size; p++) {{ double *part = whole + p * n; {}(part, n, MPI_DOUBLE, p, 0, {} }} // {}"
    before = f"""static void spread(double *whole, int size, int n)
{{
    {give.format("MPI_Send", "MPI_COMM_WORLD);", "OUT")}
}}
static void collect(double *whole, int size, int n)
{{
    {give.format("MPI_Recv", "MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "IN")}
}}
"""
    lines = ["double *every = NULL;", "if (rank == 0) {", "every = malloc(n * size * 8);"]
    lines += ["for (int i = 0; i < n * size; i++) every[i] = i;", "spread(every, size, n);"]
    lines += ["collect(every, size, n);", "for (int i = 0; i < n * size; i++) s += every[i];", "}"]
    found = sites(lines, tmp_path, before)[1]
    message = "`part` points into `whole`, at a place that the program computes; a message needs a buffer of its own"
    assert [told(site) for site in found] == [("OPI104", message), ("OPI204", message)]
    for site in found:
        assert not any("something else" in said for _, said in notes(site))
        assert not any("it comes from" in said for _, said in notes(site))  # the parameter is in sight


def test_a_place_that_a_caller_computes_is_told_with_where_it_names_the_block(tmp_path: Path) -> None:
    before = f"""static void get(void *place)
{{
    double *part = place;
    MPI_Recv(part, 100, MPI_DOUBLE, 0, {FROM}
}}
static void all_of(double *numbers, int n)
{{
    for (int i = 0; i < n; i++) {{
        double *p = numbers + i * n;
        get(p);
    }}
}}
"""
    lines = ["double *whole = malloc(n * 800);", "all_of(whole, n); // HERE"]
    lines += ["for (int i = 0; i < n * 100; i++) s += whole[i];"]
    text, found = sites(lines, tmp_path, before)
    message = "`part` points into `whole`, at a place that the program computes; a message needs a buffer of its own"
    assert told(found[0]) == ("OPI204", message)
    assert (line_of(text), "it comes from `whole` here") in notes(found[0])


@pytest.mark.parametrize("called", [True, False])
def test_a_table_that_each_turn_of_a_loop_allocates_is_one_of_several(tmp_path: Path, called: bool) -> None:
    body = f"""double **rows = malloc(6 * sizeof *rows); // MADE
    for (int i = 0; i < 6; i++) rows[i] = malloc(n * 8);
    for (int j = 0; j < 6; j++) {{
        for (int i = 0; i < n; i++) rows[j][i] = j;
        MPI_Send(rows[j], n, MPI_DOUBLE, 1, {TO}
    }}
    for (int i = 0; i < 6; i++) free(rows[i]);
    free(rows);
"""
    before = f"static void go(int n)\n{{\n    {body}}}\n" if called else ""
    lines = ["for (int t = 0; t < 3; t++) { // LOOP", "go(n);" if called else body, "}"]
    text, found = sites(lines, tmp_path, before)
    if called:
        each = f"line {line_of(text, 'MADE')} allocates one in each turn of the loop in line {line_of(text, 'LOOP')}"
        message = f"`rows` is one of several tables of pointers: {each}"
        message += "; an array of pointers (`*p[N]`) that its function declares would be one"
        assert told(found[0]) == ("OPI402", message)
        declared = before.replace("double **rows = malloc(6 * sizeof *rows);", "double *rows[6];")
        assert sites(lines, tmp_path, declared.replace("    free(rows);\n", ""))[1][0]["decision"] == "convert"
    else:
        assert "its function declares" not in found[0]["message"]
