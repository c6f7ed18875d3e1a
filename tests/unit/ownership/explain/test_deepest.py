"""A site tells its deepest reason: not the form of its buffer where another form would be no help either."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool
from ownership_support import source

from opi_xform.codes import Reason
from opi_xform.ownership.explain.deepest import in_its_words, shared_places
from opi_xform.ownership.model.buffers import Refusal

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 1000
static double u[N];
struct point { int x, y, z; };
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
CHOICE = "double *a = aligned_alloc(64, n * 8), *b = aligned_alloc(64, n * 8), *p = n > 3 ? a : b;"
TO = "MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
FILL = "for (int i = 0; i < n * N; i++) b[i] = u[i % N];"


def sites(lines: list[str], folder: Path) -> list[dict[str, Any]]:
    (folder / "a.c").write_text(HEAD + "\n".join(lines) + TAIL)
    code, out, err = run_tool([str(folder / "a.c"), "--output-format", "json"])
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["sites"]
    return found


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (['MPI_Send("bye", 4, MPI_CHAR, 1, 0, MPI_COMM_WORLD);'], "OPI108"),
        ([f'MPI_Send("{50 * "x"}", 51, MPI_CHAR, 1, 0, MPI_COMM_WORLD);'], "OPI113"),
        ([CHOICE, f"p[0] = 1; MPI_Send(p, 5, {TO}"], "OPI108"),
        ([CHOICE, f"p[0] = 1; MPI_Send(p, n, {TO}"], "OPI402"),
        (
            [
                "struct point p = {n, n, n};",
                "MPI_Datatype t; MPI_Type_contiguous(3, MPI_INT, &t); MPI_Type_commit(&t);",
                "MPI_Send(&p, 1, t, 1, 0, MPI_COMM_WORLD);",
            ],
            "OPI108",
        ),
    ],
)  # fmt: skip
def test_small_messages_and_literals(lines: list[str], code: str, tmp_path: Path) -> None:
    found = sites(lines, tmp_path)
    assert (found[0]["decision"], found[0]["code"]) == ("keep", code)


@pytest.mark.parametrize(
    ("lines", "code", "message"),
    [
        (
            [FILL, f"MPI_Send(b + n, n, {TO}", "u[0] = b[n];"],
            "OPI101",
            "`b` is read at line 15 after the send",
        ),
        (
            [FILL, f"MPI_Send(b + n, n, {TO}", "b[n] = 2; u[0] = b[0];"],
            "OPI104",
            "the call begins inside `b`, at a place that the program computes; a message needs a buffer of its own",
        ),
        (
            [FILL, f"for (int p = 1; p < 4; p++) MPI_Send(b + p * n, n, {TO}"],
            "OPI104",
            "the call begins inside `b`, at another place in each turn of a loop; a message needs a buffer of its own",
        ),
        (
            [
                FILL,
                "MPI_Recv(b + n, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
                "for (int i = 0; i < n * N; i++) u[0] += b[i];",
            ],
            "OPI201",
            "line 15 may read bytes of `b` that this receive does not bring",
        ),
    ],
)
def test_a_place_inside_a_buffer(lines: list[str], code: str, message: str, tmp_path: Path) -> None:
    found = sites(["double *b = malloc(n * N * 8);", *lines, "free(b);"], tmp_path)
    assert (found[0]["decision"], found[0]["code"], found[0]["message"]) == ("keep", code, message)


def test_first_contents_are_told(tmp_path: Path) -> None:
    lines = ["double b[N] = {1};", "b[n] = 1;", f"MPI_Send(b, N, {TO}"]
    found = sites(lines, tmp_path)
    wanted = "this call sends bytes of `b` that nothing but its initialiser at line 12 surely writes"
    wanted += "; writing all of them before would let it convert"
    assert (found[0]["code"], found[0]["message"]) == ("OPI102", wanted)
    lines[1] = "for (int i = 0; i < N; i++) b[i] = 1;"
    assert sites(lines, tmp_path)[0]["decision"] == "convert"


def test_a_hint_that_is_not_enough_says_what_is_left(tmp_path: Path) -> None:
    fill = "for (int i = 0; i < N; i++) b[i] = u[i];"
    send = f"MPI_Send(b, N, {TO}"
    lines = ["double *b = aligned_alloc(16, N * 8);", "if (!b) return 0;", fill, send, send, "free(b);"]
    first = sites(lines, tmp_path)[0]
    assert first["code"] == "OPI102"
    assert "would not be enough: `b` is compared with NULL where it could not be shown that" in first["message"]
    lines[4:4] = [fill]
    first = sites(lines, tmp_path)[0]
    assert first["code"] == "OPI105"
    assert first["message"].endswith(" and no MPI_Finalize wherever it is NULL at line 13 would let it convert")
    lines[1] = "if (!b) exit(1);"
    assert [site["decision"] for site in sites(lines, tmp_path)] == ["convert", "convert"]


def test_a_read_that_is_moved_is_no_use_of_a_second_name(tmp_path: Path) -> None:
    fill = "for (int i = 0; i < N; i++) b[i] = u[i];"
    lines = ["double b[N];", "double *head = b + n;", fill, f"MPI_Send(b, N, {TO}", "u[0] = *head;"]
    first = sites(lines, tmp_path)[0]
    assert (first["code"], first["decision"]) == ("OPI101", "keep")
    assert first["message"] == "`b` is read at line 16 after the send, as `head`"  # what else there is, is not known
    lines[3:] = ["u[0] = *head;", lines[3]]
    assert sites(lines, tmp_path)[0]["decision"] == "convert"


def test_an_argument_behind_the_pointer_is_a_place_inside(tmp_path: Path) -> None:
    computed = "at a place that the program computes"
    for argument, where in (("p + 2", "at its byte 16"), ("&p[n]", computed), ("p + n + 2", computed)):
        first = sites([CHOICE, f"p[0] = 1; MPI_Send({argument}, n, {TO}"], tmp_path)[0]
        assert (first["code"], first.get("form", "OPI402")) == ("OPI104", "OPI402")
        assert first["message"] == f"the call begins inside `p`, {where}; a message needs a buffer of its own"
    assert sites([CHOICE, f"p[0] = 1; MPI_Send(&p[0], n, {TO}"], tmp_path)[0]["code"] == "OPI402"


def test_a_lost_buffer_has_the_name_of_the_call(tmp_path: Path) -> None:
    head = "static double b[N]; extern void unknown(double *); unknown(b); double *row = b;"
    found = sites([head, f"MPI_Send(b, N, {TO}", f"MPI_Send(row, N, {TO}"], tmp_path)
    assert [site["message"] for site in found] == ["`b`: unknown function unknown", "`row`: unknown function unknown"]


def test_sites_to_which_several_buffers_come_or_one_that_is_not_known() -> None:
    give = "static void give(double *d) { MPI_Send(d, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); }"
    send = "MPI_Send({}, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
    text = f"static double b[N], c[N]; void *get(void);\n{give}\nint main(void)\n{{\ndouble *q = get();\n"
    found = source(
        f"{text}{send.format('b')} // ONE\ngive(b); give(c);\n{send.format('q')} // UNKNOWN\nreturn 0;\n}}\n"
    )
    places = {use.call.span.line: use.place for use in found.uses}
    assert len(places) == 3
    both, unknown = places[found.line("void give")], places[found.line("// UNKNOWN")]
    groups = [found.buffers["b"], found.buffers["c"]]
    assert shared_places(groups, ()) == {both}
    assert shared_places(groups, [use for use in found.uses if use.place == unknown]) == {both, unknown}


def test_a_buffer_has_the_name_that_the_call_has_for_it() -> None:
    """It may be a variable of another function."""
    send = "static void give(double *d) { MPI_Send(d, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); }"
    found = source(f"static double b[N];\n{send}\nint main(void) {{ give(b); return 0; }}\n")
    buffer, use = found.buffers["b"], found.uses[0]
    lost = Refusal(Reason.SEVERAL_BUFFERS, "`b`: it is lost")
    assert in_its_words(lost, buffer, use).message == "`d`: it is lost"
    other = Refusal(Reason.SEVERAL_BUFFERS, "`other`: it is lost")
    assert in_its_words(other, buffer, use) is other


def test_what_begins_inside_and_is_packed_for_each_turn_in_a_way_that_is_not_understood_begins_inside(
    tmp_path: Path,
) -> None:
    """That not all of it is packed is no more than not shown; where nothing packs it, the data is sent once more."""
    pack = "for (int i = 0, k = 0; i < n; i++) if (u[i] > t) b[n + k++] = u[i];"
    for packed, code in ((pack, "OPI104"), ("", "OPI102")):
        loop = "for (int t = 0; t < 9; t++) {"
        lines = ["double *b = calloc(2 * n, 8);", loop, packed, f"MPI_Send(&b[n], n, {TO}", "}"]
        (site,) = sites(lines, tmp_path)
        assert site["code"] == code, site
