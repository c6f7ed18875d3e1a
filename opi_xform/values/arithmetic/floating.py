"""Floating numbers that are known to be the same: whole numbers that were converted, what functions make of them.

So are their quotients: the exact ones, rounded.  (A product that is added to something may be rounded or not.)  Nothing
else is known of floating numbers.  A function counts whose result C's standard (annex F) says to the last bit, so that
it does not matter whether the library computes it or the compiler.  That leaves out ``pow``, ``exp``, ``log``, and all
on ``long double``, which is of several kinds.
The rounding mode must not change: where a program names a function that sets it, each number is another one.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.graph.graph import NOT_FOLLOWED, Graph, Lost
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import operands_of, parts_of
from opi_xform.memory.poly import Poly
from opi_xform.memory.symbols import Symbol, Symbols

_NAMES = "sqrt floor ceil trunc round rint nearbyint fabs fmin fmax fmod remainder copysign"
EXACT = frozenset(name + form for name in _NAMES.split() for form in ("", "f"))
ROUNDING = frozenset(("fesetround", "fesetenv", "feupdateenv"))
CONVERTED, CALLED, DIVIDED = "float of", "float call", "float quotient"


def is_unknown_floating(info: Symbol) -> bool:
    """A floating number of which nothing else is known: what an operation made, or a variable was set to."""
    what = info.key[1] if info.kind == "opaque" else None
    return what == "float" or (isinstance(what, tuple) and what[0] == "float")


def is_floating(symbols: Symbols, value: Poly) -> bool:
    """A floating number, not what a whole one is made of it."""
    s = value.single
    return s is not None and symbols.table[s].kind == "op" and symbols.table[s].key[0] in (CONVERTED, CALLED, DIVIDED)


def has_whole_part(symbols: Symbols, value: Poly, wide: bool) -> bool:
    """A floating number whose whole part is another one; wide: in 64 bits, which may be made narrower later."""
    s = value.single
    return is_floating(symbols, value) or (wide and s is not None and is_unknown_floating(symbols.table[s]))


def quotient(symbols: Symbols, item: ins.Nondet, values: Sequence[Poly]) -> Poly | None:
    """A known floating number divided by another; None where it is not known to be the same each time."""
    if item.quotient is None or not all(is_floating(symbols, v) for v in values):
        return None
    scope = frozenset[int]().union(*(symbols.scope(v) for v in values))
    return symbols.of("op", (DIVIDED, item.quotient.size, tuple(values)), scope)


def rounding_may_change(graph: Graph) -> bool:
    """The program names a function that sets the rounding mode, or not all of it is followed."""
    for node in (*graph.nodes, *graph.background.nodes):
        if isinstance(node.action, Lost) and node.action.reason == NOT_FOLLOWED:
            return True
        action = node.action.call if isinstance(node.action, Lost) else node.action
        if not isinstance(action, ins.Instr):
            continue
        found = [*operands_of(action)]
        if isinstance(action, ins.CallInstr):
            found.append(action.callee)
        for operand in found:
            for part in parts_of(operand):
                if isinstance(part, ins.AddrFunc) and part.key.removeprefix("__builtin_") in ROUNDING:
                    return True
    return False
