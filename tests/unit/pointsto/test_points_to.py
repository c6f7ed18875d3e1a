"""Points-to: small programs as constraints, and random ones against the closure that defines the answer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opi_xform.pointsto.andersen import solve
from opi_xform.pointsto.problem import (
    EXTERNAL,
    OUTSIDE,
    Addr,
    Call,
    Cell,
    Constraint,
    Copy,
    Load,
    ObjectInfo,
    Offset,
    PointsTo,
    Store,
    copy_contents,
    escape,
    from_outside,
)

A, B, C, D = 1, 2, 3, 4
OBJECTS = [ObjectInfo("?"), *(ObjectInfo(n, single=True) for n in "ABCD")]


def at(obj: int, offset: int = 0, stride: int = 0) -> Cell:
    return Cell(obj, offset, stride)


def run(*constraints: Constraint, objects: Sequence[ObjectInfo] = OBJECTS, limit: int = 128) -> PointsTo:
    return solve(objects, constraints, limit=limit)


# --- small programs ------------------------------------------------------------------------------------------------


def test_assignments() -> None:
    """p = &a; q = p; q = &b"""
    found = run(Addr("p", A), Copy("q", "p"), Addr("q", B))
    assert found.of("p") == {at(A)}
    assert found.of("q") == {at(A), at(B)}
    assert found.of("never assigned") == frozenset()
    assert found.single("p") == A
    assert found.single("q") is None
    assert found.single("never assigned") is None
    assert found.may_alias("p", "q")


def test_stores_and_loads() -> None:
    """pp = &a; *pp = &b; q = *pp"""
    found = run(Addr("pp", A), Addr("x", B), Store("pp", 0, "x"), Load("q", "pp"))
    assert found.of("q") == {at(B)}


def test_stores_through_either_pointer() -> None:
    """pp is &a or &b; *pp = &c; *(&a) is read, then *(&d)"""
    code: list[Constraint] = [
        Addr("pp", A),
        Addr("pp", B),
        Addr("x", C),
        Store("pp", 0, "x"),
        Addr("qq", A),
        Load("q", "qq"),
    ]
    found = run(*code, Addr("rr", D), Load("r", "rr"))
    assert found.of("q") == {at(C)}
    assert found.of("r") == frozenset()


def test_fields_are_apart() -> None:
    """s.send = &b; s.recv = &c"""
    found = run(
        Addr("s", A),
        *(Addr("x", B), Store("s", 0, "x"), Load("send", "s", 0)),
        *(Addr("y", C), Store("s", 8, "y"), Load("recv", "s", 8)),
    )
    assert found.of("send") == {at(B)}
    assert found.of("recv") == {at(C)}


def test_constant_indices_are_apart_and_a_variable_one_is_all() -> None:
    """double *sbuf[6]: sbuf[0] = &b; sbuf[1] = &c; sbuf[i], sbuf[1]"""
    found = run(
        Addr("sbuf", A),
        *(Addr("x", B), Store("sbuf", 0, "x"), Addr("y", C), Store("sbuf", 8, "y")),
        *(Load("first", "sbuf", 0), Load("second", "sbuf", 8), Load("third", "sbuf", 16)),
        *(Offset("at i", "sbuf", None, 8), Load("any", "at i")),
    )
    assert found.of("first") == {at(B)}
    assert found.of("second") == {at(C)}
    assert found.of("third") == frozenset()
    assert found.of("any") == {at(B), at(C)}
    assert found.of("at i") == {at(A, 0, 8)}


def test_a_store_at_a_variable_index_reaches_every_constant_one() -> None:
    code: list[Constraint] = [Addr("t", A), Offset("at i", "t", None, 8), Addr("x", B), Store("at i", 0, "x")]
    found = run(*code, Load("here", "t", 24), Load("between", "t", 4))
    assert found.of("here") == {at(B)}
    assert found.of("between") == frozenset()


def test_fields_of_an_array_of_structures() -> None:
    """struct { double *send, *recv; } t[n]: t[i].send = &b; t[j].recv = &c; t[k].send, t[3].recv"""
    found = run(
        Addr("t", A),
        *(Offset("ti", "t", None, 16), Addr("x", B), Store("ti", 0, "x")),
        *(Offset("tj", "t", None, 16), Addr("y", C), Store("tj", 8, "y")),
        *(Offset("tk", "t", None, 16), Load("send", "tk", 0), Load("recv", "t", 3 * 16 + 8)),
    )
    assert found.of("send") == {at(B)}
    assert found.of("recv") == {at(C)}


def test_a_pointer_that_walks() -> None:
    """for (p = &a[2]; ...; p++): in steps of 8 from 16, so modulo 8"""
    found = run(Addr("p", A, 16), Offset("p", "p", 8))
    assert found.of("p") == {at(A, 0, 8)}


def test_a_pointer_that_walks_through_a_temporary() -> None:
    """t = p + 24; p = t; ... q = p + 8"""
    found = run(Addr("p", A), Offset("t", "p", 24), Copy("p", "t"), Offset("q", "p", 8))
    assert found.of("p") == found.of("t") == {at(A, 0, 24)}
    assert found.of("q") == {at(A, 8, 24)}


def test_a_walk_through_memory_ends() -> None:
    """s->cursor = s->cursor + 8, a cycle that only loads and stores close"""
    code: list[Constraint] = [
        Addr("s", A),
        Addr("x", B),
        Store("s", 0, "x"),
        Load("c", "s"),
        Offset("d", "c", 8),
        Store("s", 0, "d"),
    ]
    found = run(*code, limit=16)
    assert any(c.covers(at(B, 8 * 1000)) for c in found.of("c"))
    assert found.objects_of("c") == {B}


def test_the_limit_keeps_fields_apart_where_the_element_is_known() -> None:
    objects = [ObjectInfo("?"), ObjectInfo("t", element=16), ObjectInfo("b"), ObjectInfo("c")]
    code: list[Constraint] = [Addr("t", 1), Addr("x", 2), Addr("y", 3)]
    for i in range(40):
        code += [Offset(("t", i), "t", 16 * i), Store(("t", i), 0, "x"), Store(("t", i), 8, "y")]
    found = run(*code, *(Load("send", "t", 16 * 30), Load("recv", "t", 16 * 30 + 8)), objects=objects, limit=10)
    assert found.of("send") == {at(2)}
    assert found.of("recv") == {at(3)}
    coarse = [ObjectInfo("?"), ObjectInfo("t"), *objects[2:]]
    found = run(*code, Load("send", "t", 16 * 30), objects=coarse, limit=10)
    assert found.of("send") == {at(2), at(3)}


def test_memcpy_of_pointers() -> None:
    """a[0] = &c; memcpy(b, a, n); q = b[1]"""
    code: list[Constraint] = [Addr("a", A), Addr("b", B), Addr("x", C), Store("a", 0, "x"), *copy_contents("b", "a", 1)]
    assert run(*code, Load("q", "b", 8)).of("q") == {at(C)}


def test_copy_cycles_hold_the_same() -> None:
    ring = [Copy(i, (i + 1) % 5) for i in range(5)]
    found = run(*ring, Addr(2, A), Addr(4, B))
    assert {found.of(i) for i in range(5)} == {frozenset({at(A), at(B)})}
    assert found.effort["collapsed"] >= 4


# --- external code -------------------------------------------------------------------------------------------------


def test_what_escapes_is_reached_through_memory() -> None:
    """unknown(&a), where a holds &b; c does not escape"""
    found = run(Addr("a", A), Addr("x", B), Store("a", 8, "x"), Addr("y", C), escape("a"), Load("z", "a", 0))
    assert found.escaped() == {EXTERNAL, A, B}
    assert found.of("z") == {at(EXTERNAL, 0, 1), at(A, 0, 1), at(B, 0, 1)}


def test_external_code_stores_what_it_knows_anywhere() -> None:
    """unknown(&a); unknown(&b); a's third word may now be a pointer into b"""
    found = run(Addr("a", A), Addr("b", B), escape("a"), escape("b"), Load("q", "a", 16))
    assert B in found.objects_of("q")
    assert A in found.objects_of("q")


