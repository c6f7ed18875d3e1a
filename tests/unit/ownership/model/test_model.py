"""What every condition asks of a program: lvalues as written, rows, roots of addresses, ways that end the program."""

from __future__ import annotations

import pytest
from core_support import Found, last, program
from ownership_support import Source, source

from opi_xform.graph.graph import Bind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import number
from opi_xform.ownership.deciding.facts import BufferFacts, ProgramFacts
from opi_xform.ownership.model.addresses import AddressFlow, flow_of, value_refusal
from opi_xform.ownership.model.buffers import Options
from opi_xform.ownership.model.endings import ends
from opi_xform.ownership.model.lvalues import (
    Expressions,
    address_of,
    alike,
    cast_for,
    fixed,
    function_expressions,
    hole,
    null_at,
    place,
    settable,
    spelling,
)
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.roots import Roots, base_of, is_inside, is_moved, is_zero
from opi_xform.ownership.model.split_rows import row_index, split_row
from opi_xform.ownership.model.stretches import exactly, stretches_of
from opi_xform.ownership.model.traced import binds_of, loaded, path, traced
from opi_xform.ownership.model.unshared import unshared
from opi_xform.ownership.requests.surely import Surely, reached

HEAD = "struct s { int n; double *out; double u[4]; const double *in; } t, *h; double a[4], m[3][5], *p; int i, j;\n"


def expr(text: str) -> ast.Expr:
    return last(f"{HEAD}void f(const struct s *c) {{ (void)0; {text}; }}")


# --- lvalues as written -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("t.out", "t.out"),
        ("h->out", "h->out"),
        ("a[3]", "a[3]"),
        ("m[i][2]", "m[…][2]"),
        ("*p", "*p"),
        ("&a[1]", "&a[1]"),
        ("(double *)h->out", "h->out"),
        ("h[2].u[i]", "h[2].u[…]"),
        ("3 + i", "…"),
    ],
)
def test_an_lvalue_as_people_write_it(text: str, written: str) -> None:
    assert spelling(expr(text)) == written


@pytest.mark.parametrize(
    ("text", "address"),
    [("b", "&b"), ("*p", "p"), ("(*p)", "p"), ("h->out", "&h->out")],
)
def test_the_address_of_a_text(text: str, address: str) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize(
    ("text", "expected"),
    [("t.out", False), ("c->out", True), ("c->u[1]", True), ("*h->in", True), ("h->in", False), ("a[1]", False)],
)
def test_lvalues_that_are_const(text: str, expected: bool) -> None:
    e = expr(text)
    assert fixed(e) is expected
    assert settable(e, "x", "") == (None if expected else "x")
    assert settable(e, "x", "(double **)") == ("(*(double **)&x)" if expected else "x")


def test_a_cast_that_does_without_const() -> None:
    type_ = expr("h->out").type
    assert cast_for(type_, frozenset()) == "(double **)"
    assert cast_for(type_, frozenset({"double"})) == ""
    assert cast_for(expr("m").type, frozenset()) == ""


def test_the_subscript_that_tells_a_tables_pointers_apart() -> None:
    e = expr("h[i].out")
    found = hole(e, e.base.type.size or 0) if isinstance(e, ast.Member) else None
    assert found is not None
    assert spelling(found) == "h[…]"
    assert hole(expr("t.out"), 72) is None
    assert hole(e, 0) is None


def test_expressions_with_the_same_words_at_the_same_place() -> None:
    e = expr("a[i] + a[j]")
    assert isinstance(e, ast.Binary)
    assert alike(e, e)
    assert not alike(e.left, e.right)
    assert place(e.left) != place(e.right)


@pytest.mark.parametrize(
    ("init", "offset", "expected"),
    [
        (None, 0, True),
        ("{ 0 }", 0, True),
        ("{ 0, a }", 8, False),
        ("{ 0, 0, { 1 } }", 8, True),
        ("{ 3 }", 0, False),
        ("{ .in = a }", 8, True),
    ],
)
def test_null_in_an_initialiser(init: str | None, offset: int, expected: bool) -> None:
    found = program(f"{HEAD}static struct s w{'' if init is None else ' = ' + init}; int main(void) {{ return w.n; }}")
    assert null_at(found.program.variables[found.key("w")].init, offset) is expected


