"""Graphs of parts of a program: each function once, islands, blocks that are reached; what several graphs share."""

from __future__ import annotations

import pytest
from core_support import around, unit
from hypothesis import given
from hypothesis import strategies as st

from opi_xform import budget
from opi_xform.effects.table import load_effects
from opi_xform.graph.around import Around
from opi_xform.graph.bodies import Bodies
from opi_xform.graph.flat import Flat
from opi_xform.graph.graph import Bind, Frame, Lost, Node, Unbind
from opi_xform.graph.islands import SMALL, Names, islands
from opi_xform.graph.pruned import pruned
from opi_xform.graph.whole import called_back, entries, initialised, merge
from opi_xform.ir import instr as ins
from opi_xform.ir.span import NOWHERE
from opi_xform.ir.types import INT

EFFECTS = load_effects()


def flat(text: str) -> Flat:
    found = around(text)
    return Flat(found.lowerings, EFFECTS, found.pointers)


def plain(names: object) -> list[str]:
    assert isinstance(names, list | frozenset)
    return sorted(name.rpartition(":")[2] for name in names)


# --- each function once -----------------------------------------------------------------------------------------------


def test_functions_are_there_once_however_often_they_are_called() -> None:
    found = flat(
        "static int g(int a) { return a; } static int unused(void) { return 3; }int main(void) { return g(1) + g(2); }"
    )
    assert plain(found.names) == ["g", "main"]
    binds = [n.action.args for n in found.nodes if isinstance(n.action, Bind)]
    assert binds == [(ins.Const(1),), (ins.Const(2),)]
    assert len([n for n in found.nodes if isinstance(n.action, Unbind)]) == 2
    assert len(found.followed) == 2
    graph = found.graph()
    assert [f.function for f in graph.frames] == found.names
    assert graph.nodes == tuple(found.nodes)


def test_a_function_that_only_allocates_is_an_allocation_of_each_caller() -> None:
    found = flat(
        "static void *get(int n) { return malloc(n); }int main(void) { char *p = get(1), *q = get(2); return p == q; }"
    )
    mallocs = [
        n.frame
        for n in found.nodes
        if isinstance(n.action, ins.CallInstr) and n.action.callee == ins.AddrFunc("malloc")
    ]
    assert mallocs.count(0) == 2
    assert not [n for n in found.nodes if isinstance(n.action, Unbind)]


def test_a_number_that_a_call_leaves_out_is_any_number() -> None:
    found = flat("int g(); int main(void) { return g(1); } int g(int a, long b) { return a; }")
    ((first, second),) = [n.action.args for n in found.nodes if isinstance(n.action, Bind)]
    assert first == ins.Const(1)
    assert isinstance(second, ins.Nondet)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("int g(); int main(void) { return g(1); } int g(int a, int *b) { return *b; }", "argument count differs"),
        ("static void g() {} int main(void) { g(1); return 0; }", "argument count differs"),
        (
            "int any(void); int main(void) { void (*p)(void) = (void (*)(void))any; any(); p(); return 0; }",
            "call through a pointer",
        ),
    ],
)
def test_calls_that_are_lost(text: str, reason: str) -> None:
    assert [n.action.reason for n in flat(text).nodes if isinstance(n.action, Lost)] == [reason]


def test_functions_that_never_return() -> None:
    found = flat(
        "static void out(int n) { exit(n); } static void maybe(int n) { if (n) exit(n); }"
        "static void fail(int n) { maybe(n); out(n); } static void turns(void) { for (;;) ; }"
        "int main(int n, char **v) { if (n > 1) fail(n); if (n > 2) turns(); return 0; }"
    )
    assert plain(found.ending) == ["fail", "out", "turns"]


def test_a_callback_is_bound_to_what_it_gets() -> None:
    found = flat(
        "void qsort(void *, size_t, size_t, int (*)(const void *, const void *));"
        "static int by(const void *a, const void *b) { return a < b; } static double u[4];"
        "int main(void) { qsort(u, 4, 8, by); return 0; }"
    )
    (bind,) = [n.action for n in found.nodes if isinstance(n.action, Bind)]
    assert [type(a) for a in bind.args] == [ins.PtrAdd, ins.PtrAdd], "somewhere in the array"


# --- what several graphs share ----------------------------------------------------------------------------------------


def test_around_a_program() -> None:
    found = around(
        "int unknown(void *); static int u; static int *const at = &u; static void cb(int s) { u = s; }"
        "static void *keeps(void) { unknown(&u); return 0; } void *signal(int, void (*)(int));"
        "static int down(int n) { return n ? down(n - 1) : 0; }"
        "int main(void) { signal(2, cb); keeps(); return down(*at); }"
    )
    assert isinstance(found, Around)
    assert isinstance(found.bodies, Bodies)
    assert [found.whole.variables[key].name for key in found.called_back] == ["u"]
    assert plain(found.hidden) == ["keeps", "main"]
    assert plain(found.bodies.cycles.cyclic) == ["down"]
    assert found.bodies is found.bodies