def test_external_results() -> None:
    """p = unknown(); nothing escaped, so it is nobody's but the library's"""
    found = run(from_outside("p"), Load("q", "p"), Addr("a", A))
    assert found.of("p") == found.of("q") == {at(EXTERNAL, 0, 1)}
    assert not found.may_alias("p", "a")
    assert found.single("p") is None


def test_what_is_stored_into_external_memory_escapes() -> None:
    """*unknown() = &a"""
    found = run(from_outside("p"), Addr("x", A), Store("p", 40, "x"))
    assert found.escaped() == {EXTERNAL, A}


# --- calls ---------------------------------------------------------------------------------------------------------

WITH_FUNCTIONS = [ObjectInfo("?"), ObjectInfo("a"), ObjectInfo("f", function=True), ObjectInfo("g", function=True)]


def _program(asked: list[tuple[Hashable, int]], *constraints: Constraint) -> PointsTo:
    """f returns its argument, g its argument's contents; a call binds ``arg`` and ``result``."""

    def bind(call: Hashable, target: int) -> Iterable[Constraint]:
        asked.append((call, target))
        if target == EXTERNAL:
            return (escape(("arg", call)), from_outside(("result", call)))
        name = WITH_FUNCTIONS[target].name
        return (Copy((name, "param"), ("arg", call)), Copy(("result", call), (name, "return")))

    body = (Copy(("f", "return"), ("f", "param")), Load(("g", "return"), ("g", "param")))
    return solve(WITH_FUNCTIONS, (*body, *constraints), bind)


