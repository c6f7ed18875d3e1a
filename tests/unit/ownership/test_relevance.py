"""Which functions a decision can depend on: what must be seen, what need not, and that it makes no difference."""

from __future__ import annotations

import pytest
from core_support import unit

from opi_xform.analysis.known import program as analysed
from opi_xform.effects.table import load_effects
from opi_xform.graph.whole import Whole, merge
from opi_xform.ir import ast
from opi_xform.ownership.decide import decide
from opi_xform.ownership.model.buffers import Options

EFFECTS = load_effects()
FRAME = """
static double out[64], in[64], u[64], work[64], *saved, **place;
static int n = 64, peer, table[8];
struct state { int steps; double time, *at; } s, t;
HELPERS
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(0, &peer);
    BEFORE
    for (int i = 0; i < n; i++) out[i] = u[i];
    MPI_Send(out, n, MPI_DOUBLE, peer, 0, 0);
    BETWEEN
    MPI_Recv(in, 64, MPI_DOUBLE, peer, 0, 0, MPI_STATUS_IGNORE);
    for (int i = 0; i < 64; i++) u[i] = in[i];
    AFTER
    MPI_Finalize();
    return 0;
}
"""

PRINTER = (
    "int vprintf(const char *, __builtin_va_list); static void say(const char *format, ...)"
    " { __builtin_va_list ap; __builtin_va_start(ap, format); vprintf(format, ap); __builtin_va_end(ap); }"
)
# What stands before, between and after the messages, the helpers it needs, and which of these have to be seen.
PROGRAMS = {
    "computes": ("static void f(double *v, int k) { for (int i = 0; i < k; i++) v[i] *= 2; }", "f(u, n);", "", "", ""),
    "computes from what came": ("static void f(double *v) { v[3] = v[2]; }", "", "", "f(in);", "f"),
    "reads what was sent": ("static double f(void) { return out[3]; }", "", "u[0] = f();", "", "f"),
    "reads it behind a pointer": ("static void f(double *v) { u[0] = v[0]; }", "saved = out;", "f(saved);", "", "f"),
    "keeps its address": ("static void f(double *v) { saved = v; }", "f(out);", "", "u[1] = saved[1];", "f"),
    "keeps it in a struct": ("static void f(void) { s.at = out; }", "f();", "", "u[1] = s.at[1];", "f"),
    "copies a struct that keeps it": (
        "static void f(void) { t = s; } static void g(void) { u[0] = *t.at; }",
        "s.at = out;",
        "f();",
        "g();",
        "fg",
    ),
    "copies it by memcpy": (
        "void *memcpy(void *, const void *, unsigned long); static void f(void) { memcpy(&t, &s, sizeof t); }",
        "s.at = out;",
        "f();",
        "u[0] = *t.at;",
        "f",
    ),
    "clears the pointer to it": (
        "static void f(void) { s.at = 0; }",
        "s.at = out;",
        "f();",
        "if (s.at) u[0] = 1;",
        "f",
    ),
    "changes a count": ("static void f(void) { n = 7; }", "f();", "", "", "f"),
    "changes a count behind a pointer": ("static void f(int *k) { *k = 7; }", "f(&n);", "", "", "f"),
    "changes a count two calls down": (
        "static void g(int *k) { *k = 7; } static void f(int *k) { g(k); }",
        "f(&n);",
        "",
        "",
        "fg",
    ),
    "changes what a table says": (
        "static void f(int i) { table[i] = i; }",
        "f(2);",
        "",
        "for (int i = 0; i < table[2]; i++) u[i] = 0;",
        "f",
    ),
    "changes a table nobody asks": (
        "static void f(int i) { table[i] = i; } static int g(int i) { return table[i]; }"
        " static double h(void) { f(3); return g(3); }",
        "u[0] = h();",
        "",
        "",
        "",
    ),
    "tells a count": ("static int f(void) { return 7; }", "n = f();", "", "", ""),
    "tells what nobody wants": ("static int f(void) { u[0] = 3; return 7; }", "f();", "", "", ""),
    "tells a pointer": ("static double *f(void) { return out; }", "", "u[0] = f()[1];", "", "f"),
    "a count through a floating number": (
        "static double f(void) { return 7.5; } static double x; static void g(void) { x = 3.5; }",
        "x = f(); g(); n = (int)x;",
        "",
        "",
        "g",
    ),
    "a floating number that only computes": (
        "static double x; static void f(void) { x = 3.5; }",
        "f(); u[0] = x * 2;",
        "",
        "",
        "",
    ),
    "a condition on a floating number": (
        "static double x; static void f(void) { x = 3.5; }",
        "if (x) n = 3; f(); if (x) n = 4;",
        "",
        "",
        "",
    ),
    "sends more": ("static void f(double *v) { MPI_Send(v, 9, MPI_DOUBLE, 0, 1, 0); }", "f(work);", "", "", "f"),
    "somebody calls one that sends": (
        "static void g(void) { MPI_Send(work, 9, MPI_DOUBLE, 0, 1, 0); } static void f(void) { work[0] = 1; g(); }",
        "f();",
        "",
        "",
        "fg",
    ),
    "ends the program": ("void exit(int); static void f(void) { exit(1); }", "if (n < 0) f();", "", "", ""),
    "may end the program": (
        "void exit(int); static void f(int k) { if (k < 0) exit(1); u[k] = 2; }",
        "f(3);",
        "",
        "",
        "",
    ),
    "is not known": ("void unknown(void); static void f(void) { unknown(); }", "f();", "", "", "f"),
    "calls itself": ("static void f(int k) { if (k) f(k - 1); }", "f(3);", "", "", ""),
    "calls itself, and reads what was sent": (
        "static void f(int k) { u[k] = out[k]; if (k) f(k - 1); }",
        "",
        "f(3);",
        "",
        "f",
    ),
    "uses memory that a function hands out": (
        "void *malloc(unsigned long); void abort(void);"
        " static void *get(int k) { void *p = malloc(k); if (!p) abort(); return p; }"
        " static void f(void) { double *v = get(80); v[1] = 2; }",
        "saved = get(64); MPI_Send(saved, 8, MPI_DOUBLE, 0, 0, 0);",
        "f();",
        "",
        "",
    ),
    "is called back by the library": (
        "void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));"
        " static int by(const void *a, const void *b) { return *(const double *)a < *(const double *)b; }"
        " static void f(void) { qsort(work, 64, 8, by); }",
        "f();",
        "",
        "",
        ["by", "f"],
    ),
    "its address is taken": ("static void f(void) { u[0] = 1; } void (*p)(void) = f;", "p();", "", "", "f"),
    "calls a hook that nobody sets": (
        "static double (*hook)(double, int); static void f(double *v) { if (hook) v[0] = hook(v[1], 2); }",
        "f(u);",
        "",
        "",
        "",
    ),
    "calls a hook that a cast may set": (
        "static double by(void) { return 1; } static double (*hook)(double, int) = (double (*)(double, int))by;"
        " static void f(double *v) { if (hook) v[0] = hook(v[1], 2); }",
        "f(u);",
        "",
        "",
        ["by", "f"],
    ),
    "prints a text, as `printf` does": (
        PRINTER + ' static char name[9]; static void f(void) { say("%s %d", name, 3); }',
        "f();",
        "",
        "",
        "",
    ),
    "prints what was sent": (
        PRINTER + ' static void f(void) { say("%s", (char *)out); }',
        "",
        "f();",
        "",
        ["f", "say"],
    ),
    "makes a text of an address": (
        PRINTER + ' static char name[9]; static void f(void) { say("%p", name); }',
        "f();",
        "",
        "",
        ["f", "say"],
    ),
    "calls through a pointer": (
        "static void g(void) {} static void (*p)(void) = g; static void f(void) { p(); }",
        "f();",
        "",
        "",
        "fg",
    ),
    "is not understood": ('static void f(int k) { if (k) __asm__("nop"); }', "f(3);", "", "", "f"),
    "a pointer that is volatile": (
        "static double *volatile v; static void f(void) { u[0] = *v; }",
        "v = out;",
        "f();",
        "",
        "f",
    ),
    "works on memory of its own": (
        "void *malloc(unsigned long); void free(void *); static void f(void) { int *k = malloc(9 * sizeof(int));"
        " for (int i = 0; i < 9; i++) k[i] = i; u[0] = k[3]; free(k); }",
        "f();",
        "",
        "",
        "",
    ),
    "hands memory out": (
        "void *malloc(unsigned long); static void f(double **at) { *at = malloc(64 * sizeof(double)); }",
        "f(&saved);",
        "MPI_Send(saved, 9, MPI_DOUBLE, 0, 1, 0);",
        "",
        "f",
    ),
    "holds the address of a pointer to it": (
        "static void f(double **p) { if (p == 0) u[0] = 1; }",
        "saved = out;",
        "f(&saved);",
        "",
        "f",
    ),
    "one helper for both": (
        "static void f(double *v) { v[0] = 1; } static void g(void) { f(work); }",
        "f(out); g();",
        "",
        "",
        "fg",
    ),
}


