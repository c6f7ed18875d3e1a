"""Loops that write all of a stretch in another order than that of its bytes: ``for j: for k: b[k * ny + j] = …``.

The place is a number with a digit for each loop, and each digit takes all its values: whatever the order of the loops,
all numbers with so many digits come up.  The digit of the smallest weight counts elements; the weight of each other one
is the number of elements that those below it count.

Two loops may make one digit: ``for (t = 0; t < n; t += T) for (i = t; i < MIN(t + T, n); i++)``.  Each turn of the
first but its last gives i the numbers from t up to the next t, and the last one those up to n.
"""

from __future__ import annotations

from itertools import combinations
from typing import Protocol, cast

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import Loop, LoopNest
from opi_xform.memory.poly import ONE, Poly, number, symbol
from opi_xform.memory.symbols import Symbols
from opi_xform.memory.values import Values
from opi_xform.record import dataclass
from opi_xform.values.facts import Facts
from opi_xform.values.trip_counts import nominal_trips, smaller_trips, stays

MOST_LOOPS = 6

Pairs = frozenset[tuple[Poly, Poly]]
Digits = list[tuple[int, Poly]]  # by loop: its symbol of the iteration number, how often it runs
Tiles = list[tuple[int, int, Poly]]  # two loops that make one digit: their symbols, outer first; turns in a whole tile


@dataclass(frozen=True, slots=True)
class Interval:
    """Bytes ``[lo, hi)`` written whenever ``block`` is executed (for an inner loop: when it is left).

    given: pairs of values of which at least one must not be negative, else nothing of this is certain.
    """

    block: int
    lo: Poly
    hi: Poly
    given: Pairs = frozenset()


class Writing(Protocol):
    """What is known of the writes of one object (``telescope.py``)."""

    graph: Graph
    nest: LoopNest
    values: Values
    symbols: Symbols
    excluded: frozenset[int]
    children: dict[int, list[int]]

    def body(self, loop: Loop) -> list[Interval]: ...

    def runs(self, inside: list[Interval]) -> list[Interval]: ...


def interchanged(telescope: Writing, loop: Loop) -> list[tuple[Poly, Poly, list[tuple[Poly, Poly]]]]:
    """What the loop and those inside it write together: from where, to where; and the pairs of numbers, of turns and
    of the bytes that a turn writes, of which at least one must not be negative.
    """
    out: list[tuple[Poly, Poly, list[tuple[Poly, Poly]]]] = []
    stack = [[child, loop.number] for child in telescope.children.get(loop.number, ())]
    while stack:
        chain = stack.pop()  # innermost first
        if not _in_each_turn(telescope, chain):
            continue
        if len(chain) < MOST_LOOPS:
            stack += [[child, *chain] for child in telescope.children.get(chain[0], ())]
        found = _digits(telescope, chain)
        if found is None:
            continue
        digits, tiles = found
        innermost = telescope.nest.loops[chain[0]]
        for interval in telescope.runs(telescope.body(innermost)):
            if interval.given or not all(telescope.nest.dominates(interval.block, b) for b in innermost.latches):
                continue
            ends = _stretch(telescope, loop, digits, tiles, interval)
            if ends is not None:
                numbers = [interval.hi - interval.lo, *(n for _, n in digits)]
                signed = [n for n in numbers if not telescope.symbols.is_nonneg(n)]
                out.append((*ends, list(combinations(signed, 2))))
    return out


def _in_each_turn(telescope: Writing, chain: list[int]) -> bool:
    """The innermost loop is come to in each turn of the one around it; of the others this is known."""
    nest = telescope.nest
    inside, around = (nest.loops[lp] for lp in chain[:2])
    known = inside.exits and not {inside.number, around.number} & telescope.excluded
    return bool(known) and all(nest.dominates(inside.header, latch) for latch in around.latches)


