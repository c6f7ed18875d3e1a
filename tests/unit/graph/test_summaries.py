"""Functions that are summarised in large programs: which may be, what they do, and that nothing is forgotten."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from case_tools import Case, analyse, load_cases, sample
from core_support import unit

from opi_xform import budget
from opi_xform.analysis import known
from opi_xform.effects.table import load_effects
from opi_xform.graph.summaries import Quiet
from opi_xform.graph.whole import Whole, merge

EFFECTS = load_effects()
LIBRARY = "void *malloc(unsigned long); void free(void *); void exit(int);"
FRAME = """
struct grid { int rows; double *at; };
static struct grid first, second, *grid = &first;
static double out[4096];
static double in[4096];
static double u[4096], work[64], *saved;
static int n = 64, k, rank, peer, table[8], *where = &n;
static MPI_Request rq[4];
HELPERS
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    table[2] = 64;
    f(1);
    for (int i = 0; i < n; i++) out[i] = u[i];
    f(2);
    MPI_Send(out, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(in, 64, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 64; i++) u[i] = in[i];
    MPI_Finalize();
    return 0;
}
"""
# What f is; whether it may be told as a whole; whether the send, and the receive, convert then.
PROGRAMS = {
    "computes": ("static void f(int i) { work[i] = 2 * i; }", True, True, True),
    "changes another number": ("static void f(int i) { k = i; }", True, True, True),
    "says the time": ("static void f(int i) { work[i] = MPI_Wtime(); }", True, True, True),
    "may end the program": ("static void f(int i) { if (k < i) exit(1); k = i; }", True, True, True),
    "has memory of its own": (
        "static void f(int i) { int *p = malloc(4 * i); p[0] = k; k = p[0] + 1; free(p); }",
        True,
        True,
        True,
    ),
    "reads the count": ("static void f(int i) { k = n + i; }", True, True, True),
    "changes the count": ("static void f(int i) { n = 64 * i; }", True, False, True),
    "changes the count behind a pointer": ("static void f(int i) { *where = 64 * i; }", True, False, True),
    "changes the count two calls down": (
        "static void h(int *p, int i) { *p = i; } static void g(int i) { h(&n, 64 * i); }"
        " static void f(int i) { g(i); }",
        True,
        False,
        True,
    ),
    "changes the count by what it counts": (
        "static void f(int i) { static int calls; calls += 64; n = calls; }",
        True,
        False,
        True,
    ),
    "changes the count, and calls itself": (
        "static void f(int i) { if (i > 0) f(i - 1); n += 32; }",
        True,
        False,
        True,
    ),
    "changes the count through a table of functions": (
        "static void g(int i) { n = 64 * i; } static void h(int i) { k = i; }"
        " static void (*const both[2])(int) = {g, h}; static void f(int i) { both[k & 1](i); }",
        None,
        False,
        True,
    ),
    "makes the peer MPI_PROC_NULL": ("static void f(int i) { if (k) peer = MPI_PROC_NULL; }", True, True, False),
    "reads what is sent": ("static void f(int i) { u[0] += out[i]; }", False, False, True),
    "reads it by another name": (
        "static void f(int i) { if (i == 2) saved = out; u[0] = saved[i]; }",
        False,
        False,
        True,
    ),
    "keeps its address": ("static void f(int i) { saved = out; }", False, None, True),
    "sends it once more": (
        "static void f(int i) { MPI_Send(out, 64, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD); }",
        False,
        False,
        True,
    ),
    "changes requests": ("static void f(int i) { rq[i] = MPI_REQUEST_NULL; }", None, True, True),
    "changes the count that a cell of a table leads to": (
        "static int *counts[4]; static void g(int i) { *counts[i] = 128; }"
        " static void f(int i) { if (i == 1) for (int j = 0; j < 4; j++) counts[j] = &n; else g(k); }",
        True,
        False,
        True,
    ),
    "changes the count behind a pointer in a struct": (
        "static struct holder { int *count; } s; static void f(int i) { s.count = &n; *s.count = 64 * i; }",
        True,
        False,
        True,
    ),
    "sends data to all": (
        "static void f(int i) { MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD); }",
        False,
        False,
        True,
    ),
    "is not known": ("void unknown(void); static void f(int i) { unknown(); }", False, None, None),
}


def whole(helpers: str) -> Whole:
    return merge([unit(LIBRARY + FRAME.replace("HELPERS", helpers))])


def decided(helpers: str, folder: Path) -> dict[str, bool]:
    """Whether the send and the receive of main convert."""
    text = "#include <mpi.h>\n#include <stdlib.h>\n" + FRAME.replace("HELPERS", helpers)
    case = Case("a", folder, ("a.c",), ("a.c",), {"a.c": text}, ())
    case.write(folder)
    return {
        site.side: site.decision == "convert"
        for site in analyse(case, folder)
        if site.line > text[: text.index("int main")].count("\n")
    }


@pytest.fixture
def all_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function that may be is told as a whole, whatever that saves."""
    monkeypatch.setattr(Quiet, "chosen", lambda self, calls, most, limit: self.functions() - {"main"})


