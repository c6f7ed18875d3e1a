"""Points-to analysis: Andersen's inclusion constraints over objects with cells.

The language knows nothing of C: whoever feeds it turns assignments, calls and library effects into constraints.

- An *object* is what one allocation stands for: a variable, a function, a malloc in one calling context.
- A *cell* is a set of byte offsets inside an object: one offset, or all that are congruent modulo a stride.  So
  constant indices of an array of pointers stay apart, fields of an array of structures stay apart while the index is
  unknown, and stride 1 means "anywhere in the object".  Distinct offsets count as disjoint: pointers do not overlap.
- *External* is what code outside the program knows.  It points to itself and to all that escaped, reads all of that and
  stores whatever it knows anywhere in it.

The result depends on the order of the constraints alone.  ``andersen`` solves them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import gcd

from opi_xform.record import dataclass

Var = Hashable
EXTERNAL = 0  # the number of the external object
OUTSIDE: Var = "<outside>"  # the variable that holds what external code knows
DEFAULT_LIMIT = 128  # distinct constant offsets kept apart per object


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """name: for messages.  element: bytes of an array element (0: no array); once an object has too many constant
    offsets, they are kept apart modulo this only.  single: it stands for one run-time object at any time.  function:
    it is a function, whose address calls may go to.
    """

    name: str
    element: int = 0
    single: bool = False
    function: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """Offsets ``offset + k * stride`` of ``object``; stride 0: just ``offset``; stride 1: anywhere."""

    object: int
    offset: int
    stride: int

    def covers(self, other: Cell) -> bool:
        """Whether every offset of ``other`` is one of this cell's."""
        if self.object != other.object:
            return False
        if self.stride == 0:
            return other.stride == 0 and self.offset == other.offset
        return other.stride % self.stride == 0 and (other.offset - self.offset) % self.stride == 0

    def meets(self, other: Cell) -> bool:
        """Whether some offset belongs to both."""
        step = gcd(self.stride, other.stride)
        apart = self.offset - other.offset
        return self.object == other.object and (apart == 0 if step == 0 else apart % step == 0)


@dataclass(frozen=True, slots=True)
class Addr:
    """``p`` may hold the address of byte ``offset`` of object ``object``."""

    p: Var
    object: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Copy:
    """``p`` may hold whatever ``q`` holds."""

    p: Var
    q: Var


@dataclass(frozen=True, slots=True)
class Load:
    """``p`` may hold what is stored ``offset`` bytes behind where ``q`` points."""

    p: Var
    q: Var
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Store:
    """What ``q`` holds may be stored ``offset`` bytes behind where ``p`` points."""

    p: Var
    offset: int
    q: Var


@dataclass(frozen=True, slots=True)
class Offset:
    """``p`` may hold ``q + delta``; delta None: ``q`` plus any multiple of ``stride``, negative ones too."""

    p: Var
    q: Var
    delta: int | None
    stride: int = 1


@dataclass(frozen=True, slots=True)
class Call:
    """A call through ``p``: each function (or EXTERNAL) found there is handed to the solver's callback once."""

    call: Hashable
    p: Var


Constraint = Addr | Copy | Load | Store | Offset | Call


def escape(p: Var) -> Constraint:
    """External code gets to know what ``p`` holds."""
    return Copy(OUTSIDE, p)


def from_outside(p: Var) -> Constraint:
    """``p`` may hold anything that external code knows."""
    return Copy(p, OUTSIDE)


def copy_contents(p: Var, q: Var, tag: Hashable) -> tuple[Constraint, ...]:
    """All pointers in what ``q`` points to may be anywhere in what ``p`` points to.  ``tag``: unique per use."""
    into, source, value = ("into", tag), ("from", tag), ("value", tag)
    return (Offset(into, p, None), Offset(source, q, None), Load(value, source), Store(into, 0, value))


class PointsTo:
    """The solution."""

    def __init__(
        self,
        objects: Sequence[ObjectInfo],
        cells: Sequence[Cell],
        bits: Mapping[Var, int],
        effort: Mapping[str, int],
    ) -> None:
        self.objects = tuple(objects)
        self.effort = dict(effort)
        self._cells = tuple(cells)
        self._bits = bits
        self._sets: dict[int, frozenset[Cell]] = {}

    def of(self, p: Var) -> frozenset[Cell]:
        """Where ``p`` may point, without cells that another one covers; empty if it never got an address."""
        bits = self._bits.get(p, 0)
        found = self._sets.get(bits)
        if found is None:
            found = self._sets[bits] = _without_covered(self._cells[i] for i in ones(bits))
        return found

    def objects_of(self, p: Var) -> frozenset[int]:
        """The objects that ``p`` may point into."""
        return frozenset(cell.object for cell in self.of(p))

    def single(self, p: Var) -> int | None:
        """The one object that ``p`` always points into ("always-same"), or None."""
        found = self.objects_of(p)
        if len(found) != 1:
            return None
        (only,) = found
        return only if self.objects[only].single else None

    def may_alias(self, p: Var, q: Var) -> bool:
        """Whether the two may hold the same address."""
        return any(a.meets(b) for a in self.of(p) for b in self.of(q))

    def escaped(self) -> frozenset[int]:
        """The objects that external code may reach, EXTERNAL included."""
        return self.objects_of(OUTSIDE)


def ones(bits: int) -> Iterator[int]:
    """The positions of the ones, lowest first."""
    # On a long integer, text is searched much faster than bits are split off one by one.
    text = bin(bits)[:1:-1]
    at = text.find("1")
    while at >= 0:
        yield at
        at = text.find("1", at + 1)


def _without_covered(cells: Iterable[Cell]) -> frozenset[Cell]:
    by_object: dict[int, list[Cell]] = {}
    for cell in cells:
        by_object.setdefault(cell.object, []).append(cell)
    kept: list[Cell] = []
    for group in by_object.values():
        wide = [c for c in group if c.stride]
        kept.extend(c for c in group if not any(w != c and w.covers(c) for w in wide))
    return frozenset(kept)
