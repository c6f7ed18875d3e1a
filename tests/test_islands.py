"""Functions with messages that are looked at by themselves, where the whole program is beyond the budget."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from case_tools import Case, analyse, load_cases

from opi_xform.program import driver
from opi_xform.program.budget import TooLargeError

FRAME = """
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static double field[512], grid[512], *kept, **table;
static int repeats, few = 8;
static double *memory(int n) { return malloc(n * sizeof(double)); }
static void release(double *p) { free(p); }
static void pack(double *to, const double *from, int n) { for (int i = 0; i < n; i++) to[i] = from[i]; }
HELPERS
void send(int n, int to)
{
    BODY
}
static void far(double *p) { kept = p; for (int i = 0; i < 512; i++) grid[i] = p[i]; }
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    repeats = argc - 1;
    few = 512;
    table = malloc(4 * sizeof *table);
    table[0] = memory(512);
    far(table[0]);
    if (rank == 0)
        send(512, 1);
    release(table[0]);
    MPI_Finalize();
    return 0;
}
"""
SENT = "MPI_Send(b, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);"
PACKED = "pack(b, field, n);"
# What stands before `send`, what it does; whether its message may change owner.
PROGRAMS = {
    "makes and frees its memory": ("", f"double *b = malloc(n * sizeof *b); {PACKED} {SENT} free(b);", True),
    "frees it by a function": ("", f"double *b = malloc(n * sizeof *b); {PACKED} {SENT} release(b);", True),
    "asks a function for it": ("", f"double *b = memory(n); {PACKED} {SENT} free(b);", True),
    "has an array of its own": ("", f"double b[512]; n = 512; {PACKED} {SENT}", True),
    "packs in turns": (
        "",
        f"double *b = malloc(n * sizeof *b); for (int t = 0; t < 3; t++) {{ {PACKED} {SENT} }} free(b);",
        True,
    ),
    "reads it afterwards": (
        "",
        f"double *b = malloc(n * sizeof *b); {PACKED} {SENT} field[0] += b[1]; free(b);",
        False,
    ),
    "reads it where another function says so": (
        "",
        f"double *b = malloc(n * sizeof *b); {PACKED} {SENT} if (repeats) field[0] += b[1]; free(b);",
        False,
    ),
    "packs as much as another function says": (
        "",
        "double *b = calloc(n, sizeof *b); for (int t = 0; t < 3; t++) { for (int i = few; i < 8; i++) b[i] = 1;"
        f" {SENT} }} free(b);",
        False,
    ),
    "leaves it in a variable": ("", f"double *b = malloc(n * sizeof *b); {PACKED} {SENT} kept = b;", False),
    "leaves it in memory": ("", f"double *b = malloc(n * sizeof *b); {PACKED} table[1] = b; {SENT}", False),
    "has it from a variable": ("", f"double *b = kept; {PACKED} {SENT}", False),
    "sends what others use": ("", "MPI_Send(grid, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);", False),
    "has an array that stays": (
        "static void again(double *);",
        f"static double b[512]; n = 512; again(b); {PACKED} {SENT}",
        False,
    ),
    "hands it to a function that is not followed": (
        "static void deep(double *p, int k) { if (k) deep(p, k - 1); kept = p; }",
        f"double *b = malloc(n * sizeof *b); {PACKED} deep(b, n); {SENT} free(b);",
        False,
    ),
    "gives it to a pointer": (
        "static void (*hook)(double *) = release;",
        f"double *b = malloc(n * sizeof *b); {PACKED} {SENT} hook(b);",
        False,
    ),
    "is called again meanwhile": (
        "void send(int, int); static void other(int n) { if (n > 1) send(n / 2, 1); }",
        f"static double *b; if (!b) b = malloc(n * sizeof *b); {PACKED} other(n); {SENT}",
        False,
    ),
    "reads it in a copy of the address": (
        "",
        f"double *b = malloc(n * sizeof *b), *c = b + 1; {PACKED} {SENT} field[0] = c[2]; free(b);",
        False,
    ),
    "frees it where another function's memory goes, too": (
        "static void both(double *p) { kept = NULL; free(p); }",
        f"double *b = malloc(n * sizeof *b); {PACKED} {SENT} both(b);",
        False,
    ),
}


@pytest.fixture
def beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program is beyond the budget."""

    def too_large(*_: object) -> None:
        raise TooLargeError(["main"])

    monkeypatch.setattr(driver, "_decided", too_large)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_by_themselves(name: str, beyond: None, tmp_path: Path) -> None:
    helpers, body, converts = PROGRAMS[name]
    text = FRAME.replace("HELPERS", helpers).replace("BODY", body)
    if "again(" in helpers:
        text = text.replace("static void far", "static void again(double *p) { kept = p; }\nstatic void far")
    case = Case("a", tmp_path, ("a.c",), ("a.c",), {"a.c": text}, ())
    case.write(tmp_path)
    (site,) = analyse(case, tmp_path)
    assert (site.decision == "convert") == converts, site.why


def test_the_others_say_that_the_program_is_beyond_the_budget(beyond: None, tmp_path: Path) -> None:
    text = FRAME.replace("HELPERS", "").replace("BODY", f"double *b = kept; {PACKED} {SENT}")
    case = Case("a", tmp_path, ("a.c",), ("a.c",), {"a.c": text}, ())
    case.write(tmp_path)
    (site,) = analyse(case, tmp_path)
    assert site.code == "OPI401"
    assert "beyond the analysis' budget" in site.why


ALL = os.environ.get("OPI_TEST_ISLANDS") == "all"


@pytest.mark.parametrize("case", load_cases("keep")[:: 1 if ALL else 12], ids=lambda case: case.name)
def test_sites_that_must_stay_do(case: Case, beyond: None) -> None:
    for site in analyse(case, case.folder):
        for wish in case.wishes:
            if wish.kind == "keep" and wish.meets(site):
                assert site.decision == "keep", site


@pytest.mark.parametrize("case", load_cases("convert")[:: 1 if ALL else 40], ids=lambda case: case.name)
def test_what_converts_does_so_in_the_whole_program(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = {(s.file, s.line, s.side, s.buffer) for s in analyse(case, case.folder) if s.decision == "convert"}

    def too_large(*_: object) -> None:
        raise TooLargeError(["main"])

    monkeypatch.setattr(driver, "_decided", too_large)
    found = {(s.file, s.line, s.side, s.buffer) for s in analyse(case, case.folder) if s.decision == "convert"}
    assert found <= exact
