"""The paper's automata: lawful, total, and on its own example (Friedley et al., figure 13); and those that run."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper_tables import (
    PAPER,
    Automaton,
    AutomatonError,
    Step,
    Tracking,
    load_automaton,
    paper_tables,
    parse_automaton,
)

from opi_xform.dataflow.solver import Solution, solve
from opi_xform.dataflow.table import Course, shipped_table, shipped_tables
from opi_xform.dataflow.view import ListGraph, View, backward, forward
from opi_xform.toml import load_toml

AUTOMATA = paper_tables()
SENDER = AUTOMATA["sender-pattern"]
RECEIVER = AUTOMATA["receiver-pattern"]
GIVING = AUTOMATA["sender-placement"]
TAKING = AUTOMATA["receiver-placement"]
every = pytest.mark.parametrize("automaton", AUTOMATA.values(), ids=AUTOMATA)

# --- laws ----------------------------------------------------------------------------------------------------------


def test_the_four_tables_are_there() -> None:
    assert {a.name: a.direction for a in AUTOMATA.values()} == {
        "sender-pattern": "backward",
        "receiver-pattern": "backward",
        "sender-placement": "forward",
        "receiver-placement": "forward",
    }


@every
def test_meet_is_a_semilattice(automaton: Automaton) -> None:
    meet = automaton.meet
    for a in automaton.states:
        assert meet(a, a) == a
        assert meet(a, automaton.top) == a
        assert meet(a, automaton.bottom) == automaton.bottom
    for a, b in product(automaton.states, repeat=2):
        assert meet(a, b) == meet(b, a)
        assert automaton.leq(meet(a, b), a)
        assert automaton.leq(a, b) == (automaton.explain(a, b) == "")
    for a, b, c in product(automaton.states, repeat=3):
        assert meet(meet(a, b), c) == meet(a, meet(b, c))


@every
def test_steps_are_total_and_monotone(automaton: Automaton) -> None:
    for event in automaton.events:
        for a, b in product(automaton.states, repeat=2):
            if automaton.leq(a, b):
                low, high = automaton.step(a, event).to, automaton.step(b, event).to
                assert automaton.leq(low, high), (event, a, b, automaton.explain(low, high))


@every
def test_nothing_happens_on_a_path_that_nobody_takes(automaton: Automaton) -> None:
    assert all(automaton.step(automaton.top, e) == Step(automaton.top) for e in automaton.events)


@every
def test_failure_lasts_to_the_end_of_the_life(automaton: Automaton) -> None:
    left = {e for e in automaton.events if automaton.step(automaton.bottom, e).to != automaton.bottom}
    assert left == ({"Deallocate"} if automaton.direction == "backward" else set())


@every
def test_what_is_not_understood_fails(automaton: Automaton) -> None:
    assert all(automaton.step(s, "Escape").to == automaton.bottom for s in automaton.states[1:])


@every
def test_every_state_and_action_is_used(automaton: Automaton) -> None:
    reached = {automaton.start}
    while True:
        steps = {automaton.step(s, e).to for s in reached for e in automaton.events}
        more = reached | steps | {automaton.meet(a, b) for a in reached for b in reached}
        if more == reached:
            break
        reached = more
    assert reached == set(automaton.states[1:])
    used = {a for s in reached for e in automaton.events for a in automaton.step(s, e).actions}
    assert used == set(automaton.actions)


# --- the tables as the paper has them -----------------------------------------------------


def _table(automaton: Automaton, text: str) -> None:
    """Rows ``state | event target | event target ...`` hold."""
    for line in text.strip().splitlines():
        state, *cells = (c.strip() for c in line.split("|"))
        for cell in cells:
            event, target, *actions = cell.split()
            assert automaton.step(state, event) == Step(target, tuple(actions)), (state, cell)


def test_sender_pattern() -> None:
    _table(
        SENDER,
        """
        End        | Send OpenPack | ClosedWrite Fail       | OpenWrite Fail     | Read Fail     | Allocate Start
        OpenPack   | Send Fail     | ClosedWrite ClosedPack | OpenWrite OpenPack | Read OpenPack | Allocate Fail
        ClosedPack | Send OpenPack | ClosedWrite ClosedPack | OpenWrite OpenPack | Read OpenPack | Allocate Start
        EorCP      | Send OpenPack | ClosedWrite Fail       | OpenWrite Fail     | Read Fail     | Allocate Start
        """,
    )
    assert SENDER.meet("OpenPack", "ClosedPack") == "OpenPack"
    assert SENDER.meet("End", "ClosedPack") == "EorCP"
    assert SENDER.meet("EorCP", "End") == SENDER.meet("EorCP", "ClosedPack") == "EorCP"
    assert SENDER.meet("End", "OpenPack") == SENDER.meet("EorCP", "OpenPack") == "Fail"


def test_receiver_pattern() -> None:
    _table(
        RECEIVER,
        """
        End    | Recv Empty | InRead Unpack | InWrite Unpack | OutRead Fail | Allocate Start
        Unpack | Recv Empty | InRead Unpack | InWrite Unpack | OutRead Fail | Allocate Fail
        Empty  | Recv Empty | InRead Unpack | InWrite Unpack | OutRead Fail | Allocate Start
        """,
    )
    assert RECEIVER.meet("Unpack", "Empty") == RECEIVER.meet("Unpack", "End") == "Unpack"
    assert RECEIVER.meet("End", "Empty") == "Empty"


def test_sender_placement() -> None:
    _table(
        GIVING,
        """
        Start | Allocate None declare
        None  | Access Held alloc         | Send None alloc give         | KeptSend Held alloc
        Held  | Access Held               | Send None give               | KeptSend Held
        Maybe | Access Held alloc_if_null | Send None alloc_if_null give | KeptSend Held alloc_if_null
        End   | Allocate None declare
        None  | Deallocate End remove
        Held  | Deallocate End free
        Maybe | Deallocate End free
        """,
    )
    assert GIVING.meet("None", "Held") == "Maybe"


def test_receiver_placement() -> None:
    _table(
        TAKING,
        """
        Start | Allocate None declare
        None  | Recv Held take             | Access Held alloc         | LastUse None            | Deallocate End remove
        Held  | Recv Held free_before take | Access Held               | LastUse None free_after | Deallocate End free
        Maybe | Recv Held free_before take | Access Held alloc_if_null | LastUse None free_after | Deallocate End free
        """,
    )
    assert TAKING.meet("None", "Held") == "Maybe"


# --- programs --------------------------------------------------------------------------------------------------------


def _run(
    automaton: Automaton, succs: Sequence[Sequence[int]], code: Sequence[str], buffers: str
) -> tuple[Tracking, View, Solution[tuple[str, ...]]]:
    """``code[n]``: the events of node n as ``buffer.Event`` words."""
    graph = ListGraph.of(succs)
    events = [[(w.split(".")[0], w.split(".")[1]) for w in line.split()] for line in code]
    tracking = Tracking(automaton, buffers.split(), lambda n: events[n])
    view = backward(graph) if automaton.direction == "backward" else forward(graph)
    return tracking, view, solve(view, tracking, record=True)


# Figure 13, left: both buffers are sent in a loop, only buf1 is packed there.
LOOP = [[1], [2, 3], [1], []]
FIGURE_13 = [
    "buf1.Allocate buf2.Allocate",
    "",  # the loop's condition
    "buf1.ClosedWrite buf1.Send buf2.Send",
    "buf1.Deallocate buf2.Deallocate",
]


def test_figure_13_left() -> None:
    tracking, view, solution = _run(SENDER, LOOP, FIGURE_13, "buf1 buf2")
    assert solution.after[3] == ("End", "End")
    assert solution.after[1] == ("EorCP", "Fail")
    assert solution.after[0] == ("Start", "Fail")
    assert tracking.failures(view, solution, "buf1") == ()
    # The paths meet at the condition: sent again without packing, or not at all.
    assert tracking.failures(view, solution, "buf2") == (1,)


def test_figure_13_left_state_by_state() -> None:
    """Steps 2 to 4 of the figure, with the body's operations in nodes of their own."""
    succs = [[1], [2, 5], [3], [4], [1], []]
    code = [
        "buf1.Allocate buf2.Allocate",
        "",
        "buf1.ClosedWrite",
        "buf1.Send",
        "buf2.Send",
        "buf1.Deallocate buf2.Deallocate",
    ]
    _, _, solution = _run(SENDER, succs, code, "buf1 buf2")
    assert [s[0] for s in solution.after] == ["Start", "EorCP", "ClosedPack", "OpenPack", "EorCP", "End"]
    assert [s[1] for s in solution.after] == ["Fail", "Fail", "Fail", "Fail", "Fail", "End"]


