"""Tables of states whose points have sets of them: ``analyses/carrier.toml``, and the two patterns as they are run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opi_xform.record import dataclass
from opi_xform.resources import analyses_dir
from opi_xform.toml import load_toml


class TableError(Exception):
    """The table is incomplete or contradicts itself; the message names file and event."""


@dataclass(frozen=True, slots=True)
class Table:
    """states: the bit of each, by its name.  steps: by event, the set of states after it, for each set before it.

    allows: the states with which a site may pass ownership, of a pattern.

    Sets are sums of bits.  A set's step is the union of those of its states, so that a way more never hides one.
    """

    states: Mapping[str, int]
    steps: Mapping[str, tuple[int, ...]]
    allows: int = 0


def parse_table(data: Mapping[str, Any], where: str) -> Table:
    """A table from its TOML form.  Raises TableError."""
    bits = {name: 1 << i for i, name in enumerate(data["states"])}
    events, transfer = data["events"], data["transfer"]
    for event in sorted(events.keys() ^ transfer.keys()):
        raise TableError(f"{where}: {event} has no line in both [events] and [transfer]")
    steps = {}
    for event, given in transfer.items():
        single = []
        for state, bit in bits.items():
            after = given.get(state, given.get("any"))
            if after is None:
                raise TableError(f"{where}: transfer.{event}: {state} is missing")
            names = [state] if after == "same" else after
            if unknown := [name for name in names if name not in bits]:
                raise TableError(f"{where}: transfer.{event}: {unknown[0]!r} is no state")
            single.append((bit, sum(bits[name] for name in set(names))))
        if unknown := sorted(given.keys() - bits.keys() - {"any"}):
            raise TableError(f"{where}: transfer.{event}: {unknown[0]!r} is no state")
        steps[event] = tuple(_union(single, before) for before in range(1 << len(bits)))
    if unknown := sorted(set(data.get("allows", ())) - bits.keys()):
        raise TableError(f"{where}: allows: {unknown[0]!r} is no state")
    return Table(bits, steps, sum(bits[name] for name in data.get("allows", ())))


def _union(single: list[tuple[int, int]], before: int) -> int:
    found = 0
    for bit, after in single:
        if before & bit:
            found |= after
    return found


def load_table(path: Path) -> Table:
    """Raises TableError, TomlError."""
    return parse_table(load_toml(path), str(path))


@cache
def shipped_table(name: str = "carrier") -> Table:
    """A table that is run: ``carrier`` by placement, ``send-pattern`` and ``receive-pattern`` by the second way."""
    return load_table(analyses_dir() / f"{name}.toml")


@dataclass(frozen=True, slots=True)
class Sets:
    """The lattice of sets of a table's states: they are joined where ways meet; top is the empty set."""

    table: Table

    @property
    def top(self) -> int:
        return 0

    @property
    def bottom(self) -> int:
        return (1 << len(self.table.states)) - 1

    def meet(self, a: int, b: int) -> int:
        return a | b

    def leq(self, a: int, b: int) -> bool:
        return a | b == a

    def explain(self, a: int, b: int) -> str:
        lacking = [name for name, bit in self.table.states.items() if b & bit and not a & bit]
        return f"{', '.join(lacking)} may be there in one and not in the other" if lacking else ""
