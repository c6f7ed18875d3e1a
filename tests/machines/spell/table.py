"""The table of rewritings: each is a function that finds the places of a program where it can be applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.machines.spell.source import Change, Source

Finder = Callable[[Source], Iterator[Change]]


@dataclass(frozen=True, slots=True)
class Rewriting:
    """``says``: what it does, in a sentence.  ``changes``: one for each place; each keeps what the program means."""

    name: str
    kind: str
    says: str
    changes: Finder


_TABLE: dict[str, Rewriting] = {}


def rewriting(kind: str) -> Callable[[Finder], Finder]:
    """Puts a function into the table under its own name."""

    def put(find: Finder) -> Finder:
        _TABLE[find.__name__] = Rewriting(find.__name__, kind, " ".join((find.__doc__ or "").split()), find)
        return find

    return put


def rewritings() -> tuple[Rewriting, ...]:
    """All of them, by kind and name."""
    from tests.machines.spell import rules  # noqa: F401  (its modules fill the table)

    return tuple(sorted(_TABLE.values(), key=lambda r: (r.kind, r.name)))
