"""How often a loop runs, as a polynomial."""

from __future__ import annotations

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import Loop, LoopNest
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import MIRRORED, NEGATED
from opi_xform.memory.least import ORDER, either, wraps
from opi_xform.memory.poly import ONE, Poly, number, symbol
from opi_xform.memory.values import Values


def tested_each_turn(nest: LoopNest, loop: Loop, block: int) -> bool:
    """Every turn that is followed by another one passes the end of ``block``, just once: no way leads around it (a
    ``continue``, another latch), and it lies in no loop inside this one.
    """
    return nest.of[block] == loop.number and all(nest.dominates(block, latch) for latch in loop.latches)


def stays(graph: Graph, nest: LoopNest, values: Values, loop: Loop, edge: tuple[int, int]) -> tuple[str, Poly] | None:
    """(op, difference) such that every turn looks whether ``difference op 0`` holds, and leaves the loop by ``edge``
    where it does not; None if not known.
    """
    if not graph.blocks[edge[0]] or not tested_each_turn(nest, loop, edge[0]):
        return None
    last = graph.blocks[edge[0]][-1]
    condition = values.conditions.get(last)
    if condition is None or not isinstance(graph.nodes[last].action, ins.Branch):
        return None
    if wraps(graph, nest, values, condition):
        return None
    goes_on = graph.succs[edge[0]][0] != edge[1]
    op = condition.op if goes_on else NEGATED[condition.op]
    return op, values.symbols.resolve(condition.left - condition.right)


def nominal_trips(graph: Graph, nest: LoopNest, values: Values, loop: Loop, edge: tuple[int, int]) -> Poly | None:
    """t such that the iteration number is max(0, t) when the loop is left by ``edge``, its only exit; None if not
    known.

    Its condition must be looked at in each turn: where a turn may go around it, the loop is left in the first turn that
    looks at it once it holds, which may be any later one.
    """
    test = stays(graph, nest, values, loop, edge) if loop.exits == (edge,) else None
    return None if test is None else turns(values, loop, *test)


def turns_made(graph: Graph, nest: LoopNest, values: Values, s: int) -> Poly | None:
    """t, where the symbol is how often a loop has run: max(0, t)."""
    info = values.symbols.table[s]
    if info.kind != "exit":
        return None
    number_, inside = info.key
    assert isinstance(number_, int)
    loop = nest.loops[number_]
    if inside != values.symbols.count(number_) or len(loop.exits) != 1:
        return None
    trips = nominal_trips(graph, nest, values, loop, loop.exits[0])
    return None if trips is None else values.symbols.resolve(trips)


def turns(values: Values, loop: Loop, op: str, difference: Poly) -> Poly | None:
    """t such that ``difference op 0`` fails in turn max(0, t) for the first time; None if not known."""
    symbols = values.symbols
    k = symbols.count(loop.number)
    step = difference.coefficient(k)
    rest = difference - symbol(k).scaled(step)
    if step == 0 or any(symbols.table[s].scope & symbols.inner[loop.number] for s in rest.symbols()):
        return None
    if any(symbols.table[s].kind == "object" for s in rest.symbols()):
        return None
    if step < 0:
        op, step, rest = MIRRORED[op], -step, -rest
    # the loop goes on while step * k + rest op 0
    if op == "<=":
        rest, op = rest - ONE, "<"
    if op not in ("<", "!="):
        return None
    constant = rest.constant
    if constant is not None:
        if op == "!=" and (constant > 0 or constant % step):
            return None
        return number(max(0, -(constant // step)))
    if step == 1:
        return -rest
    if all(c % step == 0 for _, c in rest.terms):
        return Poly(tuple((m, -c // step) for m, c in rest.terms))
    return None


def smaller_trips(graph: Graph, nest: LoopNest, values: Values, loop: Loop) -> tuple[Poly, Poly] | None:
    """(t, u) such that the loop runs max(0, min(t, u)) turns; None if not known."""
    tests = [stays(graph, nest, values, loop, edge) for edge in loop.exits]
    if len(tests) == 1:
        tests = _parted(graph, nest, values, tests[0])
    found = [None if test is None or test[0] not in ORDER else turns(values, loop, *test) for test in tests]
    if len(found) != 2 or found[0] is None or found[1] is None:
        return None
    return values.symbols.resolve(found[0]), values.symbols.resolve(found[1])


def _parted(
    graph: Graph, nest: LoopNest, values: Values, test: tuple[str, Poly] | None
) -> list[tuple[str, Poly] | None]:
    """``i < min(a, b)`` as ``i < a`` and ``i < b``."""
    if test is None or test[0] not in ORDER:
        return []
    op, difference = test
    for s, pair in either(graph, nest, values, difference):
        if difference.coefficient_of(s) == (-ONE if op in ("<", "<=") else ONE):
            return [(op, difference.substitute({s: arm}.get)) for arm in pair]
    return []
