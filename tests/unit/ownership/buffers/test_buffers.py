"""Which uses name one buffer: members of structs, tables, rows, and counters that tell how far one is filled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ownership_support import Source, source

from opi_xform.ir.types import INT, LONG, VOID, Type
from opi_xform.memory.poly import number, symbol
from opi_xform.ownership.buffers.arrays import Indexed
from opi_xform.ownership.buffers.counted import counted, never_overfull
from opi_xform.ownership.buffers.members import member_refusal, promote, wanted
from opi_xform.ownership.buffers.number_tables import number_tables, promoted
from opi_xform.ownership.buffers.row_lengths import RowLengths
from opi_xform.ownership.buffers.same_member import alike, as_void, classes, to_data
from opi_xform.ownership.buffers.tables import Shape, find_tables
from opi_xform.ownership.buffers.uses import collect, is_rows

SEND = "MPI_Send({}, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"


def program(body: str, top: str = "") -> Source:
    return source(f"{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")


# --- classes ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.frozensets(st.integers(-1, 7), max_size=3), max_size=6))
def test_what_some_group_holds_together_is_in_one_class(groups: list[frozenset[int]]) -> None:
    found = classes(groups, 8)
    assert sorted(i for one in found for i in one) == list(range(8))
    of = {i: frozenset(one) for one in found for i in one}
    for group in groups:
        assert len({of[i] for i in group if i >= 0}) <= 1
    together = {i: {i} for i in range(8)}
    for _ in range(8):
        for group in groups:
            members = [i for i in group if i >= 0]
            union = set().union(*(together[i] for i in members)) if members else set()
            for i in members:
                together[i] = union
    assert all(of[i] <= frozenset().union(*(together[j] for j in of[i])) for i in range(8))


def test_pointers_to_the_same() -> None:
    to_int, to_long = (Type("pointer", "", 8, elem=t) for t in (INT, LONG))
    assert alike(to_int, Type("pointer", "my_int *", 8, elem=INT))
    assert not alike(to_int, to_long)
    assert not alike(to_int, Type("pointer", "void *", 8))


def test_a_pointer_to_no_type_is_one_to_data() -> None:
    to_int, to_none = Type("pointer", "int *", 8, elem=INT), Type("pointer", "void *", 8, elem=VOID)
    assert (as_void(to_int), as_void(to_none), as_void(INT)) == (False, True, False)
    assert (to_data(to_int), to_data(to_none), to_data(INT)) == (True, True, False)
    assert not to_data(Type("pointer", "void (*)(void)", 8, elem=Type("function", "void (void)", elem=VOID)))


# --- tables -----------------------------------------------------------------------------------------------------------


@given(st.integers(0, 3), st.integers(1, 4), st.integers(0, 80), st.integers(1, 24))
def test_bytes_of_a_tables_pointers(first: int, rows: int, lo: int, length: int) -> None:
    stride = 24
    shape = Shape(8, rows * stride, stride, 8 + 8 * (first % 3))
    pointers = {b for k in range(rows) for b in range(shape.first + k * stride, shape.first + k * stride + 8)}
    inside = {b for b in range(lo, lo + length) if shape.start <= b < shape.start + rows * stride}
    if shape.meets(lo, length):
        assert inside
    else:
        assert not inside & pointers


def test_bytes_near_a_table() -> None:
    shape = Shape(8, 24, 8, 8)
    assert shape.near(8, 4)
    assert not shape.near(0, 8)
    assert not shape.near(32, 8)
    assert Shape(8, None, 8, 8).near(800, 8), "it goes on"


# --- members as variables ---------------------------------------------------------------------------------------------

STRUCT = "struct halo { int n; double *out, *in; int peer[4]; }; static struct halo h;"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("h.out = malloc(80); " + SEND.format("h.out") + " free(h.out);", ["h.out"]),
        ("struct halo *at = malloc(sizeof *at); at->out = malloc(80); " + SEND.format("at->out"), ["at->out"]),
        ("h.out = malloc(80); struct halo copy = h; " + SEND.format("copy.out"), []),
    ],
)
def test_pointers_in_structs_that_count_as_variables(body: str, names: list[str]) -> None:
    found = program(body, STRUCT)
    assert sorted(m.name for m in found.program.members.values()) == names
    for member in found.program.members.values():
        assert member_refusal(found.units, member, found.program) is None
        assert not member.rows


def test_what_was_promoted_is_not_promoted_again() -> None:
    found = program("h.out = malloc(80); " + SEND.format("h.out") + " free(h.out);", STRUCT)
    assert not wanted(found.program), "each buffer is found by a name"
    again = promote(found.program, lambda program, elsewhere: ())
    assert again is None or not set(again.members) - set(found.program.members)


def test_a_table_of_pointers_in_a_struct() -> None:
    top = "struct halo { int n; double *out[4]; }; static struct halo h;"
    body = "for (int d = 0; d < 4; d++) h.out[d] = malloc(80);\nfor (int d = 0; d < 4; d++)\n" + SEND.format("h.out[d]")
    found = program(body, top)
    tables = [m for m in found.program.members.values() if m.rows]
    assert [m.name for m in tables] == ["h.out[…]"]
    assert tables[0].stride == 8
    assert find_tables(found.program, ()) == [], "it is a variable already"


# --- rows -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        ("for (int d = 0; d < 4; d++) { m[d][0] = 1; " + SEND.format("m[d]") + " }", 800),
        ("for (int i = 0; i < 4 * N; i++) m[0][i] = 1; " + SEND.format("m[1]"), 0),
        ("MPI_Send(m, 4 * N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);", 0),
        ("memset(m, 0, sizeof m); " + SEND.format("m[1]"), 0),
    ],
)
def test_arrays_of_buffers(body: str, rows: int) -> None:
    found = program(body, "static double m[4][N];")
    (buffer,) = found.buffers.values()
    uses = [u for u in collect(found.program) if u.object in buffer.objects]
    assert is_rows(found.program, buffer.objects[0], uses) == rows
    assert (buffer.carrier.rows == 1) is bool(rows)


LOOP = "for (int d = 0; d < 4; d++) "
FILL = "for (int i = 0; i < argc; i++) m[{}][i] = 1;"


@pytest.mark.parametrize(
    ("body", "known"),  # how many bytes each argument of the program stands for
    [
        (LOOP + "{ " + FILL.format("d") + SEND.format("m[d]") + " }", [8]),
        (LOOP + "if (argv[d]) { " + FILL.format("d") + SEND.format("m[d]") + " }", [8]),
        (FILL.format(3) + SEND.format("m[2]"), [8]),
        (FILL.format(2) + SEND.format("m[3]"), []),
        ("if (argv[1]) { " + FILL.format(3) + " } " + SEND.format("m[2]"), []),
        (FILL.format(3).replace("[i]", "[i + 1]") + SEND.format("m[2]"), []),
    ],
)
def test_lengths_that_end_in_their_row(body: str, known: list[int]) -> None:
    found = program(body, "static double m[4][N];")
    uses = list(collect(found.program))
    lengths = RowLengths(found.program, uses[0].object, uses, 800, 4)
    assert [c for most in lengths.at(uses[0].node) for m, c in most.terms if m] == known
    assert not lengths.fits(uses[0].node, number(808))


def test_one_row_stands_for_all() -> None:
    body = "for (int d = 0; d < 4; d++) { m[d + 1][0] = 1; " + SEND.format("m[d + 1]") + " }"
    found = program(body, "static double m[9][N];")
    (buffer,) = found.buffers.values()
    indexed = Indexed(found.program, buffer.objects[0])
    ((loop, (index, s, value)),) = indexed.loops.items()
    k = symbol(found.program.values.symbols.count(loop))
    assert index == k + number(1)
    assert symbol(s) == k
    assert value == symbol(indexed.row) - number(1), "the turn that is about row D"
    (use,) = found.uses
    assert indexed.specialise(use.node, k.scaled(2)) == k.scaled(2), "the condition of the access ties it to D"
    assert indexed.solve(loop, k.scaled(2)) is None
    assert indexed.solve(loop, number(3)) is None


# --- counters ---------------------------------------------------------------------------------------------------------

FILL = "static double b[N]; static int n; static void put(double x) {{ {} }}"
FLUSH = "MPI_Send(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD); n = 0;"


@pytest.mark.parametrize(
    ("put", "flush", "expected"),
    [
        ("b[n++] = x;", FLUSH, True),
        ("b[n] = x; n++;", FLUSH, True),
        ("n++;", FLUSH, False),  # it counts what is not written
        ("b[n++] = x;", FLUSH.replace("n = 0", "n = 1"), False),
        ("b[n++] = x;", FLUSH.replace("b, n,", "b, n + 1,"), False),
        ("b[n++] = x; n++;", FLUSH, False),
    ],
)
def test_a_counter_says_how_far_a_buffer_is_filled(put: str, flush: str, expected: bool) -> None:
    found = program(f"while (argc--) {{ put(argc); if (n == N || argc == 3) {{ {flush} }} }}", FILL.format(put))
    buffer = found.buffers["b"]
    assert bool(counted(found.program, buffer)) is expected
    if expected:
        assert counted(found.program, buffer) == {u.place for u in buffer.uses}


@pytest.mark.parametrize(
    ("put", "count", "expected"),
    [
        ("m[d][n[d]++] = x;", "n[d]", True),
        ("m[d][n[d]++] = x;", "n[d] + 1", False),
        ("n[d]++;", "n[d]", False),
    ],
)
def test_messages_that_end_in_their_row(put: str, count: str, expected: bool) -> None:
    top = f"static double m[4][N]; static int n[4]; static void put(int d, double x) {{ {put} }}"
    send = f"MPI_Send(m[d], {count}, MPI_DOUBLE, d, 7, MPI_COMM_WORLD); n[d] = 0;"
    flush = f"for (int d = 0; d < 4; d++) {{ put(d, argc); if (n[d] == N || argc == 3) {{ {send} }} }}"
    found = program(f"for (int d = 0; d < 4; d++) n[d] = 0;\nwhile (argc--) {{ {flush} }}", top)
    (use,) = found.uses
    assert never_overfull(found.program, use.object, [use], 800) is expected


# --- arrays of integers in structs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", 1),
        ("h.n = 3;", 1),  # another member
        ("other(h.peer);", 0),
        ("long *w = (long *)h.peer; w[0] = 1;", 0),  # as numbers of another size
    ],
)
def test_numbers_in_a_struct_become_an_array_of_their_own(more: str, expected: int) -> None:
    body = f"for (int d = 0; d < 4; d++) h.peer[d] = d;\nfor (int d = 0; d < 4; d++) u[h.peer[d]] = 1;\n{more}\n"
    top = "static struct { int n, peer[4]; } h; static double u[N]; void other(int *);"
    found = program(body + SEND.format("u"), top)
    tables = number_tables(found.program)
    assert len(tables) == expected
    for table in tables:
        assert table.type.is_array
        assert table.type.count == 4
        assert len(table.addresses) == 2
        graph, variables = promoted(found.program.graph, found.program.variables, tables)
        assert table.key in variables
        written = [graph.nodes[n].action for n in sorted(table.addresses)]
        assert all(table.key in str(action) for action in written)
