"""What calls do that the program graph does not follow: what they can reach, write, keep and give away."""

from __future__ import annotations

import pytest
from core_support import Found, called_in, lowered, program

from opi_xform.calls.calls import calls_back, handed_over, is_message, region_args, unknown, written_through
from opi_xform.calls.foreign import foreign
from opi_xform.calls.given_away import name_givers
from opi_xform.calls.modified import modified_cells, writes
from opi_xform.calls.own import own
from opi_xform.effects.table import load_effects
from opi_xform.graph.graph import Lost, Node
from opi_xform.ir import instr as ins

EFFECTS = load_effects()
HEAD = """
void unknown(void *); void hidden(void); void *pthread; int atexit(void (*)(void)); int mark;
int sprintf(char *, const char *, ...);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *signal(int, void (*)(int)); void *realloc(void *, size_t);
int MPI_Reduce(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
"""


def call_named(found: Found, name: str) -> tuple[Node, ins.CallInstr]:
    """The only call of a function, whether it is followed or not."""
    (node,) = [
        n
        for n in found.program.graph.nodes
        for call in [n.action.call if isinstance(n.action, Lost) else n.action]
        if isinstance(call, ins.CallInstr) and isinstance(call.callee, ins.AddrFunc) and call.callee.key.endswith(name)
    ]
    call = node.action.call if isinstance(node.action, Lost) else node.action
    assert isinstance(call, ins.CallInstr)
    return node, call


# --- single calls -----------------------------------------------------------------------------------------------------


def test_the_arguments_of_a_region() -> None:
    (call,) = called_in(lowered(HEAD + "void f(char *p, int n) { sprintf(p, p, n, n, p); }"))
    assert list(region_args(0, False, call)) == [0]
    assert list(region_args(2, True, call)) == [2, 3, 4]
    assert list(region_args(7, False, call)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(double *a, int n, int (*by)(const void *, const void *)) { qsort(a, n, 8, by); return 0; }", True),
        ("void f(double *a, int n) { qsort(a, n, 8, 0); }", False),
        ("void f(double *a, double *b) { memcpy(a, b, 8); }", False),
    ],
)
def test_calls_that_may_call_back(text: str, expected: bool) -> None:
    (call,) = called_in(lowered(HEAD + text))
    assert isinstance(call.callee, ins.AddrFunc)
    assert calls_back(EFFECTS[call.callee.key], call) is expected


def test_a_reduction_by_an_operation_of_the_program() -> None:
    text = "void f(double *a, double *b, MPI_Op mine) {{ MPI_Reduce(a, b, 4, MPI_DOUBLE, {}, 0, MPI_COMM_WORLD); }}"
    (own_one,) = called_in(lowered(HEAD + text.format("mine")))
    (predefined,) = called_in(lowered(HEAD + text.format("MPI_SUM")))
    assert handed_over(EFFECTS["MPI_Reduce"], own_one) == (0, 1)
    assert handed_over(EFFECTS["MPI_Reduce"], predefined) == ()


def test_which_arguments_are_messages() -> None:
    recv = EFFECTS["MPI_Recv"]
    assert is_message(recv, 0)
    assert not is_message(recv, 6)  # the status
    assert is_message(EFFECTS["memcpy"], 0), "everything a plain function writes is what it is about"


def test_arguments_through_which_a_call_writes() -> None:
    text = "void f(double *b, MPI_Status *s) { MPI_Recv(b, 4, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, s); }"
    (call,) = called_in(lowered(text))
    assert written_through(EFFECTS["MPI_Recv"], call) == [0, 6]
    (shift,) = called_in(lowered("void f(int *s, int *d) { MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, s, d); }"))
    assert written_through(EFFECTS["MPI_Cart_shift"], shift) == [3, 4]


def test_the_name_of_what_is_not_known() -> None:
    by_name, by_pointer = called_in(lowered(HEAD + "void f(void (*p)(void)) { hidden(); p(); }"))
    assert unknown(by_name) == "unknown function hidden"
    assert unknown(by_pointer) == "unknown function a function pointer"


# --- calls of one program graph (opi_xform.calls.of_graph), deeper levels (opi_xform.calls.deeper) --------------------

MAIN = """
static int u[4], v[4], only_here[4]; static void *table[2];
static void cb(int s) {{ v[0] = s; }}
int main(void) {{ int w[4], x[4]; w[0] = x[0] = u[0] = 0; {} return w[0] + x[0] + u[0] + v[0] + only_here[0]; }}
"""