def test_entries_of_a_program_and_of_a_part() -> None:
    text = "static void f(void) {} void g(void) { f(); } void h(void) {}"
    assert entries(merge([unit(text + " int main(void) { g(); return 0; }")])) == ("main",)
    assert entries(merge([unit(text)])) == ("g", "h")


def test_variables_that_initialisers_name_and_callbacks_use() -> None:
    whole = merge(
        [
            unit(
                "static int a, b, c, d; static int *p = &a; static struct { int *at; } s = { &b };"
                "static void deep(void) { c = 1; } static void cb(int n) { deep(); }"
                "void *signal(int, void (*)(int));"
                "int main(void) { signal(2, cb); int *q = &d; return *p + *s.at + *q; }"
            )
        ]
    )
    assert [whole.variables[key].name for key in initialised(whole)] == ["a", "b"]
    assert [whole.variables[key].name for key in called_back(whole)] == ["c"]


# --- functions that are analysed by themselves ------------------------------------------------------------------------

CALLS = """
static void leaf(void) {{ }} static void shared(void) {{ leaf(); }}
static void again(int n) {{ if (n) again(n - 1); }}
static void large(void) {{ {large} }}
void one(void) {{ shared(); again(3); }} void two(void) {{ large(); }} void three(void) {{ one(); }}
{start}
"""
MAIN = "int main(void) { two(); three(); return 0; }"


def groups(sending: tuple[str, ...], large: str = "", start: str = "") -> list[list[str]]:
    """Without a main, unless it is ``start``: with one, they begin there."""
    found = around(CALLS.format(large=large, start=start))
    return sorted(plain(group.functions) for group in islands(Names([], found), sending))


def test_a_function_with_what_it_calls_as_far_as_that_is_small() -> None:
    statements = "int i = 0;" + " i++;" * SMALL
    assert groups(("one",)) == [["leaf", "one", "shared"]], "it does not follow what leads back to itself"
    assert groups(("two",)) == [["large", "two"]]
    assert groups(("two",), statements) == [["two"]]
    assert groups(("one", "two")) == [["large", "two"], ["leaf", "one", "shared"]]


def test_functions_that_are_followed_from_one_another_are_one_group() -> None:
    found = Names([], around("void one(void) { } void three(void) { one(); }"))
    assert [plain(g.functions) for g in islands(found, ("one", "three"))] == [["one", "three"]]
    assert islands(found, ("unknown",)) == []


def test_a_group_begins_with_main_where_that_is_small() -> None:
    assert groups(("one",), start=MAIN) == [["large", "leaf", "main", "one", "shared", "three", "two"]]
    start = "void other(void); void (*some)(void) = one; int main(void) { three(); other(); }"
    assert groups(("one",), start=start) == [["leaf", "one", "shared"]], "who else calls it is not known"


def test_only_the_ways_are_followed_where_all_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "ROOTED", 60)
    statements = "int i = 0;" + " i++;" * 50
    assert groups(("one",), statements, MAIN) == [["leaf", "main", "one", "shared", "three"]]
    monkeypatch.setattr(budget, "ROOTED", 3)
    assert groups(("one",), statements, MAIN) == [["leaf", "one", "shared"]]


def test_a_group_beyond_the_budget_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "GROUP", 3)
    assert groups(("one",)) == []


# --- blocks that are reached ------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 6), max_size=2), min_size=7, max_size=7))
def test_only_what_is_reached_stays(leads: list[list[int]]) -> None:
    reached, work = {0}, [0]
    while work:
        for s in leads[work.pop()]:
            if s not in reached:
                reached.add(s)
                work.append(s)
    nodes = [Node(b, b, b, ins.Define(NOWHERE, -1, ins.Temp(b), ins.Const(b), INT)) for b in range(7)]
    frames = [Frame(b, f"f{b}", -1, b) for b in range(7)]
    graph = pruned(nodes, [[b] for b in range(7)], leads, frames, {}, {2, 3}, {})
    was = [
        n.action.value.value
        for n in graph.nodes
        if isinstance(n.action, ins.Define) and isinstance(n.action.value, ins.Const)
    ]
    assert set(was) == reached
    assert was[0] == 0
    for block, succs in enumerate(graph.succs):
        assert [was[s] for s in succs] == leads[was[block]]
        assert all(block in graph.preds[s] for s in succs)
    assert {was[n] for n in graph.followed} == {2, 3} & reached
    for frame in graph.frames:
        assert (was[frame.call] == frame.number) if frame.number in reached else (frame.call == -1)


@given(st.lists(st.lists(st.integers(0, 5), max_size=2), min_size=6, max_size=6))
def test_without_loops_blocks_stand_in_topological_order(leads: list[list[int]]) -> None:
    forward = [[s for s in row if s > b] for b, row in enumerate(leads)]
    nodes = [Node(b, b, b, ins.Define(NOWHERE, -1, ins.Temp(b), ins.Const(b), INT)) for b in range(6)]
    graph = pruned(nodes, [[b] for b in range(6)], forward, (), {}, (), {})
    assert all(s > block for block, succs in enumerate(graph.succs) for s in succs)
