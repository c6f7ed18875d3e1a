"""The program graph: a copy of a function per call, and what is not followed."""

from __future__ import annotations

import pytest
from core_support import Found, program

from opi_xform import budget
from opi_xform.graph.graph import Bind, Lost, Unbind
from opi_xform.ir import instr as ins


def names(found: Found) -> list[str]:
    return [found.program.functions[f.function].name for f in found.program.graph.frames if f.function]


def lost(found: Found) -> list[str]:
    return [n.action.reason for n in found.program.graph.nodes if isinstance(n.action, Lost)]


def test_a_copy_per_call() -> None:
    found = program("static int g(int a) { return a + 1; } int main(void) { return g(1) + g(2); }")
    assert names(found) == ["main", "g", "g"]
    graph = found.program.graph
    binds = [n for n in graph.nodes if isinstance(n.action, Bind)]
    assert [[v.constant for v in found.program.values.operands[n.number]] for n in binds] == [[1], [2]]
    assert all(graph.frames[n.frame].parent == 0 for n in binds)
    assert len([n for n in graph.nodes if isinstance(n.action, Unbind)]) == 2
    for n in binds:
        assert graph.frames[n.frame].call in graph.followed
    assert lost(found) == []


def test_copies_of_copies() -> None:
    found = program("static void h(void) {} static void g(void) { h(); h(); } int main(void) { g(); g(); return 0; }")
    assert sorted(names(found)) == ["g", "g", "h", "h", "h", "h", "main"]


def test_every_return_leads_behind_the_call() -> None:
    found = program("static int g(int a) { if (a) return 1; return 2; } int main(int c, char **v) { return g(c); }")
    graph = found.program.graph
    leaving = [n for n in graph.nodes if isinstance(n.action, Unbind)]
    assert len(leaving) == 2
    assert len({graph.succs[n.block] for n in leaving}) == 1
    (call,) = [n for n in graph.nodes if n.number in graph.followed]
    assert isinstance(call.action, ins.CallInstr)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("static void g(int a) { if (a) g(a - 1); } int main(void) { g(3); return 0; }", ""),  # it only computes
        ("int x; static void g(int a) { x++; if (a) g(a - 1); } int main(void) { g(3); return 0; }", "recursion"),
        (
            "int x; static void h(int); static void g(int a) { x++; if (a) h(a); } static void h(int a) { g(a - 1); }"
            " int main(void) { g(3); return 0; }",
            "recursion",
        ),
        ("static void g(void) {} int main(void) { void (*p)(void) = g; p(); return 0; }", ""),
        (
            "int unknown(void); static void g(void) {} "
            "int main(void) { void (*p)(void) = g; unknown(); p(); return 0; }",
            "call through a pointer",
        ),
        (
            "static void g(int a) {} int main(void) { void (*p)(void) = (void (*)(void))g; p(); return 0; }",
            "call through a pointer",
        ),
        ("static void g(); static void g(int a) {} int main(void) { g(1); return 0; }", ""),
        ("static void g() {} int main(void) { g(1); return 0; }", "argument count differs"),
        ("void g(); int main(void) { g(1); return 0; } void g(int a, int b, double c) {}", ""),
        ("void g(); int main(void) { g(1); return 0; } void g(int a, int *c) { *c = a; }", "argument count differs"),
        ("void g(); int main(void) { g(1); return 0; } void g(int a, int *c) {}", ""),
        ("struct s { int n; }; void g(); int main(void) { g(); return 0; } void g(struct s a) {}", ""),
        ("static void g(int a, ...) {} int main(void) { g(1, 2); return 0; }", ""),
        (
            "#include <signal.h>\nstatic void on(int s) {} static void g(void) {}\n"
            "int main(void) { void (*p)(void) = g; signal(2, on); p(); return 0; }",
            "",
        ),
        (
            "double _mm_add_sd(double); static void g(void) {} "
            "int main(void) { void (*p)(void) = g; _mm_add_sd(1); p(); return 0; }",
            "",
        ),
        (
            "#include <signal.h>\nstatic void on(int s) {}\n"
            "int main(void) { void (*p)(int) = signal(2, on); p(2); return 0; }",
            "call through a pointer",
        ),
    ],
)
def test_calls_that_are_not_followed(text: str, reason: str) -> None:
    assert lost(program(text)) == ([reason] if reason else [])


def test_a_number_that_a_call_leaves_out_is_any_number() -> None:
    text = "void g(); int main(void) { g(7); return 0; } void g(int a, int b, double c) {}"
    binds = [n.action.args for n in program(text).program.graph.nodes if isinstance(n.action, Bind)]
    (first, second, third) = next(args for args in binds if args)
    assert first == ins.Const(7)
    assert isinstance(second, ins.Nondet)
    assert isinstance(third, ins.Nondet)


