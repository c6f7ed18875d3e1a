"""The automata of Friedley et al., figures 12, 14 and 15, in the paper's own form: one state per buffer at each point.

A table names its states, what each event does in each of them, with the edits that go with the transition, and how
states meet where paths join.  ``Automaton`` is the lattice; ``Tracking`` runs it for several buffers at once.
The tables stand in tests/data/paper; those that run (``opi_xform.dataflow.table``) are compared with them, and the
solver is tried on them.  docs/book/automata.md says where they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from opi_xform.dataflow.lattice import TupleLattice
from opi_xform.dataflow.solver import Solution
from opi_xform.dataflow.view import View
from opi_xform.record import dataclass
from opi_xform.toml import TomlError, load_toml


class AutomatonError(Exception):
    """A table is incomplete or contradicts itself; the message names file and state."""


@dataclass(frozen=True, slots=True)
class Step:
    """One transition: the next state, and the names of the edits made when it is taken, in order."""

    to: str
    actions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Automaton:
    """A table.  direction: ``forward`` or ``backward``.  start: the boundary's state.

    ``states`` holds top first and bottom last.  ``steps`` and ``meets`` are total: (state, event) and (state, state).
    """

    name: str
    about: str
    direction: str
    start: str
    states: tuple[str, ...]
    events: Mapping[str, str]
    actions: Mapping[str, str]
    steps: Mapping[tuple[str, str], Step]
    meets: Mapping[tuple[str, str], str]

    @property
    def top(self) -> str:
        return self.states[0]

    @property
    def bottom(self) -> str:
        return self.states[-1]

    def meet(self, a: str, b: str) -> str:
        return self.meets[a, b]

    def leq(self, a: str, b: str) -> bool:
        return self.meets[a, b] == a

    def explain(self, a: str, b: str) -> str:
        if self.leq(a, b):
            return ""
        return f"{a} is not below {b}: they meet in {self.meets[a, b]}"

    def step(self, state: str, event: str) -> Step:
        """What ``event`` does in ``state``.  Raises KeyError for a name that is not in the table."""
        return self.steps[state, event]


@dataclass(frozen=True, slots=True)
class Transition:
    """An event met on the way, read off a solution: where, the state before it, and the step taken."""

    node: int
    buffer: str
    event: str
    state: str
    step: Step


class Tracking:
    """An automaton run for each of ``buffers`` over a graph whose nodes carry events.

    ``events(node)``: (buffer, event) pairs in program order; buffers that are not tracked are passed over.
    """

    def __init__(
        self,
        automaton: Automaton,
        buffers: Sequence[str],
        events: Callable[[int], Sequence[tuple[str, str]]],
    ) -> None:
        self.automaton = automaton
        self.buffers = tuple(buffers)
        self._lattice = TupleLattice(automaton, self.buffers)
        self._slot = {name: i for i, name in enumerate(self.buffers)}
        self._events = events

    @property
    def lattice(self) -> TupleLattice[str]:
        return self._lattice

    def boundary(self, node: int) -> tuple[str, ...]:
        del node
        return (self.automaton.start,) * len(self.buffers)

    def transfer(self, node: int, state: tuple[str, ...]) -> tuple[str, ...]:
        states = list(state)
        for buffer, event in self._ordered(node):
            slot = self._slot[buffer]
            states[slot] = self.automaton.step(states[slot], event).to
        return tuple(states)

    def transfer_edge(self, source: int, target: int, state: tuple[str, ...]) -> tuple[str, ...]:
        del source, target
        return state

    def _ordered(self, node: int) -> list[tuple[str, str]]:
        """The node's events of tracked buffers in the order of the automaton's direction."""
        events = [e for e in self._events(node) if e[0] in self._slot]
        return events if self.automaton.direction == "forward" else events[::-1]

    def transitions(self, view: View, solution: Solution[tuple[str, ...]]) -> Iterator[Transition]:
        """Every event of every reached node with the step taken there, in the order of the view."""
        for node in view.order:
            states = list(solution.before[node])
            for buffer, event in self._ordered(node):
                slot = self._slot[buffer]
                step = self.automaton.step(states[slot], event)
                yield Transition(node, buffer, event, states[slot], step)
                states[slot] = step.to

    def failures(self, view: View, solution: Solution[tuple[str, ...]], buffer: str) -> tuple[int, ...]:
        """The nodes where ``buffer`` turned to bottom first: by an event there, or because sound paths disagree there.

        ``solution`` has its log.  Nodes that have bottom from a neighbour are left out.
        """
        slot = self._slot[buffer]
        failed: set[int] = set()
        found = []
        for node, _, after in solution.log:
            if after[slot] == self.automaton.bottom and node not in failed:
                if failed.isdisjoint(view.prevs[node]):
                    found.append(node)
                failed.add(node)
        return tuple(found)


def parse_automaton(data: Mapping[str, Any], where: str) -> Automaton:
    """A table from its TOML form.  Raises AutomatonError."""

    def fail(message: str) -> AutomatonError:
        return AutomatonError(f"{where}: {message}")

    keys = {"name", "about", "direction", "start", "top", "bottom", "states", "events", "actions", "meet", "transfer"}
    if set(data) - keys:
        raise fail(f"unknown key {sorted(set(data) - keys)[0]!r}")
    missing = keys - {"actions"} - set(data)
    if missing:
        raise fail(f"{sorted(missing)[0]!r} is missing")
    if data["direction"] not in ("forward", "backward"):
        raise fail(f"bad direction {data['direction']!r}")
    top, bottom, proper = data["top"], data["bottom"], tuple(data["states"])
    states = (top, *proper, bottom)
    if len(set(states)) != len(states):
        raise fail("a state is listed twice")
    if data["start"] not in proper:
        raise fail(f"start {data['start']!r} is no state")
    events: Mapping[str, str] = data["events"]
    actions: Mapping[str, str] = data.get("actions", {})
    steps: dict[tuple[str, str], Step] = {}
    for state in data["transfer"]:
        if state not in states:
            raise fail(f"transfer.{state} is no state")
        for event, target in data["transfer"][state].items():
            step = Step(target) if isinstance(target, str) else Step(target["to"], tuple(target.get("do", ())))
            if event not in events:
                raise fail(f"transfer.{state}.{event} is no event")
            if step.to not in states:
                raise fail(f"transfer.{state}.{event}: {step.to!r} is no state")
            if unknown := [a for a in step.actions if a not in actions]:
                raise fail(f"transfer.{state}.{event}: {unknown[0]!r} is no action")
            steps[state, event] = step
    for event in events:
        # Nothing happens on a path that nobody takes.
        steps.setdefault((top, event), Step(top))
    for state in (*proper, bottom):
        for event in events:
            if (state, event) not in steps:
                raise fail(f"transfer.{state}.{event} is missing")
    return Automaton(
        data["name"],
        data["about"],
        data["direction"],
        data["start"],
        states,
        events,
        actions,
        steps,
        _meets(data["meet"], states, fail),
    )


def _meets(
    given: Mapping[str, str], states: tuple[str, ...], fail: Callable[[str], AutomatonError]
) -> dict[tuple[str, str], str]:
    """The total meet table: each pair of proper states is given once; top, bottom and equal states need no words."""
    top, *proper, bottom = states
    meets: dict[tuple[str, str], str] = {}
    for state in states:
        meets |= {(top, state): state, (state, top): state, (bottom, state): bottom, (state, bottom): bottom}
    meets |= {(s, s): s for s in states}
    for pair, result in given.items():
        names = pair.split()
        if len(names) != 2 or any(n not in proper for n in names) or result not in states:
            raise fail(f"meet.{pair!r} names no two states, or {result!r} is none")
        if (names[0], names[1]) in meets:
            raise fail(f"meet.{pair!r} is given twice")
        meets[names[0], names[1]] = meets[names[1], names[0]] = result
    for i, a in enumerate(proper):
        for b in proper[i + 1 :]:
            if (a, b) not in meets:
                raise fail(f"meet of {a} and {b} is missing")
    return meets


def load_automaton(path: Path) -> Automaton:
    """One table from a file.  Raises AutomatonError."""
    try:
        return parse_automaton(load_toml(path), str(path))
    except TomlError as error:
        raise AutomatonError(str(error)) from error


PAPER = Path(__file__).parent / "data" / "paper"


@lru_cache(maxsize=1)
def paper_tables() -> Mapping[str, Automaton]:
    """By name: sender- and receiver-pattern, sender- and receiver-placement.

    Raises AutomatonError.
    """
    tables = [load_automaton(p) for p in sorted(PAPER.glob("*.toml"))]
    return {t.name: t for t in tables}