@pytest.mark.parametrize(
    ("body", "called", "reached", "not_reached"),
    [
        ("unknown(w);", "unknown", {"w", "?"}, {"x", "u", "only_here"}),
        ("table[0] = x; unknown(table);", "unknown", {"table", "x"}, {"w"}),
        ("signal(2, cb); hidden();", "hidden", {"v"}, {"w", "u"}),
    ],
)
def test_what_an_unknown_function_can_reach(body: str, called: str, reached: set[str], not_reached: set[str]) -> None:
    found = program(HEAD + MAIN.format(body))
    node, call = call_named(found, called)
    calls = found.calls()
    names = found.names(calls.lost(node))
    assert reached <= names
    assert not names & not_reached
    assert calls.effect(call) is None
    assert not calls.is_followed(node, call)
    assert names <= found.names(calls.changed(node))


def test_a_function_of_the_program_is_no_library_function_of_that_name() -> None:
    found = program("static void *memcpy_(void *a) { return a; } int main(void) { int a; memcpy_(&a); return a; }")
    node, call = call_named(found, "memcpy_")
    assert found.calls().is_followed(node, call)
    found = program("int main(void) { int a = 0, b = 0; memcpy(&a, &b, 4); return a; }")
    node, call = call_named(found, "memcpy")
    assert not found.calls().is_followed(node, call)
    assert found.calls().effect(call) is EFFECTS["memcpy"]


RECURSIVE = """
static int u[4], v[4], w[4];
static void down(int n) {{ int mine[4]; mine[0] = n; u[0] += v[0]; {} if (n) down(n - 1); }}
int main(void) {{ down(3); return u[0] + w[0]; }}
"""


def test_a_function_that_is_entered_again_does_what_it_does_here() -> None:
    found = program(HEAD + RECURSIVE.format(""))
    calls = found.calls()
    (node,) = found.nodes(Lost)
    again = found.program.graph.entered_again(node)
    assert found.names(calls.inside(again)) >= {"u", "v", "mine", "n"}
    assert "w" not in found.names(calls.lost(node))
    assert "u" in found.names(calls.changed(node))
    assert "v" not in found.names(calls.changed(node)), "it is only read"
    assert found.names(calls.deeper.written(again)) & {"u", "v"} == {"u"}
    assert again in calls.entered_again
    assert calls.frames_inside(again) == {again}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", False),
        ("unknown(u);", True),
        ("v[1] = (int)(long)u;", True),  # a number is made of its address
        ("MPI_Request r; MPI_Isend(u, 4, MPI_INT, 0, 0, 0, &r); MPI_Wait(&r, 0);", True),  # it goes on after the call
        ("MPI_Send(u, 4, MPI_INT, 0, 0, 0);", False),
        ("memset(u, 0, 16);", False),
    ],
)
def test_objects_that_all_levels_only_read_and_write(more: str, expected: bool) -> None:
    found = program(HEAD + RECURSIVE.format(more))
    calls = found.calls()
    (outer,) = calls.deeper.outermost()
    assert found.program.graph.frames[outer].function.endswith("down")
    assert ("u" in found.names(calls.deeper.more(outer))) is expected


# --- objects in other hands -------------------------------------------------------------------------------------------


def given(body: str) -> dict[str, str]:
    """Objects of ``MAIN`` that others may change at any time, with the reason."""
    found = program(HEAD + MAIN.format(body))
    at = foreign(found.calls())
    table = found.program.values.objects.table
    return {table[o].name: reason for o, (_, reason) in at.items() if table[o].name in ("u", "v", "w", "x", "r")}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("memset(w, 0, 16);", {}),
        ("MPI_Send(w, 4, MPI_INT, 0, 0, 0);", {}),
        ("unknown(w);", {"w": "unknown function unknown"}),
        ("signal(2, cb);", {"v": "used by a function that signal is given"}),
        ("MPI_Request r; MPI_Send_init(w, 4, MPI_INT, 0, 0, 0, &r);", {}),
        ("atexit((void (*)(void))cb);", {}),  # when the program ends, and not before
    ],
)
def test_objects_in_other_hands(body: str, expected: dict[str, str]) -> None:
    found = given(body)
    assert {name: found.get(name) for name in expected} == expected
    assert bool(found) == bool(expected)


def test_the_first_call_that_gets_the_address_tells_why() -> None:
    """Whatever is called later reaches it as well, and is not the reason."""
    found = program(HEAD + MAIN.format("hidden(); unknown(w);"))
    values = found.program.values
    o = found.object("w")
    node, _ = call_named(found, "unknown")
    name_givers(found.calls(), values)
    assert values.given_away[o] == (node.number, "unknown function unknown")


