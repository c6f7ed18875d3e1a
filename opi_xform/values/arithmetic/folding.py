"""Arithmetic on constants, and the operations whose results are polynomials."""

from __future__ import annotations

from opi_xform.ir.types import Type
from opi_xform.memory.poly import Poly


def wrapped(value: int, to: Type) -> int:
    """A constant in an integer type: reduced to its width."""
    if to.kind != "int" or not to.size:
        return value
    if to.boolean:
        return int(value != 0)
    bits = 8 * to.size
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if to.signed and low >> (bits - 1) else low


def exactly(name: str, values: list[Poly]) -> Poly | None:
    """Results that are polynomials."""
    match name:
        case "+":
            return values[0] + values[1]
        case "-" | "ptrdiff":
            return values[0] - values[1]
        case "*":
            return values[0] * values[1]
        case "neg":
            return -values[0]
        case _:
            return None


def folded(name: str, c: list[int]) -> int | None:
    match name:
        case "/" if c[1] != 0:
            quotient = abs(c[0]) // abs(c[1])
            return quotient if (c[0] < 0) == (c[1] < 0) else -quotient
        case "%" if c[1] != 0:
            return c[0] - c[1] * (folded("/", c) or 0)
        case "<<" if 0 <= c[1] < 63 and c[0] >= 0:
            return c[0] << c[1]
        case ">>" if 0 <= c[1] < 64 and c[0] >= 0:
            return c[0] >> c[1]
        case "&" if c[0] >= 0 and c[1] >= 0:
            return c[0] & c[1]
        case "|" if c[0] >= 0 and c[1] >= 0:
            return c[0] | c[1]
        case "^" if c[0] >= 0 and c[1] >= 0:
            return c[0] ^ c[1]
        case "<":
            return int(c[0] < c[1])
        case ">":
            return int(c[0] > c[1])
        case "<=":
            return int(c[0] <= c[1])
        case ">=":
            return int(c[0] >= c[1])
        case "==":
            return int(c[0] == c[1])
        case "!=":
            return int(c[0] != c[1])
        case "not":
            return int(not c[0])
        case _:
            return None
