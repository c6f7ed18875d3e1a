"""What the decisions ask of the text (``edits.text`` answers)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from opi_xform.ir.span import Span
from opi_xform.ir.statics import Place
from opi_xform.privatize.model import Variable


class Names(Protocol):
    """Each answer of why not is '' when nothing is in the way."""

    def written(self, span: Span) -> bytes:
        """The text of a place."""
        ...

    def movable(self, v: Variable) -> str:
        """Why its initialiser cannot become code that runs at each rank's start."""
        ...

    def relocatable(self, v: Variable) -> str:
        """Why the addresses in its initialiser cannot be found in its bytes."""
        ...

    def uses(self, v: Variable) -> str:
        """Why not every use of it can be written another way."""
        ...

    def guards(self, v: Variable) -> Iterator[Place]:
        """Where text that another configuration compiles gets an ``#error``, since it names the variable."""
        ...
