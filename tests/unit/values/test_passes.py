"""The pass over a program graph: what operands are worth at nodes, and the parts that it is made of."""

from __future__ import annotations

import pytest
from core_support import Found, program
from hypothesis import given
from hypothesis import strategies as st

from opi_xform import budget
from opi_xform.graph.graph import Lost
from opi_xform.ir import instr as ins
from opi_xform.ir.types import INT, LONG, Type
from opi_xform.memory.environment import Environment
from opi_xform.memory.objects import Objects
from opi_xform.memory.poly import ZERO, Poly, number, symbol
from opi_xform.memory.symbols import Symbols
from opi_xform.memory.values import Values
from opi_xform.values import trip_counts
from opi_xform.values.arithmetic.floating import DIVIDED, is_floating, quotient, rounding_may_change
from opi_xform.values.evaluate import Evaluator, kind_of
from opi_xform.values.interp import interpret
from opi_xform.values.lockstep import lockstep
from opi_xform.values.trip_counts import nominal_trips, smaller_trips, stays, turns
from opi_xform.values.unset.nullable import may_be_null, note_lazy, resolve_offset
from opi_xform.values.unsigned_bounds import believe
from opi_xform.values.watch import watch

NONE: frozenset[int] = frozenset()
UNSIGNED = Type("int", "unsigned", 4, signed=False)
BOOL = Type("int", "_Bool", 1, signed=False, boolean=True)
DOUBLE = Type("float", "double", 8)

# --- one operand ------------------------------------------------------------------------------------------------------


def looking(text: str = "int main(int n, char **v) { int k = n; return k; }") -> tuple[Found, Evaluator]:
    """An evaluator at the beginning of a program: nothing is known of its variables."""
    found = program(text)
    at = found.program
    values = Values(Symbols(), at.values.objects, Environment([0]))
    return found, Evaluator(at.variables, at.values.objects, at.points_to, values, {})


@pytest.mark.parametrize(
    ("operand", "value"),
    [
        (ins.Const(7), 7),
        (ins.Op("+", (ins.Const(3), ins.Const(4)), INT), 7),
        (ins.Op("/", (ins.Const(-7), ins.Const(2)), INT), -3),
        (ins.Op("%", (ins.Const(-7), ins.Const(2)), INT), -1),
        (ins.Op("/", (ins.Const(7), ins.Const(0)), INT), None),
        (ins.Op("<<", (ins.Const(3), ins.Const(4)), INT), 48),
        (ins.Op("neg", (ins.Const(3),), INT), -3),
        (ins.Op("cast", (ins.Const(300),), BOOL), 1),
        (ins.Op("cast", (ins.Const(3),), LONG), 3),
        (ins.Nondet("something"), None),
        (ins.PtrAdd(ins.Const(0), ins.Const(3), 8), 24),
    ],
)
def test_operands_of_numbers(operand: ins.Operand, value: int | None) -> None:
    found, evaluator = looking()
    node = found.program.graph.nodes[0]
    assert evaluator.value(node, 0, operand).constant == value


@given(st.integers(-1000, 1000), st.integers(-1000, 1000), st.sampled_from("+-*"))
def test_sums_and_products_are_those_of_numbers(a: int, b: int, op: str) -> None:
    values = Values(Symbols(), Objects({}), Environment([0]))
    at = MADE.program
    evaluator = Evaluator(at.variables, at.values.objects, at.points_to, values, {})
    found = evaluator.value(at.graph.nodes[0], 0, ins.Op(op, (ins.Const(a), ins.Const(b)), LONG))
    assert found.constant == {"+": a + b, "-": a - b, "*": a * b}[op]


MADE = program("int main(void) { return 0; }")


def test_the_same_operation_on_the_same_values_is_the_same_value() -> None:
    found, evaluator = looking()
    node, other = found.program.graph.nodes[:2]
    key = found.key("n")
    n = evaluator.value(node, 0, ins.Var(key))
    assert evaluator.value(other, 0, ins.Var(key)) == n
    half = ins.Op("/", (ins.Var(key), ins.Const(2)), INT)
    assert evaluator.value(node, 0, half) == evaluator.value(other, 0, half)
    assert evaluator.value(node, 0, half) != n
    unknown = ins.Nondet("something")
    assert evaluator.value(node, 0, unknown) != evaluator.value(other, 0, unknown)


