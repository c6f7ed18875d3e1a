"""The smaller one of two numbers: ``a < b ? a : b``, or ``e = i + T; if (e > n) e = n;``.

What is merged after such a test is the smaller one, whichever way came there.  So it is not greater than either; and a
loop that it ends runs as often as the two numbers allow.
"""

from __future__ import annotations

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly
from opi_xform.memory.values import Comparison, Values

Pair = tuple[Poly, Poly]
ORDER = ("<", "<=", ">", ">=")


def least(graph: Graph, nest: LoopNest, values: Values, s: int) -> Pair | None:
    """Two numbers of which the symbol is the smaller one; None: it is something else, or not known."""
    symbols = values.symbols
    info = symbols.table[s]
    block = info.key[0]
    if info.kind != "phi" or not isinstance(block, int) or _begins(nest, block):
        return None
    above, preds = nest.idom[block], graph.preds[block]
    succs = graph.succs[above]
    if len(preds) != 2 or len(succs) != 2 or succs[0] == succs[1] or nest.of[above] != nest.of[block]:
        return None
    last = graph.nodes[graph.blocks[above][-1]] if graph.blocks[above] else None
    test = None if last is None else values.conditions.get(last.number)
    if test is None or last is None or not isinstance(last.action, ins.Branch):
        return None
    if test.op not in ORDER or (test.unsigned and symbols.modulo(test.left, test.right)):
        return None
    merged = next((found for number, found in values.phis.get(block, ()) if number == s), ())
    ways = [way(graph, nest, above, block, p) for p in preds]
    if len(merged) != 2 or sorted(ways) != [0, 1]:
        return None
    holds, fails = (symbols.resolve(merged[ways.index(way)]) for way in (0, 1))
    small, large = (test.left, test.right) if test.op in ("<", "<=") else (test.right, test.left)
    same = holds == symbols.resolve(small) and fails == symbols.resolve(large)
    return (holds, fails) if same else None


def _begins(nest: LoopNest, block: int) -> bool:
    """A loop begins there: what is merged comes from its turns, too."""
    return nest.of[block] >= 0 and nest.loops[nest.of[block]].header == block


def way(graph: Graph, nest: LoopNest, above: int, block: int, pred: int) -> int:
    """By which of the two ways out of ``above`` control comes to the block from ``pred``; -1: not known."""
    for way, to in enumerate(graph.succs[above]):
        if (pred == above and to == block) or (graph.preds[to] == (above,) and nest.dominates(to, pred)):
            return way
    return -1


def either(graph: Graph, nest: LoopNest, values: Values, value: Poly) -> list[tuple[int, Pair]]:
    """The symbols in a value that are the smaller one of two numbers, with these."""
    found = ((s, least(graph, nest, values, s)) for s in sorted(set(value.symbols())))
    return [(s, pair) for s, pair in found if pair is not None]


def wraps(graph: Graph, nest: LoopNest, values: Values, comparison: Comparison) -> bool:
    """An unsigned comparison may be another one than that of the integers; of the smaller one of two numbers: with
    either of them.
    """
    symbols = values.symbols
    if not comparison.unsigned or not symbols.modulo(comparison.left, comparison.right):
        return False
    left, right = symbols.resolve(comparison.left), symbols.resolve(comparison.right)
    for s, pair in either(graph, nest, values, left - right):
        if not any(symbols.modulo(left.substitute({s: arm}.get), right.substitute({s: arm}.get)) for arm in pair):
            return False
    return True
