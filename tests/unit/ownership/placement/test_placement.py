"""Where calls can go: anchors, events of a buffer, repeated conditions, rows, and the edits that come of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import Source, shared, source, source_in

from opi_xform.codes import Reason
from opi_xform.graph.graph import Node
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ownership.allocation.allocations import find_allocations
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.plan import InsertStatement, Plan
from opi_xform.ownership.placement.anchors import Anchors
from opi_xform.ownership.placement.edits import call_name
from opi_xform.ownership.placement.events import EventList, collect_events
from opi_xform.ownership.placement.free_tests import free_tests
from opi_xform.ownership.placement.frees import Releases
from opi_xform.ownership.placement.guards import cases, ends_besides
from opi_xform.ownership.placement.place import Placement, place
from opi_xform.ownership.placement.row_graph import _row_loops, views
from opi_xform.ownership.placement.situation import Situation, State, Unplaceable
from opi_xform.ownership.placement.states import NONE, Event
from opi_xform.ownership.spelling.mentions import Mentions
from opi_xform.rewrite.apply import rewrite
from opi_xform.text.sources import Sources

SEND = "MPI_Send({}, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"
RECV = "MPI_Recv({}, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
BEGUN = "MPI_Request q; {}(b, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);"
TOP = "static double b[N], v[N];"


def program(body: str, top: str = TOP) -> Source:
    return source(f"{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")


def node_on(found: Source, text: str) -> Node:
    line = found.line(text)
    return next(n for n in found.program.graph.nodes if isinstance(n.action, ins.Instr) and n.action.span.line == line)


# --- anchors ----------------------------------------------------------------------------------------------------------


def anchors(found: Source) -> Anchors:
    return Anchors(shared(found).flow)


def kinds(at: Anchors, levels: list[tuple[int, int]]) -> list[str]:
    return [type(at.flow.info(level).stmt).__name__ for level in levels]


def test_where_a_call_can_go_before_a_node() -> None:
    found = program("if (argc)\nfor (int i = 0; i < N; i++)\n{\nb[i] = i;\n}\n" + SEND.format("b"))
    at = anchors(found)
    node = node_on(found, "b[i] = i")
    assert kinds(at, at.befores(node.number, lambda level: False)) == ["For", "ExprStmt"]
    assert kinds(at, at.befores(node.number, lambda level: True)) == ["ExprStmt"], "a site is in the loop"
    assert kinds(at, at.controls(node.number)) == ["If", "For", "ExprStmt"]
    own = next(iter(at.flow.levels(node.number)))
    assert kinds(at, at.above(node.number, "main", own[1])) == ["For", "If"]
    loop, statement = at.befores(node.number, lambda level: False)
    assert at.wrap(loop), "it is the whole body of the if"
    assert not at.wrap(statement)
    assert at.usable(statement, "before")
    assert not at.is_region(loop)


def test_the_first_part_of_a_for_stands_for_the_loop() -> None:
    found = program("for (b[0] = 1; argc; )\n{\nargc--;\n}\n" + SEND.format("b"))
    at = anchors(found)
    node = node_on(found, "b[0] = 1")
    first = next(iter(at.flow.levels(node.number)))
    assert kinds(at, [first, at.outermost_init(first)]) == ["ExprStmt", "For"]


def test_the_block_at_whose_end_a_variable_ends() -> None:
    found = program("{\ndouble c[N];\nc[0] = 1;\n" + SEND.format("c") + "\n}\nargc = 1;")
    at = anchors(found)
    block = at.declaring_block("main", found.key("c"))
    assert block is not None
    info = at.flow.graph.lowered["main"].stmts[block]
    assert isinstance(info.stmt, ast.Block)
    assert info.parent >= 0, "not the whole function's"
    declared = at.declaration("main", found.key("c"))
    assert declared is not None
    assert isinstance(at.flow.graph.lowered["main"].stmts[declared].stmt, ast.DeclStmt)
    assert at.declaring_block("main", found.key("b")) is None
    node = node_on(found, "c[0] = 1")
    level = next(iter(at.flow.levels(node.number)))
    assert at.above(node.number, "main", level[1]) == [], "blocks are none"
    assert at.return_touches(level, [node.number])
    assert not at.return_touches(level, [node_on(found, "argc = 1").number])


@pytest.mark.parametrize(("body", "usable"), [("goto out;", False), ("argc = 1;", True), ("break;", False)])
def test_jumps_have_nothing_put_behind_them(body: str, usable: bool) -> None:
    found = program(f"while (argc)\n{{\nb[1] = 2; if (argc > 3)\n{body}\n}}\nout: ;\n" + SEND.format("b"))
    at = anchors(found)
    stmts = at.flow.graph.lowered["main"].stmts
    line = found.line(body)
    stmt = next(i for i, s in enumerate(stmts) if s.stmt.span.line == line)
    assert at.usable((0, stmt), "after") is usable


# --- events -----------------------------------------------------------------------------------------------------------


def events_of(found: Source, name: str = "b") -> EventList:
    at = shared(found)
    buffer = found.buffers[name]
    told = Mentions(found.program, at.flow, at.defs, buffer, at.texts)
    converted = frozenset(u.place for u in buffer.uses)
    allocations = find_allocations(found.program, at.flow, at.defs, buffer)
    assert allocations is not None
    events = collect_events(found.program, at.flow, buffer, told, converted, allocations, False, {})
    assert isinstance(events, EventList)
    return events


def test_what_happens_to_a_buffer_for_its_placement() -> None:
    messages = SEND.format("b") + "\n" + RECV.format("b")
    body = f"double *b = malloc(80);\nb[0] = 1;\n{messages}\nv[0] = b[1];\nfree(b);"
    found = program(body, "static double v[N];")
    events = events_of(found)
    order = [(e.kind, e.node) for e in events.all]
    assert [n for _, n in order] == sorted(n for _, n in order)
    (send, recv) = (u.node for u in found.buffers["b"].uses)
    assert {e.kind for e in events.by_node[send]} != {e.kind for e in events.by_node[recv]}
    (gone,) = events.deallocations
    assert gone.node == node_on(found, "free(b)").number
    assert not events.pending_kept


@pytest.mark.parametrize(("test", "expected"), [("if (b)\nfree(b);", 1), ("free(b);", 0), ("if (argc)\nfree(b);", 0)])
def test_tests_that_stand_before_a_free(test: str, expected: int) -> None:
    found = program(f"double *b = malloc(80);\nb[0] = 1;\n{SEND.format('b')}\n{test}")
    assert len(events_of(found).tests_of_frees) == expected


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("if (!b)\ngoto none;\nfree(b);\nnone: ;", 1),
        ("if (b == 0)\n;\nelse\nfree(b);", 1),
        ("if (!b)\ngoto none;\nfree(b);\nv[1] = 1;\nnone: ;", 0),
        ("if (!b)\nv[1] = 1;\nelse\nfree(b);", 0),
        ("if (argc)\ngoto none;\nfree(b);\nnone: ;", 0),
    ],
)
def test_tests_that_only_a_free_depends_on(test: str, expected: int) -> None:
    found = program(f"double *b = malloc(80);\nb[0] = 1;\n{SEND.format('b')}\n{test}", "static double v[N];")
    events = events_of(found)
    tests = free_tests(found.program, shared(found).flow, found.buffers["b"], events.deallocations)
    branches = [n for n in tests.nodes if isinstance(found.program.graph.nodes[n].action, ins.Branch)]
    assert (len(branches), len(tests.levels)) == (expected, 0)


# --- conditions that are tested more than once ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ("argc == 1", "argc == 1", 2),
        ("argc == 1", "argc != 1", 2),
        ("argc == 1", "argc == 2", 1),  # neither is tested twice
        ("argc > 1", "argc > 1", 2),
        ("v[0] > 1", "v[0] > 1", 1),  # a floating number
    ],
)
def test_which_way_repeated_conditions_go(first: str, second: str, count: int) -> None:
    found = program(f"if ({first})\n{{\nb[0] = 1;\n}}\nif ({second})\n{{\n{SEND.format('b')}\n}}")
    at = shared(found)
    events = events_of(found)
    ways = cases(found.program, at.flow, events.all)
    assert len(ways) == count
    branches = [n.number for n in found.program.graph.nodes if isinstance(n.action, ins.Branch)]
    if count == 2:
        same = "!=" not in second
        assert all((way[branches[0]] == way[branches[1]]) is same for way in ways)


@pytest.mark.parametrize(("jump", "count"), [("goto past;", 2), ("{ v[0] = 1; goto past; }", 2), ("v[0] = 1;", 1)])
def test_a_jump_goes_round_what_a_condition_is_about(jump: str, count: int) -> None:
    found = program(f"if (argc == 1)\n{{\nb[0] = 1;\n}}\nif (argc != 1)\n{jump}\n{SEND.format('b')}\npast:;")
    assert len(cases(found.program, shared(found).flow, events_of(found).all)) == count


@pytest.mark.parametrize(
    ("given", "after", "cut"),
    [
        ("return 1;", "if (made) exit(1);", True),
        ("return 1;", "if (made) return 1;", True),
        ("return 1;", "if (made == 2) b[0] = 1; if (made) exit(1);", True),
        ("return 2;", "if (made == 2) b[0] = 1; if (made) exit(1);", False),  # the buffer is used before the end
        ("return 1;", "if (made) exit(0);", False),  # as if all were well
        ("return 1;", "if (made == 2) exit(1);", False),
        ("return 0;", "if (made) exit(1);", False),
    ],
)
def test_where_a_function_that_allocates_gives_up_main_may_end(given: str, after: str, cut: bool) -> None:
    make = f"static double *b;\nstatic int make(void)\n{{\nb = malloc(80);\nif (!b) {given}\nreturn 0;\n}}"
    found = program(f"int made = make();\n{after}\nb[0] = 1;\n{SEND.format('b')}", make)
    at, events, made = shared(found), events_of(found), found.buffers["b"].carrier.allocations
    ends = ends_besides(found.program, at.defs.addressed, made, events.all)
    assert bool(ends.ways) is cut
    branches = {n.number: n.block for n in found.program.graph.nodes if isinstance(n.action, ins.Branch)}
    for n in ends.ways:
        arms = found.program.graph.succs[branches[n]]
        first = [found.program.graph.blocks[b][0] for b in arms if (branches[n], b) in ends.steps]
        assert len(first) == 1
        assert ends.meets(found.program.graph, n, first[0])
        assert not ends.meets(found.program.graph, 0, 1)


# --- rows -------------------------------------------------------------------------------------------------------------


def test_rows_are_looked_at_one_by_one() -> None:
    found = program(
        "for (int d = 0; d < 4; d++)\n{\nb[d][0] = 1;\n" + SEND.format("b[d]") + "\n}", "static double b[4][N], v[N];"
    )
    at = shared(found)
    events = events_of(found)
    assert found.buffers["b"].carrier.rows == 1
    levels = [level for e in events.all for level in at.flow.chain(e.node)]
    told = views(found.program, at.flow, events.all, levels)
    assert told is not None
    assert [view.row for view in told] == [None]
    one = views(found.program, at.flow, [Event(e.node, e.kind) for e in events.all], levels)
    assert one is not None
    send = found.uses[0].node
    assert any(told[0].concerns(e.row) for e in events.by_node[send])


@pytest.mark.parametrize(("outside", "inside", "known"), [("", "double *b[4];", True), ("double *b[4];", "", False)])
def test_how_many_rows_a_round_has_is_known_where_the_array_is_there_for_one_round(
    outside: str, inside: str, known: bool
) -> None:
    """Of a longer-lived array a row may be in one round and not in the next."""
    turns = (
        "for (int i = 0; i < n; i++) {\nb[i] = malloc(80);\nb[i][0] = 1;\n" + SEND.format("b[i]") + "\nfree(b[i]);\n}"
    )
    found = program(f"{outside}\nfor (int d = 0; d < 3; d++) {{\nint n = argc + d;\n{inside}\n{turns}\n}}")
    loops = _row_loops(found.program, events_of(found).all)
    assert [(loop.once, loop.span is not None) for loop in loops] == [(True, known)]


# --- the situation ----------------------------------------------------------------------------------------------------


def test_a_buffer_in_the_making() -> None:
    found = program("b[0] = 1;\n" + SEND.format("b"))
    buffer = found.buffers["b"]
    at = Situation(found.program, buffer, frozenset(u.place for u in buffer.uses), (), shared(found))
    at.events = events_of(found)
    levels = at.levels()
    assert kinds(at.anchors, levels).count("ExprStmt") == 2
    failure = at.fail("it cannot be", found.uses[0].node)
    assert isinstance(failure, Unplaceable)
    assert failure.refusal.reason is Reason.NO_ANCHOR
    assert [text for _, text in failure.refusal.notes] == ["here"]
    send = found.uses[0].node
    level = next(iter(at.flow.levels(send)))
    assert at.has_site(level)
    assert not at.has_site(next(iter(at.flow.levels(node_on(found, "b[0] = 1").number))))
    wanting = Event(send, next(e.kind for e in at.events.by_node[send]))
    assert State({wanting: NONE}, {}).problems() == [wanting], "it wants a buffer where none is held"
    frees = Releases(at)
    assert frees.now is at, "what one of them chooses, the other sees"
    assert frees.renew() == []


# --- edits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (SEND.format("b"), "OPI_Give"),
        (RECV.format("b"), "OPI_Take"),
        (
            BEGUN.format("MPI_Isend"),
            "OPI_Igive",
        ),
        (
            BEGUN.format("MPI_Irecv"),
            "OPI_Itake",
        ),
    ],
)
def test_the_call_that_replaces_one(call: str, name: str) -> None:
    (use,) = program(call).uses
    assert call_name(use) == name
    if name == "OPI_Take":
        assert call_name(use, {use.place}) == "OPI_Take_replace"


def placed(folder: Path, body: str, top: str = TOP) -> tuple[Source, Placement | Refusal]:
    found = source_in(folder, f"{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")
    buffer = found.buffers["b"]
    return found, place(found.program, buffer, frozenset(u.place for u in buffer.uses))


def rewritten(folder: Path, body: str, top: str = TOP) -> list[str]:
    """The lines of main after the conversion of ``b``."""
    found, placement = placed(folder, body, top)
    assert isinstance(placement, Placement)
    file = found.units[0].path
    text = rewrite(Plan((), placement.edits, ()), Sources()).changed[file].decode()
    return [line.strip() for line in text[text.index("int main") :].split("\n")[2:-3]]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "    b[0] = 1;\n    " + SEND.format("b"),
            ["OPI_Alloc(&b, sizeof(double[N]));", "b[0] = 1;", SEND.format("&b").replace("MPI_Send", "OPI_Give")],
        ),
        (
            "    " + RECV.format("b") + "\n    v[0] = b[0];",
            [RECV.format("&b").replace("MPI_Recv", "OPI_Take"), "v[0] = b[0];", "OPI_Free(&b);"],
        ),
    ],
)
def test_where_a_buffer_is_acquired_and_released(tmp_path: Path, body: str, expected: list[str]) -> None:
    assert rewritten(tmp_path, body) == expected


def test_the_programs_own_allocation_goes(tmp_path: Path) -> None:
    """opi_xform.ownership.placement.allocation_edits: the size is that of malloc, which is gone."""
    body = "    double *b = malloc(10 * sizeof *b);\n    b[0] = 1;\n    " + SEND.format("b") + "\n    free(b);"
    lines = rewritten(tmp_path, body, "static double v[N];")
    assert lines[0] == "double *b = NULL;"
    assert lines[1] == "OPI_Alloc(&b, 10 * sizeof *b);"
    assert not any("malloc" in line or line.startswith("free") for line in lines)


def test_memory_that_is_not_allocated_by_a_plain_statement_stays(tmp_path: Path) -> None:
    body = "    double *b = (argc++, malloc(80));\n    b[0] = 1;\n    " + SEND.format("b") + "\n    free(b);"
    _, placement = placed(tmp_path, body, "static double v[N];")
    assert isinstance(placement, Refusal)
    assert placement.reason is Reason.NO_ANCHOR


def test_insertions_are_told_with_their_places(tmp_path: Path) -> None:
    found, placement = placed(tmp_path, "    b[0] = 1;\n    " + SEND.format("b"))
    assert isinstance(placement, Placement)
    put = [e for e in placement.edits if isinstance(e, InsertStatement)]
    assert [e.where for e in put] == ["before"]
    (acquire,) = placement.acquires
    assert acquire[1] == "before"
    assert placement.releases == () or all(n == found.uses[0].node for n, _ in placement.releases)