def test_the_lvalue_that_a_store_was_lowered_from() -> None:
    found = program(f"{HEAD}int main(void) {{ int k = 1; a[k] = 2; m[1][2] = a[0]; h->out = p; return sizeof(t.u); }}")
    written = Expressions(found.program)
    stores = [written.of("main", n.action) for n in found.nodes(ins.Store)]
    assert [spelling(e) for e in stores if e is not None] == ["a[…]", "m[1][2]", "h->out"]
    assert written.of("main", found.nodes(ins.Define)[0].action) is None
    every = {spelling(e) for e in function_expressions(found.program.functions["main"])}
    assert {"a[…]", "t.u", "p"} <= every


# --- rows and stretches -----------------------------------------------------------------------------------------------


def test_the_row_that_an_offset_was_made_from() -> None:
    found = program(
        "static double m[3][5]; int unknown(void);"
        "int main(void) { int k = unknown(); m[k][2] = 1; m[1][3] = 2; return 0; }"
    )
    o = found.object("m")
    by_variable, by_constant = (a for a in found.access("m", "W"))
    assert by_variable.lo is not None
    assert by_constant.lo is not None
    split = split_row(found.program, o, by_variable.lo)
    assert split is not None
    assert split[0].single is not None
    assert split[1] == number(16)
    assert row_index(found.program, o, by_constant.lo) == number(1)
    assert row_index(found.program, o, number(16)) is None
    assert row_index(found.program, o + 1, by_variable.lo) is None


def test_bytes_that_an_access_stays_inside() -> None:
    found = program(
        "static struct { int n; double u[4]; int w; } r; static double z[6]; int unknown(void);"
        "int main(void) { int k = unknown(); double *q; r.w = 1; r.u[k] = 2; z[k] = 3; q = z + k; q[0] = 1; return 0; }"
    )
    stretches = stretches_of(found.program)
    assert [stretches.of(a) for a in found.access("r", "W")] == [(40, 4), (8, 32)]
    assert [stretches.place(a) for a in found.access("z", "W")] == [(0, 48), (0, 48)]
    assert stretches.whole(found.object("r")) == (0, 48)
    (first, *_) = found.access("r", "W")
    assert exactly(first) == (40, 4)
    assert [*stretches.touched(first.node, "W")] == [(found.object("r"), (40, 4))]
    assert [*stretches.touched(first.node, "R")] == []


@pytest.mark.parametrize(
    ("loop", "bytes_"),
    [
        ("for (int i = 0; i < 3; i++) *q++ = 1;", (8, 24)),
        ("for (; q != r.u + 3; q++) *q = 1;", (8, 24)),
        ("for (int i = 0; i < 3; i++, q += 2) *q = 1;", (8, 40)),
        ("for (int i = 0; i < k; i++) *q++ = 1;", (0, 48)),
        ("while (unknown()) *q++ = 1;", (0, 48)),
    ],
)
def test_bytes_that_a_pointer_walks_along(loop: str, bytes_: tuple[int, int]) -> None:
    found = program(
        "static struct { int n; double u[4]; int w; } r; int unknown(void);"
        f"int main(void) {{ int k = unknown(); double *q = r.u; {loop} return 0; }}"
    )
    stretches = stretches_of(found.program)
    assert [stretches.of(a) for a in found.access("r", "W")] == [bytes_]


def test_memory_as_large_as_it_was_asked_for() -> None:
    found = program("int main(int n, char **v) { double *x = malloc(80), *y = malloc(n); x[n] = y[n] = 1; return 0; }")
    stretches = stretches_of(found.program)
    heap = [o for o in found.program.values.objects.table if o.kind == "heap"]
    assert sorted((stretches.total(o) for o in heap), key=str) == [80, None]
    assert [stretches.whole(o.number) for o in heap] == [None, None], "where in it is not known, so is its end"


def test_an_index_of_a_program() -> None:
    found = program(
        "static double z[6]; int main(int n, char **v)"
        "{ double *q = z, *x = malloc(8); if (n > 1) { q[1] = 2; } free(x); return 0; }"
    )
    index = index_of(found.program)
    assert index.addressed[found.object("z")] != []
    assert set(index.births) >= {found.key("q"), found.key("x")}
    ((freeing, argument),) = index.frees
    assert argument == 0
    (write,) = found.access("z", "W")
    block = found.program.graph.nodes[write.node].block
    assert index.guarded[block] == block, "reached by one outcome only"
    assert index.guarded[found.program.graph.nodes[freeing].block] == 0


