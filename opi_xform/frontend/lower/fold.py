"""Arithmetic on integer constants, as C does it on the target (two's complement, LP64)."""

from __future__ import annotations

from opi_xform.ir.types import Type


def wrap(value: int, type_: Type) -> int:
    """The value converted to an integer or pointer type."""
    if type_.boolean:
        return int(value != 0)
    bits = 8 * (type_.size or 8)
    value &= (1 << bits) - 1
    if type_.kind == "int" and type_.signed and value >> (bits - 1):
        value -= 1 << bits
    return value


def unary(op: str, value: int, type_: Type) -> int | None:
    if op == "-":
        return wrap(-value, type_)
    if op == "+":
        return value
    if op == "~":
        return wrap(~value, type_)
    if op == "!":
        return int(not value)
    return None


def binary(op: str, a: int, b: int, type_: Type) -> int | None:
    """The result, or None where C leaves it undefined."""
    if op in ("/", "%"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return wrap(quotient if op == "/" else a - quotient * b, type_)
    if op in ("<<", ">>"):
        if not 0 <= b < 8 * (type_.size or 8):
            return None
        return wrap(a << b if op == "<<" else a >> b, type_)
    table = {
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "&": a & b,
        "|": a | b,
        "^": a ^ b,
        "<": int(a < b),
        ">": int(a > b),
        "<=": int(a <= b),
        ">=": int(a >= b),
        "==": int(a == b),
        "!=": int(a != b),
        "&&": int(bool(a) and bool(b)),
        "||": int(bool(a) or bool(b)),
    }
    found = table.get(op)
    return None if found is None else wrap(found, type_)
