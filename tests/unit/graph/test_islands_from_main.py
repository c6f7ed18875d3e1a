"""Functions with messages that are looked at from main on, where the whole program is beyond the budget: reasons."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tools import Case, Site, analyse

from opi_xform.analysis import plans
from opi_xform.ownership.decisions import with_reasons
from opi_xform.ownership.model.plan import Decision, Plan

ROOTED = """
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static double field[512], grid[512], *kept, **table;
static double *out;
static int turns;
FILE_SCOPE
static void pack(int n) { for (int i = 0; i < n; i++) out[i] = field[i]; }
static void prepare(int n) { PREPARE }
static void finish(void) { FINISH }
HELPERS
/* It enters itself, so that no call of it is followed. */
static void apart(int n) { if (n > 1) apart(n - 1); APART }
void exchange(int n, int rank)
{
    if (rank == 0) {
        SEND
    } else {
        MPI_Recv(grid, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    AFTER
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    prepare(512);
    for (int t = 0; t < 3; t++) {
        exchange(512, rank);
        apart(4);
    }
    LAST
    finish();
    MPI_Finalize();
    return 0;
}
"""
"""Its buffer is a variable of the file: functions that do not call one another allocate, pack, send and free it."""

PARTS = {
    "FILE_SCOPE": "",
    "PREPARE": "out = malloc(n * sizeof *out);",
    "FINISH": "free(out);",
    "HELPERS": "",
    "APART": "turns += n;",
    "SEND": "pack(n); MPI_Send(out, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
    "AFTER": "",
    "LAST": "",
}
VARIABLES: dict[str, tuple[dict[str, str], bool]] = {
    "only its functions name it": ({}, True),
    "the rest reads what was packed": ({"APART": "grid[1] += field[n];"}, True),
    "a function that is not followed reads it": ({"APART": "grid[1] += out[n];"}, False),
    "a function that is not followed packs some of it": (
        {"APART": "out[0] = n;", "SEND": PARTS["SEND"].replace("pack(n)", "for (int i = 1; i < n; i++) out[i] = 1")},
        False,
    ),
    "a function that is not followed calls one that reads it": (
        {"HELPERS": "static void look(void) { grid[1] += out[3]; }", "APART": "look();"},
        False,
    ),
    "a function that is not followed sends it again": (
        {"FILE_SCOPE": "void exchange(int, int);", "APART": "if (turns > 99) exchange(512, 0);"},
        False,
    ),
    "a function that is not followed sends it before it is packed": (
        {
            "FILE_SCOPE": "void exchange(int, int);",
            "APART": "if (turns > 99) exchange(512, 0);",
            "SEND": "MPI_Send(out, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
            "AFTER": "for (int i = 0; i < n; i++) out[i] = field[i];",
        },
        False,
    ),
    "its address is kept for one": ({"LAST": "kept = out;", "APART": "if (kept) grid[1] += kept[n];"}, False),
    "its address is kept before it is packed": (
        {"PREPARE": PARTS["PREPARE"] + " kept = out + 1;", "APART": "grid[1] += kept[n];"},
        False,
    ),
    "the variable's address is kept": (
        {
            "FILE_SCOPE": "static double **where;",
            "LAST": "where = &out;",
            "APART": "if (where) grid[1] += where[0][n];",
        },
        False,
    ),
    "an initialiser has the variable's address": (
        {"FILE_SCOPE": "static double **where = &out;", "APART": "grid[1] += where[0][n];"},
        False,
    ),
    "an initialiser in a function has it": ({"APART": "static double **where = &out; grid[1] += where[0][n];"}, False),
    "it is handed to a function that is not followed": (
        {"HELPERS": "static void deep(double *p, int k) { if (k) deep(p, k - 1); kept = p; }", "LAST": "deep(out, 3);"},
        False,
    ),
    "a function hands it out to one that is not followed": (
        {"HELPERS": "static double *get(void) { return out; }", "APART": "grid[1] += get()[n];"},
        False,
    ),
    "a function is called through a pointer that reads it": (
        {
            "HELPERS": "static void look(void) { grid[1] += out[3]; }\nstatic void (*hook)(void) = look;",
            "APART": "hook();",
        },
        False,
    ),
    "what is called at the end reads it": (
        {
            "FILE_SCOPE": "static double last;\nstatic void look(void) { last = out ? out[3] : 0; }",
            "FINISH": "",
            "LAST": "atexit(look);",
        },
        False,
    ),
    "a handler of signals reads it": (
        {
            "FILE_SCOPE": "#include <signal.h>\nstatic void look(int s) { grid[1] += out[s]; }",
            "APART": "signal(SIGINT, look);",
        },
        False,
    ),
    "it is read after the send": ({"AFTER": "if (rank == 0) grid[1] += out[3];"}, False),
    "it is read in the next turn": (
        {"SEND": "if (turns == 0) pack(n); turns++; MPI_Send(out, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"},
        False,
    ),
    "it is read by another name": (
        {
            "HELPERS": "static double *second;",
            "LAST": "grid[1] += second ? second[2] : 0;",
            "AFTER": "second = out + 1;",
        },
        False,
    ),
    "it is packed as far as a function that is not followed says": (
        {
            "FILE_SCOPE": "static int few = 512;",
            "APART": "few = n;",
            "SEND": PARTS["SEND"].replace("pack(n)", "pack(few)"),
        },
        False,
    ),
    "it is sent where it was given away as one that is not followed says": (
        {
            "FILE_SCOPE": "static int again;",
            "APART": "again = n;",
            "SEND": PARTS["SEND"] + " if (again) grid[2] += out[1];",
        },
        False,
    ),
    "a function that longjmp leaves packs it": (
        {
            "FILE_SCOPE": "#include <setjmp.h>\nstatic jmp_buf start;",
            "APART": "if (turns > 9) longjmp(start, 1);",
            "SEND": "if (setjmp(start)) grid[1] += out[5]; " + PARTS["SEND"],
        },
        False,
    ),
    "a message is still on its way that others complete": (
        {
            "FILE_SCOPE": "static MPI_Request asked;",
            "APART": "MPI_Wait(&asked, MPI_STATUS_IGNORE);",
            "SEND": "pack(n); MPI_Isend(out, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &asked);",
        },
        False,
    ),
    "another pointer is what one that is not followed leaves": (
        {
            "FILE_SCOPE": "static double *next = grid;",
            "APART": "next = n > 1 ? grid : field;",
            "AFTER": "out = next;",
            "FINISH": "",
        },
        False,
    ),
    "a pointer of a library may lead anywhere": (
        {
            "FILE_SCOPE": "void *dlsym(void *, const char *);",
            "APART": 'void (*some)(int); *(void **)&some = dlsym(0, "some"); some(n);',
        },
        False,
    ),
    "text that is not understood may call a function that names it": (
        {"APART": '__asm__ volatile("" : : "r"(n) : "memory");'},
        False,
    ),
    "text that is not understood may name it": (
        {"HELPERS": 'static void look(void) { __asm__ volatile("" : : "m"(out) : "memory"); }', "APART": "look();"},
        False,
    ),
}
"""What stands where in ``ROOTED``, and whether the send seems to be one that may change owner."""


def variable_of(parts: dict[str, str], tmp_path: Path) -> Site:
    """What becomes of the send of ``ROOTED``."""
    text = ROOTED
    for name, part in {**PARTS, **parts}.items():
        text = text.replace(name, part)
    case = Case("a", tmp_path, ("a.c",), ("a.c",), {"a.c": text}, ())
    case.write(tmp_path)
    return next(site for site in analyse(case, tmp_path) if site.side == "send")


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_variables_of_functions_by_themselves(
    name: str, beyond: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is seen from main on tells why a site stays.  It converts none."""
    parts, converts = VARIABLES[name]
    seen: list[Decision] = []

    def told(kept: Plan, plan: Plan) -> Plan:
        seen.extend(d for d in plan.decisions if d.side == "send")
        return with_reasons(kept, plan)

    monkeypatch.setattr(plans, "with_reasons", told)
    site = variable_of(parts, tmp_path)
    assert site.decision == "keep"
    assert any(d.decision == "convert" for d in seen) == converts, site.why


MADE = """static double **rows;
static double **make(size_t many, size_t n)
{
    double **a = malloc(many * sizeof *a);
    a[0] = malloc(many * n * sizeof **a);
    for (size_t i = 1; i < many; i++) a[i] = a[0] + i * n;
    return a;
}"""


def test_reasons_are_those_of_the_whole_program(beyond: None, tmp_path: Path) -> None:
    parts = {
        "FILE_SCOPE": MADE,
        "PREPARE": "rows = make(2, n);",
        "SEND": "for (int i = 0; i < n; i++) rows[0][i] = i; MPI_Send(rows[0], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        "FINISH": "free(rows[0]); free(rows);",
    }
    site = variable_of(parts, tmp_path)
    assert site.code == "OPI105"
    assert "stores a pointer into the memory of `a[0]`" in site.why


def test_reasons_that_rest_on_a_function_that_is_not_followed_are_not_told(beyond: None, tmp_path: Path) -> None:
    parts, _ = VARIABLES["it is handed to a function that is not followed"]
    site = variable_of(parts, tmp_path)
    assert site.code == "OPI401" or "not followed" not in site.why
