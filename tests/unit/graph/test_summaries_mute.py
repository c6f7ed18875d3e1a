"""Functions that use messages' buffers are summarised in programs that are too large: these buffers are given up."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tools import Case, analyse
from core_support import unit

from opi_xform import budget
from opi_xform.analysis import known
from opi_xform.effects.table import load_effects
from opi_xform.graph.summaries import Quiet
from opi_xform.graph.whole import merge

EFFECTS = load_effects()
INCLUDED = "".join(f"#include <{name}.h>\n" for name in ("mpi", "stdio", "stdlib", "string", "signal"))
DECLARED = (
    "void *malloc(unsigned long); void *realloc(void *, unsigned long); void free(void *);"
    " void *memcpy(void *, const void *, unsigned long); void *memset(void *, int, unsigned long);"
    " void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));"
    " void (*signal(int, void (*)(int)))(int); int printf(const char *, ...);"
    " void exit(int) __attribute__((noreturn));"
)
FRAME = """
static double *out, *other, *in, u[64], work[64];
static struct box { double *at; int filled; } box, second;
static char bytes[16], more[16];
static int n = 64, rank, peer, seen;
static MPI_Request rq;
HELPERS
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    out = malloc(64 * sizeof(double));
    in = malloc(64 * sizeof(double));
    BEFORE
    for (int i = 0; i < 64; i++) out[i] = u[i];
    MPI_Send(out, 64, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    BETWEEN
    MPI_Recv(in, 64, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 64; i++) u[i] = in[i];
    AFTER
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
"""
# The functions, what stands before, between and after the messages, whether f may be told as a whole, and whether the
# send converts then.
PROGRAMS = {
    "computes": (
        "static void f(double *v) { for (int i = 0; i < 64; i++) v[i] *= 2; }",
        "f(u);",
        "f(u);",
        "",
        True,
        True,
    ),
    "fills it": ("static void f(double *v) { for (int i = 0; i < 64; i++) v[i] = i; }", "f(out);", "", "", True, False),
    "reads it": ("static void f(double *v) { u[0] = v[3]; }", "", "f(out);", "", True, False),
    "reads it by its name": ("static void f(void) { u[0] = out[3]; }", "", "f();", "", True, False),
    "asks whether it is there": ("static void f(void) { seen = out != 0; }", "", "f();", "", True, False),
    "takes it away": ("static void f(void) { out = 0; }", "", "f();", "seen = out == 0;", True, False),
    "takes it away behind a pointer": (
        "static void f(double **p) { *p = 0; }",
        "",
        "f(&out);",
        "seen = out == 0;",
        True,
        False,
    ),
    "gets it, and does nothing with it": ("static void f(double *v) { seen = 1; }", "f(out);", "", "", True, True),
    "keeps its address": (
        "static void f(double *v) { other = v; }",
        "f(out);",
        "seen = other == out;",
        "",
        True,
        False,
    ),
    "keeps it two calls down": (
        "static void g(double *v) { other = v; } static void f(double *v) { g(v); }",
        "f(out);",
        "seen = other == out;",
        "",
        True,
        False,
    ),
    "keeps it through a pointer to a function": (
        "static void g(double *v) { other = v; } static void h(double *v) { v[0] = 1; }"
        " static void (*both[2])(double *) = {g, h}; static void f(double *v) { both[rank & 1](v); }",
        "f(out);",
        "seen = other == out;",
        "",
        True,
        False,
    ),
    "copies a struct that has it": (
        "static void f(void) { second = box; }",
        "box.at = out; f();",
        "u[0] = second.at[0];",
        "",
        True,
        False,
    ),
    "copies its address as bytes": (
        "static void f(void) { memcpy(&second, &box, sizeof box); }",
        "box.at = out; f();",
        "u[0] = second.at[0];",
        "",
        True,
        False,
    ),
    "moves its address byte by byte": (
        "static void f(void) { for (int i = 0; i < 8; i++) more[i] = bytes[i]; }",
        "memcpy(bytes, &out, 8); f(); memcpy(&other, more, 8);",
        "u[0] = other[0];",
        "",
        True,
        False,
    ),
    "moves it in a union": (
        "union both { double *at; float half[2]; }; static union both first, last;"
        " static void f(void) { last.half[0] = first.half[0]; last.half[1] = first.half[1]; }",
        "first.at = out; f();",
        "u[0] = last.at[0];",
        "",
        True,
        False,
    ),
    "clears a struct that has it": (
        "static void f(void) { memset(&box, 0, sizeof box); }",
        "box.at = out;",
        "f();",
        "seen = box.at == 0;",
        True,
        False,
    ),
    "lets it grow": (
        "static void f(double **p) { *p = realloc(*p, 128 * sizeof(double)); }",
        "f(&out);",
        "",
        "",
        True,
        False,
    ),
    "frees it": ("static void f(double *v) { free(v); }", "", "f(out); out = 0;", "", True, False),
    "ends the program with it": (
        'static void f(double *v) { printf("%g\\n", v[3]); exit(3); }',
        "",
        "if (rank > 7) f(out);",
        "",
        True,
        False,
    ),
    "hands out what is sent": (
        "static double *made; static void f(double **p) { made = malloc(64 * sizeof(double)); *p = made; }",
        "free(out); f(&out);",
        "",
        "",
        True,
        False,
    ),
    "sorts pointers": (
        "static double *rows[2]; static int by(const void *a, const void *b) { return a < b; }"
        " static void f(void) { qsort(rows, 2, sizeof *rows, by); }",
        "rows[0] = out; rows[1] = in; f(); other = rows[0];",
        "u[0] = other[0];",
        "",
        False,
        False,
    ),
    "returns a struct that has nobody in it": (
        "struct near { int left, right; }; static struct near f(int k)"
        " { struct near q = { k ? MPI_PROC_NULL : 1 - rank, 0 }; return q; }",
        "peer = f(rank > 7).left;",
        "",
        "",
        True,
        True,
    ),
    "is not known": ("void unknown(void); static void f(void) { unknown(); }", "f();", "", "", False, None),
    "passes on what is behind the last parameter": (
        "static void g(int k, ...) { __builtin_va_list ap; __builtin_va_start(ap, k); other ="
        " __builtin_va_arg(ap, double *); __builtin_va_end(ap); } static void f(double *v) { g(1, v); }",
        "f(out);",
        "seen = other == out;",
        "",
        False,
        False,
    ),
    "is a handler's": (
        "static void g(int s) { seen = out != 0; } static void f(void) { signal(2, g); }",
        "f();",
        "",
        "",
        False,
        False,
    ),
    "sends it": (
        "static void f(double *v) { MPI_Send(v, 64, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD); }",
        "",
        "f(out);",
        "",
        False,
        False,
    ),
    "forgets a request": (
        "static void f(void) { rq = MPI_REQUEST_NULL; }",
        "MPI_Irecv(work, 64, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &rq); f(); MPI_Wait(&rq, MPI_STATUS_IGNORE);",
        "",
        "",
        None,
        True,
    ),
    "changes the count": (
        "static void f(void) { n = 7; }",
        "f();",
        "for (int i = 0; i < n; i++) u[i] = 0;",
        "",
        True,
        True,
    ),
}
# Where the receive has to stay: its peer may be nobody.
KEPT = {"returns a struct that has nobody in it"}
# Where the receive stays: its peer may be anything, its buffer is sorted with the other, or what happens is not known.
STAYING = {
    "keeps it through a pointer to a function",
    "passes on what is behind the last parameter",
    "sorts pointers",
    "is not known",
}


def text(name: str) -> str:
    helpers, before, between, after, _, _ = PROGRAMS[name]
    out = FRAME.replace("HELPERS", helpers).replace("BEFORE", before).replace("BETWEEN", between)
    return out.replace("AFTER", after)


def decided(name: str, folder: Path) -> dict[str, bool]:
    """Whether main's send of ``out``, and its receive, convert."""
    case = Case("a", folder, ("a.c",), ("a.c",), {"a.c": INCLUDED + text(name)}, ())
    case.write(folder)
    first = (INCLUDED + text(name)[: text(name).index("int main")]).count("\n")
    sites = [site for site in analyse(case, folder) if site.line > first and site.buffer in ("out", "in")]
    assert {site.buffer for site in sites} == {"out", "in"}
    return {site.buffer: site.decision == "convert" for site in sites}


@pytest.fixture
def all_mute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function that may be is told as a whole, also where it uses messages' buffers."""
    monkeypatch.setattr(Quiet, "chosen", lambda self, calls, most, limit: (self.mute() | self.functions()) - {"main"})


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_buffers_are_given_up(name: str, all_mute: None, tmp_path: Path) -> None:
    found = decided(name, tmp_path)
    _, _, _, _, _, send = PROGRAMS[name]
    assert send is None or found["out"] == send
    assert not found["in"] if name in KEPT else found["in"] or name in STAYING


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_who_may_be_told_as_a_whole(name: str, all_mute: None) -> None:
    told = PROGRAMS[name][4]
    program = known.program(merge([unit(DECLARED + text(name))]), EFFECTS, everything=False)
    passed = {program.functions[key].name for key in program.graph.passed}
    assert told is None or told == ("f" in passed)


def test_no_buffer_is_given_up_in_a_program_that_is_small_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(budget, "COPIED", 30)
    monkeypatch.setattr(budget, "SUMMARISED", 30)
    calls = " ".join(["h(v);"] * 40)
    helpers = f"static void h(double *v) {{ v[0] = 1; v[1] = v[0]; }} static void f(double *v) {{ {calls} }}"
    monkeypatch.setitem(PROGRAMS, "many", (helpers, "f(u); f(out);", "", "", True, True))
    assert decided("many", tmp_path) == {"out": True, "in": True}
    monkeypatch.setattr(budget, "NODES", 400)
    monkeypatch.setattr(budget, "HANDLED", 300)
    assert decided("many", tmp_path) == {"out": False, "in": True}
