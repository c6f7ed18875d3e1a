"""Allocations that count as one, arrays that own one buffer per cell, and how bytes of addresses travel in calls."""

from __future__ import annotations

import pytest
from core_support import Found, called_in, lowered, program
from ownership_support import Source, source

from opi_xform.effects.table import load_effects
from opi_xform.ir import instr as ins
from opi_xform.ir.types import INT, LONG, Type
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.memory.queries import PointsTo
from opi_xform.pointsto.constraints import GraphPointsTo
from opi_xform.pointsto.families import find_families
from opi_xform.pointsto.inclusions import BYTES, NO_OBJECT, OUTSIDE
from opi_xform.pointsto.last_names import holding, leave_nothing_behind
from opi_xform.pointsto.sources import sources
from opi_xform.pointsto.successive import successive
from opi_xform.pointsto.travel import records, reinterprets, seen_as, travels

EFFECTS = load_effects()

# --- what analyses ask ------------------------------------------------------------------------------------------------


def test_what_is_asked_of_points_to() -> None:
    found = program(
        "static int a, b; static int *in[2], **to = in;"
        "int main(void) { int *p = &a; in[0] = p; in[1] = &b; return **to; }"
    )
    points: PointsTo = found.program.points_to
    p, held = ins.Var(found.key("p")), frozenset({found.object("in")})
    assert found.names(points.operand(0, p)) == {"a"}
    assert found.names(points.accessed(0, p)) == {"a"}
    assert found.names(points.variable(-1, found.key("to"))) == {"in"}
    assert found.names(points.contents(held)) == {"a", "b"}
    assert found.names(points.reachable(frozenset({found.object("to")}))) == {"to", "in", "a", "b"}
    assert found.names(points.kept(frozenset({found.object("b")}))) == {"in"}
    assert not points.taken_apart()
    assert points.bytes == frozenset()


def test_addresses_that_travel_as_bytes() -> None:
    found = program(
        "static int a; static long k; int main(void) { int *p = &a; char *c = (char *)&p; k = c[0]; return 0; }"
    )
    assert found.program.points_to.taken_apart()
    assert found.names(found.program.points_to.bytes) >= {"a"}


# --- arrays of pointers that own a buffer per cell --------------------------------------------------------------------


def families(body: str, head: str = "") -> set[str]:
    text = f"static double *t[4], *other[4], *p; static double u; {head}"
    found = program(f"{text} int main(int n, char **v) {{ {body} u = t[1][0]; return 0; }}")
    at = found.program
    made = find_families(at.graph, at.values.objects, at.points_to, (), ())
    return found.names(made)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < 4; i++) t[i] = malloc(80);", {"t"}),
        ("for (int i = 0; i < 4; i++) { t[i] = malloc(80); free(t[i]); t[i] = 0; }", {"t"}),
        ("for (int i = 0; i < 4; i++) t[i] = malloc(80); p = t[1];", set()),  # another name keeps it
        ("p = malloc(80); for (int i = 0; i < 4; i++) t[i] = p;", set()),
        ("for (int i = 0; i < 4; i++) t[i] = &u;", set()),
        ("for (int i = 0; i < 4; i++) t[i] = malloc(80); memcpy(other, t, sizeof t);", set()),
        ("t[0] = malloc(80); t[1] = malloc(160);", {"t"}),
    ],
)
def test_arrays_that_own_one_buffer_per_cell(body: str, expected: set[str]) -> None:
    assert families(body) == expected


def test_an_array_that_others_may_write_owns_nothing() -> None:
    found = program(
        "static double *t[4]; int main(void) { for (int i = 0; i < 4; i++) t[i] = malloc(8); return t[1] != 0; }"
    )
    at = found.program
    assert find_families(at.graph, at.values.objects, at.points_to, {found.object("t")}, ()) == {}
    assert find_families(at.graph, at.values.objects, at.points_to, (), {found.object("t")}) == {}


# --- allocations that count as one ------------------------------------------------------------------------------------


def joined(body: str) -> list[int]:
    """How many allocations count as one, of the messages' buffers."""
    found: Source = source(
        f"static double *b, *c, *kept;\nint main(int argc, char **argv)\n{{\n{body}\n"
        "    MPI_Send(b, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);\n    free(b);\n    return kept != 0;\n}\n"
    )
    heap = [o for o in found.program.values.objects.table if o.kind == "heap"]
    return sorted(len(o.nodes) for o in heap)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("b = malloc(800); if (argc > 1) { free(b); b = malloc(1600); }", [2]),
        ("b = malloc(800); if (argc > 1) { b = malloc(1600); }", [2]),  # no name leads to the first any more
        ("b = malloc(800); if (argc > 1) { kept = b; b = malloc(1600); }", [1, 1]),
        ("b = malloc(800); c = malloc(800); if (argc > 1) { double *t = b; b = c; c = t; } free(c);", [1, 1]),
        ("if (argc > 1) b = malloc(800); else b = malloc(1600);", [2]),
    ],
)
def test_allocations_that_are_there_one_at_a_time(body: str, expected: list[int]) -> None:
    assert joined(body) == expected


