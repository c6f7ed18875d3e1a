"""Dominators and loop nests, judged against their definitions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opi_xform.graph.loops import dominators, loop_nest

Graph = list[list[int]]


def preds(succs: Graph) -> Graph:
    out: Graph = [[] for _ in succs]
    for b, targets in enumerate(succs):
        for t in targets:
            out[t].append(b)
    return out


def reachable(succs: Graph, start: int, without: int = -1) -> set[int]:
    seen: set[int] = set()
    work = [start] if start != without else []
    while work:
        b = work.pop()
        if b not in seen:
            seen.add(b)
            work.extend(t for t in succs[b] if t != without)
    return seen


def reverse_postorder(succs: Graph) -> Graph:
    """The reachable part of a graph, numbered as the analyses want it."""
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(succs[0]))]
    while stack:
        b, rest = stack[-1]
        for t in rest:
            if t not in seen:
                seen.add(t)
                stack.append((t, iter(succs[t])))
                break
        else:
            order.append(b)
            stack.pop()
    order.reverse()
    place = {b: i for i, b in enumerate(order)}
    return [sorted({place[t] for t in succs[b]}) for b in order]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(1, 12))
    targets = st.lists(st.integers(0, n - 1), max_size=3)
    return reverse_postorder([draw(targets) for _ in range(n)])


@given(graphs())
def test_dominators_by_removal(succs: Graph) -> None:
    """a dominates b when b cannot be reached without a; the immediate dominator is the nearest such block."""
    idom = dominators(succs, preds(succs))
    for b in range(1, len(succs)):
        strict = [a for a in range(len(succs)) if a != b and b not in reachable(succs, 0, a)]
        nearest = max(strict, key=lambda a: sum(a not in reachable(succs, 0, x) for x in strict if x != a))
        assert idom[b] == nearest


@given(graphs())
def test_loops_by_their_definition(succs: Graph) -> None:
    """A loop is a header and all that reaches its back edges without it; a cycle without one is irreducible."""
    back = preds(succs)
    nest = loop_nest(succs, back)
    expected: dict[int, set[int]] = {}
    retreating = False
    for b, targets in enumerate(succs):
        for h in targets:
            if h <= b:
                if h == b or b not in reachable(succs, 0, h):
                    expected.setdefault(h, {h}).update(reachable(back, b, h))
                else:
                    retreating = True
    assert {loop.header: set(loop.blocks) for loop in nest.loops} == expected
    assert nest.irreducible == retreating
    for b in range(len(succs)):
        around = sorted((loop for loop in nest.loops if b in loop.blocks), key=lambda loop: len(loop.blocks))
        assert nest.of[b] == (around[0].number if around else -1)
    for loop in nest.loops:
        assert all(a in loop.blocks and z not in loop.blocks for a, z in loop.exits)
        assert all(loop.header in succs[latch] for latch in loop.latches)


def test_a_nest() -> None:
    #  0 -> 1 -> 2 -> 3 -> 2, 3 -> 1, 1 -> 4
    succs = [[1], [2, 4], [3], [1, 2], []]
    nest = loop_nest(succs, preds(succs))
    outer, inner = nest.loops
    assert (outer.header, outer.blocks, outer.parent, outer.exits) == (1, frozenset({1, 2, 3}), -1, ((1, 4),))
    assert (inner.header, inner.blocks, inner.parent, inner.exits) == (2, frozenset({2, 3}), 0, ((3, 1),))
    assert nest.chain(3) == (1, 0)
    assert nest.chain(4) == ()
    assert nest.dominates(1, 3)
    assert not nest.dominates(2, 4)
    assert not nest.irreducible


def test_two_continues_make_one_loop() -> None:
    succs = [[1], [2, 3, 4], [1], [1], []]
    nest = loop_nest(succs, preds(succs))
    assert len(nest.loops) == 1
    assert nest.loops[0].latches == (2, 3)


def test_a_loop_with_two_entries() -> None:
    succs = [[1, 2], [2], [1, 3], []]
    nest = loop_nest(succs, preds(succs))
    assert nest.irreducible
    assert nest.loops == ()
