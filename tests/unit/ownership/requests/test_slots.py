"""Where requests lie, which calls lose them, and what completes one that a counter or an index numbers."""

from __future__ import annotations

import pytest
from ownership_support import Source, source

from opi_xform.memory.poly import Poly, number, symbol
from opi_xform.ownership.model.names import Names, names_of
from opi_xform.ownership.requests.completions import completed_by_index, completing_edges, waited
from opi_xform.ownership.requests.in_sequence import last_waits
from opi_xform.ownership.requests.numbered import Numbered
from opi_xform.ownership.requests.slots import Slots, apart, joints_of, lost_slots, slots_of, within

IRECV = "MPI_Irecv(buf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, {});"


def program(body: str) -> tuple[Source, Names]:
    found = source(
        "static double buf[N], v[N];\nstatic int mark, flag[9];\n"
        f"int main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n"
    )
    return found, names_of(found.program)


def request_of(found: Source, names: Names) -> tuple[int, Slots]:
    """The node that posts the only nonblocking use, and where its request lies."""
    (use,) = [u for u in found.uses if not u.op.blocking]
    slot = slots_of(names, use.node, use.op.request)
    assert slot is not None
    return use.node, slot


def the_object(found: Source, name: str) -> int:
    key = found.key(name)
    (o,) = [o.number for o in found.program.values.objects.table if o.variable == key]
    return o


@pytest.mark.parametrize(
    ("declared", "given", "lo"),
    [
        ("MPI_Request q;", "&q", 0),
        ("MPI_Request q[4];", "&q[2]", 8),
        ("MPI_Request q[4];", "q + 3", 12),
        ("struct { int n; MPI_Request r; } q;", "&q.r", 4),
    ],
)
def test_where_a_request_lies(declared: str, given: str, lo: int) -> None:
    found, names = program(f"{declared} {IRECV.format(given)}")
    _, slot = request_of(found, names)
    assert slot == Slots(the_object(found, "q"), number(lo), number(4))


def test_a_request_at_a_place_that_is_not_known() -> None:
    found, names = program(
        f"MPI_Request q[4], *p = argc > 1 ? q : &q[2], r[1]; p = argc > 2 ? p : r; {IRECV.format('p')}"
    )
    (use,) = [u for u in found.uses if not u.op.blocking]
    assert slots_of(names, use.node, use.op.request) is None
    assert slots_of(names, use.node, None) is None
    assert slots_of(names, use.node, 99) is None


def test_slots_inside_and_beside_one_another() -> None:
    _, names = program("mark = 1;")
    joints = joints_of(names)

    def at(lo: int, length: int) -> Slots:
        return Slots(1, number(lo), number(length))

    for a in range(0, 12, 4):
        for b in range(0, 12, 4):
            one, other = at(a, 4), at(b, 8)
            assert within(joints, one, other) == (b <= a and a + 4 <= b + 8)
            assert apart(joints, one, other) == (a + 4 <= b or b + 8 <= a)


@pytest.mark.parametrize(
    ("more", "lost"),
    [
        ("MPI_Wait(&q[1], MPI_STATUS_IGNORE);", []),  # completed, not lost
        ("q[1] = MPI_REQUEST_NULL;", [(4, 4)]),
        ("q[argc] = MPI_REQUEST_NULL;", ["somewhere"]),
        ("memset(q, 0, sizeof q);", [(0, 16)]),
        (IRECV.format("&q[3]").replace("buf", "v"), [(12, 4)]),
    ],
)
def test_calls_that_overwrite_requests(more: str, lost: list[tuple[int, int] | str]) -> None:
    found, names = program(f"static MPI_Request q[4]; {IRECV.format('&q[1]')} {more}")
    post = min(u.node for u in found.uses)
    after = {n: s for n, s in lost_slots(names, the_object(found, "q")).items() if n > post}

    def shown(slot: Slots | None) -> tuple[int | None, int | None] | str:
        return "somewhere" if slot is None or slot.lo.constant is None else (slot.lo.constant, slot.length.constant)

    assert [shown(s) for _, s in sorted(after.items())] == lost


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int f = 0; while (!f) MPI_Test(&q[1], &f, MPI_STATUS_IGNORE);", True),
        ("int f = 0; MPI_Test(&q[1], &f, MPI_STATUS_IGNORE); if (f) mark = 1;", True),
        ("int f = 0; MPI_Test(&q[1], &f, MPI_STATUS_IGNORE); f = argc; if (f) mark = 1;", False),
        ("MPI_Wait(&q[1], MPI_STATUS_IGNORE); if (argc) mark = 1;", False),  # no edge tells it
    ],
)
def test_edges_on_which_a_request_is_complete(body: str, expected: bool) -> None:
    found, names = program(f"MPI_Request q[4]; {IRECV.format('&q[1]')} {body}")
    edges = completing_edges(names, the_object(found, "q"))
    told = {(s.lo.constant, s.length.constant) for slots in edges.values() for s in slots}
    assert told == ({(4, 4)} if expected else set())


