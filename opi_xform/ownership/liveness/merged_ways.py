"""What a merged value tells of the way on which it came.

``up = rank > 0 ? rank - 1 : MPI_PROC_NULL;`` has two ways: on one ``rank > 0`` holds, on the other one ``up`` is
MPI_PROC_NULL.  So where ``up`` is none, ``rank > 0`` holds.  That is known as long as no loop around has turned since.
"""

from __future__ import annotations

from opi_xform.memory.poly import Poly
from opi_xform.memory.values import Comparison
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.object_index import index_of
from opi_xform.record import dataclass

MOST_CONDITIONS = 12

Condition = tuple[Comparison, bool]


@dataclass(frozen=True, slots=True)
class Way:
    """One of the ways on which a merged value came: the outcomes of comparisons on it, and what the value is then."""

    holds: tuple[Condition, ...]
    value: Poly


def dominating(program: Program, block: int, loops: set[int], below: int = 0) -> list[Condition]:
    """Comparisons whose outcome is certain where a block runs, in the same turns of these loops.

    below: only those between the block and one of its dominators.
    """
    graph, nest = program.graph, program.nest
    guarded = index_of(program).guarded
    out: list[Condition] = []
    at = guarded[block]
    while at > below and len(out) < MOST_CONDITIONS:
        parent = nest.idom[at]
        succs = graph.succs[parent]
        if set(nest.chain(parent)) <= loops and succs[0] != succs[1]:
            out.append((program.values.conditions[graph.blocks[parent][-1]], succs[0] == at))
        at = guarded[parent]
    return out


def ways(program: Program, s: int, block: int) -> list[Way]:
    """The ways on which a value came that ``block`` has: one of them was taken.  None of them: it is not known.

    The place where they meet lies on each way to the block, and in no loop but those around it.
    """
    graph, nest, values = program.graph, program.nest, program.values
    info = values.symbols.table[s]
    met = info.key[0] if info.kind == "phi" else None
    if not isinstance(met, int) or not nest.dominates(met, block):
        return []
    loops = set(nest.chain(block))
    if not set(nest.chain(met)) <= loops or any(nest.loops[i].header == met for i in nest.chain(met)):
        return []
    given = next((found for phi, found in values.phis.get(met, ()) if phi == s), ())
    sources = [p for p in graph.preds[met] if p in values.out]
    if len(given) != len(sources):
        return []
    out: list[Way] = []
    for source, value in zip(sources, given, strict=True):
        out.append(Way(tuple(dominating(program, source, loops, nest.idom[met])), value))
    return out
