"""Where the parts of a buffer begin."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping

from opi_xform.ir import ast
from opi_xform.memory.poly import ZERO, Poly, number
from opi_xform.ownership.model.inequalities import divided
from opi_xform.record import dataclass

MOST = 64  # parts of one buffer


@dataclass(slots=True)
class Reading:
    """One mention at one node: what the expressions beside it are worth, an object that is meant there, the part.

    sums: what variables beside it were set to, by the expression that names one: that is worth the same there.
    """

    node: int
    frame: int
    known: dict[int, Poly]
    object: int = -1
    part: Poly = ZERO
    sums: Mapping[int, ast.Expr] | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """A number of parts.  bounds: by object: where each part begins, and where the last one ends.

    sizes: by object, where all parts have one.
    """

    count: int
    bounds: Mapping[int, tuple[Poly, ...]]
    sizes: Mapping[int, Poly]

    @property
    def equal(self) -> bool:
        return bool(self.sizes)

    def limits(self, o: int, part: Poly) -> tuple[Poly, Poly]:
        """Where a part begins and ends, by its number: any number where the parts have one size, else a constant."""
        known = part.constant
        if known is not None:
            return self.bounds[o][known], self.bounds[o][known + 1]
        return part * self.sizes[o], (part + number(1)) * self.sizes[o]


def layouts(sizes: Mapping[int, Poly], starts: Mapping[int, Collection[Poly]], unit: int) -> Iterator[Layout]:
    """The layouts that the places of the messages allow; those with parts of one size first.

    sizes, starts: by object: its bytes, and where messages begin.  unit: bytes of an element.
    """
    everything = {at for places in starts.values() for at in places}
    for count in range(2, MOST + 1):
        parts = {o: divided(size, number(count)) for o, size in sizes.items()}
        whole = {o: part for o, part in parts.items() if part is not None and part.terms}
        if len(whole) < len(parts) or any(divided(part, number(unit)) is None for part in whole.values()):
            continue
        if all(any(divided(at, part) is not None for part in whole.values()) for at in everything):
            bounds = {o: tuple(part.scaled(i) for i in range(count + 1)) for o, part in whole.items()}
            yield Layout(count, bounds, whole)
    found = {o: chain(size, starts.get(o, ()), unit) for o, size in sizes.items()}
    chains = {o: bounds for o, bounds in found.items() if bounds is not None}
    counts = {len(bounds) - 1 for bounds in chains.values()}
    if len(chains) == len(found) and len(counts) == 1 and 2 <= min(counts) <= MOST:
        yield Layout(min(counts), chains, {})


def chain(size: Poly, starts: Collection[Poly], unit: int) -> tuple[Poly, ...] | None:
    """The places in ascending order, with 0 and the end; None when their order is not evident.

    All may be multiples of one number, whatever that is: were it negative, no memory would be there.
    """
    found = multiples(size, starts)
    if found is not None:
        steps = [b - a for a, b in itertools.pairwise(found)]
        return found if all(c % unit == 0 for step in steps for _, c in step.terms) else None
    out = sorted({ZERO, size, *starts}, key=lambda p: (sum(c for _, c in p.terms), p.terms))
    for a, b in itertools.pairwise(out):
        step = b - a
        if any(c < 0 or c % unit for _, c in step.terms):
            return None
    return tuple(out) if out[-1] == size and out[0] == ZERO else None


def multiples(size: Poly, starts: Collection[Poly]) -> tuple[Poly, ...] | None:
    """The places as ascending multiples of one number, of which the size is a multiple, too; None when they are not."""
    common = math.gcd(*(c for _, c in size.terms))
    one = divided(size, number(common)) if common else None
    if one is None:
        return None
    counts: dict[int, Poly] = {0: ZERO, common: size}
    for at in starts:
        times = divided(at, one)
        if times is None or times.constant is None:
            return None
        counts[times.constant] = at
    order = sorted(counts)
    return tuple(counts[c] for c in order) if order[0] == 0 and order[-1] == common else None