def test_the_request_that_an_index_names() -> None:
    found, names = program(
        f"MPI_Request q[2]; int i; {IRECV.format('&q[0]')} MPI_Waitany(2, q, &i, MPI_STATUS_IGNORE); mark = i;"
    )
    (wait,) = [n for n, op in names.operations.items() if op.completes is not None]
    done = names.operations[wait].completes
    assert done is not None
    index = found.program.values.symbols.known("opaque", wait, ("output", done.index))
    assert index is not None
    slot = completed_by_index(names, wait, done)
    assert slot == Slots(the_object(found, "q"), symbol(index).scaled(4), number(4))
    told = waited(names, index)
    assert told is not None
    assert (told[0], told[2]) == (wait, number(2))
    other = next(s.number for s in found.program.values.symbols.table if s.number != index)
    assert waited(names, other) is None


COUNTED = "MPI_Request q[9]; int n = 0, k; for (k = 0; k < 9; k++) if (flag[k]) {} {}"


@pytest.mark.parametrize(
    ("post", "wait", "expected"),
    [
        ("&q[n++]", "MPI_Waitall(n, q, MPI_STATUSES_IGNORE); mark = 1;", True),
        ("&q[n++]", "MPI_Waitall(n - 1, q, MPI_STATUSES_IGNORE); mark = 1;", False),
        ("&q[n++]", "if (argc > 1) MPI_Waitall(n, q, MPI_STATUSES_IGNORE); mark = 1;", False),
        ("&q[n++]", "n = 0; MPI_Waitall(n, q, MPI_STATUSES_IGNORE); mark = 1;", False),
        ("&q[n++]", "MPI_Waitall(n, q + 1, MPI_STATUSES_IGNORE); mark = 1;", False),
    ],
)
def test_a_request_that_a_counter_numbers(post: str, wait: str, expected: bool) -> None:
    found, names = program(COUNTED.format(IRECV.format(post), wait))
    node, slot = request_of(found, names)
    o = the_object(found, "q")
    lost = {n: s for n, s in lost_slots(names, o).items() if n != node}
    key = found.key("mark")
    marks = list(names.defs.get(("v", the_object(found, "mark"), 0), ()))
    assert found.program.variables[key].name == "mark"
    assert Numbered(names, node, slot, lost).complete(marks, (), None) is expected
    assert isinstance(slot.lo, Poly)


ANY = "MPI_Waitany({}, q, &mark, MPI_STATUS_IGNORE);"


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        (f"{ANY} {ANY}", [1]),
        (f"{ANY} {ANY} {ANY}", [1, 2]),
        (ANY, []),
        (f"{ANY} if (argc > 1) {ANY}", [1]),
        (f"if (argc > 1) {ANY} {ANY}", []),
        (f"{ANY} {IRECV.format('&q[1]')} {ANY}", []),
        (f"{ANY} q[0] = MPI_REQUEST_NULL; {ANY}", []),
        (f"{ANY} {ANY.replace('{}', '1', 1)}", [1]),
    ],
)
def test_the_last_of_as_many_waits_as_requests(waits: str, expected: list[int]) -> None:
    found, names = program(f"MPI_Request q[2]; {IRECV.format('&q[0]')} {waits.replace('{}', '2')}")
    done = sorted(n for n, op in names.operations.items() if op.completes is not None)
    assert [done.index(n) for n in sorted(last_waits(names, the_object(found, "q")))] == expected