def test_addresses_behind_the_last_parameter_are_outside() -> None:
    text = 'static void say(const char *f, ...) {} int a; int main(void) { say("%d %p %s", 1, &a, "x"); return 0; }'
    escapes = [n.action for n in program(text).program.graph.nodes if isinstance(n.action, ins.Escape)]
    assert [[type(v) for v in e.values] for e in escapes] == [[ins.AddrVar]]


def test_what_a_lost_call_can_reach_is_given_up() -> None:
    """Arguments and all globals; a local whose address goes nowhere is safe."""
    found = program(
        'static int b[9]; static void g(int *p, int n) { b[n] = 1; if (n) __asm__(""); }'
        " int main(void) { int given[9], own[9]; own[0] = 1; g(given, 3); return b[0] + own[0]; }"
    )
    escaped = found.program.values.escaped
    assert found.object("given") in escaped
    assert found.object("b") in escaped
    assert found.object("own") not in escaped


def test_a_level_of_recursion_reaches_what_its_function_names() -> None:
    found = program(
        "static int a[9], b[9], c[9]; static void h(int k) { b[k] = 1; }"
        " static void g(int *p, int n) { p[n] = 1; h(n); if (n) g(p, n - 1); }"
        " int main(void) { int given[9], own[9]; own[0] = 1; g(given, 3); g(a, 2); return c[0] + own[0]; }"
    )
    escaped = found.program.values.escaped
    assert {name for name in ("given", "a", "b", "c", "own") if found.object(name) in escaped} == {"given", "a", "b"}


def test_arms_of_a_function_that_enters_itself_are_all_there() -> None:
    """A constant of the first call is none of the next."""
    g = "static int a; static void g(int n) { if (n > 2) { a = 1; return; } g(n + 1); }"
    found = program(g + " int main(void) { g(0); return a; }")
    stores = [n.action for n in found.program.graph.nodes if isinstance(n.action, ins.Define)]
    assert any(isinstance(s.target, ins.Var) and s.target.key.endswith("a") for s in stores)


def test_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "static void g(int a) { a++; a++; a++; } int main(void) { g(1); g(2); g(3); g(4); return 0; }"
    assert lost(program(text)) == []
    monkeypatch.setattr(budget, "NODES", 6)
    with pytest.raises(budget.TooLargeError) as found:
        program(text)
    assert (found.value.most.split(":")[1], found.value.copies) == ("g", 3)


SORT = "void qsort(void *, size_t, size_t, int (*)(const void *, const void *)); static int a[9], b[9];"


def test_callbacks_run_any_number_of_times() -> None:
    found = program(
        SORT + "static int by(const void *x, const void *y) { return *(const int *)x - b[1]; }"
        " int main(void) { qsort(a, 9, sizeof(int), by); return 0; }"
    )
    assert names(found) == ["main", "by"]
    assert lost(found) == []
    assert [loop.parent for loop in found.program.nest.loops] == [-1]
    assert len(found.access("b", "R")) == 1
    reads = [access for access in found.access("a", "R") if access.why == ""]
    assert reads, "the elements that the callback gets lie in the array"


def test_callbacks_that_are_not_known() -> None:
    found = program(
        SORT + "static int by(const void *x, const void *y) { return b[1]; } int main(int c, char **v) {"
        " int (*f)(const void *, const void *) = c ? by : 0; qsort(a, 9, sizeof(int), f); return 0; }"
    )
    assert names(found) == ["main"]
    assert found.object("b") in found.program.values.escaped


def test_without_main_every_external_function_is_an_entry() -> None:
    found = program("static int s; void one(int a) { s = a; } void two(void) { s++; } static void three(void) {}")
    assert names(found) == ["one", "two"]
    assert not found.program.complete
    (loop,) = found.program.nest.loops  # in any order, any number of times
    assert len(loop.latches) == 2
    binds = [n for n in found.program.graph.nodes if isinstance(n.action, Bind) and n.action.params]
    assert [v.constant for v in found.program.values.operands[binds[0].number]] == [None]


def test_nothing_runs_behind_a_call_that_does_not_return() -> None:
    found = program("static int mark; int main(int c, char **v) { if (c) { exit(1); mark = 1; } mark = 2; return 0; }")
    assert [v.constant for v in found.marked()] == [2]


def test_blocks_are_numbered_in_reverse_postorder() -> None:
    found = program("int main(int c, char **v) { for (int i = 0; i < c; i++) if (i == 3) c--; else c++; return c; }")
    graph, nest = found.program.graph, found.program.nest
    for b, targets in enumerate(graph.succs):
        for t in targets:
            assert t > b or nest.dominates(t, b)
            assert b in graph.preds[t]
    assert [n.number for n in graph.nodes] == list(range(len(graph.nodes)))
