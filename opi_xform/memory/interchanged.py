"""Loops that write all of a stretch in another order than that of its bytes: ``for j: for k: b[k * ny + j] = …``.

The place is a number with a digit for each loop, and each digit takes all its values: whatever the order of the loops,
all numbers with so many digits come up.  The digit of the smallest weight counts elements; the weight of each other one
is the number of elements that those below it count.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from opi_xform.ir.loops import Loop
from opi_xform.memory.poly import ONE, Poly, number
from opi_xform.memory.trips import nominal_trips

if TYPE_CHECKING:
    from opi_xform.memory.telescope import Interval, Telescope

MOST_LOOPS = 4

Digits = list[tuple[int, Poly]]  # by loop: its symbol of the iteration number, how often it runs


def interchanged(telescope: Telescope, loop: Loop) -> list[tuple[Poly, Poly, list[tuple[Poly, Poly]]]]:
    """What the loop and those inside it write together: from where, to where; and the pairs of numbers, of turns and
    of the bytes that a turn writes, of which at least one must not be negative.
    """
    out: list[tuple[Poly, Poly, list[tuple[Poly, Poly]]]] = []
    stack = [[child, loop.number] for child in telescope.children.get(loop.number, ())]
    while stack:
        chain = stack.pop()  # innermost first
        digits = _digits(telescope, chain)
        if digits is None:
            continue
        if len(chain) < MOST_LOOPS:
            stack += [[child, *chain] for child in telescope.children.get(chain[0], ())]
        innermost = telescope.nest.loops[chain[0]]
        for interval in telescope.runs(telescope.body(innermost)):
            if interval.given or not all(telescope.nest.dominates(interval.block, b) for b in innermost.latches):
                continue
            ends = _stretch(telescope, loop, digits, interval)
            if ends is not None:
                numbers = [interval.hi - interval.lo, *(n for _, n in digits)]
                signed = [n for n in numbers if not telescope.symbols.is_nonneg(n)]
                out.append((*ends, list(combinations(signed, 2))))
    return out


def _digits(telescope: Telescope, chain: list[int]) -> Digits | None:
    """Each of the loops runs in each turn of the one around it, as often as at first; None: not so."""
    symbols, nest = telescope.symbols, telescope.nest
    inner = symbols.inner[chain[-1]]
    out: Digits = []
    for inside, around in zip(chain, [*chain[1:], -1], strict=True):
        info = nest.loops[inside]
        if len(info.exits) != 1 or inside in telescope.excluded:
            return None
        if around >= 0 and not all(nest.dominates(info.header, latch) for latch in nest.loops[around].latches):
            return None
        trips = nominal_trips(telescope.graph, nest, telescope.values, info, info.exits[0])
        if trips is None or symbols.scope(symbols.resolve(trips)) & inner:
            return None
        out.append((symbols.count(inside), symbols.resolve(trips)))
    return out


def _stretch(telescope: Telescope, loop: Loop, digits: Digits, interval: Interval) -> tuple[Poly, Poly] | None:
    """From the first byte to behind the last one; None where the weights are others, or in the loops' own order."""
    symbols = telescope.symbols
    counts = {k for k, _ in digits}
    length = size = interval.hi - interval.lo
    first = interval.lo.substitute(lambda s: number(0) if s in counts else None)
    if any(symbols.scope(p) & symbols.inner[loop.number] for p in (first, length)):
        return None
    left, moved = list(digits), False
    while left:
        weights = [interval.lo.coefficient_of(k) for k, _ in left]
        at = next((i for i, weight in enumerate(weights) if weight in (size, -size)), None)
        if at is None:
            return None
        moved = moved or at > 0
        _, trips = left.pop(at)
        if weights[at] == -size:
            first = first - size * (trips - ONE)
        size = size * trips
    return (first, first + size) if moved else None