def test_types_whose_bytes_mean_the_same() -> None:
    assert kind_of(INT) == kind_of(Type("int", "my_int", 4))
    assert kind_of(INT) != kind_of(UNSIGNED)
    assert kind_of(INT) != kind_of(LONG)
    assert kind_of(BOOL) != kind_of(Type("int", "unsigned char", 1, signed=False))


def test_what_is_written_over_is_no_longer_known() -> None:
    found, evaluator = looking("static int t[8]; int main(void) { t[0] = 1; t[2] = 2; return t[0]; }")
    node, o = found.program.graph.nodes[0], found.object("t")
    evaluator.set_cell(o, 0, number(1), node, INT)
    evaluator.set_cell(o, 8, number(2), node, INT)
    assert evaluator.read_cell(node, o, 8, INT) == number(2)
    evaluator.overwritten(o, 0, 4, node)
    assert evaluator.look((o, 0)) is None
    assert evaluator.look((o, 8)) == number(2)
    evaluator.havoc(frozenset({o}), node)
    assert evaluator.look((o, 8)) is None


# --- the whole pass: also opi_xform.values.steps, opi_xform.values.touches, opi_xform.values.made_datatypes -----------


def test_operands_are_watched_before_their_node_runs() -> None:
    found = program("static int a; int main(void) { a = 3; a = a + 4; return a; }")
    at = found.program
    second = [n for n in found.nodes(ins.Define) if isinstance(n.action, ins.Define)][1]
    key = found.key("a")
    objects = Objects(at.variables)
    from opi_xform.pointsto.constraints import GraphPointsTo

    solved = GraphPointsTo(at.graph, at.variables, objects, at.effects, {})
    wanted = {second.number: [(0, ins.Var(key)), (0, ins.Op("+", (ins.Var(key), ins.Const(4)), INT))]}
    _, seen = watch(at.graph, at.nest, at.variables, objects, solved, at.effects, True, wanted)
    assert seen == {(second.number, 0): number(3), (second.number, 1): number(7)}
    values = interpret(at.graph, at.nest, at.variables, objects, solved, at.effects, True)
    assert values.operands[second.number] == (number(7),)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("t[2] = 1;", [("W", 8, 4, True)]),
        ("k = t[3];", [("R", 12, 4, False)]),
        ("memset(t, 0, 16);", [("W", 0, 16, True)]),
        ("t[k] = 1;", [("W", None, 4, True)]),
    ],
)
def test_accesses_of_steps(body: str, expected: list[tuple[str, int | None, int, bool]]) -> None:
    found = program(f"static int t[8]; int unknown(void); int main(void) {{ int k = unknown(); {body} return k; }}")
    o = found.object("t")
    accesses = [a for list_ in found.program.values.accesses.of(o).values() for a in list_]
    out = [
        (a.kind, None if a.lo is None else a.lo.constant, None if a.length is None else a.length.constant, a.must)
        for a in accesses
    ]
    assert out == expected


def test_too_many_accesses_end_the_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "ACCESSES", 2)
    with pytest.raises(budget.TooLargeError):
        program("static int t[8]; int main(void) { t[0] = 1; t[1] = 2; t[2] = 3; return t[0]; }")


def test_the_array_that_a_subscript_stays_in() -> None:
    found = program("static struct { int a, t[4]; } s; int main(int n, char **v) { s.t[n] = 1; return s.t[1]; }")
    (store,) = found.nodes(ins.Store)
    assert found.program.values.arrays[store.number] == (4, 16)
    size, index, operand = found.program.values.indexed[store.number]
    assert size == 4
    assert index.single is not None
    assert isinstance(operand, ins.Var)


DATATYPES = """
int MPI_Type_contiguous(int, MPI_Datatype, MPI_Datatype *); int MPI_Type_commit(MPI_Datatype *);
int MPI_Type_vector(int, int, int, MPI_Datatype, MPI_Datatype *); int unknown(void);
static double b[64]; static MPI_Datatype type; int mark;
"""


@pytest.mark.parametrize(
    ("body", "bytes_"),
    [
        ("MPI_Type_contiguous(3, MPI_DOUBLE, &type); MPI_Type_commit(&type);", 48),
        ("MPI_Type_contiguous(3, MPI_DOUBLE, &type);", 48),
        ("MPI_Type_vector(2, 1, 4, MPI_DOUBLE, &type); MPI_Type_commit(&type);", None),
        ("type = unknown();", None),
    ],
)
def test_messages_of_datatypes_that_calls_have_made(body: str, bytes_: int | None) -> None:
    found = program(f"{DATATYPES} int main(void) {{ {body} MPI_Send(b, 2, type, 0, 0, 0); return 0; }}")
    (read,) = found.access("b", "R")
    assert (None if read.length is None else read.length.constant) == bytes_


