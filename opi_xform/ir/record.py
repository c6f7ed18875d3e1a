"""``dataclass`` for classes of which a program has hundreds of thousands of objects.

To the type checker they are frozen, and that is who finds an assignment to a field.  A class that is frozen at run time
too takes four times as long to make an object of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from opi_xform import record

_T = TypeVar("_T")


def dataclass(*, frozen: bool, slots: bool) -> Callable[[type[_T]], type[_T]]:
    """A dataclass with slots, compared and hashed by its fields, as a frozen one is."""
    assert frozen
    assert slots
    return _made


def _made(cls: type[_T]) -> type[_T]:
    made: type[_T] = record.with_methods(cls, False)  # type: ignore[attr-defined]
    return made