def test_function_pointers_are_resolved_on_the_fly() -> None:
    """fp = f; table = &fp; (*table)(&a): the function is found in memory, and what it returns too"""
    asked: list[tuple[Hashable, int]] = []
    found = _program(
        asked,
        *(Addr("fp", 2), Addr("slot", 1), Store("slot", 0, "fp"), Load("callee", "slot"), Call(7, "callee")),
        Addr(("arg", 7), 1),
    )
    assert asked == [(7, 2)]
    assert found.of(("result", 7)) == {at(1)}


def test_a_target_found_late_reopens_what_was_solved() -> None:
    """g = the result of calling f with g: the second call's target is what the first one returns"""
    asked: list[tuple[Hashable, int]] = []
    _program(
        asked,
        *(Addr("fp", 2), Call(1, "fp"), Addr(("arg", 1), 3)),
        *(Call(2, ("result", 1)), Addr(("arg", 2), 1)),
    )
    assert asked == [(1, 2), (2, 3)]


def test_a_pair_is_asked_once() -> None:
    asked: list[tuple[Hashable, int]] = []
    _program(asked, Addr("fp", 2), Call(1, "fp"), Copy("gp", "fp"), Addr("gp", 3), Call(2, "gp"), Copy("fp", "gp"))
    assert sorted(asked, key=str) == [(1, 2), (1, 3), (2, 2), (2, 3)]


def test_an_unknown_callee_is_external() -> None:
    asked: list[tuple[Hashable, int]] = []
    found = _program(asked, from_outside("fp"), Call(1, "fp"), Addr(("arg", 1), 1))
    assert asked == [(1, EXTERNAL)]
    assert found.escaped() == {EXTERNAL, 1}


def test_data_is_not_called() -> None:
    asked: list[tuple[Hashable, int]] = []
    _program(asked, Addr("p", 1), Call(1, "p"))
    assert asked == []


# --- cells ---------------------------------------------------------------------------------------------------------

cells = st.builds(Cell, st.integers(1, 2), st.integers(0, 12), st.sampled_from([0, 1, 2, 3, 4, 8]))