# --- what loops change ------------------------------------------------------------------------------------------------


def changed(body: str) -> tuple[set[str], dict[str, set[tuple[int, int]]]]:
    """Of the only loop: the objects that it changes, and of those that it changes in part, (first byte, bytes)."""
    text = "static int t[8], s[8]; static struct { int a, b; double c; } r; static int *p;\n"
    found = program(
        f"{text}int main(int n, char **v) {{ int i = 0, k; p = t; while (i < n) {{ i++; {body} }} return *p; }}"
    )
    (loop,) = modified_cells(found.calls(), found.program.nest, True)
    table = found.program.values.objects.table
    objects = {table[cell[1]].name for cell in loop.cells if cell[0] == "v" and isinstance(cell[1], int)}
    return objects, {table[o].name: places for o, places in loop.parts.items()}


@pytest.mark.parametrize(
    ("body", "objects", "parts"),
    [
        ("k = i;", {"i", "k"}, {}),
        ("t[2] = i;", {"i", "t"}, {"t": {(8, 4)}}),
        ("t[2] = i; t[0] = 1;", {"i", "t"}, {"t": {(8, 4), (0, 4)}}),
        ("t[i] = 1;", {"i", "t"}, {}),
        ("t[2] = i; t[i] = 1;", {"i", "t"}, {}),
        ("r.b = 3;", {"i", "r"}, {"r": {(4, 4)}}),
        ("memset(s, 0, 8);", {"i", "s"}, {"s": {(0, 8)}}),
        ("memset(s, 0, i);", {"i", "s"}, {}),
        ("k = t[i];", {"i", "k"}, {}),
        ("p[1] = 1;", {"i", "t"}, {"t": {(4, 4)}}),
    ],
)
def test_what_a_loop_changes(body: str, objects: set[str], parts: dict[str, set[tuple[int, int]]]) -> None:
    assert changed(body) == (objects, parts)


def test_a_pointer_that_is_only_moved() -> None:
    loop = "while (i < n) {{ i++; *p = 1; {} }}"
    text = "static int t[8]; int main(int n, char **v) {{ int *p = t, i = 0; " + loop + " return 0; }}"
    for body, expected in (("p++;", True), ("p = p + i;", True), ("p = t;", False)):
        found = program(text.format(body))
        (modified,) = modified_cells(found.calls(), found.program.nest, True)
        assert modified.cells[found.object("p"), 0] is expected, body


def test_objects_that_a_node_may_change() -> None:
    found = program("static int u[4]; int main(void) { int a, b = 1, *p = &a; *p = b; memset(u, 0, 8); return a; }")
    (store,) = found.nodes(ins.Store)
    assert found.names(writes(found.calls(), store)) == {"a"}
    node, _ = call_named(found, "memset")
    assert found.names(writes(found.calls(), node)) == {"u"}


# --- buffers that each activation has for itself ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "double *b = malloc(n * 8); b[0] = n; MPI_Send(b, n, MPI_DOUBLE, 0, 0, 0); free(b); if (n) down(n - 1);",
            {"heap"},
        ),
        ("double b[64]; b[0] = n; MPI_Send(b, n, MPI_DOUBLE, 0, 0, 0); if (n) down(n - 1);", {"b"}),
        ("double *b = malloc(n * 8); MPI_Send(b, n, MPI_DOUBLE, 0, 0, 0); kept = b; if (n) down(n - 1);", set()),
        ("static double b[64]; MPI_Send(b, n, MPI_DOUBLE, 0, 0, 0); if (n) down(n - 1);", set()),
        ("double b[64]; MPI_Send(b, n, MPI_DOUBLE, 0, 0, 0); hand(b); if (n) down(n - 1);", set()),
        ("double b[64]; b[0] = n; MPI_Send(b, n, MPI_DOUBLE, 0, 0, 0);", set()),  # it has one level only
    ],
    ids=["allocated", "an array", "kept", "static", "given to one that is not known", "no recursion"],
)
def test_buffers_of_each_activation(body: str, expected: set[str]) -> None:
    found = program(
        f"void hand(double *); static double *kept; static void down(int n) {{ {body} }}"
        "int main(void) { down(3); return kept != 0; }"
    )
    result = own(found.calls())
    assert found.names(result.owners) == expected
    assert bool(result.entered) == bool(expected)
    assert result.frames.issuperset(result.entered)