# --- floating numbers -------------------------------------------------------------------------------------------------


def test_quotients_of_known_floating_numbers() -> None:
    symbols = Symbols()
    a = symbols.of("op", ("float of", 8, symbols.of("opaque", ("n",), NONE)), NONE)
    b = symbols.of("op", ("float of", 8, symbols.of("opaque", ("m",), NONE)), NONE)
    any_number = symbols.of("opaque", (3, "float"), NONE)
    divided = ins.Nondet("floating arithmetic", (), DOUBLE)
    assert is_floating(symbols, a)
    assert not is_floating(symbols, any_number)
    found = quotient(symbols, divided, (a, b))
    assert found is not None
    assert found == quotient(symbols, divided, (a, b))
    assert found != quotient(symbols, divided, (b, a))
    assert found.single is not None
    assert symbols.table[found.single].key[0] == DIVIDED
    assert quotient(symbols, divided, (a, any_number)) is None
    assert quotient(symbols, ins.Nondet("floating arithmetic"), (a, b)) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("n++;", False),
        ("fesetround(n);", True),
        ("int (*p)(int) = fesetround; n = p != 0;", True),
        ("other(n);", False),
    ],
)
def test_programs_that_set_the_rounding_mode(body: str, expected: bool) -> None:
    found = program(f"int fesetround(int), other(int); int main(int n, char **v) {{ {body} return 0; }}")
    assert rounding_may_change(found.program.graph) is expected


# --- pointers that may be NULL ----------------------------------------------------------------------------------------


def pointer() -> tuple[Values, int, Poly, int]:
    """Values with a heap object, its address, and the offset of a pointer into it that a loop's header joins."""
    objects = Objects({})
    o = objects.heap(5)
    values = Values(Symbols((frozenset({0}),)), objects, Environment([0]))
    address = values.symbols.of("object", (o,), NONE)
    return values, o, address, values.symbols.get("phi", (1, "offset"), frozenset({0}))


@pytest.mark.parametrize(
    ("incoming", "is_zero", "null"),
    [
        (["address"], True, False),
        (["address", "null"], True, True),
        (["address", "itself"], True, False),
        (["address + 8"], False, False),
        (["address", "number"], False, False),
        (["another"], False, False),
    ],
)
def test_offsets_of_pointers_that_are_null_or_the_beginning(incoming: list[str], is_zero: bool, null: bool) -> None:
    values, o, address, s = pointer()
    another = values.symbols.of("object", (values.objects.heap(9),), NONE)
    ways = {
        "address": address,
        "null": ZERO,
        "itself": address + symbol(s),
        "address + 8": address + number(8),
        "number": values.symbols.of("opaque", ("n",), NONE),
        "another": another,
    }
    resolve_offset(values, s, o, [ways[name] for name in incoming])
    assert (values.symbols.resolve(symbol(s)) == ZERO) is is_zero
    assert may_be_null(values, address + symbol(s)) is null
    assert may_be_null(values, values.symbols.leave(symbol(s), 0)) is null


def test_objects_behind_pointers_that_may_be_null_are_noted() -> None:
    found = program(
        "static double *b; int main(int n, char **v) {"
        "for (int i = 0; i < n; i++) { if (!b) b = malloc(80); b[0] = i; } return 0; }"
    )
    values = found.program.values
    (heap,) = [o.number for o in values.objects.table if o.kind == "heap"]
    assert heap in values.lazy
    before = dict(values.conditions)
    note_lazy(values, found.calls())
    assert values.conditions == before, "nothing is left to be forgotten"


# --- how often loops run ----------------------------------------------------------------------------------------------

LOOPS = "static double b[99]; int unknown(void); int main(int n, char **v) {{ int m = unknown(); {} return b[0] > 0; }}"