def test_figure_13_right() -> None:
    """The send goes through a pointer to either buffer: both are ambiguous there."""
    code = [FIGURE_13[0], "", "buf1.ClosedWrite buf2.ClosedWrite buf1.Escape buf2.Escape", FIGURE_13[3]]
    tracking, view, solution = _run(SENDER, LOOP, code, "buf1 buf2")
    assert solution.after[0] == ("Fail", "Fail")
    assert tracking.failures(view, solution, "buf1") == tracking.failures(view, solution, "buf2") == (2,)


def test_read_after_the_send_fails() -> None:
    _, _, solution = _run(SENDER, [[1], []], ["b.Allocate b.ClosedWrite b.Send b.Read", "b.Deallocate"], "b")
    assert solution.after[0] == ("Fail",)


def test_half_packed_fails_at_the_allocation() -> None:
    tracking, view, solution = _run(SENDER, [[1], [2], []], ["b.Allocate", "b.OpenWrite b.Send", "b.Deallocate"], "b")
    assert solution.after[1] == ("OpenPack",)
    assert tracking.failures(view, solution, "b") == (0,)


def test_a_life_per_turn() -> None:
    """malloc, pack, send, free in a loop: each turn is a life, whatever the next one does."""
    turn = "b.Allocate b.ClosedWrite b.Send b.Deallocate"
    _, _, solution = _run(SENDER, [[1], [2, 3], [1], []], ["", "", turn, ""], "b")
    assert solution.after[2] == ("Start",)


