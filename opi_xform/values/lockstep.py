"""Counters of one loop that advance together, each step of the one by a fixed multiple of the other's.

``list[n++] = i; buf[m++] = x; buf[m++] = y;`` under a condition: neither count is known after the loop, but m is 2 n.
On every way through an iteration both change by amounts of that ratio, so what holds when the loop is entered holds
whenever its header is reached, and when it is left from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opi_xform.graph.loops import Loop, LoopNest
from opi_xform.memory.poly import Poly, symbol
from opi_xform.memory.symbols import Symbols, goes_round
from opi_xform.memory.values import HeaderPhi, Values

MOST_COUNTERS, MOST_WAYS = 12, 64

Merged = Mapping[int, tuple[int, tuple[Poly, ...]]]  # by symbol: the block where ways meet, what comes on each
Meeting = Mapping[int, Mapping[int, tuple[Poly, ...]]]  # the same, by block and symbol
Onward = dict[tuple[Poly, int], tuple[Poly, ...]]  # by value and block: what it is on each way; each pair asks anew


def lockstep(values: Values, loop: Loop, nest: LoopNest, headers: Sequence[HeaderPhi]) -> dict[int, Poly]:
    """By header symbol of the loop: its value by the symbol of another counter, which is not among the keys."""
    symbols = values.symbols
    counters = [h for h in headers if h.cell[0] not in ("v", "t") and h.symbol not in symbols.defs]
    counters = [h for h in counters if not goes_round(symbols.resolve(h.init))]
    counters = [h for h in counters if any(value != symbol(h.symbol) for _, value in h.latches)][:MOST_COUNTERS]
    if len(counters) < 2:
        return {}
    once = sorted(b for b in loop.blocks if b != loop.header and nest.of[b] == loop.number)  # in an iteration
    meeting = {block: dict(values.phis[block]) for block in once if block in values.phis}
    merged = {s: (block, incoming) for block, met in meeting.items() for s, incoming in met.items()}
    out: dict[int, Poly] = {}
    leaders: list[HeaderPhi] = []
    onward: Onward = {}
    for counter in sorted(counters, key=lambda h: _step(symbols, merged, h)):
        for leader in leaders:
            ratio = _ratio(symbols, merged, meeting, onward, leader, counter)
            if ratio is not None:
                out[counter.symbol] = counter.init + (symbol(leader.symbol) - leader.init).scaled(ratio)
                break
        else:
            leaders.append(counter)
    return out


def _step(symbols: Symbols, merged: Merged, counter: HeaderPhi) -> tuple[int, int]:
    """The size of a step, where it is a number: the counter with the smallest one leads."""
    work, seen = [value for _, value in counter.latches], set[Poly]()
    while work and len(seen) < MOST_WAYS:
        value = symbols.resolve(work.pop())
        step = (value - symbol(counter.symbol)).constant
        if step:
            return abs(step), counter.symbol
        if value in seen:
            continue
        seen.add(value)
        for s in value.symbols():
            if s in merged:
                incoming = merged[s][1]
                work.extend(_along(value, {s: incoming}, way) for way in range(len(incoming)))
    return 1 << 62, counter.symbol


def _ratio(
    symbols: Symbols, merged: Merged, meeting: Meeting, onward: Onward, leader: HeaderPhi, counter: HeaderPhi
) -> int | None:
    """By how much the counter advances when the leader does so by one; None: not by a fixed number."""
    ratio: int | None = None
    latches = zip(leader.latches, counter.latches, strict=True)
    work = [(a - symbol(leader.symbol), b - symbol(counter.symbol)) for (_, a), (_, b) in latches]
    for _ in range(MOST_WAYS):
        if not work:
            return ratio
        a, b = (symbols.resolve(p) for p in work.pop())
        if ratio is not None and b == a.scaled(ratio):
            continue
        places = [merged[s][0] for p in (a, b) for s in p.symbols() if s in merged]
        if places:  # the last place where ways meet: both changed on the same one of them
            place = max(places)
            work += zip(_onward(a, place, meeting, onward), _onward(b, place, meeting, onward), strict=True)
            continue
        found = _quotient(a, b)
        if found is None or ratio not in (None, found):
            return None
        ratio = found if a.terms else ratio
    return None


def _along(value: Poly, there: Mapping[int, tuple[Poly, ...]], way: int) -> Poly:
    return value.substitute(lambda s: there[s][way] if s in there else None)


def _onward(value: Poly, place: int, meeting: Meeting, onward: Onward) -> Sequence[Poly]:
    """The value on each of the ways that meet at a place."""
    found = onward.get((value, place))
    if found is None:
        there = meeting[place]
        ways = len(next(iter(there.values())))
        found = onward[value, place] = tuple([_along(value, there, way) for way in range(ways)])
    return found


def _quotient(a: Poly, b: Poly) -> int | None:
    """b as a multiple of a; 0 where neither changes."""
    if not a.terms or not b.terms:
        return None if a.terms or b.terms else 0
    factor = b.terms[0][1] // a.terms[0][1]
    return factor if b == a.scaled(factor) else None