def trips(body: str) -> str | None:
    found = program(LOOPS.format(body))
    at = found.program
    (loop,) = at.nest.loops
    value = nominal_trips(at.graph, at.nest, at.values, loop, loop.exits[0])
    return None if value is None else str(at.values.symbols.resolve(value).constant)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < 10; i++) b[i] = 1;", "10"),
        ("for (int i = 0; i <= 10; i++) b[i] = 1;", "11"),
        ("for (int i = 10; i > 0; i--) b[i] = 1;", "10"),
        ("for (int i = 10; i >= 0; i -= 2) b[i] = 1;", "6"),
        ("for (int i = 0; i < 10; i += 3) b[i] = 1;", "4"),
        ("for (int i = 0; i != 10; i += 2) b[i] = 1;", "5"),
        ("for (int i = 0; i != 9; i += 2) b[i] = 1;", None),  # it goes by it
        ("for (int i = 5; i < 3; i++) b[i] = 1;", "0"),
        ("for (int i = 0; i < 10; i++) { if (b[i] > 0) break; b[i] = 1; }", None),
        ("for (int i = 0; i < 10; ) { if (unknown()) i++; }", None),
        ("for (int i = 0; i < n; i++) b[i] = 1;", "None"),  # a number that is no constant
    ],
)
def test_how_often_a_loop_runs(body: str, expected: str | None) -> None:
    assert trips(body) == expected


def test_turns_of_a_difference() -> None:
    values = Values(Symbols((frozenset({0}),)), Objects({}), Environment([0]))
    k = symbol(values.symbols.count(0))
    n = values.symbols.of("opaque", ("n",), NONE)
    loop = program("int main(void) { for (int i = 0; i < 3; i++) ; return 0; }").program.nest.loops[0]
    assert turns(values, loop, "<", k - n) == n
    assert turns(values, loop, ">", n - k) == n
    assert turns(values, loop, "<", k.scaled(2) - n.scaled(4)) == n.scaled(2)
    assert turns(values, loop, "<", k.scaled(2) - n) is None
    assert turns(values, loop, "==", k - n) is None
    assert turns(values, loop, "<", n) is None


def test_a_loop_with_two_ends() -> None:
    found = program(LOOPS.format("for (int i = 0; i < n && i < m; i++) b[i] = 1;"))
    at = found.program
    (loop,) = at.nest.loops
    pair = smaller_trips(at.graph, at.nest, at.values, loop)
    assert pair is not None
    assert pair[0] != pair[1]
    assert all(p.single is not None for p in pair)
    assert [stays(at.graph, at.nest, at.values, loop, edge) is not None for edge in loop.exits] == [True, True]
    assert trip_counts.tested_each_turn(at.nest, loop, loop.header)


def test_a_test_that_a_turn_can_go_around() -> None:
    found = program(LOOPS.format("int i = 0; for (;;) { if (unknown()) { if (i >= n) break; } i++; }"))
    at = found.program
    (loop,) = at.nest.loops
    ((inside, _),) = loop.exits
    assert not trip_counts.tested_each_turn(at.nest, loop, inside)
    assert stays(at.graph, at.nest, at.values, loop, loop.exits[0]) is None


# --- unsigned bounds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "believed"),
    [
        ("for (size_t i = 0; i < n; i++) b[i] = 1;", True),
        ("for (size_t i = 0; i < n; i++) b[3] = 1;", False),  # no turn goes further
        ("for (unsigned i = 0; i < n; i++) b[i] = 1;", False),  # a number of 32 bits
        ("for (size_t i = 0; i < n; i++) { unknown(); b[i] = 1; }", False),  # that may end the program
        ("for (size_t i = 0; i < n; i++) if (unknown()) b[i] = 1;", False),
    ],
)
def test_bounds_that_cannot_be_negative(body: str, believed: bool) -> None:
    found = program(LOOPS.format(body))
    at = found.program
    (loop,) = at.nest.loops
    condition = at.values.conditions[at.graph.blocks[loop.exits[0][0]][-1]]
    assert condition.unsigned is not believed
    believe(at.graph, at.nest, at.values, (), loop)
    assert at.values.conditions[at.graph.blocks[loop.exits[0][0]][-1]] == condition


# --- counters in step -------------------------------------------------------------------------------------------------


def test_counters_that_advance_together() -> None:
    loop_ = "for (int i = 0; i < n; i++) if (flag[i]) {{ {} }}"
    text = "static int flag[9]; int main(int n, char **v) {{ int a = 0, b = 0; " + loop_ + " return a + b; }}"
    for body, expected in (("a++; b += 3;", 1), ("a++; b += flag[i];", 0)):
        found = program(text.format(body))
        at = found.program
        (loop,) = at.nest.loops
        headers = at.values.headers[loop.number]
        # as it was before anything was learnt
        for h in headers:
            at.values.symbols.defs.pop(h.symbol, None) if h.cell[0] != found.object("i") else None
        at.values.symbols.resolved.clear()
        assert len(lockstep(at.values, loop, at.nest, headers)) == expected
    assert found.nodes(Lost) == []
