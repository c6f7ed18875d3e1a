"""``opi_xform.ownership.explain.choosing.in_program``: what the program's text tells of a call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool

TO = "n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD"
FROM = "n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE"
TOP = """#include <mpi.h>
#include <stdlib.h>
#include <stdio.h>
struct field { double *u, *side, *next; int n, rank; };
static double *grid, *old, total;
static void spread(double *x, int h)
{
    for (int i = 0; i < h; i++) {
#pragma omp critical
        total += i;
    }
}
"""
NOT_FOLLOWED = "OpenMP `critical` in line 9"


def program(pass_on: str, functions: str = "", main: str = "") -> str:
    """A program in which ``pass_on`` is not followed."""
    return f"""{TOP}{functions}
static void pass_on(struct field *f, int n, int rank)
{{
{pass_on}
#pragma omp critical
    total += n;
}}
int main(int argc, char **argv)
{{
    struct field own = {{0}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own.rank);
    own.u = calloc(argc * 100, 8);
    grid = calloc(argc * 100, 8);
    old = calloc(argc * 100, 8);
{main or "    pass_on(&own, argc * 10, own.rank);"}
    MPI_Finalize();
    return 0;
}}
"""


def sites(text: str, folder: Path) -> list[dict[str, Any]]:
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "-j", "1", "--output-format", "json", "--", "-fopenmp"])
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["sites"]
    return found


def line(text: str, what: str) -> int:
    return next(i for i, words in enumerate(text.splitlines(), 1) if what in words)


LATER = f"    MPI_Send(f->u, {TO});"
GRID = f"    MPI_Send(grid, {TO});"
SWAP = "static void swap(void) { double *t = old; old = grid; grid = t; }\n"
LOOP = "    for (int t = 0; t < 9; t++) {{ {} pass_on(&own, argc * 10, own.rank); {} }}"


@pytest.mark.parametrize(
    ("send", "functions", "main", "name"),
    [
        (LATER, "", "pass_on(&own, argc * 10, 0); total += own.u[3]; // HERE", ""),
        (
            LATER,
            "static double sum(struct field *s) { return s->u[2]; } // HERE\n",
            LOOP.format("", "sum(&own);"),
            "s->u",
        ),
        (GRID, "static double sum(int n) { return grid[n]; } // HERE\n", LOOP.format("", "sum(argc);"), ""),
        (GRID, SWAP, LOOP.format("total += old[1]; // HERE\n", "swap();"), "old"),
        (GRID, "", LOOP.format("double *t = old; old = grid; grid = t; total += old[1]; // HERE\n", ""), "old"),
    ],
)
def test_what_the_callers_go_on_reading(send: str, functions: str, main: str, name: str, tmp_path: Path) -> None:
    text = program(send, functions, main)
    (site,) = sites(text, tmp_path)
    assert (site["code"], site.get("form", "")) == ("OPI101", "")
    assert f"and line {line(text, 'HERE')} may read there" in site["message"]
    assert f", as `{name}`" in site["message"] or not name
    assert "; also, `pass_on`, which leads to the call, is not" in site["message"]


@pytest.mark.parametrize(
    ("send", "functions", "main"),
    [
        (LATER, "static void fill(struct field *s) { s->u[2] = 1; }\n", LOOP.format("fill(&own);", "")),
        (
            LATER,
            "static void make(struct field *s) { s->u = malloc(99); }\n",
            LOOP.format("", "make(&own); total += own.u[1];"),
        ),
        (f"    if (rank == 0) MPI_Send(f->u, {TO});", "", LOOP.format("", "if (own.rank) total += own.u[1];")),
        (
            f"    if (rank == 0) MPI_Send(f->u, {TO});",
            "static void show(struct field *s) { if (s->rank) total += s->u[1]; }\n",
            LOOP.format("", "show(&own);"),
        ),
        (
            f"    if (rank == 0) MPI_Send(f->u, {TO});",
            "static void show(struct field *s) { if (s->rank) return; total += s->u[1]; }\n",
            LOOP.format("", "show(&own);"),
        ),
        (LATER, "", LOOP.format("", "total += *(long *)&own.u;")),
    ],
)
def test_what_they_need_not_read(send: str, functions: str, main: str, tmp_path: Path) -> None:
    """It is written before, the pointer is another one, or other processes read it."""
    (site,) = sites(program(send, functions, main), tmp_path)
    assert site["code"] == "OPI111"


def test_a_member_that_another_function_sets_to_a_place(tmp_path: Path) -> None:
    make = "static void make(struct field *s) {\n s->side = s->u + 30; // HERE\n}\n"
    text = program(f"    MPI_Recv(f->side, {FROM});", make, "make(&own); pass_on(&own, argc, 0);")
    (site,) = sites(text, tmp_path)
    assert site["code"] == "OPI204"
    place = f"line {line(text, 'HERE')} sets `s->side` to a place in the block of `s->u`, and `f->side` may be that"
    assert site["message"].startswith(f"{place}; a message needs a buffer of its own; also, ")
    assert site["notes"][0]["line"] == line(text, "HERE")


def test_a_block_into_which_another_function_makes_pointers(tmp_path: Path) -> None:
    make = "static void make(struct field *s) {\n s->side = s->u + 30; // HERE\n}\n"
    text = program(f"    MPI_Recv(f->u, {FROM});", make, "make(&own); pass_on(&own, argc, 0);")
    (site,) = sites(text, tmp_path)
    into = f"line {line(text, 'HERE')} makes `s->side` point into the block that `f->u` names"
    assert (site["code"], site["message"].split("; also, ")[0]) == (
        "OPI204",
        f"{into}: it would point to memory that is gone",
    )


def test_a_member_that_is_allocated_as_well_is_no_place(tmp_path: Path) -> None:
    make = "static void make(struct field *s, int n) { s->side = s->u + n; if (n) s->side = malloc(99); }\n"
    text = program(f"    MPI_Recv(f->side, {FROM});", make, "make(&own, argc); pass_on(&own, argc, 0);")
    assert sites(text, tmp_path)[0]["code"] == "OPI211"


def test_a_block_of_which_another_call_has_a_part(tmp_path: Path) -> None:
    text = program(f"    MPI_Recv(grid, {FROM});\n    MPI_Recv(&grid[n], {FROM}); // HERE")
    found = sites(text, tmp_path)
    lies = f"the message lies in `grid`, and line {line(text, 'HERE')} receives further in"
    assert found[0]["message"].startswith(f"{lies}; a message needs a buffer of its own; also, `pass_on`")
    assert [site["code"] for site in found] == ["OPI204", "OPI204"]


def test_a_part_that_other_processes_have(tmp_path: Path) -> None:
    arms = f"    if (rank) MPI_Recv(grid, {FROM});\n    if (rank == 0) MPI_Recv(&grid[n], {FROM});"
    assert [site["code"] for site in sites(program(arms), tmp_path)] == ["OPI211", "OPI204"]


def test_a_buffer_that_two_callers_give(tmp_path: Path) -> None:
    put = (
        f"static void put(double *p, int n)\n{{\n    MPI_Recv(p, {FROM});\n#pragma omp critical\n    total += n;\n}}\n"
    )
    text = program("    put(grid, n); put(old, n);", put)
    (site,) = sites(text, tmp_path)
    assert site["code"] == "OPI402"
    assert "`p` may be one of several buffers: `put` is called with `grid`" in site["message"]


def test_what_is_known_of_a_call_that_is_reached(tmp_path: Path) -> None:
    """An address that an unknown function has is told where the text shows nothing else."""
    body = f"""{TOP}void keep(double *);
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    int n = argc;
    grid = malloc(n * 100);
    keep(grid);
    MPI_Recv(grid, {FROM});
    MPI_Recv(grid + n, {FROM}); // HERE
    return 0;
}}
"""
    found = sites(body, tmp_path)
    lies = f"the message lies in `grid`, and line {line(body, 'HERE')} receives further in"
    assert (found[0]["code"], found[0]["message"].split(";")[0]) == ("OPI204", lies)
    assert sites(body.replace("grid + n", "old"), tmp_path)[0]["code"] == "OPI403"


def test_a_request_that_nothing_completes(tmp_path: Path) -> None:
    """It is told before what an unknown function may do with the buffer."""
    body = f"""{TOP}void keep(double *);
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    int n = argc;
    MPI_Request q;
    grid = malloc(n * 100);
    keep(grid);
    MPI_Irecv(grid, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &q);
    return 0;
}}
"""
    (site,) = sites(body, tmp_path)
    told = "its request, `q`, is given to no call that completes it"
    assert (site["code"], site["message"].count(told)) == ("OPI206", 1)


ROW = f"    MPI_Send(tables[n].row[n], {TO});"
TABLES = "static struct table { double **row; int n; } tables[4];\n"
MAKE = "static void make(struct table *t, double *all, int n)\n{{\n    for (int d = 0; d < n; d++) {{\n{}\n    }}\n}}\n"


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ("t->row[d] = all; // HERE\nall += n; // MOVES", "all`, which line {} moves on; a message"),
        ("t->row[d] = all + d * n; // HERE", "all`; a message"),
        ("t->row[d] = malloc(8 * n);\nall += n;", ""),
        ("t->row[d] = all; all += n; if (d > 3) t->row[d] = malloc(8 * n);", ""),
        ("t->row[d] = all;", ""),
    ],
)
def test_rows_that_are_places_in_one_block(sets: str, expected: str, tmp_path: Path) -> None:
    text = program(ROW, TABLES + MAKE.format(sets), "make(tables, own.u, argc); pass_on(&own, argc * 10, 0);")
    (site,) = sites(text, tmp_path)
    if not expected:
        assert site["code"] == "OPI111"
        return
    moves = line(text, "MOVES") if "MOVES" in text else 0
    start = f"line {line(text, 'HERE')} sets `t->row[…]` to a place in the block of `{expected.format(moves)}"
    assert (site["code"], site["message"][: len(start)]) == ("OPI104", start)
