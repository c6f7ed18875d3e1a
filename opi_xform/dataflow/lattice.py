"""What an abstract domain is: a meet semilattice with a top and a bottom, whose states can say why they are not below.

Meet goes down: top says "no path reached this", bottom says "everything may hold".  States are immutable and hashable.
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from opi_xform.record import dataclass

S = TypeVar("S")


class Lattice(Protocol[S]):
    """The operations of a domain with states S.

    ``meet`` is commutative, associative and idempotent, ``top`` is its neutral element and ``bottom`` absorbs; ``leq(a,
    b)`` is ``meet(a, b) == a``.  ``explain(a, b)`` says in words why ``leq(a, b)`` is false, '' when it is true.
    """

    @property
    def top(self) -> S: ...

    @property
    def bottom(self) -> S: ...

    def meet(self, a: S, b: S) -> S: ...

    def leq(self, a: S, b: S) -> bool: ...

    def explain(self, a: S, b: S) -> str: ...


@dataclass(frozen=True, slots=True)
class TupleLattice(Generic[S]):
    """One state of ``part`` per name, met component by component."""

    part: Lattice[S]
    names: tuple[str, ...]

    @property
    def top(self) -> tuple[S, ...]:
        return (self.part.top,) * len(self.names)

    @property
    def bottom(self) -> tuple[S, ...]:
        return (self.part.bottom,) * len(self.names)

    def meet(self, a: tuple[S, ...], b: tuple[S, ...]) -> tuple[S, ...]:
        return a if a == b else tuple(self.part.meet(x, y) for x, y in zip(a, b, strict=True))

    def leq(self, a: tuple[S, ...], b: tuple[S, ...]) -> bool:
        return all(self.part.leq(x, y) for x, y in zip(a, b, strict=True))

    def explain(self, a: tuple[S, ...], b: tuple[S, ...]) -> str:
        for name, x, y in zip(self.names, a, b, strict=True):
            if not self.part.leq(x, y):
                return f"{name}: {self.part.explain(x, y)}"
        return ""


@dataclass(frozen=True, slots=True)
class Bits:
    """Sets of what may be, as sums of bits: they are joined where ways meet; top is the empty set."""

    bottom: int
    top: int = 0

    def meet(self, a: int, b: int) -> int:
        return a | b

    def leq(self, a: int, b: int) -> bool:
        return a | b == a

    def explain(self, a: int, b: int) -> str:
        return "" if self.leq(a, b) else f"{b & ~a:#b} may be there in one and not in the other"


@dataclass(frozen=True, slots=True)
class May:
    """Whether something may be: so where it is on one way; top says that it is on none."""

    top: bool = False
    bottom: bool = True

    def meet(self, a: bool, b: bool) -> bool:
        return a or b

    def leq(self, a: bool, b: bool) -> bool:
        return a or not b

    def explain(self, a: bool, b: bool) -> str:
        return "" if self.leq(a, b) else "it may be in one and not in the other"