@pytest.fixture
def all_mute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function that may be is told as a whole, those that use messages' buffers as well."""
    monkeypatch.setattr(Quiet, "chosen", lambda self, calls, most, limit: (self.mute() | self.functions()) - {"main"})


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_nothing_is_forgotten(name: str, all_quiet: None, tmp_path: Path) -> None:
    helpers, quiet, send, receive = PROGRAMS[name]
    program = known.program(whole(helpers), EFFECTS, everything=False)
    assert quiet is None or quiet == ("f" in {program.functions[key].name for key in program.graph.passed})
    found = decided(helpers, tmp_path)
    assert send is None or found["send"] == send
    assert receive is None or found["recv"] == receive


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_what_converts_does_so_with_every_call_followed(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    exact = decided(PROGRAMS[name][0], tmp_path)
    monkeypatch.setattr(Quiet, "chosen", lambda self, calls, most, limit: self.functions() - {"main"})
    for side, converts in decided(PROGRAMS[name][0], tmp_path).items():
        assert exact[side] or not converts


def test_those_are_chosen_whose_copies_cost_most(monkeypatch: pytest.MonkeyPatch) -> None:
    helpers = "static void h(int i) { work[i] = i; k = i; } static void f(int i) { h(i); h(i + 1); h(i + 2); }"
    program = whole(helpers.replace("k = i;", "n = i;"))

    def copies() -> list[str]:
        graph = known.program(program, EFFECTS, everything=False).graph
        return [program.functions[frame.function].name for frame in graph.frames]

    assert (copies().count("f"), copies().count("h")) == (2, 6)
    monkeypatch.setattr(budget, "COPIED", 30)
    monkeypatch.setattr(budget, "SUMMARISED", 30)
    assert "h" not in copies()
    graph = known.program(program, EFFECTS, everything=False).graph
    assert graph.background.nodes
    assert not {n.number for n in graph.nodes} & {n.number for n in graph.background.nodes}


ALL = os.environ.get("OPI_TEST_SUMMARIES") == "all"
EACH = 1 if ALL else 12
KNOWN_WHOLE = {("odd_pointer_recursive", "recv")}
"""Kept since a call through a pointer is not followed.  As a whole, the functions that it may call do not touch it."""


@pytest.mark.parametrize("case", sample(load_cases("keep"), EACH), ids=lambda case: case.name)
def test_sites_that_must_stay_do(case: Case, all_quiet: None) -> None:
    for site in analyse(case, case.folder):
        for wish in case.wishes:
            if wish.kind == "keep" and wish.meets(site) and (case.name, site.side) not in KNOWN_WHOLE:
                assert site.decision == "keep", site


@pytest.mark.parametrize("case", sample(load_cases("keep"), EACH, "mute"), ids=lambda case: case.name)
def test_sites_that_must_stay_do_where_buffers_are_given_up(case: Case, all_mute: None) -> None:
    for site in analyse(case, case.folder):
        for wish in case.wishes:
            if wish.kind == "keep" and wish.meets(site) and (case.name, site.side) not in KNOWN_WHOLE:
                assert site.decision == "keep", site


@pytest.mark.parametrize("case", sample(load_cases("convert"), 1 if ALL else 60), ids=lambda case: case.name)
def test_sites_convert_without_summaries_too(case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    case.write(tmp_path, case.texts)
    exact = {(s.file, s.line, s.side, s.buffer) for s in analyse(case, tmp_path) if s.decision == "convert"}
    monkeypatch.setattr(Quiet, "chosen", lambda self, calls, most, limit: self.functions() - {"main"})
    found = {(s.file, s.line, s.side, s.buffer) for s in analyse(case, tmp_path) if s.decision == "convert"}
    assert found <= exact
