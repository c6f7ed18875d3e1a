"""What the other analyses ask of points-to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from opi_xform.ir import instr as ins


class PointsTo(Protocol):
    """Objects that values may point to, by operand and frame (Andersen; see constraints.py)."""

    def operand(self, frame: int, operand: ins.Operand) -> frozenset[int]:
        """Objects that the operand's value may point into."""
        ...

    def accessed(self, frame: int, operand: ins.Operand) -> frozenset[int]:
        """Objects that are read or written through an address: all there may be, where nothing is known of it."""
        ...

    def taken_apart(self) -> bool:
        """Whether addresses travel as bytes."""
        ...

    @property
    def bytes(self) -> frozenset[int]:
        """Objects whose addresses travel as bytes."""
        ...

    def variable(self, frame: int, key: str) -> frozenset[int]:
        """Objects that a variable's value may point into."""
        ...

    def contents(self, objects: Iterable[int]) -> frozenset[int]:
        """What these objects hold, together."""
        ...

    def reachable(self, objects: frozenset[int]) -> frozenset[int]:
        """These objects and all that can be reached through pointers stored in them."""
        ...

    def holding(self, o: int) -> frozenset[int] | None:
        """Objects, variables too, in which an address of this one may be; None: also where nobody looks."""
        ...

    def kept(self, objects: frozenset[int]) -> frozenset[int]:
        """Objects, scalar locals excepted, in which a pointer to one of these may be stored."""
        ...