def _offsets(cell: Cell) -> set[int]:
    return {
        o for o in range(-48, 49) if (o == cell.offset if cell.stride == 0 else (o - cell.offset) % cell.stride == 0)
    }


@given(cells, cells)
def test_cells_are_sets_of_offsets(a: Cell, b: Cell) -> None:
    same = a.object == b.object
    assert a.meets(b) == (same and bool(_offsets(a) & _offsets(b)))
    assert a.covers(b) == (same and _offsets(b) <= _offsets(a))


def test_covered_cells_are_left_out() -> None:
    found = run(Addr("p", A), Addr("p", A, 8), Addr("p", A, 4), Offset("q", "p", None, 8), Copy("q", "p"))
    assert found.of("q") == {at(A, 0, 8), at(A, 4, 8)}


# --- against the definition ----------------------------------------------------------------------------------------


def closure(constraints: Sequence[Constraint], bound: int | None = None) -> dict[Hashable, set[Cell]]:
    """The least sets that satisfy all constraints, by applying every rule until nothing changes.

    Memory is a set of (cell stored at, cell stored).  bound: offsets beyond it are dropped, so that walks end; the
    sets are then too small.
    """
    pts: dict[Hashable, set[Cell]] = {}
    memory: set[tuple[Cell, Cell]] = set()
    outside = (
        Addr(OUTSIDE, EXTERNAL),
        Offset(OUTSIDE, OUTSIDE, None),
        Load(OUTSIDE, OUTSIDE),
        Store(OUTSIDE, 0, OUTSIDE),
    )

    def shift(c: Cell, delta: int | None, stride: int) -> list[Cell]:
        from math import gcd

        if c.object == EXTERNAL:
            return [c]
        step = gcd(c.stride, stride) if delta is None else c.stride
        offset = c.offset + (delta or 0)
        return (
            []
            if bound is not None and abs(offset) > bound
            else [Cell(c.object, offset % step if step else offset, step)]
        )

    while True:
        before = (sum(map(len, pts.values())), len(memory))
        for c in (*outside, *constraints):
            if isinstance(c, Addr):
                new = {Cell(c.object, c.offset, 0) if c.object != EXTERNAL else Cell(EXTERNAL, 0, 1)}
            elif isinstance(c, Copy):
                new = set(pts.get(c.q, ()))
            elif isinstance(c, Offset):
                new = {d for s in pts.get(c.q, ()) for d in shift(s, c.delta, c.stride)}
            elif isinstance(c, Load):
                places = [d for s in pts.get(c.q, ()) for d in shift(s, c.offset, 1)]
                new = {v for where, v in memory for place in places if where.meets(place)}
                if any(p.object == EXTERNAL for p in places):
                    new |= pts[OUTSIDE]
            elif isinstance(c, Store):
                for s in set(pts.get(c.p, ())):
                    if s.object == EXTERNAL:
                        pts[OUTSIDE] |= pts.get(c.q, set())
                    memory |= {(d, v) for d in shift(s, c.offset, 1) for v in pts.get(c.q, ())}
                continue
            else:
                continue
            pts.setdefault(c.p, set()).update(new)
        if (sum(map(len, pts.values())), len(memory)) == before:
            return pts


variables = st.integers(0, 6)
places = st.sampled_from([0, 8, 16])
simple: st.SearchStrategy[Constraint] = st.one_of(
    st.builds(Addr, variables, st.integers(A, D), places),
    st.builds(Addr, variables, st.integers(A, D), places),
    st.builds(Copy, variables, variables),
    st.builds(Load, variables, variables, places),
    st.builds(Store, variables, places, variables),
    st.builds(Offset, variables, variables, st.none(), st.sampled_from([1, 8, 16])),
    st.builds(Copy, st.just(OUTSIDE), variables),
    st.builds(Copy, variables, st.just(OUTSIDE)),
)
walks: st.SearchStrategy[Constraint] = st.builds(Offset, variables, variables, st.sampled_from([-8, 8, 16, 24]))