def points(found: Found) -> tuple[Objects, GraphPointsTo]:
    """Points-to as it is before anything counts as one."""
    at = found.program
    objects = Objects(at.variables)
    return objects, GraphPointsTo(at.graph, at.variables, objects, at.effects, {})


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("b = malloc(8); b[0] = 1; b = malloc(16);", True),
        ("b = malloc(8); c = b; b = malloc(16); c[0] = 1;", False),
        ("b = malloc(8); c = b; c[0] = 1; b = malloc(16);", True),
        ("b = malloc(8); kept[0] = b; b = malloc(16);", False),
    ],
)
def test_nothing_is_left_behind_where_an_allocation_stands(body: str, expected: bool) -> None:
    found = program(f"static double *kept[2]; int main(void) {{ double *b, *c; {body} return b != 0; }}")
    objects, solved = points(found)
    graph = found.program.graph
    mallocs = [n.number for n in graph.nodes if isinstance(n.action, ins.CallInstr)]
    nodes = frozenset(n for n in mallocs if n in objects.by_node)
    assert len(nodes) == 2
    plain = leave_nothing_behind(graph, objects, solved, [nodes], lambda frame, key: True, lambda call: True)
    assert plain == ({nodes} if expected else set())
    assert not leave_nothing_behind(graph, objects, solved, [nodes], lambda frame, key: False, lambda call: True)
    held = holding(solved.sets, objects, frozenset(objects.by_node[n] for n in nodes))
    assert (held is None) == ("kept[0]" in body)


def test_without_messages_no_allocations_count_as_one() -> None:
    found = program(
        "static double *b; int main(int n, char **v) { b = malloc(8); if (n) b = malloc(16); return b != 0; }"
    )
    at = found.program
    assert isinstance(at.points_to, GraphPointsTo)
    assert successive(at.graph, at.values.objects, at.points_to, at.values, at.effects) == {}


# --- what addresses are made of ---------------------------------------------------------------------------------------

POINTER = Type("pointer", "int *", 8, elem=INT)


def made_of(operand: ins.Operand, differences: bool = True) -> list[tuple[str, object]]:
    return list(sources(Objects({}), 0, operand, differences))


def test_what_a_value_is_made_of() -> None:
    t, u = ins.Temp(1), ins.Temp(2)
    assert made_of(ins.Const(0)) == [("addr", NO_OBJECT)]
    assert made_of(ins.PtrAdd(t, u, 4)) == [("copy", ("t", 0, 1))], "an index is no address"
    assert made_of(ins.Op("==", (t, u), INT)) == []
    assert made_of(ins.Op("ptrdiff", (t, u), LONG), differences=False) == []
    assert sorted(map(str, made_of(ins.Op("ptrdiff", (t, u), LONG)))) == [
        "('copy', ('t', 0, 1))",
        "('copy', ('t', 0, 2))",
    ]
    assert ("copy", BYTES) in made_of(ins.Op("cast", (t,), POINTER)), "a number became an address"
    assert ("seen", t) in made_of(ins.Op("cast", (t,), POINTER, view=True))
    assert made_of(ins.Nondet("something")) == [("addr", UNKNOWN), ("copy", OUTSIDE)]
    assert made_of(ins.Nondet("floating constant")) == []


# --- bytes of addresses in calls --------------------------------------------------------------------------------------

STRUCTS = """
struct pair {{ double d; int *at; }}; struct number {{ int k; double d[4]; }};
long write(int, const void *, size_t);
void f(struct pair *p, struct number *n, int **pp, double *d, char *c, int k, void *v) {{ {}; }}
"""


def moved(call: str) -> list[tuple[str, int]]:
    (found,) = called_in(lowered(STRUCTS.format(call)))
    assert isinstance(found.callee, ins.AddrFunc)
    return [(what, i) for what, i, _ in travels(found, EFFECTS[found.callee.key])]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("write(1, p, 16)", [("all", 1)]),
        ("write(1, d, 16)", [("numbers", 1)]),
        ("write(1, c, 16)", [("chars", 1)]),
        ("write(1, &n->k, 4)", []),  # a number in a struct, and no more
        ("write(1, &n->k, 40)", [("numbers", 1)]),
        ("memset(p, 0, 16)", []),  # one byte again and again is no address
        ("memset(p, k, 16)", [("put", 0)]),
        ("MPI_Recv(d, k, MPI_DOUBLE, 0, 0, 0, 0)", [("put", 0)]),
        ("MPI_Send(pp, k, MPI_DOUBLE, 0, 0, 0)", [("all", 0)]),
    ],
)
def test_bytes_that_leave_objects_and_come_into_them(call: str, expected: list[tuple[str, int]]) -> None:
    assert [one for one in moved(call) if one[1] <= 1][: len(expected) or None] == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("memcpy(pp, p, 8)", True),
        ("memcpy(p, p + 1, 16)", False),
        ("memcpy(p, n, 16)", True),
        ("memcpy(d, c, 8)", True),
    ],
)
def test_copies_from_one_kind_of_place_to_another(call: str, expected: bool) -> None:
    (found,) = called_in(lowered(STRUCTS.format(call)))
    assert reinterprets(found, 0, 1) is expected


def test_what_an_argument_pointed_to_before_it_was_cast() -> None:
    (found,) = called_in(lowered(STRUCTS.format("write(1, (void *)d, 8)")))
    assert seen_as(found.call.args[1]) == "number"
    (found,) = called_in(lowered(STRUCTS.format("write(1, (void *)(char *)pp, 8)")))
    assert seen_as(found.call.args[1]) == "address"
    assert records(found.call.args[1].type) == ()
    (found,) = called_in(lowered(STRUCTS.format("write(1, p, 8)")))
    assert [name.rpartition("@")[2] for name in records(Type("pointer", "", 8, elem=found.call.args[1].type.elem))] != [
        ""
    ]
