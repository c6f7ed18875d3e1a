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
from opi_xform.ownership.decisions import with_reasons
from opi_xform.ownership.model.plan import Decision, Plan

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


@pytest.fixture
def beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program is beyond the budget."""

    def too_large(*_: object) -> None:
        raise TooLargeError(["main"])

    monkeypatch.setattr(plans, "_decided", too_large)


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
    assert site.code == "OPI104"
    assert "its rows parts of one block" in site.why


def test_reasons_that_rest_on_a_function_that_is_not_followed_are_not_told(beyond: None, tmp_path: Path) -> None:
    parts, _ = VARIABLES["it is handed to a function that is not followed"]
    site = variable_of(parts, tmp_path)
    assert site.code == "OPI401" or "not followed" not in site.why


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
