"""The automata that run: tables from ``analyses/automata/*.toml``, whose points have sets of states.

A table names its states and what each event does in each of them.  ``Sets`` is the lattice; ``Course`` runs a table
over a graph whose nodes carry events.  docs/book/automata.md describes the tables that are shipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from opi_xform.dataflow.view import Graph, View, backward, forward
from opi_xform.record import dataclass
from opi_xform.resources import analyses_dir
from opi_xform.toml import load_toml


class TableError(Exception):
    """The table is incomplete or contradicts itself; the message names file and event."""


_KEYS = frozenset({"about", "direction", "start", "states", "holds", "events", "transfer"})


@dataclass(frozen=True)
class Table:
    """states: the bit of each, by its name.  steps: by event, the set of states after it, for each set before it.

    direction: ``forward`` or ``backward``; "after" is meant in it.  start: the state at the boundary.  holds, events:
    what each state and each event says, in words.  allows: the states with which a site may pass ownership, of a
    pattern.

    Sets are sums of bits.  A set's step is the union of those of its states, so that a way more never hides one.
    """

    name: str
    about: str
    direction: str
    start: int
    states: Mapping[str, int]
    holds: Mapping[str, str]
    events: Mapping[str, str]
    steps: Mapping[str, tuple[int, ...]]
    allows: int = 0

    def names(self, found: int) -> tuple[str, ...]:
        """The states of a set, in the order of the table."""
        return tuple(name for name, bit in self.states.items() if found & bit)

    def step(self, state: str, event: str) -> tuple[str, ...]:
        """The states after an event, from one state."""
        return self.names(self.steps[event][self.states[state]])

    def view(self, graph: Graph) -> View:
        """A graph in the direction of the table."""
        return forward(graph) if self.direction == "forward" else backward(graph)


def parse_table(data: Mapping[str, Any], where: str) -> Table:
    """A table from its TOML form.  Raises TableError."""
    if wrong := sorted((data.keys() - {"allows"}) ^ _KEYS):
        raise TableError(f"{where}: {wrong[0]!r} is {'no key' if wrong[0] in data else 'missing'}")
    if data["direction"] not in ("forward", "backward"):
        raise TableError(f"{where}: bad direction {data['direction']!r}")
    bits = {name: 1 << i for i, name in enumerate(data["states"])}
    for state in sorted(data["holds"].keys() ^ bits.keys()):
        raise TableError(f"{where}: holds.{state} is {'no state' if state not in bits else 'missing'}")
    if unknown := sorted({data["start"], *data.get("allows", ())} - bits.keys()):
        raise TableError(f"{where}: start or allows: {unknown[0]!r} is no state")
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
    return Table(
        Path(where).stem,
        data["about"],
        data["direction"],
        bits[data["start"]],
        bits,
        data["holds"],
        events,
        steps,
        sum(bits[name] for name in data.get("allows", ())),
    )


def _union(single: list[tuple[int, int]], before: int) -> int:
    found = 0
    for bit, after in single:
        if before & bit:
            found |= after
    return found


def load_table(path: Path) -> Table:
    """Raises TableError, TomlError."""
    return parse_table(load_toml(path), str(path))


def _folder() -> Path:
    return analyses_dir() / "automata"


@cache
def shipped_table(name: str = "carrier") -> Table:
    """A table that is run: ``carrier`` and ``lost-memory`` by placement, the two patterns by the second way."""
    return load_table(_folder() / f"{name}.toml")


def shipped_tables() -> Iterator[Table]:
    """All of ``analyses/automata``, by name."""
    return (shipped_table(path.stem) for path in sorted(_folder().glob("*.toml")))


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


class Course:
    """A table run over a graph, for one buffer.

    ``events(node)``: in the order of the program.  start: the set at the boundary, if it is not the table's.
    """

    def __init__(self, table: Table, events: Callable[[int], Sequence[str]], start: int | None = None) -> None:
        self.table = table
        self.events = events
        self.start = table.start if start is None else start
        self._lattice = Sets(table)

    @property
    def lattice(self) -> Sets:
        return self._lattice

    def boundary(self, node: int) -> int:
        del node
        return self.start

    def ordered(self, node: int) -> Iterable[str]:
        """A node's events in the direction of the table."""
        events = self.events(node)
        return events if self.table.direction == "forward" else reversed(events)

    def transfer(self, node: int, state: int) -> int:
        for event in self.ordered(node):
            state = self.table.steps[event][state]
        return state

    def transfer_edge(self, source: int, target: int, state: int) -> int:
        del source, target
        return state

    def ahead_of(self, node: int, state: int) -> Iterator[tuple[str, int]]:
        """Each event of a node with the set before it, in the direction of the table; state: before the node."""
        for event in self.ordered(node):
            yield event, state
            state = self.table.steps[event][state]
