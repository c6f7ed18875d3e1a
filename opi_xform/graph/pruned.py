"""A program graph without the blocks that nothing leads to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from opi_xform.dataflow.view import reverse_postorder
from opi_xform.graph.graph import Frame, Graph, Node
from opi_xform.ir import instr as ins


def pruned(
    all_nodes: Sequence[Node],
    all_blocks: Sequence[Sequence[int]],
    leads: Sequence[Sequence[int]],
    copies: Sequence[Frame],
    used: Mapping[str, ins.Lowered],
    all_followed: Collection[int],
    outs: Mapping[int, str],
) -> Graph:
    """Only reachable blocks, in reverse postorder: block numbers are a topological order of the forward edges.

    leads: of each block, its successors.  The others are as in ``Graph``.
    """
    # the last successor first: the textual order of a loop's body survives
    order = reverse_postorder([row[::-1] for row in leads], (0,))
    place = {block: i for i, block in enumerate(order)}
    nodes: list[Node] = []
    blocks: list[tuple[int, ...]] = []
    renamed: dict[int, int] = {}
    for i, block in enumerate(order):
        numbers = []
        for number in all_blocks[block]:
            old = all_nodes[number]
            renamed[number] = len(nodes)
            numbers.append(len(nodes))
            nodes.append(Node(len(nodes), old.frame, i, old.action))
        blocks.append(tuple(numbers))
    succs = tuple(tuple(place[s] for s in leads[block]) for block in order)
    preds: list[list[int]] = [[] for _ in order]
    for i, targets in enumerate(succs):
        for t in targets:
            preds[t].append(i)
    frames = tuple(Frame(f.number, f.function, f.parent, renamed.get(f.call, -1)) for f in copies)
    followed = frozenset(renamed[n] for n in all_followed if n in renamed)
    backward = tuple(tuple(p) for p in preds)
    return Graph(tuple(nodes), tuple(blocks), succs, backward, frames, used, followed, outs)