def _reduced(cells: Iterable[Cell]) -> set[Cell]:
    every = set(cells)
    return {c for c in every if not any(o != c and o.covers(c) for o in every)}


@settings(max_examples=300)
@given(st.lists(simple, max_size=25))
def test_the_least_solution_is_found(constraints: list[Constraint]) -> None:
    """Nothing missing and nothing too much, where no constant offset can go round a cycle."""
    expected = closure(constraints)
    found = run(*constraints)
    for v in [*range(7), OUTSIDE]:
        assert found.of(v) == _reduced(expected.get(v, ())), v


@settings(max_examples=300)
@given(st.lists(simple | walks, max_size=25), st.sampled_from([2, 5, 128]))
def test_no_target_is_missed(constraints: list[Constraint], limit: int) -> None:
    """With pointers that walk, whatever the limit: each cell of the (cut) closure is covered."""
    expected = closure(constraints, bound=40)
    found = run(*constraints, limit=limit)
    for v in [*range(7), OUTSIDE]:
        for cell in expected.get(v, ()):
            assert any(c.covers(cell) for c in found.of(v)), (v, cell)


@given(st.lists(simple, max_size=25), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(constraints: list[Constraint], random: object) -> None:
    shuffled = list(constraints)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = run(*constraints), run(*shuffled)
    assert all(one.of(v) == other.of(v) for v in range(7))


@given(st.lists(simple | walks, max_size=25))
def test_runs_are_repeatable(constraints: list[Constraint]) -> None:
    assert run(*constraints).effort == run(*constraints).effort


# --- cost ----------------------------------------------------------------------------------------------------------


def typical(size: int) -> list[Constraint]:
    """A program of ``size`` functions in files of 50: a context and helpers per file, buffers in tables, walks."""
    code: list[Constraint] = []
    for i in range(size):
        file = i // 50
        ctx, buf, prev = ("ctx", i), ("buf", i), ("ctx", max(0, i - 1))
        code += [
            Addr(ctx, 1 + file) if i % 50 == 0 else Copy(ctx, prev),
            Addr(buf, 1 + size // 50 + i),
            Store(ctx, 8 * (i % 16), buf),
            Load(("use", i), ctx, 8 * ((i + 3) % 16)),
            Copy(("arg", file, i % 5), ("use", i)),
            Copy(("ret", i), ("arg", file, i % 5)),
            Offset(("elem", i), ("ret", i), None, 8),
            Copy(("cur", i), ("elem", i)),
            Offset(("cur", i), ("cur", i), 8),
            Load(("val", i), ("cur", i)),
        ]
    return code


def _objects(size: int) -> list[ObjectInfo]:
    return [ObjectInfo(f"o{i}", single=True) for i in range(1 + size // 50 + size)]


def test_the_work_grows_with_the_program() -> None:
    """Twice the program: about twice the visits, not four times."""
    small = solve(_objects(500), typical(500)).effort
    large = solve(_objects(1000), typical(1000)).effort
    for what in ("visits", "propagations"):
        assert large[what] <= 2.5 * small[what], what
    assert large["visits"] <= 30_000
    assert large["searched"] <= 8 * 10 * 1000 + 64 * large["collapsed"]


def test_a_cycle_through_memory_is_collapsed() -> None:
    """n variables, each stored into the cell that the one before is loaded from: one cycle that only solving shows."""
    n = 300
    code: list[Constraint] = [Addr(("slot", i), i + 1) for i in range(n)]
    for i in range(n):
        code += [Store(("slot", i), 0, ("v", i)), Load(("v", (i + 1) % n), ("slot", i)), Addr(("v", i), n + 1 + i)]
    found = solve([ObjectInfo("?")] + [ObjectInfo("o", single=True)] * (2 * n), code)
    assert len(found.of(("v", 0))) == n
    assert found.effort["collapsed"] >= 2 * n
    assert found.effort["visits"] <= 20 * n


def test_unknown_objects_are_refused() -> None:
    with pytest.raises(IndexError, match="no object 9"):
        run(Addr("p", 9))
