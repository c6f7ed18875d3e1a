"""Loops that an unsigned bound ends, and that would run 2**63 turns if it stood for a negative number.

``for (size_t i = 0; i < n; i++) b[i] = …`` with an ``int n``: where each turn accesses memory further on, so many turns
leave any object there can be.  So the bound is not negative where the loop is come to, and the comparison is that of
the integers.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from opi_xform.graph.graph import Graph, Lost
from opi_xform.graph.loops import Loop, LoopNest
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import NEGATED
from opi_xform.memory.poly import symbol
from opi_xform.memory.values import Values
from opi_xform.values.trip_counts import nominal_trips, tested_each_turn

WIDE = 8  # bytes: only these are numbers so large
SOON = 1 << 20  # turns of a loop inside
_OTHER_WAY = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def believe(graph: Graph, nest: LoopNest, values: Values, entered: Collection[int], loop: Loop) -> None:
    """Counts the comparison that ends a loop as one of integers, where the bound cannot be negative.

    entered: calls whose functions are in the graph.
    """
    if len(loop.exits) != 1 or not graph.blocks[loop.exits[0][0]]:
        return
    inside, outside = loop.exits[0]
    last = graph.blocks[inside][-1]
    found = values.conditions.get(last)
    branch = graph.nodes[last].action
    if found is None or not found.unsigned or not isinstance(branch, ins.Branch):
        return
    if not tested_each_turn(nest, loop, inside) or not _wide(branch.cond, values):
        return
    stays = graph.succs[inside][0] != outside
    op, counter, bound = found.op, found.left, found.right
    if op in _OTHER_WAY and not stays:
        op = NEGATED[op]
    symbols = values.symbols
    if op in (">", ">="):
        counter, bound = bound, counter
    elif op not in ("<", "<="):
        return
    counter, bound = symbols.resolve(counter), symbols.resolve(bound)
    k = symbols.count(loop.number)
    step = counter.coefficient(k)
    inner = symbols.inner[loop.number]
    if step <= 0 or not symbols.is_nonneg(counter) or (counter - symbol(k).scaled(step)).constant is None:
        return
    if symbols.scope(bound) & inner or symbols.base(bound) is not None or symbols.near(counter, bound):
        return
    if any(symbols.table[s].nonneg for s in bound.symbols()):
        return  # of 64 bits it may be huge itself, and a sum with it small
    if _goes_on(graph, nest, values, loop, step) and _only_computes(graph, nest, values, entered, loop):
        values.conditions[last] = replace(found, unsigned=False)


def _wide(cond: ins.Operand, values: Values) -> bool:
    """The comparison is one of numbers of 64 bits."""
    while isinstance(cond, ins.Op) and cond.op == "not":
        cond = cond.args[0]
    sizes = []
    for arg in cond.args if isinstance(cond, ins.Op) else ():
        if isinstance(arg, ins.Op):
            sizes.append(arg.type.size or 0)
        elif isinstance(arg, ins.Var):
            table = values.objects.variables
            sizes.append(table[arg.key].type.size or 0)
    return WIDE in sizes


def _goes_on(graph: Graph, nest: LoopNest, values: Values, loop: Loop, step: int) -> bool:
    """Every turn has an access that lies further on than that of the turn before it: in 2**63 turns, divided by the
    counter's step, by 2**60 bytes or more.
    """
    symbols, inner = values.symbols, values.symbols.inner[loop.number]
    k = symbols.count(loop.number)
    for block in sorted(loop.blocks):
        if not tested_each_turn(nest, loop, block):
            continue
        for n in graph.blocks[block]:
            if not isinstance(graph.nodes[n].action, (ins.Load, ins.Store)):
                continue
            for lo in (symbols.resolve(a.lo) for a in values.accesses.placed(n) if a.lo is not None):
                if 8 * abs(lo.coefficient(k)) < step:
                    continue
                rest = lo - symbol(k).scaled(lo.coefficient(k))
                if not symbols.scope(rest) & inner:
                    return True
    return False


def _only_computes(graph: Graph, nest: LoopNest, values: Values, entered: Collection[int], loop: Loop) -> bool:
    """Nothing in a turn can end the program, or wait for others: no library is called, and loops inside end soon."""
    for n in (n for block in loop.blocks for n in graph.blocks[block]):
        action = graph.nodes[n].action
        if isinstance(action, (Lost, ins.Escape)) or (isinstance(action, ins.CallInstr) and n not in entered):
            return False
    for inner in nest.loops:
        if inner.number != loop.number and inner.header in loop.blocks:
            trips = nominal_trips(graph, nest, values, inner, inner.exits[0]) if len(inner.exits) == 1 else None
            if trips is None or trips.constant is None or trips.constant > SOON:
                return False
    return True
