"""Functions with messages that are looked at by themselves, where the whole program is beyond the budget."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from case_tools import Case, Site, analyse, load_cases, run_tool, sample, transform

from opi_xform.analysis import known, plans
from opi_xform.budget import TooLargeError
from opi_xform.graph import copies, islands
from opi_xform.graph.graph import Action, Lost
from opi_xform.memory.objects import Objects

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
RECEIVED = (
    "MPI_Request one; MPI_Irecv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &one); MPI_Wait(&one, MPI_STATUS_IGNORE);"
)
RETURNING = "MPI_Request pool[2]; void set(void) { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }\n"
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
    "packs by two sizes that callers may make negative": (
        "",
        "double *b = calloc(512, sizeof *b); for (int turn = 0; turn < 2; turn++) { for (int i = 0; i < n; i++)"
        " for (int j = 0; j < to; j++) b[i * to + j] = turn;"
        " MPI_Send(b, n * to, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); } free(b);",
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
    "has a request that others may free": (
        "MPI_Request *asked; void other(int n) { if (n) other(n - 1); else MPI_Request_free(asked); }",
        f"double *b = malloc(n * sizeof *b); {PACKED} MPI_Isend(b, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, asked);"
        " other(n); MPI_Wait(asked, MPI_STATUS_IGNORE); free(b);",
        False,
    ),
    "has a request that nobody frees": (
        "MPI_Request *asked; void other(int n) { if (n) other(n - 1); }",
        f"double *b = malloc(n * sizeof *b); {PACKED} MPI_Isend(b, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, asked);"
        " other(n); MPI_Wait(asked, MPI_STATUS_IGNORE); free(b);",
        True,
    ),
    "has an array of a function that longjmp may leave": (
        "#include <setjmp.h>\njmp_buf start; void other(int n) { if (n > 9) longjmp(start, 1); }",
        f"double b[512]; n = 512; {PACKED} other(n); {SENT}",
        False,
    ),
    "receives where others look at how requests end": (
        RETURNING + "void other(int n) { if (n) other(n - 1); int at; MPI_Waitany(2, pool, &at, MPI_STATUS_IGNORE); }",
        f"double *b = malloc(n * sizeof *b); {RECEIVED} field[0] = b[5]; free(b);",
        False,
    ),
    "receives where nobody looks at how requests end": (
        RETURNING + "void other(int n) { if (n) other(n - 1); MPI_Waitall(2, pool, MPI_STATUSES_IGNORE); }",
        f"double *b = malloc(n * sizeof *b); {RECEIVED} field[0] = b[5]; free(b);",
        True,
    ),
    "frees it by a function that does more": (
        "static void both(double *p) { kept = NULL; free(p); }",
        f"double *b = malloc(n * sizeof *b); {PACKED} {SENT} both(b);",
        True,
    ),
    "frees it by a function that keeps where it was": (
        "static void both(double *p) { kept = p; free(p); }",
        f"double *b = malloc(n * sizeof *b); {PACKED} {SENT} both(b);",
        False,
    ),
}


@pytest.fixture
def anywhere(beyond: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And main is too far away from each function with messages."""
    monkeypatch.setattr(islands, "_from_main", lambda found, *_: found)


def site_of(name: str, tmp_path: Path) -> Site:
    """What becomes of the one site of a program."""
    helpers, body, _ = PROGRAMS[name]
    text = FRAME.replace("HELPERS", helpers).replace("BODY", body)
    if "again(" in helpers:
        text = text.replace("static void far", "static void again(double *p) { kept = p; }\nstatic void far")
    case = Case("a", tmp_path, ("a.c",), ("a.c",), {"a.c": text}, ())
    case.write(tmp_path)
    (site,) = analyse(case, tmp_path)
    return site


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_by_themselves(name: str, anywhere: None, tmp_path: Path) -> None:
    site = site_of(name, tmp_path)
    assert (site.decision == "convert") == PROGRAMS[name][2], site.why


class _Deaf(set[int]):
    """Variables that nobody else is told of."""

    def add(self, _: int) -> None:
        pass


