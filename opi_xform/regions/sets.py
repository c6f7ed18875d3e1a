"""Sets of byte offsets as integer sets, with symbols as parameters.

One dimension, ``o``: bytes from the object's start, divided by ``unit``.  A product of symbols is a parameter of its
own. Every set is valid for all values of its parameters that can occur; ``Regions.known`` adds what is known of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import cast

import islpy as isl
from islpy import Set

from opi_xform.memory.poly import Monomial, Poly, symbol
from opi_xform.memory.symbols import Symbols

OPERATIONS = 10_000_000  # a second or two of isl's work; NAS MG takes between 3 and 10 million
FEWER = 3_000_000
"""Of a function that is looked at by itself: there are many in a program beyond the budget; and where reasons ask."""
ROUGHLY = 4  # rough sets that are of use take less than this part of an exact attempt
START = "start"
_SYMBOL = re.compile(r"\bs\d[\d_]*")  # ``Regions.parameter``


class BudgetExceeded(Exception):
    """An integer set operation needed more steps than it is worth."""


class Regions:
    """Builds and transforms sets for one object, in units of ``unit`` bytes.

    rough: where exact sets have taken too long, what is live may be told by fewer cases, and be more.
    """

    def __init__(self, symbols: Symbols, unit: int, operations: int | None = None) -> None:
        self.symbols = symbols
        self.unit = unit
        self.rough = False
        self.context = isl.Context()
        self.operations = OPERATIONS if operations is None else operations
        self.context.set_max_operations(self.operations)
        self.parsed: dict[str, Set] = {}  # reading is slow, and half of the texts are read again
        self.shapes: dict[str, Set] = {}  # the same with other names is renamed, which takes a thirtieth of the time
        self.seen: set[int] = set()  # quotients in places
        self.quotients: dict[int, Poly] = {}  # remainder -> what it is, told by the quotient
        self.all = self.parse("", "")
        self.none = isl.Set.empty(self.all.get_space())

    @contextmanager
    def budget(self) -> Iterator[None]:
        """Turns isl's running out of operations into BudgetExceeded.  What follows has a budget of its own."""
        self.context.reset_operations()
        try:
            yield
        except isl.Error as error:
            self.context.reset_operations()
            raise BudgetExceeded(str(error)) from error

    def be_rough(self) -> None:
        """Rough sets from here on.  They are worth a part of what exact ones are: where they help, they take little."""
        self.rough = True
        self.context.set_max_operations(max(self.operations // ROUGHLY, 1))

    def be_exact(self, part: int = 1) -> None:
        """Exact sets from here on, worth a part of what they may be."""
        self.rough = False
        self.context.set_max_operations(max(self.operations // part, 1))

    def parse(self, params: str, constraints: str) -> Set:
        body = f" : {constraints}" if constraints else ""
        text = f"[{params}] -> {{ [o]{body} }}"
        found = self.parsed.get(text)
        if found is None:
            found = self.parsed[text] = self.renamed(text)
        return found

    def renamed(self, text: str) -> Set:
        """The set of a text, which is read once for all texts that differ in the names of symbols only."""
        names: dict[str, str] = {}
        shape = _SYMBOL.sub(lambda m: names.setdefault(m[0], f"p{len(names)}"), text)
        found = self.shapes.get(shape)
        if found is None:
            found = self.shapes[shape] = isl.Set.read_from_str(self.context, shape)
        for name, at in names.items():
            found = self.rename(found, at, name)
        return found

    # --- polynomials as text -------------------------------------------------------------------------------------

    @staticmethod
    def parameter(monomial: Monomial) -> str:
        return "s" + "_".join(str(s) for s in monomial)

    def affine(self, value: Poly, params: dict[str, Monomial]) -> str:
        parts = []
        for monomial, c in value.terms:
            if monomial == ():
                parts.append(str(c))
            else:
                name = self.parameter(monomial)
                params[name] = monomial
                parts.append(f"{c}*{name}")
        return " + ".join(parts) if parts else "0"

    def known(self, params: dict[str, Monomial]) -> list[str]:
        return [f"{name} >= 0" for name, m in sorted(params.items()) if all(self.symbols.table[s].nonneg for s in m)]

    def build(self, constraints: Iterable[str], params: dict[str, Monomial]) -> Set:
        constraints = [*constraints, *self.remainders(params), *self.bounded(params)]
        return self.parse(", ".join(sorted(params)), " and ".join([*constraints, *self.known(params)]))

    def remainders(self, params: dict[str, Monomial]) -> list[str]:
        """``a % b`` is a - b * (a / b): said where the quotient stands in a place of the object."""
        out: list[str] = []
        for name, m in list(params.items()) if self.quotients else ():
            quotient = self.quotients.get(m[0]) if len(m) == 1 else None
            if quotient is not None:
                out.append(f"{name} = {self.affine(quotient, params)}")
        return out

    def bounded(self, params: dict[str, Monomial]) -> list[str]:
        """Numbers that a call tells, which are not more than others."""
        out: list[str] = []
        for name, m in list(params.items()) if self.symbols.most else ():
            most = self.symbols.most.get(m[0]) if len(m) == 1 else None
            if most is not None:
                out.append(f"{most.factor}*{name} <= {self.affine(self.symbols.resolve(most.value), params)}")
        return out

    def divided(self, value: Poly) -> None:
        """Notes the quotients in a place of the object."""
        for s in value.symbols():
            info = self.symbols.table[s]
            if info.kind == "op" and info.key[0] == "/" and s not in self.seen:
                self.seen.add(s)
                rest = self.symbols.known("op", "%", *info.key[1:])
                a, b = (self.symbols.resolve(p) for p in cast(tuple[Poly, Poly], info.key[2]))
                plain = not info.key[1] or (self.symbols.is_nonneg(a) and self.symbols.is_nonneg(b))
                if rest is not None and plain:
                    self.quotients[rest] = a - b * symbol(s)

    # --- sets ----------------------------------------------------------------------------------------------------

    def interval(self, lo: Poly, hi: Poly) -> Set:
        """Offsets in ``[lo, hi)`` bytes; both must be multiples of the unit."""
        params: dict[str, Monomial] = {}
        lo, hi = self.symbols.resolve(lo), self.symbols.resolve(hi)
        self.divided(lo)
        self.divided(hi)
        low, high = (self.affine(self.scaled(p), params) for p in (lo, hi))
        return self.build([f"{low} <= o < {high}"], params)

    def between(self, lo: Poly | None, hi: Poly | None) -> Set:
        """Offsets from ``lo`` on and in front of ``hi``, as far as these are known and multiples of the unit."""
        params: dict[str, Monomial] = {}
        known: list[str] = []
        for end, sign in ((lo, "<= o"), (hi, "> o")):
            if end is not None and all(c % self.unit == 0 for _, c in end.terms):
                known.append(f"{self.affine(self.scaled(end), params)} {sign}")
        return self.build(known, params)

    def unwritten(self, live: Set, written: Set) -> Set:
        """What is live but for what is written; what this would cut in two stays whole where it may be rough."""
        if not self.rough:
            return live.subtract(written)
        out = Set.empty(live.get_space())
        for part in map(Set.from_basic_set, live.get_basic_sets()):
            left = part.subtract(written).coalesce()
            out = out.union(left if left.n_basic_set() < 2 else part)
        return out

    def scaled(self, value: Poly) -> Poly:
        return Poly(tuple((m, c // self.unit) for m, c in value.terms))

    def compare(self, op: str, left: Poly, right: Poly) -> Set:
        """All offsets, where ``left op right`` holds for the parameters."""
        params: dict[str, Monomial] = {}
        a = self.affine(self.symbols.resolve(left - right), params)
        if op == "!=":
            return self.build([f"{a} < 0"], params).union(self.build([f"{a} > 0"], params))
        return self.build([f"{a} {'=' if op == '==' else op} 0"], params)

    def monomials(self, s: Set) -> dict[str, Monomial]:
        out: dict[str, Monomial] = {}
        for i in range(s.dim(isl.dim_type.param)):
            name = s.get_dim_name(isl.dim_type.param, i)
            if name.startswith("s") and name != START:
                out[name] = tuple(int(x) for x in name[1:].split("_"))
        return out

    def symbols_of(self, s: Set) -> set[int]:
        """The symbols in its parameters."""
        return {x for monomial in self.monomials(s).values() for x in monomial}

    def drop(self, s: Set, unwanted: Iterable[str]) -> Set:
        """The set for some value of the unwanted parameters (a superset for each of them)."""
        for name in unwanted:
            i = s.find_dim_by_name(isl.dim_type.param, name)
            if i >= 0:
                s = s.project_out(isl.dim_type.param, i, 1)
        return s

    def forget(self, s: Set, symbols: frozenset[int]) -> Set:
        """Projects out every parameter that involves one of these symbols."""
        return self.drop(s, [name for name, m in self.monomials(s).items() if any(x in symbols for x in m)])

    def forget_scope(self, s: Set, loops: frozenset[int], keep: int) -> Set:
        """Projects out what varies in these loops, the symbol ``keep`` excepted."""
        table = self.symbols.table
        unwanted = [
            name
            for name, m in self.monomials(s).items()
            if m != (keep,) and any(x == keep or table[x].scope & loops for x in m)
        ]
        return self.drop(s, unwanted)

    def rename(self, s: Set, old: str, new: str) -> Set:
        i = s.find_dim_by_name(isl.dim_type.param, old)
        return s.set_dim_name(isl.dim_type.param, i, new) if i >= 0 else s

    def substitute(self, s: Set, symbol: int, value: Poly) -> Set:
        """The set with a parameter replaced by a polynomial of others."""
        name = self.parameter((symbol,))
        mine = {n: m for n, m in self.monomials(s).items() if symbol in m}
        if not mine:
            return s
        if name in mine:
            params: dict[str, Monomial] = {name: (symbol,)}
            closed = self.symbols.resolve(value)
            if symbol not in set(closed.symbols()):
                a = self.affine(closed, params)
                s = s.intersect(self.build([f"{name} = {a}"], params))
        return self.drop(s, sorted(mine))


def without(s: Set, written: Sequence[Set]) -> Set:
    """The set without what is written.  First parts that are written as they stand: each other stretch would cut
    them in two, where nobody knows which comes first.
    """
    if len(written) > 1 and s.n_basic_set() > 1:
        left = [part for part in map(Set.from_basic_set, s.get_basic_sets()) if not _within(part, written)]
        if len(left) < s.n_basic_set():
            none = Set.empty(s.get_space())
            s = reduce(Set.union, left, none)
    for region in written:
        if s.is_empty():
            break
        s = s.subtract(region)
    return s


def _within(part: Set, written: Sequence[Set]) -> bool:
    return any(part.is_subset(region) for region in written)