def test_unpacking_on_one_branch_only() -> None:
    code = ["b.Allocate", "b.Recv", "b.InRead", "", "b.Deallocate"]
    _, _, solution = _run(RECEIVER, [[1], [2, 3], [4], [4], []], code, "b")
    assert solution.before[1] == ("Unpack",)
    assert solution.after[0] == ("Start",)


def test_a_stale_read_fails() -> None:
    code = ["b.Allocate", "b.Recv b.InRead b.OutRead", "b.Deallocate"]
    tracking, view, solution = _run(RECEIVER, [[1], [2], []], code, "b")
    assert tracking.failures(view, solution, "b") == (1,)


def _actions(automaton: Automaton, succs: Sequence[Sequence[int]], code: Sequence[str]) -> dict[int, list[str]]:
    tracking, view, solution = _run(automaton, succs, code, "b")
    found: dict[int, list[str]] = {}
    for t in tracking.transitions(view, solution):
        found.setdefault(t.node, []).extend(t.step.actions)
    return found


def test_placing_the_senders_calls() -> None:
    """Figure 10: Alloc before the pack, Give for the send, nothing left to free."""
    code = ["b.Allocate", "", "b.Access b.Access b.Send", "b.Deallocate"]
    assert _actions(GIVING, LOOP, code) == {0: ["declare"], 2: ["alloc", "give"], 3: ["remove"]}


def test_placing_the_senders_calls_where_paths_disagree() -> None:
    """Packed on one path only, then written and sent on both: the Alloc is guarded."""
    code = ["b.Allocate", "b.Access", "", "b.Access b.Send b.Deallocate"]
    assert _actions(GIVING, [[1, 2], [3], [3], []], code)[3] == ["alloc_if_null", "give", "remove"]


def test_placing_the_receivers_calls() -> None:
    """Figure 11: Take for the receive, Free after the last use, in each turn of the loop."""
    code = ["b.Allocate", "", "b.Recv b.Access b.LastUse", "b.Deallocate"]
    assert _actions(TAKING, LOOP, code) == {0: ["declare"], 2: ["take", "free_after"], 3: ["remove"]}


def test_placing_a_receive_over_a_buffer_that_may_be_held() -> None:
    code = ["b.Allocate", "", "b.Recv b.Access", "b.Deallocate"]
    assert _actions(TAKING, LOOP, code) == {0: ["declare"], 2: ["free_before", "take"], 3: ["free"]}


def test_events_of_other_buffers_are_passed_over() -> None:
    _, _, solution = _run(SENDER, [[]], ["c.Send b.Send"], "b")
    assert solution.after[0] == ("OpenPack",)


@given(st.lists(st.sampled_from(sorted(SENDER.events)), max_size=12))
def test_straight_code_is_the_fold_of_its_events(events: list[str]) -> None:
    """Backward means last event first, within a node as between nodes."""
    state = SENDER.start
    for event in reversed(events):
        state = SENDER.step(state, event).to
    half = len(events) // 2
    code = [" ".join(f"b.{e}" for e in part) for part in (events[:half], events[half:])]
    assert _run(SENDER, [[1], []], code, "b")[2].after[0] == (state,)