@pytest.mark.parametrize("name", ["leaves it in a variable", "has an array that stays"])
def test_the_rest_of_the_program_does_something(
    name: str, anywhere: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two things say so, of which one is enough here: what may happen before a function begins, and that the variables
    of the file are known to others.  Without both, what must stay converts.
    """

    def objects(*given: object) -> Objects:
        found = Objects(*given)  # type: ignore[arg-type]
        found.exposed = _Deaf()
        return found

    add = copies._Builder.add

    def quiet(self: copies._Builder, frame: int, block: int, action: Action) -> int:
        return -1 if isinstance(action, Lost) and action.functions == self.others else add(self, frame, block, action)

    monkeypatch.setattr(known, "Objects", objects)
    monkeypatch.setattr(copies._Builder, "add", quiet)
    assert site_of(name, tmp_path).decision == "convert"


def test_the_others_say_that_the_program_is_beyond_the_budget(anywhere: None, tmp_path: Path) -> None:
    text = FRAME.replace("HELPERS", "").replace("BODY", f"double *b = kept; {PACKED} {SENT}")
    case = Case("a", tmp_path, ("a.c",), ("a.c",), {"a.c": text}, ())
    case.write(tmp_path)
    (site,) = analyse(case, tmp_path)
    assert site.code == "OPI401"
    assert "beyond the analysis' budget" in site.why


SEVERAL = """
#include <mpi.h>
#include <stdlib.h>
static double field[512];
static double *memory(int n) { return malloc(n * sizeof(double)); }
static void release(double *p) { free(p); }
void first(int n, int to)
{
    double *b = memory(n);
    for (int i = 0; i < n; i++) b[i] = field[i];
    MPI_Send(b, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
    release(b);
}
void second(int n, int to)
{
    double *b = memory(n);
    for (int i = 0; i < n; i++) b[i] = field[i] + 1;
    MPI_Send(b, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
    release(b);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    first(512, 1);
    second(512, 1);
    MPI_Finalize();
    return 0;
}
"""
"""Two groups that have functions in common."""


def _converted(text: str, tmp_path: Path, **others: str) -> tuple[list[str], str]:
    """What becomes of the sites of a program, and of its text."""
    texts = {"a.c": text, **{name.replace("_h", ".h"): other for name, other in others.items()}}
    case = Case("a", tmp_path, tuple(texts), ("a.c",), texts, ())
    case.write(tmp_path)
    sites = transform(case, tmp_path, tmp_path / "out")
    return [site.decision for site in sites], (tmp_path / "out" / "a.c").read_text(encoding="utf-8")


def test_functions_that_several_groups_call_no_more_go(beyond: None, tmp_path: Path) -> None:
    found, text = _converted(SEVERAL, tmp_path)
    assert found == ["convert", "convert"]
    assert "memory" not in text
    assert "release" not in text


def test_a_function_stays_that_one_group_still_calls(beyond: None, tmp_path: Path) -> None:
    found, text = _converted(SEVERAL.replace("release(b);", "field[1] = b[0]; release(b);", 1), tmp_path)
    assert found == ["keep", "convert"]
    assert "static void release(" in text


def test_the_header_has_another_name_beside_one_of_the_program(beyond: None, tmp_path: Path) -> None:
    text = SEVERAL.replace("#include <mpi.h>", '#include <mpi.h>\n#include "opi.h"')
    found, text = _converted(text, tmp_path, opi_h="int mine;\n")
    assert found == ["convert", "convert"]
    assert '#include "opi_xform.h"' in text


def test_comments_at_calls_of_other_groups_are_not_remarked_on(beyond: None, tmp_path: Path) -> None:
    text = SEVERAL.replace("COMM_WORLD);\n    release", "COMM_WORLD); /* opi: keep */\n    release", 1)
    (tmp_path / "a.c").write_text(text, encoding="utf-8")
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1"])
    assert code == 0
    assert "OPI117" in out + err
    assert "OPI908" not in out + err


@pytest.mark.parametrize(
    ("place", "comment", "told"),
    [
        ("double *b = memory(n);", "assume disjoint(b, field)", "functions are looked at by themselves here"),
        ("return 0;", "assume packed(b)", "no send of it stands here"),
    ],
)
def test_comments_without_effect_are_told(place: str, comment: str, told: str, beyond: None, tmp_path: Path) -> None:
    assert place in SEVERAL
    text = SEVERAL.replace(place, f"/* opi: {comment} */ {place}", 1)
    (tmp_path / "a.c").write_text(text, encoding="utf-8")
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1"])
    assert code == 0
    assert "OPI908" in out + err
    assert told in " ".join((out + err).split())


def test_sites_tell_of_the_entries_that_they_rest_on(
    beyond: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = SEVERAL.replace("static double field", "void look(const double *p, int n);\nstatic double field")
    text = text.replace("    MPI_Send", "    look(b, n);\n    MPI_Send", 1)
    (tmp_path / "a.c").write_text(text, encoding="utf-8")
    (tmp_path / "opi.toml").write_text('[effects.look]\nreads = ["0[arg1 * elem]"]\n', encoding="utf-8")
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1"])
    assert code == 0, err
    assert "U2" in out + err


ALL = os.environ.get("OPI_TEST_ISLANDS") == "all"


@pytest.mark.parametrize("case", sample(load_cases("keep"), 1 if ALL else 12), ids=lambda case: case.name)
def test_sites_that_must_stay_do(case: Case, beyond: None) -> None:
    for site in analyse(case, case.folder):
        for wish in case.wishes:
            if wish.kind == "keep" and wish.meets(site):
                assert site.decision == "keep", site


@pytest.mark.parametrize("case", sample(load_cases("convert"), 1 if ALL else 40), ids=lambda case: case.name)
def test_what_converts_does_so_in_the_whole_program(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = {(s.file, s.line, s.side, s.buffer) for s in analyse(case, case.folder) if s.decision == "convert"}

    def too_large(*_: object) -> None:
        raise TooLargeError(["main"])

    monkeypatch.setattr(plans, "_decided", too_large)
    found = {(s.file, s.line, s.side, s.buffer) for s in analyse(case, case.folder) if s.decision == "convert"}
    assert found <= exact