# --- parameters on the way --------------------------------------------------------------------------------------------

PASSED = """
static double buf[N], other[N];
static void deep(double *q) {{ MPI_Send(q, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD); }}
static void send(double *b) {{ deep({}); }}
int main(int argc, char **argv) {{ double *p = buf; send({}); return other[0] > 0; }}
"""


@pytest.mark.parametrize(
    ("inner", "given", "parameters", "variable"),
    [
        ("b", "p", ["q", "b"], "p"),
        ("b + 1", "p", ["q", "b"], "p"),
        ("other", "p", ["q"], ""),
        ("b", "buf", ["q", "b"], ""),
    ],
)
def test_the_parameters_through_which_a_buffer_came(
    inner: str, given: str, parameters: list[str], variable: str
) -> None:
    found = source(PASSED.format(inner, given))
    (use,) = found.uses
    through, passed = path(found.program, use)
    names = found.program.variables
    assert [names[key].name for key in through] == parameters
    assert (names[passed].name if passed else "") == variable
    binds = binds_of(found.program)
    assert all(isinstance(b, Bind) for b in binds.values())
    assert len(binds) == 2
    assert loaded(found.program) == {}
    assert traced(found.program, ins.Const(0), 0) == ((), "")


# --- numbers that nobody else can name --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("k = 3;", True),
        ("MPI_Comm_rank(MPI_COMM_WORLD, &k);", True),
        ("MPI_Recv(&k, 1, MPI_INT, 0, 7, 0, 0);", False),  # a message
        ("memset(&k, 0, 4);", False),  # it returns the address
        ("int *q = &k; *q = 1;", False),
        ("other(&k);", False),
        ("if (&k == 0) k = 1;", False),
        ("frexp(2.0, &k);", True),
    ],
)
def test_local_numbers_that_no_other_function_can_name(use: str, expected: bool) -> None:
    found = program(f"void other(int *); double frexp(double, int *); int main(void) {{ int k; {use} return k; }}")
    assert (found.object("k") in unshared(found.program)) is expected


# --- ways that end the program ----------------------------------------------------------------------------------------


def ending(body: str, head: str = "") -> bool:
    """Every way from the body of ``if (n > 5)`` ends the program."""
    found: Found = program(
        f"void abort(void); int MPI_Finalize(void); int MPI_Abort(MPI_Comm, int); {head}"
        f"int main(int n, char **v) {{ if (n > 5) {{ {body} }} return 0; }}"
    )
    (first, *_) = list(found.nodes(ins.Branch))
    return ends(found.program, (), found.program.graph.succs[first.block][0], {})


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("exit(1);", True),
        ("exit(0);", False),
        ("exit(n);", False),
        ("abort();", True),
        ("MPI_Abort(MPI_COMM_WORLD, 1);", True),
        ("MPI_Finalize(); exit(1);", False),
        ("exit(256);", False),  # a code has 8 bits
        ('execl("/bin/true", "true", (char *)0); exit(1);', False),
        ("for (;;) MPI_Comm_size(MPI_COMM_WORLD, &n);", False),
        ("while (n > 7) MPI_Comm_size(MPI_COMM_WORLD, &n); exit(1);", True),
        ("atexit(abort); exit(1);", False),
        ("int atexit(void (*)(void)), (*at_end)(void (*)(void)) = atexit; at_end(abort); exit(1);", False),
        ("return 1;", True),
        ("return 0;", False),
        ("int code = -1; return code;", True),
        ("if (n > 7) exit(1); else exit(2);", True),
        ("if (n > 7) exit(1);", False),
        ('puts("no"); exit(1);', True),
        ("fail(3);", True),
        ("fail(0);", False),
    ],
)
def test_ways_that_end_the_program(body: str, expected: bool) -> None:
    assert ending(body, "static void fail(int c) { exit(c); }") is expected


# --- where an address goes out from -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "base", "inside", "moved"),
    [
        ("a", "a", False, False),
        ("&a[2]", "a", True, True),
        ("a + i", "a", True, True),
        ("&m[1][2]", "m", True, True),
        ("h->out + 2", "h->out", True, True),
        ("(char *)p", "p", False, False),
        ("&a[0]", "a", False, False),
    ],
)
def test_what_an_address_is_computed_from(text: str, base: str, inside: bool, moved: bool) -> None:
    e = expr(text)
    assert spelling(base_of(e)) == base
    assert is_inside(e) is inside
    assert is_moved(e) is moved
    assert is_zero(expr("(double *)0"))
    assert not is_zero(e)


