"""What several rounds say of a ratio: the median, and how far the rounds leave it open."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

SURE = 0.95
ENOUGH = 0.9
"""A range that holds the true median less often tells nothing: five rounds are the fewest."""
SMALL = 0.01
"""A difference below 1 % is none: where the linker puts a loop makes as much."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Values of the rounds."""

    median: float
    low: float
    high: float
    sure: float
    """How often the range from low to high holds the true median, whatever the noise is like."""


def holds(rounds: int, left_out: int) -> float:
    """How often the range holds the median that leaves out so many of the smallest and of the largest values.

    Each round is above or below the median with equal chance; the range fails where too many are on one side."""
    return 1.0 - 2.0 * sum(math.comb(rounds, k) for k in range(left_out + 1)) / 2.0**rounds


def spread(values: Sequence[float]) -> Spread:
    """The median, and the narrowest range of the values that holds the true one with 95 %, else the whole range."""
    ordered = sorted(values)
    left_out = 0
    while 2 * (left_out + 1) < len(ordered) and holds(len(ordered), left_out + 1) >= SURE:
        left_out += 1
    return Spread(
        statistics.median(ordered), ordered[left_out], ordered[-1 - left_out], max(0.0, holds(len(ordered), left_out))
    )


def verdict(ratio: Spread) -> str:
    """`faster`, `slower`, `noise`, or `few`: too few rounds to tell."""
    if ratio.sure < ENOUGH:
        return "few"
    if ratio.low <= 1.0 <= ratio.high or abs(ratio.median - 1.0) < SMALL:
        return "noise"
    return "faster" if ratio.median > 1.0 else "slower"
