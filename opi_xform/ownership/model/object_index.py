"""What is asked of a program for every buffer, found once: accesses by object, births, frees."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir import instr as ins
from opi_xform.memory.accesses import Accesses
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program
from opi_xform.record import dataclass
from opi_xform.regions.grown import Grown
from opi_xform.values.equal_counts import Sums
from opi_xform.values.facts import Facts


@dataclass(frozen=True, slots=True)
class Index:
    """addressed: object -> nodes with an operand that is an address in it.

    births: variable -> nodes that declare it.  frees: (node, argument) of every call that frees memory.
    guarded: by block: itself, or its nearest dominator, that is reached by one outcome of a comparison only (0: none).
    facts: what comparisons tell, by block.  sums: counters that add up the same.  grown: how far reads by
    a counter go.
    """

    accesses: Accesses
    addressed: Mapping[int, list[int]]
    births: Mapping[str, list[int]]
    frees: tuple[tuple[int, int], ...]
    guarded: tuple[int, ...]
    facts: Facts
    sums: Sums
    grown: Grown


@once
def index_of(program: Program) -> Index:
    """The index of a program."""
    symbols = program.values.symbols
    addressed: dict[int, list[int]] = {}
    for n, values in program.values.operands.items():
        for base in {symbols.base(v) for v in values}:
            if base is not None:
                addressed.setdefault(base, []).append(n)
    births: dict[str, list[int]] = {}
    frees: list[tuple[int, int]] = []
    for node in program.graph.nodes:
        action = node.action
        if isinstance(action, ins.Birth):
            births.setdefault(action.var, []).append(node.number)
        elif isinstance(action, ins.CallInstr) and isinstance(action.callee, ins.AddrFunc):
            effect = program.effects.get(action.callee.key)
            if effect is not None and effect.frees is not None and effect.frees.arg < len(action.args):
                frees.append((node.number, effect.frees.arg))
    facts = Facts(program.graph, program.nest, program.values)
    sums = Sums(program.graph, program.nest, program.values)
    grown = Grown(program.graph, program.nest, program.values, sums)
    return Index(program.values.accesses, addressed, births, tuple(frees), _guarded(program), facts, sums, grown)


@once
def stores_into(program: Program) -> Mapping[int, list[tuple[int, ins.Store]]]:
    """By object: the nodes that store to an address in it, ascending."""
    out: dict[int, list[tuple[int, ins.Store]]] = {}
    for n, operands in sorted(program.values.operands.items()):
        action = program.graph.nodes[n].action
        base = program.values.symbols.base(operands[0]) if isinstance(action, ins.Store) else None
        if isinstance(action, ins.Store) and base is not None:
            out.setdefault(base, []).append((n, action))
    return out


def _guarded(program: Program) -> tuple[int, ...]:
    graph, idom = program.graph, program.nest.idom
    out = [0] * len(idom)
    for block in range(1, len(idom)):
        parent = idom[block]
        last = graph.blocks[parent][-1] if graph.blocks[parent] else -1
        two = len(graph.succs[parent]) == 2 and last in program.values.conditions
        out[block] = block if two and block in graph.succs[parent] and len(graph.preds[block]) == 1 else out[parent]
    return tuple(out)