def test_pointers_that_are_another_name_are_followed() -> None:
    found = program(
        f"{HEAD} static double *row(struct s *g, int k) {{ return &g->u[k]; }}"
        "int main(int n, char **v) { double *q = h->out; double *w = q + 1; double *z = row(h, n); return *w > *z; }"
    )
    roots = Roots(found.program)
    refs = {spelling(e): e for e in function_expressions(found.program.functions["main"]) if isinstance(e, ast.VarRef)}
    named = {name: roots.of(refs[name], 0) for name in ("q", "w", "z")}
    assert {n: spelling(o.base).lstrip("*") for n, o in named.items() if o is not None} == {
        "q": "h->out",
        "w": "h->out",
        "z": "g->u",
    }
    assert [o.moved for o in named.values() if o is not None] == [False, True, True]


# --- how an address travels -------------------------------------------------------------------------------------------


def flow(body: str) -> tuple[Source, AddressFlow]:
    found = source(
        "static double rbuf[N], v[N], *kept;\nvoid other(double *);\nstatic void unpack(double *q) { v[0] = q[1]; }\n"
        f"int main(int argc, char **argv)\n{{\n{body}\n"
        "    MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
        "    v[1] = rbuf[0];\n    return 0;\n}\n"
    )
    return found, flow_of(found.program, found.buffers["rbuf"])


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("v[2] = 1;", None),
        ("double *q = rbuf; q[0] = 1;", None),
        ("unpack(rbuf);", None),
        ("kept = rbuf;", None),
        ("long n = (long)rbuf; v[n & 1] = 1;", "405"),
        ("if (rbuf < v) v[0] = 1;", "405"),
        ("double *q = rbuf; if (q == v) v[0] = 1;", "405"),
    ],
)
def test_what_is_done_with_a_buffers_address(body: str, code: str | None) -> None:
    found, at = flow(body)
    check = value_refusal(at)
    assert (check.refusal is not None) == (code is not None)
    assert at.check() == check
    facts = BufferFacts(ProgramFacts(found.units, found.program, Options()), found.buffers["rbuf"])
    assert facts.flow() is facts.flow(frozenset())
    assert facts.values == check


def test_names_that_may_hold_the_address() -> None:
    found, at = flow("double *q = rbuf + 1, *w = v; unpack(q); w[0] = 1;")
    names = names_of(found.program)
    holding = {names.text(name) for name in at.holding if name[0] == "v"}
    assert holding == {"q"} or holding == {"`q`"}
    assert at.seeds()
    assert at.entered == {frame.call for frame in found.program.graph.frames if frame.call >= 0}


def test_addresses_that_initialisers_take() -> None:
    """Of static storage, at file scope and in functions; a size takes none."""
    found = source(
        "static double *cur, *other, *sized, *own;\n"
        "static double **where = &cur, **both[2] = {0, &other};\nstatic unsigned long n = sizeof &sized;\n"
        "int main(int argc, char **argv)\n{\nstatic double **mine = &own;\n*where = *both[1] = *mine = 0;\n"
        "n = 3; sized = 0;\nreturn 0;\n}\n"
    ).program
    taken = names_of(found).address_taken
    names = {found.values.objects.table[o].name for o in taken if o is not None}
    assert {"cur", "other", "own"} <= names
    assert "sized" not in names


# --- what surely runs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("between", "sure"),
    [
        ("", True),
        ("if (argc > 1) s = 2;", True),
        ("if (argc > 1) return 1;", False),
        ("if (argc > 1) exit(1);", False),
        ("for (int k = 0; k < argc; k++) s += k;", True),
    ],
)
def test_a_message_that_comes_for_certain(between: str, sure: bool) -> None:
    found = source(
        "static double a[9]; int main(int argc, char **argv) { int s = 0; a[0] = 1; "
        + between
        + " MPI_Send(a, 9, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD); return s; }"
    )
    graph = found.program.graph
    (use,) = (u for b in found.buffers.values() for u in b.uses)
    (store,) = (n.number for n in graph.nodes if isinstance(n.action, ins.Store))
    surely = Surely(found.program)
    assert surely.runs(use.node, store, frozenset()) is sure
    assert surely.runs(store, use.node, frozenset())
    assert any(m == use.node for m, _ in reached(graph, store, lambda m: False))
