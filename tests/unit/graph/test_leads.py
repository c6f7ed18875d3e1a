"""From where to where a program leads: against walking single nodes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opi_xform.graph.graph import Graph, Node
from opi_xform.graph.leads import ENTRY, leads
from opi_xform.ir import instr as ins
from opi_xform.ir.span import NOWHERE


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Up to five blocks of up to three nodes, with any edges."""
    count = draw(st.integers(1, 5))
    sizes = [draw(st.integers(0, 3)) for _ in range(count)]
    succs = [tuple(draw(st.lists(st.integers(0, count - 1), max_size=2, unique=True))) for _ in range(count)]
    nodes, blocks = [], []
    for block, size in enumerate(sizes):
        blocks.append(tuple(range(len(nodes), len(nodes) + size)))
        nodes += [Node(len(nodes) + i, 0, block, ins.Escape(NOWHERE, 0, "", ())) for i in range(size)]
    preds = tuple(tuple(p for p in range(count) if b in succs[p]) for b in range(count))
    return Graph(tuple(nodes), tuple(blocks), tuple(succs), preds, (), {}, frozenset())


def following(graph: Graph, n: int) -> set[int]:
    """Nodes that may run next after a node, or first (``ENTRY``)."""
    block = 0 if n == ENTRY else graph.nodes[n].block
    rest = graph.blocks[0] if n == ENTRY else graph.blocks[block][graph.blocks[block].index(n) + 1 :]
    if rest:
        return {rest[0]}
    out: set[int] = set()
    work, seen = list(graph.succs[block]), set()
    while work:
        b = work.pop()
        if b in seen:
            continue
        seen.add(b)
        if graph.blocks[b]:
            out.add(graph.blocks[b][0])
        else:
            work.extend(graph.succs[b])
    return out


def reached(graph: Graph, starts: list[int], avoiding: frozenset[int]) -> set[int]:
    """Nodes that can be reached after one of the starts; those to avoid are, but nothing after them."""
    out: set[int] = set()
    work = [m for n in starts for m in following(graph, n)]
    while work:
        n = work.pop()
        if n not in out:
            out.add(n)
            if n not in avoiding:
                work.extend(following(graph, n))
    return out


@given(graphs(), st.data())
def test_a_target_is_found_exactly_if_a_walk_finds_one(graph: Graph, data: st.DataObject) -> None:
    numbers = [n.number for n in graph.nodes]
    some = st.frozensets(st.sampled_from(numbers), max_size=3) if numbers else st.just(frozenset[int]())
    starts = data.draw(st.lists(st.sampled_from([ENTRY, *numbers]), min_size=1, max_size=2))
    targets, avoiding = data.draw(some), data.draw(some)
    found = leads(graph, starts, targets, avoiding)
    possible = reached(graph, starts, avoiding) & targets
    assert (found in possible) if possible else found is None


def test_a_start_in_a_loop_reaches_itself() -> None:
    node = Node(0, 0, 0, ins.Escape(NOWHERE, 0, "", ()))
    loop = Graph((node,), ((0,),), ((0,),), ((0,),), (), {}, frozenset())
    once = Graph((node,), ((0,),), ((),), ((),), (), {}, frozenset())
    assert leads(loop, [0], {0}, ()) == 0
    assert leads(once, [0], {0}, ()) is None
    assert leads(once, [ENTRY], {0}, ()) == 0