# --- mistakes in a table ---------------------------------------------------------------------------------------------


def _sender_table() -> dict[str, Any]:
    return copy.deepcopy(load_toml(PAPER / "sender-placement.toml"))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("transfer", "None", "Access"), None, r"transfer\.None\.Access is missing"),
        (("transfer", "None", "Access"), "Nowhere", "'Nowhere' is no state"),
        (("transfer", "None", "Access"), {"to": "Held", "do": ["dance"]}, "'dance' is no action"),
        (("transfer", "None", "Blink"), "Held", "is no event"),
        (("transfer", "Limbo"), {}, "is no state"),
        (("meet", "None Held"), None, "meet of None and Held is missing"),
        (("meet", "Held None"), "None", "given twice"),
        (("meet", "Held"), "None", "names no two states"),
        (("direction",), "sideways", "bad direction"),
        (("start",), "Limbo", "is no state"),
        (("states",), ["Start", "Start"], "listed twice"),
        (("colour",), "red", "unknown key"),
        (("about",), None, "'about' is missing"),
    ],
)
def test_mistakes_in_a_table_are_refused(path: tuple[str, ...], value: object, message: str) -> None:
    table = _sender_table()
    inner = table
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    with pytest.raises(AutomatonError, match=message):
        parse_automaton(table, "table")


def test_unreadable_tables(tmp_path: Path) -> None:
    with pytest.raises(AutomatonError, match=r"none\.toml"):
        load_automaton(tmp_path / "none.toml")


# --- docs/book/automata.md -----------------------------------------------------------------------------------------

DOCUMENT = (Path(__file__).parents[3] / "docs" / "book" / "automata.md").read_text(encoding="utf-8")


def _sections() -> dict[str, list[list[list[str]]]]:
    """The tables below each heading, as rows of cells with the header row first."""
    found: dict[str, list[list[list[str]]]] = {}
    heading, inside = "", False
    for line in DOCUMENT.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        if line.startswith("|"):
            cells = [c.strip().strip("*") for c in line.strip("|").split("|")]
            if not inside:
                found.setdefault(heading, []).append([])
            if not set(line) <= set("|-"):
                found[heading][-1].append(cells)
        inside = line.startswith("|")
    return found


def test_the_documented_tables_are_those_that_run() -> None:
    """Each has a section of its name, with a row for each event and a column for each state."""
    tables = _sections()
    for table in shipped_tables():
        (head, *rows) = tables[f"`{table.name}`"][0]
        assert head[1:] == list(table.states), table.name
        assert [row[0].strip("`") for row in rows] == list(table.events), table.name
        for event, *cells in rows:
            for state, cell in zip(head[1:], cells, strict=True):
                after = table.step(state, event.strip("`"))
                assert cell == (", ".join(after) if after != (state,) else ""), (table.name, event, state)


def test_the_documented_example_runs() -> None:
    code = DOCUMENT.split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(code, names)
    said = dict(re.findall(r"solution\.after\[(\d)\]\)  # (.*)", code))
    assert {n: str(names["table"].names(names["solution"].after[int(n)])) for n in said} == said
    assert len(said) > 1


# --- running a table ---------------------------------------------------------------------------------------------


def test_a_course_steps_in_the_direction_of_its_table() -> None:
    for table, first in ((shipped_table("send-pattern"), "Read"), (shipped_table(), "send")):
        last = "ClosedWrite" if table.direction == "backward" else "touch"
        course = Course(table, lambda node, both=(first, last): list(both))
        ahead = dict(course.ahead_of(0, table.start))
        assert list(ahead) == ([last, first] if table.direction == "backward" else [first, last])
        assert course.transfer(0, table.start) == table.steps[list(ahead)[1]][list(ahead.values())[1]]
        assert course.boundary(0) == table.start
        assert course.transfer_edge(0, 1, table.start) == table.start
        assert course.lattice.top == 0
    assert Course(shipped_table(), lambda node: (), 2).boundary(0) == 2


def test_each_state_is_reached_and_each_event_named() -> None:
    for table in shipped_tables():
        reached, before = table.start, 0
        while reached != before:
            before = reached
            for steps in table.steps.values():
                reached |= steps[before]
        assert table.names(reached) == tuple(table.states), table.name
        assert table.events.keys() == table.steps.keys()