def _digits(telescope: Writing, chain: list[int]) -> tuple[Digits, Tiles] | None:
    """Each of the loops runs as often in each turn of those around it, or two of them make tiles; None: not so."""
    symbols, nest = telescope.symbols, telescope.nest
    inner = symbols.inner[chain[-1]]
    out: dict[int, Poly] = {}
    for lp in chain:
        info = nest.loops[lp]
        trips = nominal_trips(telescope.graph, nest, telescope.values, info, info.exits[0]) if info.exits else None
        if trips is not None and not symbols.scope(symbols.resolve(trips)) & inner:
            out[lp] = symbols.resolve(trips)
    unknown = [lp for lp in chain if lp not in out]
    tiles: Tiles = []
    for inside in unknown:
        found = _tiled(telescope, inside, chain[chain.index(inside) + 1 :])
        if found is not None:
            around, size, total = found
            out[inside] = total
            out.pop(around, None)
            tiles.append((symbols.count(around), symbols.count(inside), size))
    partners = {around for around, _, _ in tiles}
    if any(lp not in out and symbols.count(lp) not in partners for lp in chain):
        return None
    return [(symbols.count(lp), out[lp]) for lp in chain if lp in out], tiles


def _tiled(telescope: Writing, inside: int, around: list[int]) -> tuple[int, Poly, Poly] | None:
    """The loop around whose turns the inner one divides a stretch into tiles: that loop, the numbers in a whole tile,
    and in all of them.  With k for turns of the outer one: the inner one runs max(0, min(size, total - size * k))
    turns, and the outer one goes on while size * k < total.
    """
    symbols, graph, nest, values = telescope.symbols, telescope.graph, telescope.nest, telescope.values
    pair = smaller_trips(graph, nest, values, nest.loops[inside])
    if pair is None or not around:
        return None
    inner = symbols.inner[around[-1]]
    for size, rest in (pair, pair[::-1]):
        if symbols.scope(size) & inner:
            continue
        for loop in around:
            done = size * symbol(symbols.count(loop))
            total = rest + done
            if not symbols.scope(total) & inner and _ends_at(telescope, loop, size, total):
                return loop, size, total
    return None


def _ends_at(telescope: Writing, loop: int, size: Poly, total: Poly) -> bool:
    """The loop over tiles is not left before they make up the total."""
    info, symbols = telescope.nest.loops[loop], telescope.symbols
    if len(info.exits) != 1:
        return False
    test = stays(telescope.graph, telescope.nest, telescope.values, info, info.exits[0])
    match test:
        case "<", difference:
            left = difference
        case "<=", difference:
            left = difference - ONE
        case ">", difference:
            left = -difference
        case ">=", difference:
            left = -difference - ONE
        case _:
            return False
    k = symbol(symbols.count(loop))
    return left == size * k - total or _enough(telescope, loop, k - left, size, total)


def _enough(telescope: Writing, loop: int, tiles: Poly, size: Poly, total: Poly) -> bool:
    """So many tiles make up the total: ``(total + size - 1) / size``, or ``(total - 1) / size + 1``.

    A number divided by the size, and multiplied with it again, is less than the size short of it.
    """
    symbols = telescope.symbols
    for s in sorted(set(tiles.symbols())):
        kind, key = symbols.table[s].kind, symbols.table[s].key
        if kind != "op" or key[0] != "/":
            continue
        divided, by = (symbols.resolve(p) for p in cast(tuple[Poly, Poly], key[2]))
        more = (tiles - symbol(s)) * size
        if by != size or not symbols.is_nonneg(divided - size + ONE + more - total):
            continue
        return Facts(telescope.graph, telescope.nest, telescope.values).before(loop).nonneg(size - ONE)
    return False


def _stretch(
    telescope: Writing, loop: Loop, digits: Digits, tiles: Tiles, interval: Interval
) -> tuple[Poly, Poly] | None:
    """From the first byte to after the last one; None where the weights are others, or in the loops' own order."""
    symbols = telescope.symbols
    counts = {k for k, _ in digits} | {k for k, _, _ in tiles}
    lo = interval.lo
    for outer, inner, size in tiles:
        ahead, one = lo.coefficient_of(outer), lo.coefficient_of(inner)
        if ahead is None or one is None or ahead != size * one:
            return None
        lo = lo - ahead * symbol(outer)
    length = weight = interval.hi - interval.lo
    first = lo.substitute(lambda s: number(0) if s in counts else None)
    if any(symbols.scope(p) & symbols.inner[loop.number] for p in (first, length)):
        return None
    left, moved = list(digits), bool(tiles)
    while left:
        weights = [lo.coefficient_of(k) for k, _ in left]
        at = next((i for i, w in enumerate(weights) if w in (weight, -weight)), None)
        if at is None:
            return None
        moved = moved or at > 0
        _, trips = left.pop(at)
        if weights[at] == -weight:
            first = first - weight * (trips - ONE)
        weight = weight * trips
    return (first, first + weight) if moved else None
