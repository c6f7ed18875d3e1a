"""Symbols: the unknowns in polynomials, numbered by value so that equal things share one symbol.

A symbol stands for one run-time value per execution of the loops in its ``scope``: it varies between iterations of
those, and is fixed otherwise.  Kinds:

``object``  the address of an object            ``count``   iteration number (0, 1, …) of a loop
``phi``     a value merged at a block           ``load``    memory read at an address, at a version of what it may hold
``op``      an operation on other values        ``exit``    what a loop's symbol is when that loop has been left
``opaque``  anything else, one per evaluation   ``version`` a state of objects' contents
``row``     index × size of one row of an array of arrays
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.memory.poly import Poly, symbol
from opi_xform.record import dataclass

Key = tuple[object, ...]

WRAPS = 1 << 24  # an unsigned multiple, step or summand of this size is meant to wrap

WIDENED, IN_TYPE, CUT = "widened", "in type", "cast"
CONVERSIONS = frozenset({WIDENED, IN_TYPE, CUT})
"""Operations that make of an integer one in another type."""


def goes_round(begin: Poly) -> bool:
    """A counter that begins there, near the end of an unsigned type (``-1u``, for ``b[++n]``), goes on from zero."""
    return any((1 << bits) - WRAPS <= begin.constant_term < 1 << bits for bits in (32, 64))


@dataclass(frozen=True, slots=True)
class Symbol:
    """``nonneg``: the value is known not to be negative (unsigned variables, sizes, iteration numbers)."""

    number: int
    kind: str
    key: Key
    scope: frozenset[int]
    nonneg: bool = False

    @property
    def operands(self) -> tuple[Poly, ...]:
        """The numbers from which it is computed: those in its key, in their order."""
        out, work = list[Poly](), list[object](reversed(self.key))
        while work:
            part = work.pop()
            if isinstance(part, Poly):
                out.append(part)
            elif isinstance(part, tuple):
                work += reversed(part)
        return tuple(out)


@dataclass(frozen=True, slots=True)
class Most:
    """``factor`` times a number is not more than ``value``."""

    factor: int
    value: Poly


class Symbols:
    """The table.  ``defs`` holds what was learnt later: a loop's induction variable as start + step × count."""

    def __init__(self, inner: Sequence[frozenset[int]] = ()) -> None:
        self.inner = inner  # per loop: itself and all loops inside
        outer: list[set[int]] = [set() for _ in inner]
        for i, inside in enumerate(inner):
            for loop in inside:
                outer[loop].add(i)
        self.outer = [frozenset(loops) for loops in outer]  # per loop: itself and all loops around
        self.table: list[Symbol] = []
        self.index: dict[str, dict[Key, int]] = {}  # by kind and key
        self.scopes: dict[frozenset[int], frozenset[int]] = {}  # equal ones are one: there are far fewer than symbols
        self.defs: dict[int, Poly] = {}
        self.present: dict[int, Poly] = {}  # merged of an address and NULL: the address
        self.lost: set[int] = set()  # in numbers that may have lost bits somewhere (``values/arithmetic/widths.py``)
        self.large: set[int] = set()  # numbers that may have been set to a constant near the end of their type
        self.minus: set[int] = set()  # those that may have been set to a constant below 0
        self.most: dict[int, Most] = {}  # numbers that a call tells (``values/arithmetic/came.py``)
        self.exits: dict[int, dict[int, int]] = {}  # loop -> exit symbol -> the symbol inside
        self.settled = False  # nothing more is learnt, so what values are can be kept
        self.resolved: dict[Poly, Poly] = {}
        self.turns: dict[int, frozenset[int]] = {}  # loop -> those in whose turns it may run more or less often
        self.most_turns: dict[object, int] = {}  # loop -> how often it runs, where that is a known number

    def get(self, kind: str, key: Key, scope: frozenset[int], nonneg: bool = False) -> int:
        of_kind = self.index.setdefault(kind, {})
        found = of_kind.get(key)
        if found is None:
            found = of_kind[key] = len(self.table)
            self.table.append(Symbol(found, kind, key, self.scopes.setdefault(scope, scope), nonneg))
        return found

    def known(self, kind: str, *key: object) -> int | None:
        """The symbol, where there is one."""
        return self.index.get(kind, {}).get(key)

    def of(self, kind: str, key: Key, scope: frozenset[int], nonneg: bool = False) -> Poly:
        return symbol(self.get(kind, key, scope, nonneg))

    def scope(self, value: Poly) -> frozenset[int]:
        """Loops in whose iterations the value may differ."""
        out: frozenset[int] = frozenset()
        for s in value.symbols():
            out |= self.table[s].scope
        return out

    def base(self, value: Poly) -> int | None:
        """The object whose address the value is an offset from, when it is exactly one."""
        found = None
        for monomial, c in value.terms:
            for s in monomial:
                if self.table[s].kind == "object":
                    if len(monomial) != 1 or c != 1 or found is not None:
                        return None
                    found = s
        if found is None:
            return None
        number = self.table[found].key[0]
        assert isinstance(number, int)
        return number

    def not_null(self, value: Poly) -> Poly:
        """The value, where it is known to be an address that is not NULL: something is read or written there."""
        if not self.present or self.base(value) is not None:
            return value
        return value.substitute(self.present.get)

    def offset(self, value: Poly) -> Poly:
        """The value without its object's address."""
        return Poly(tuple((m, c) for m, c in value.terms if not (len(m) == 1 and self.table[m[0]].kind == "object")))

    def leave(self, value: Poly, loop: int) -> Poly:
        """The value as seen after ``loop`` has been left."""
        inner = self.inner[loop]

        def outside(s: int) -> Poly | None:
            info = self.table[s]
            if not (info.scope & inner):
                return None
            scope = self.around(loop) if info.kind == "count" else info.scope
            number = self.get("exit", (loop, s), scope - inner, info.nonneg)
            self.exits.setdefault(loop, {})[number] = s
            for numbers in (self.large, self.minus):
                if s in numbers:
                    numbers.add(number)
            return symbol(number)

        return value.substitute(outside)

    def around(self, loop: int) -> frozenset[int]:
        """Loops from turn to turn of which the number of turns of this one may differ."""
        found = self.turns.get(loop)
        return self.outer[loop] if found is None else found

    def resolve(self, value: Poly, keep_rows: bool = False) -> Poly:
        """Induction variables replaced by their closed forms, places of rows (unless kept) by index times size."""
        if not value.terms or value.terms[-1][0] == ():
            return value  # a number
        known = self.resolved.get(value) if self.settled and not keep_rows else None
        if known is not None:
            return known
        given, closed = value, self.definition_but_rows if keep_rows else self.definition
        for _ in range(64):
            new = value.substitute(closed)
            if new is value:
                break
            value = new
        if self.settled and not keep_rows:
            self.resolved[given] = value
        return value

    def definition_but_rows(self, s: int) -> Poly | None:
        return None if self.table[s].kind == "row" else self.definition(s)

    def definition(self, s: int) -> Poly | None:
        """What is known of a symbol beyond its name: a closed form, also of what a loop left behind."""
        found = self.defs.get(s)
        if found is not None:
            return found
        info = self.table[s]
        if info.kind == "op" and info.key[0] == WIDENED:
            return self.as_wide(info)
        if info.kind != "exit":
            return None
        loop, inside = info.key
        assert isinstance(loop, int)
        assert isinstance(inside, int)
        closed = self.resolve(symbol(inside))
        if closed.single == inside:
            return None
        return self.leave(closed, loop)

    def as_wide(self, info: Symbol) -> Poly | None:
        """An unsigned number that was made wider, where it is made of counters that never come to its type's end."""
        size, value = info.key[1:]
        assert isinstance(value, Poly)
        closed, most = self.resolve(value), 0
        for monomial, c in closed.terms:
            if c < 0 or len(monomial) > 1:
                return None
            if monomial and self.table[monomial[0]].kind != "count":
                return None
            turns = self.most_turns.get(self.table[monomial[0]].key[0]) if monomial else 1
            if turns is None:
                return None
            most += c * turns
        return closed if isinstance(size, int) and most < 1 << (8 * size) else None

    def count(self, loop: int) -> int:
        """The symbol of a loop's iteration number."""
        return self.get("count", (loop,), frozenset({loop}), True)

    def converted(self, value: Poly) -> Poly:
        """The number of which a conversion between integer types makes this one."""
        value = self.resolve(value)
        while (s := value.single) is not None and self.table[s].kind == "op":
            key = self.table[s].key
            if key[0] not in CONVERSIONS:
                break
            assert isinstance(key[-1], Poly)
            value = self.resolve(key[-1])
        return value

    def may_wrap(self, value: Poly) -> bool:
        """It depends on a number that is not negative by its type: a sum or a conversion of it need not be so."""
        found = (self.table[s] for s in self.resolve(value).symbols())
        return any(info.nonneg and info.kind != "count" for info in found)

    def modulo(self, left: Poly, right: Poly) -> bool:
        """A comparison of these that C makes modulo 2**width need not be that of the integers.

        Each side is believed to be what it says where it is not negative and no number in it is near the type's end.
        Not so where a number that either may hold stands in both, and one of them is a sum (``i < first + 64``, with
        ``i`` from ``first`` on): it falls out, and with it the only thing that could tell that the sum has wrapped.
        """
        return not (self.is_nonneg(left) and self.is_nonneg(right)) or self.near(left, right)

    def near(self, left: Poly, right: Poly) -> bool:
        """One of two numbers that are not negative may be near the type's end, or after it (``modulo``)."""
        left, right = self.resolve(left), self.resolve(right)
        sums = [p for p in (left, right) if p.constant is None and p.single is None]
        if any(abs(c) >= WRAPS for p in sums for _, c in p.terms) or any(map(self.is_large, sums)):
            return True
        both = set(left.symbols()) & set(right.symbols())
        return bool(sums) and any(self.table[s].kind != "count" for s in both)

    def is_large(self, value: Poly) -> bool:
        """It is so large a constant (``-1u``), or may have been set to one."""
        if value.constant is not None:
            return abs(value.constant) >= WRAPS
        return not self.large.isdisjoint(value.symbols())

    def is_minus(self, value: Poly) -> bool:
        """It is a constant below 0, or may have been set to one."""
        return value.constant < 0 if value.constant is not None else not self.minus.isdisjoint(value.symbols())

    def is_nonneg(self, value: Poly) -> bool:
        """Provably not negative, term by term."""
        value = self.resolve(value)
        return all(not (c < 0 or any(not self.table[s].nonneg for s in monomial)) for monomial, c in value.terms)
