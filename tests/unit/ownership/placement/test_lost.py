"""Memory that only the transformed program has: the table that follows it, and the calls that free it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from case_tools import run_tool
from ownership_support import Source, shared, source

from opi_xform.dataflow.table import shipped_table
from opi_xform.ownership.allocation.allocations import find_allocations
from opi_xform.ownership.placement.events import EventList, collect_events
from opi_xform.ownership.placement.lost import lost
from opi_xform.ownership.placement.states import ALLOC, LEAVE, MADE, MAYALLOC, Event, view
from opi_xform.ownership.spelling.mentions import Mentions

ROOT = Path(__file__).resolve().parents[4]
CARRIER, MEMORY = shipped_table(), shipped_table("lost-memory")
SAME = {
    "Absent": "None",
    "Given": "None",
    "Held": "Held",
    "Extra": "Held",
    "Awaited": "Pending",
    "AwaitedExtra": "Pending",
    "Other": "Other",
}
"""What the transformed program's pointer holds in each state, as placement's table names it."""

RECV = "MPI_Recv(b, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


def program(body: str, top: str = "") -> Source:
    return source(f"{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")


def names(table: Mapping[str, int], bits: int) -> set[str]:
    return {name for name, bit in table.items() if bits & bit}


@pytest.mark.parametrize("event", sorted(MEMORY.steps))
def test_the_table_says_of_the_transformed_program_what_placement_says(event: str) -> None:
    """A pointer that was never set is as good as NULL here; and a function may return NULL for nothing."""
    for state, bit in MEMORY.states.items():
        after = {SAME[name] for name in names(MEMORY.states, MEMORY.steps[event][bit])}
        expected = names(CARRIER.states, CARRIER.steps[event][CARRIER.states[SAME[state]]])
        if event == "rawbirth":
            expected = {"None"}
        if event == "mayalloc":
            expected |= {"None"}
        assert after == expected, state


@pytest.mark.parametrize("event", ["touch", "send", "recv", "irecv", "replace", "complete", "OPI_Alloc", "OPI_Free"])
def test_only_the_program_changes_what_the_program_has(event: str) -> None:
    has, lacks = {"Given", "Held", "Awaited"}, {"Absent", "Extra", "AwaitedExtra"}
    for side in (has, lacks):
        for state in side:
            assert names(MEMORY.states, MEMORY.steps[event][MEMORY.states[state]]) <= side


# --- programs -------------------------------------------------------------------------------------------------------


def events_of(found: Source, in_place: bool) -> EventList:
    at, buffer = shared(found), found.buffers["b"]
    told = Mentions(found.program, at.flow, at.defs, buffer, at.texts)
    allocations = find_allocations(found.program, at.flow, at.defs, buffer)
    assert allocations is not None
    uses = frozenset(u.place for u in buffer.uses)
    events = collect_events(found.program, at.flow, buffer, told, uses, allocations, in_place, {})
    assert isinstance(events, EventList)
    return events


def found_lost(found: Source, swapped: tuple[int, ...] = (), lazy: tuple[int, ...] = ()) -> set[Event]:
    flow, events = shared(found).flow, events_of(found, True)
    side = view(flow, flow.succs, events.all, [])
    return lost(flow, [side], events.by_node, (), swapped, lazy)


TURN = "double *b = NULL;\nwhile (argc--)\n{{\n{}\n{}\n{}\n}}"


@pytest.mark.parametrize(
    ("make", "free", "is_lost"),
    [
        ("b = malloc(80);", "free(b);", False),
        ("b = malloc(80);", "", False),  # the program loses its own
        ("b = NULL;\nif (argc > 2)\nb = malloc(80);", "free(b);", False),
        ("b = NULL;\nif (argc > 2)\nb = malloc(80);", "if (argc > 2)\nfree(b);", True),
        ("b = NULL;\nif (argc > 2)\nb = malloc(80);", "", True),
    ],
)
def test_a_block_that_comes_where_the_program_has_none(make: str, free: str, is_lost: bool) -> None:
    found = program(TURN.format(make, RECV, free))
    assert bool(found_lost(found)) is is_lost


def test_what_allocates_only_where_the_pointer_is_null_loses_nothing() -> None:
    found = program(TURN.format("if (argc > 2)\nb = malloc(80);", RECV, ""))
    events = found_lost(found)
    assert {e.kind for e in events} == {ALLOC}
    assert not found_lost(found, lazy=tuple(e.node for e in events))


@pytest.mark.parametrize(("in_place", "kind"), [(True, ALLOC), (False, MADE)])
def test_where_the_programs_allocation_stays(in_place: bool, kind: str) -> None:
    found = program(f"double *b = malloc(80);\n{RECV}\nfree(b);")
    kinds = {e.kind for e in events_of(found, in_place).all}
    assert kinds & {ALLOC, MADE, MAYALLOC, LEAVE} == {kind}


def test_a_function_that_may_return_null_need_not_have_allocated() -> None:
    get = "static double *get(int n)\n{\ndouble *p;\nif (n < 3)\nreturn NULL;\np = malloc(80);\nreturn p;\n}\n"
    found = program(f"double *b = get(argc);\n{RECV}\nfree(b);", get)
    assert MAYALLOC in {e.kind for e in events_of(found, True).all}


# --- the text -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["null_turns_8", "null_turns_9", "null_turns_10"])
def test_what_is_freed_before_a_test_is_freed_before_the_memory_that_it_asks_for(tmp_path: Path, case: str) -> None:
    """After it, the new block would be gone, and the test would find NULL."""
    source = next((ROOT / "tests" / "cases" / "null_test" / "convert").glob(f"{case}.c"))
    code, out, err = run_tool([str(source), "-o", str(tmp_path / "out"), "-j", "1"])
    assert code == 0, out + err
    (after,) = (tmp_path / "out").rglob(f"{case}.c")
    before = after.read_text().partition("OPI_Give")[0]
    asked = before.index("a = get(m)" if "get(m)" in before else "OPI_Alloc(&a")
    assert before.count("OPI_Free(&a);") == 1
    assert before.index("OPI_Free(&a);") < asked
