"""What the carrier holds, as a table: ``analyses/carrier.toml``, for sets of states."""

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

    Sets are sums of bits.  A set's step is the union of those of its states, so that a way more never hides one.
    """

    states: Mapping[str, int]
    steps: Mapping[str, tuple[int, ...]]


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
    return Table(bits, steps)


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
def shipped_table() -> Table:
    """The table that placement runs."""
    return load_table(analyses_dir() / "carrier.toml")
