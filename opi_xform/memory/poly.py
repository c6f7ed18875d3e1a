"""Integer polynomials over symbols: the values that the analyses compute with.

A symbol is a number into a ``Symbols`` table (values.py).  A monomial is a sorted tuple of symbols, a polynomial a
sorted tuple of (monomial, coefficient).  Addresses are polynomials too: an object's address is a symbol of its own, so
that pointer differences cancel it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from opi_xform.ir.record import dataclass

Monomial = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Poly:
    """A sum of coefficient × product of symbols; no zero coefficients, monomials in ascending order."""

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Poly) -> Poly:
        if not self.terms:
            return other
        if not other.terms:
            return self
        if len(other.terms) == 1:  # half of the sums
            return _plus(self.terms, other.terms[0])
        if len(self.terms) == 1:
            return _plus(other.terms, self.terms[0])
        out = dict(self.terms)
        for monomial, c in other.terms:
            out[monomial] = out.get(monomial, 0) + c
        return _make(out)

    def __neg__(self) -> Poly:
        return Poly(tuple([(m, -c) for m, c in self.terms]))

    def __sub__(self, other: Poly) -> Poly:
        if not other.terms:
            return self
        if len(other.terms) == 1:
            monomial, c = other.terms[0]
            return _plus(self.terms, (monomial, -c))
        out = dict(self.terms)
        for monomial, c in other.terms:
            out[monomial] = out.get(monomial, 0) - c
        return _make(out)

    def __mul__(self, other: Poly) -> Poly:
        out: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in other.terms:
                m = tuple(sorted(m1 + m2))
                out[m] = out.get(m, 0) + c1 * c2
        return _make(out)

    def scaled(self, factor: int) -> Poly:
        if factor == 1:
            return self
        return Poly(tuple([(m, c * factor) for m, c in self.terms])) if factor else ZERO

    @property
    def constant(self) -> int | None:
        """The value, when the polynomial is a number."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def constant_term(self) -> int:
        return self.terms[0][1] if self.terms and self.terms[0][0] == () else 0

    @property
    def single(self) -> int | None:
        """The symbol, when the polynomial is just one."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    def symbols(self) -> Iterable[int]:
        if len(self.terms) == 1:
            return self.terms[0][0]
        return [s for monomial, _ in self.terms for s in monomial]

    def coefficient(self, symbol: int) -> int:
        """Of the linear term in ``symbol``."""
        return next((c for m, c in self.terms if m == (symbol,)), 0)

    def coefficient_of(self, symbol: int) -> Poly | None:
        """What the symbol is multiplied with, products included; None: it is multiplied with itself."""
        out: dict[Monomial, int] = {}
        for monomial, c in self.terms:
            if symbol in monomial:
                left = list(monomial)
                left.remove(symbol)
                if symbol in left:
                    return None
                out[tuple(left)] = c
        return _make(out)

    def quotient(self, other: Poly) -> Poly | None:
        """The polynomial that ``other`` is multiplied by to give this one; None: there is none."""
        if not other.terms:
            return None
        lead, c = max(other.terms, key=_degree)
        out, rest = ZERO, self
        while rest.terms:
            monomial, d = max(rest.terms, key=_degree)
            left = _without(monomial, lead)
            if left is None or d % c:
                return None
            term = Poly(((left, d // c),))
            out, rest = out + term, rest - term * other
        return out

    def substitute(self, value: Callable[[int], Poly | None]) -> Poly:
        """Each symbol for which ``value`` is not None replaced."""
        out: Poly | None = None
        kept: list[tuple[Monomial, int]] = []
        for term in self.terms:
            monomial, c = term
            if len(monomial) == 1:  # most are
                found = value(monomial[0])
                product = None if found is None else found.scaled(c)
            else:
                replacements = [value(s) for s in monomial]
                product = None
                if any(r is not None for r in replacements):
                    product = number(c)
                    for s, r in zip(monomial, replacements, strict=True):
                        product = product * (symbol(s) if r is None else r)
            if product is None:
                kept.append(term)
            else:
                out = product if out is None else out + product
        if out is None:
            return self
        return Poly(tuple(kept)) + out if kept else out


def _degree(term: tuple[Monomial, int]) -> tuple[int, Monomial]:
    """An order of monomials that multiplication keeps."""
    return len(term[0]), tuple(-s for s in term[0])


def _without(monomial: Monomial, other: Monomial) -> Monomial | None:
    """The quotient of two products of symbols."""
    left = list(monomial)
    for s in other:
        if s not in left:
            return None
        left.remove(s)
    return tuple(left)


def _plus(terms: tuple[tuple[Monomial, int], ...], one: tuple[Monomial, int]) -> Poly:
    """A sum and one term more."""
    monomial, c = one
    for i, (m, d) in enumerate(terms):
        if m == monomial:
            return Poly((*terms[:i], (m, c + d), *terms[i + 1 :]) if c + d else terms[:i] + terms[i + 1 :])
        if m > monomial:
            return Poly((*terms[:i], one, *terms[i:]))
    return Poly((*terms, one))


def _make(terms: dict[Monomial, int]) -> Poly:
    found = [term for term in terms.items() if term[1]]
    found.sort()
    return Poly(tuple(found))


ZERO = Poly(())
ONE = Poly((((), 1),))


def number(value: int) -> Poly:
    return Poly((((), value),)) if value else ZERO


@cache
def symbol(s: int) -> Poly:
    """The same one each time: most of a large program's polynomials are just that."""
    return Poly((((s,), 1),))
