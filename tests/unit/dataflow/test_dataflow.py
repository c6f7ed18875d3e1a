"""The solver and the views: against a naive fixpoint on random graphs, and on the shapes that analyses stumble over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opi_xform.dataflow.lattice import Bits, Lattice, May, TupleLattice
from opi_xform.dataflow.scc import components, reached
from opi_xform.dataflow.solver import Analysis, Diverged, solve
from opi_xform.dataflow.view import ListGraph, View, backward, forward, numbered

Bits = frozenset[int] | None


@dataclass(frozen=True)
class BitSets:
    """Sets over 0..3 met by union; None is top ("no path"), the full set is bottom."""

    top: Bits = None
    bottom: Bits = frozenset(range(4))

    def meet(self, a: Bits, b: Bits) -> Bits:
        return b if a is None else a if b is None else a | b

    def leq(self, a: Bits, b: Bits) -> bool:
        return self.meet(a, b) == a

    def explain(self, a: Bits, b: Bits) -> str:
        return "" if self.leq(a, b) else f"{b} is not in {a}"


@dataclass(frozen=True)
class GenKill:
    """A bit-vector problem: what each node removes and adds, and what each edge (in graph direction) adds."""

    kill: Mapping[int, frozenset[int]]
    gen: Mapping[int, frozenset[int]]
    edges: Mapping[tuple[int, int], frozenset[int]]
    start: frozenset[int] = frozenset()

    @property
    def lattice(self) -> Lattice[Bits]:
        return BitSets()

    def boundary(self, node: int) -> Bits:
        return self.start | {node % 4}

    def transfer(self, node: int, state: Bits) -> Bits:
        return None if state is None else (state - self.kill.get(node, frozenset())) | self.gen.get(node, frozenset())

    def transfer_edge(self, source: int, target: int, state: Bits) -> Bits:
        return None if state is None else state | self.edges.get((source, target), frozenset())


def naive(view: View, analysis: Analysis[Bits]) -> tuple[list[Bits], list[Bits]]:
    """Round-robin over all nodes until nothing changes: the definition, without a worklist or an order."""
    lattice = analysis.lattice
    size = len(view.nexts)
    before: list[Bits] = [lattice.top] * size
    after: list[Bits] = [lattice.top] * size
    while True:
        old = (list(before), list(after))
        for n in range(size):
            state = analysis.boundary(n) if n in view.starts else lattice.top
            for p in view.prevs[n]:
                edge = (p, n) if view.forward else (n, p)
                state = lattice.meet(state, analysis.transfer_edge(*edge, after[p]))
            before[n], after[n] = state, analysis.transfer(n, state)
        if (before, after) == old:
            return before, after


bits = st.frozensets(st.integers(0, 3))


@st.composite
def graphs(draw: st.DrawFn) -> ListGraph:
    size = draw(st.integers(1, 9))
    node = st.integers(0, size - 1)
    succs = draw(st.lists(st.lists(node, max_size=3), min_size=size, max_size=size))
    exits = draw(st.none() | st.lists(node, max_size=2))
    return ListGraph.of(succs, 0, exits)


@st.composite
def problems(draw: st.DrawFn) -> tuple[ListGraph, GenKill]:
    graph = draw(graphs())
    nodes = range(len(graph.succs))
    edges = {(a, b): draw(bits) for a in nodes for b in graph.succs[a]}
    return graph, GenKill({n: draw(bits) for n in nodes}, {n: draw(bits) for n in nodes}, edges, draw(bits))


@given(problems(), st.booleans())
def test_the_solver_finds_the_greatest_fixpoint(problem: tuple[ListGraph, GenKill], ahead: bool) -> None:
    graph, analysis = problem
    view = forward(graph) if ahead else backward(graph)
    solution = solve(view, analysis)
    before, after = naive(view, analysis)
    assert (list(solution.before), list(solution.after)) == (before, after)
    assert solve(view, analysis) == solution


@given(graphs())
def test_backward_reaches_all_that_forward_reaches(graph: ListGraph) -> None:
    """Endless loops included: no reachable node is left without a state going backward."""
    assert set(forward(graph).order) <= set(backward(graph).order)


@given(graphs())
def test_backward_starts_once_per_endless_cycle(graph: ListGraph) -> None:
    """Without any one of its starts that is no exit, some reachable node would not be visited."""
    view = backward(graph)
    reachable = set(forward(graph).order)
    for start in set(view.starts) - set(graph.exits):
        seen: set[int] = set()
        worklist = [s for s in view.starts if s != start]
        while worklist:
            node = worklist.pop()
            if node not in seen:
                seen.add(node)
                worklist.extend(graph.preds[node])
        assert not reachable <= seen


@given(graphs())
def test_order_is_reverse_postorder(graph: ListGraph) -> None:
    """Starts first, and an edge that goes back in the order lies on a cycle."""
    view = forward(graph)
    assert view.order[0] == graph.entry
    rank = {n: i for i, n in enumerate(view.order)}
    component = {n: i for i, c in enumerate(components([0], lambda n: graph.succs[n])) for n in c}
    for a in view.order:
        for b in graph.succs[a]:
            assert rank[a] < rank[b] or component[a] == component[b]


@given(graphs())
def test_components(graph: ListGraph) -> None:
    """Mutual reachability, in an order where successors come first."""

    def reach(start: int) -> set[int]:
        seen, worklist = {start}, [start]
        while worklist:
            for to in graph.succs[worklist.pop()]:
                if to not in seen:
                    seen.add(to)
                    worklist.append(to)
        return seen

    found = components(range(len(graph.succs)), lambda n: graph.succs[n])
    place = {n: i for i, c in enumerate(found) for n in c}
    assert sorted(place) == list(range(len(graph.succs)))
    reached = {n: reach(n) for n in place}
    for a in place:
        for b in place:
            assert (place[a] == place[b]) == (b in reached[a] and a in reached[b])
            if b in reached[a]:
                assert place[b] <= place[a]


def test_unreached_nodes_stay_at_top() -> None:
    graph = ListGraph.of([[1], [], [1]])
    solution = solve(forward(graph), GenKill({}, {2: frozenset({3})}, {}))
    assert solution.before[2] is None
    assert solution.before[1] == frozenset({0})  # nothing comes from the unreached predecessor


def test_edges_are_named_in_the_graphs_direction() -> None:
    graph = ListGraph.of([[1, 2], [3], [3], []])
    analysis = GenKill({}, {}, {(0, 1): frozenset({1}), (0, 2): frozenset({2})})
    assert solve(forward(graph), analysis).before[1] == frozenset({0, 1})
    assert solve(backward(graph), analysis).before[0] == frozenset({1, 2, 3})


def test_an_endless_loop_has_a_boundary() -> None:
    graph = ListGraph.of([[1], [2], [1]])
    assert backward(graph).starts == (1,)
    assert solve(backward(graph), GenKill({}, {}, {})).after[0] == frozenset({1})


def test_a_loop_that_only_leads_to_an_endless_one_has_none() -> None:
    # 0 -> 1 <-> 2, 1 -> 3, 3 -> 3
    assert backward(ListGraph.of([[1], [2, 3], [1], [3]])).starts == (3,)


def test_straight_code_is_visited_once() -> None:
    size = 2000
    graph = ListGraph.of([[i + 1] for i in range(size)] + [[]])
    for view in (forward(graph), backward(graph)):
        assert solve(view, GenKill({}, {}, {})).steps == size + 1


def test_nested_loops_cost_a_few_visits_per_node() -> None:
    """d loops inside each other: the visits grow with nodes times depth, not with the product of the loops."""
    depth = 30
    # heads 0..d-1, body d, latches d+1..2d (innermost first), exit 2d+1
    succs = [[i + 1, 2 * depth - i + 1] for i in range(depth)] + [[depth + 1]]
    succs += [[depth - 1 - i] for i in range(depth)] + [[]]
    graph = ListGraph.of(succs)
    nodes = len(graph.succs)
    gen = {n: frozenset({n % 4}) for n in range(nodes)}
    assert solve(forward(graph), GenKill({}, gen, {})).steps <= nodes * (depth + 2)


@dataclass(frozen=True)
class Restless(GenKill):
    """Not monotone: a set turns into its complement."""

    def transfer(self, node: int, state: Bits) -> Bits:
        return None if state is None else frozenset(range(4)) - state


def test_a_transfer_that_never_settles_is_stopped() -> None:
    view = forward(ListGraph.of([[1], [1]]))
    with pytest.raises(Diverged):
        solve(view, Restless({}, {}, {}, frozenset({1})))
    with pytest.raises(Diverged):
        solve(view, GenKill({}, {}, {}), budget=1)


def test_the_log_holds_every_change() -> None:
    view = forward(ListGraph.of([[1], [2, 1], []]))
    solution = solve(view, GenKill({}, {1: frozenset({1})}, {}), record=True)
    now: dict[int, Bits] = {}
    for node, _, after in solution.log:
        assert now.get(node) != after
        now[node] = after
    assert now == dict(enumerate(solution.after))
    assert solve(view, GenKill({}, {}, {})).log == ()


@given(st.tuples(bits, bits, bits), st.tuples(bits, bits, bits))
def test_tuples_of_states(a: tuple[Bits, ...], b: tuple[Bits, ...]) -> None:
    lattice: TupleLattice[Bits] = TupleLattice(BitSets(), ("x", "y", "z"))
    assert lattice.meet(a, b) == tuple(BitSets().meet(p, q) for p, q in zip(a, b, strict=True))
    assert lattice.leq(a, b) == (lattice.meet(a, b) == a) == (lattice.explain(a, b) == "")
    assert lattice.meet(a, lattice.top) == a
    assert lattice.meet(a, lattice.bottom) == lattice.bottom
    if not lattice.leq(a, b):
        assert lattice.explain(a, b)[:2] in ("x:", "y:", "z:")


def test_parallel_edges_count_once() -> None:
    succs: Sequence[Sequence[int]] = [[1, 1], []]
    graph = ListGraph.of(succs)
    assert graph.preds == ((), (0,))
    assert graph.exits == (1,)


# --- lattices that analyses share -------------------------------------------------------------------------------------


@pytest.mark.parametrize("lattice", [Bits(7), May()], ids=["bits", "may"])
def test_shared_lattices_are_lawful(lattice: Bits | May) -> None:
    states = range(8) if isinstance(lattice, Bits) else (False, True)
    for a in states:
        assert lattice.meet(a, lattice.top) == a
        assert lattice.meet(a, lattice.bottom) == lattice.bottom
        for b in states:
            assert lattice.meet(a, b) == lattice.meet(b, a)
            assert lattice.leq(a, b) == (lattice.meet(a, b) == a) == (lattice.explain(a, b) == "")
            assert lattice.leq(lattice.meet(a, b), a)


def test_a_graph_in_the_order_of_its_numbers() -> None:
    view = numbered([[1], [2, 3], [1], [], [3]], [[], [0, 2], [1], [1, 4], []])
    solution = solve(view, GenKill({}, {2: frozenset({3})}, {}))
    both = frozenset({0, 3})
    assert solution.before == (frozenset({0}), both, both, both, None), "nothing leads to the last"


def test_what_is_reached_comes_with_its_distance() -> None:
    calls = {"main": ["f", "g"], "f": ["h"], "h": ["f"], "lone": ["main"]}
    assert reached(["main"], lambda name: calls.get(name, ())) == {"main": 0, "f": 1, "g": 1, "h": 2}
    assert reached((), lambda name: calls.get(name, ())) == {}
