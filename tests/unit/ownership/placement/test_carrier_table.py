"""The table that placement runs: total, and the paper's placement tables wherever these say anything."""

from __future__ import annotations

from typing import Any

import pytest
from paper_tables import paper_tables

from opi_xform.dataflow.table import TableError, parse_table, shipped_table
from opi_xform.ownership.placement import states

TABLE = shipped_table()
PAPER = {"None": ("None",), "Held": ("Held",), "Maybe": ("None", "Held"), "End": ("None",)}
"""The states of Friedley et al., figure 15, as sets; Start and Fail are no states of a pointer."""

EVENTS = {
    "Access": "touch",
    "Send": "send",
    "KeptSend": "touch",
    "Recv": "recv",
    "KeptRecv": "touch",
    "ReplaceRecv": "replace",
    "Deallocate": "dealloc",
    "Allocate": "birth",
    "LastUse": "",
}
BEFORE = {"alloc": "OPI_Alloc", "alloc_if_null": "OPI_Alloc", "free_before": "OPI_Free", "free": "OPI_Free"}
AFTER = {"free_after": "OPI_Free"}


def bits(names: tuple[str, ...]) -> int:
    return sum(TABLE.states[name] for name in names)


def after(state: int, event: str) -> int:
    return TABLE.steps[event][state] if event else state


@pytest.mark.parametrize("name", ["sender-placement", "receiver-placement"])
def test_it_does_what_the_placement_tables_say(name: str) -> None:
    automaton = paper_tables()[name]
    compared = 0
    for (before, event), step in automaton.steps.items():
        if before not in ("None", "Held", "Maybe") or step.to not in PAPER:
            continue
        state = bits(PAPER[before])
        for action in step.actions:
            state = after(state, BEFORE.get(action, ""))
        state = after(state, EVENTS[event])
        for action in step.actions:
            state = after(state, AFTER.get(action, ""))
        assert state == bits(PAPER[step.to]), (before, event)
        compared += 1
    assert compared >= 12


def test_ways_that_meet_are_joined() -> None:
    """The step of a set is the union of the steps of its parts: the solver finds the union over all paths."""
    for event, steps in TABLE.steps.items():
        for a in range(len(steps)):
            for b in range(len(steps)):
                assert steps[a | b] == steps[a] | steps[b], event
        assert steps[0] == 0  # nothing happens where no way leads
        assert all(steps[1:]), event


def test_the_constants_are_the_tables() -> None:
    names = ("NONE", "HELD", "PENDING", "RAW", "OTHER")
    assert [getattr(states, name) for name in names] == [TABLE.states[name.capitalize()] for name in names]
    kinds = {getattr(states, name) for name in dir(states) if isinstance(getattr(states, name), str) and name.isupper()}
    assert kinds == TABLE.steps.keys() - {"OPI_Alloc", "OPI_Free"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"transfer": {"go": {"A": ["A"]}}}, "x.toml: transfer.go: B is missing"),
        ({"transfer": {"go": {"any": ["C"]}}}, "x.toml: transfer.go: 'C' is no state"),
        ({"transfer": {"go": {"any": ["A"], "C": ["A"]}}}, "x.toml: transfer.go: 'C' is no state"),
        ({"transfer": {}}, "x.toml: go has no line in both [events] and [transfer]"),
        ({"holds": {"A": "a"}}, "x.toml: holds.B is missing"),
        ({"holds": {"A": "a", "B": "b", "C": "c"}}, "x.toml: holds.C is no state"),
        ({"start": "C"}, "x.toml: start or allows: 'C' is no state"),
        ({"allows": ["C"]}, "x.toml: start or allows: 'C' is no state"),
        ({"direction": "up"}, "x.toml: bad direction 'up'"),
        ({"colour": "red"}, "x.toml: 'colour' is no key"),
    ],
)
def test_a_wrong_table_is_told(change: dict[str, Any], said: str) -> None:
    data = {
        "about": "x",
        "direction": "forward",
        "start": "A",
        "states": ["A", "B"],
        "holds": {"A": "a", "B": "b"},
        "events": {"go": "it goes"},
        "transfer": {"go": {"any": "same"}},
    }
    assert parse_table(data, "x.toml").steps["go"] == (0, 1, 2, 3)
    with pytest.raises(TableError) as caught:
        parse_table({**data, **change}, "x.toml")
    assert str(caught.value) == said