def whole(name: str) -> tuple[list[ast.Unit], Whole]:
    helpers, before, between, after, _ = PROGRAMS[name]
    text = FRAME.replace("HELPERS", helpers).replace("BEFORE", before).replace("BETWEEN", between)
    one = unit(text.replace("AFTER", after))
    return [one], merge([one])


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_what_has_to_be_seen(name: str) -> None:
    units, program = whole(name)
    known = analysed(program, EFFECTS, everything=False)
    helpers = {f.name for f in program.functions.values()} - {"main"}
    passed = {program.functions[key].name for key in known.graph.passed}
    assert sorted(helpers - passed) == sorted(PROGRAMS[name][4])
    everything = analysed(program, EFFECTS)
    assert everything.graph.passed == frozenset()
    options = Options()
    assert repr(decide(units, known, options)) == repr(decide(units, everything, options))


def test_what_is_not_followed_is_still_called() -> None:
    _, program = whole("computes")
    known = analysed(program, EFFECTS, everything=False)
    assert [known.functions[frame.function].name for frame in known.graph.frames] == ["main"]
    assert len(known.graph.followed) == 1


def test_results_that_are_wanted_are_followed() -> None:
    _, program = whole("tells a count")
    known = analysed(program, EFFECTS, everything=False)
    assert [known.functions[frame.function].name for frame in known.graph.frames] == ["main", "f"]


def test_without_a_main_everything_is_seen() -> None:
    one = unit("double b[9]; static void f(void) { } void g(void) { f(); MPI_Send(b, 9, MPI_DOUBLE, 0, 0, 0); }")
    known = analysed(merge([one]), EFFECTS, everything=False)
    assert known.graph.passed == frozenset()
    assert len(known.graph.frames) == 3
