"""Parts of the search for MPI_PROC_NULL: kinds of numbers, messages that can meet, lower bounds, words for origins."""

from __future__ import annotations

import pytest
from core_support import Found, called_in, last, lowered, program
from hypothesis import given
from hypothesis import strategies as st
from ownership_support import source

from opi_xform.effects.table import load_effects
from opi_xform.ir import instr as ins
from opi_xform.ir.types import INT, LONG, Type
from opi_xform.memory.accesses import Group
from opi_xform.memory.poly import number, symbol
from opi_xform.ownership.procnull import kinds
from opi_xform.ownership.procnull.carried import ANY, COLLECTIVE, LENGTH, Channel, channel
from opi_xform.ownership.procnull.marked import Marked
from opi_xform.ownership.procnull.origins import origin
from opi_xform.ownership.procnull.real_ranks import Ranks, not_negative
from opi_xform.ownership.procnull.sources import ProcNull
from opi_xform.ownership.procnull.taint import Taint
from opi_xform.ownership.procnull.tainted_results import made_of

EFFECTS = load_effects()
DOUBLE = Type("float", "double", 8)
RECORD = Type("record", "struct s", 16, record="s")

# --- kinds ------------------------------------------------------------------------------------------------------------

stretches = st.none() | st.tuples(st.integers(0, 12), st.integers(1, 6))


@given(stretches, stretches)
def test_stretches_that_have_a_byte_in_common(a: tuple[int, int] | None, b: tuple[int, int] | None) -> None:
    one, two = (set(range(20)) if s is None else set(range(s[0], s[0] + s[1])) for s in (a, b))
    assert kinds.meet(a, b) == bool(one & two)
    assert kinds.meet(a, b) == kinds.meet(b, a)


def test_kinds_of_places() -> None:
    assert kinds.kinds_of(INT) == (kinds.WHOLE,)
    assert kinds.kinds_of(DOUBLE) == (kinds.FLOAT,)
    assert kinds.kinds_of(RECORD) == kinds.EITHER
    assert kinds.is_floating(Type("array", "", 80, elem=DOUBLE, count=10))
    assert not kinds.is_floating(LONG)
    assert not kinds.is_floating(None)
    assert kinds.kinds_for(frozenset({kinds.VALUE}), INT) == (kinds.WHOLE,)
    assert kinds.kinds_for(frozenset({kinds.VALUE}), DOUBLE) == (kinds.FLOAT,)
    assert kinds.kinds_for(frozenset({kinds.FLOAT}), INT) == (kinds.FLOAT,), "the bytes of a floating number"
    assert kinds.kinds_for(kinds.NO_MARKS, INT) == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("d = k;", False),
        ("k = *(long *)&d;", True),
        ("memcpy(&k, &d, 8);", True),
        ("memcpy(&e, &d, 8);", False),
        ("k = u.l; u.d = d;", True),
        ("u.d = d;", False),
        ("p = (char *)&e; k = p[0];", True),
        ("q = (void *)&e; k = q != 0;", False),
    ],
)
def test_bytes_of_a_floating_number_as_others(body: str, expected: bool) -> None:
    found = program(
        "static double d, e; static long k; static char *p; static void *q; static union { double d; long l; } u;"
        f"int main(void) {{ {body} return 0; }}"
    )
    assert kinds.puns(found.program) is expected


@pytest.mark.parametrize(
    ("init", "null", "expected"),
    [
        ("", -2, False),
        (" = 3", -2, False),
        (" = -2", -2, True),
        (" = -2", None, False),
        (" = MPI_PROC_NULL", None, True),
    ],
)
def test_initialisers_that_may_hold_it(init: str, null: int | None, expected: bool) -> None:
    found = program(f"static int x{init}; int main(void) {{ return x; }}")
    assert kinds.begins_as(found.program.variables[found.key("x")], null) is expected


def test_what_becomes_a_floating_number() -> None:
    found = program("static double d; int main(int n, char **v) { d = n; d = -2.5; d = d + 1.0; return 0; }")
    made, negative = kinds.floating_sources(found.program)
    assert len(made) == 1
    assert len(negative) == 1


def test_expressions_that_may_have_it() -> None:
    e = last("int n, m; int f(void) { return n + 1; }")
    assert kinds.has_one(e, -2, {"n"}, True)
    assert not kinds.has_one(e, -2, {"m"}, True)
    assert kinds.has_one(last("int n; int f(void) { return n ? 1 : -2; }"), -2, (), False)
    assert not kinds.has_one(last("int n; int f(void) { return n ? 1 : 2; }"), -2, (), False)


def test_calls_that_write_zeros() -> None:
    (call,) = called_in(lowered("static int t[4]; void f(void) { memset(t, 0, 16); }"))
    symbolic = ins.Var("n")
    assert kinds.zeroes((number(100), number(0), number(16)), call)
    assert not kinds.zeroes((number(100), number(1), number(16)), call)
    assert kinds.given_as_pointer(ins.Op("cast", (symbolic,), Type("pointer", "void *", 8)))
    assert not kinds.given_as_pointer(symbolic)


@pytest.mark.parametrize(
    ("body", "expected"), [("k = s.MPI_TAG;", True), ("k = s.MPI_SOURCE;", False), ("k = 1;", False)]
)
def test_programs_that_look_at_a_tag(body: str, expected: bool) -> None:
    found = program(
        f"static int k; int main(void) {{ MPI_Status s; MPI_Recv(&k, 1, MPI_INT, 0, 0, 0, &s); {body} return 0; }}"
    )
    assert (kinds.tag_offset(found.program) is not None) is expected


def test_calls_that_are_passed_over() -> None:
    found = program("static int g(int a) { return a; } int main(void) { return g(1); }")
    assert not kinds.passes_over(found.program), "all of this program is followed"


# --- messages that can meet -------------------------------------------------------------------------------------------


def of(call: str) -> Channel:
    (found,) = called_in(lowered(f"void f(double *d, int *k, int n, MPI_Status *s) {{ {call}; }}"))
    assert isinstance(found.callee, ins.AddrFunc)
    effect = EFFECTS[found.callee.key]
    assert effect.mpi is not None
    given = [number(a.value) if isinstance(a, ins.Const) else symbol(0) for a in found.args]
    return channel(effect, effect.mpi.send or effect.mpi.recv, found, tuple(given))


def test_messages_by_tag_and_kind() -> None:
    sent = of("MPI_Send(d, n, MPI_DOUBLE, 0, 7, 0)")
    assert sent == Channel(7, "float")
    assert of("MPI_Send(k, n, MPI_INT, 0, 7, 0)") == Channel(7, "whole")
    assert of("MPI_Send(k, n, MPI_INT, 0, n, 0)") == Channel(None, "whole")
    assert of("MPI_Recv(k, n, MPI_INT, 0, -1, 0, s)") == Channel(None, "whole"), "any tag"
    assert of("MPI_Isend(d, n, n, 0, 7, 0, k)") == Channel(7, "any"), "a datatype in a variable"
    assert channel(EFFECTS["memcpy"], None, called_in(lowered("void f(int *a) { memcpy(a, a, 4); }"))[0], ()) == ANY


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Channel(7, "float"), Channel(7, "float"), True),
        (Channel(7, "float"), Channel(8, "float"), False),
        (Channel(7, "float"), Channel(None, "float"), True),
        (Channel(7, "float"), Channel(7, "whole"), False),
        (Channel(7, "float"), Channel(7, "any"), True),
        (Channel(COLLECTIVE, "any"), Channel(7, "any"), False),
        (LENGTH, Channel(7, "whole"), False),
        (ANY, Channel(COLLECTIVE, "whole"), True),
    ],
)
def test_what_one_sends_and_the_other_receives(one: Channel, other: Channel, expected: bool) -> None:
    assert one.meets(other) is expected
    assert other.meets(one) is expected


# --- numbers that are not negative ------------------------------------------------------------------------------------


def real(value: str, before: str = "") -> bool:
    found = program(
        "static int mark, size; int elsewhere(void); int main(int argc, char **argv) { int rank, k = elsewhere();"
        "MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);"
        f"{before} mark = {value}; return 0; }}"
    )
    (node,) = [
        n
        for n in found.on_line(f"mark = {value}")
        if isinstance(n.action, ins.Define) and n.action.target == ins.Var(found.key("mark"))
    ]
    result = not_negative(found.program, node.number, found.program.values.operands[node.number][0])
    ranks = Ranks(found.program)
    assert result or ranks.least(found.marked()[0]) in (None, -1, -2)
    return result


@pytest.mark.parametrize(
    ("value", "before", "expected"),
    [
        ("3", "", True),
        ("rank", "", True),
        ("rank - 1", "", False),
        ("rank + size", "", True),
        ("size - 1", "", True),
        ("size - 1 - rank", "", True),
        ("k", "", False),
        ("k & 7", "", True),
        ("k % 4", "", False),
        ("(rank + 1) % size", "", True),
        ("k", "if (k < 0) return 1;", True),
        ("rank - 1", "if (rank < 1) return 1;", True),
        ("k * k", "if (k < 0) return 1;", True),
    ],
)
def test_numbers_that_are_not_negative(value: str, before: str, expected: bool) -> None:
    assert real(value, before) is expected


# --- where it comes from ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words", "named"),
    [
        ("int from = argc > 1 ? 0 : MPI_PROC_NULL;", "sets it so", True),
        ("int from, to; MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &to, &from);", "`MPI_Cart_shift` at line", True),
        ("int from = elsewhere();", "it depends on what `elsewhere` gives at line", False),
        ('int from; scanf("%d", &from);', "it depends on what `scanf` gives", False),
        ("int from = 0;", "", False),
    ],
)
def test_words_for_where_a_source_comes_from(body: str, words: str, named: bool) -> None:
    top = (
        "#define MPI_PROC_NULL (-2)\nint MPI_Cart_shift(MPI_Comm, int, int, int *, int *);\n"
        "int elsewhere(void); int scanf(const char *, ...); static double b[N];\n"
    )
    found = source(
        f"{top}int main(int argc, char **argv) {{ {body}"
        " MPI_Recv(b, N, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); return b[0] > 0; }"
    )
    (use,) = found.uses
    told = origin(found.program, use)
    assert (told is not None) == bool(words)
    if told is not None:
        assert words in told[0]
        assert told[2] is named


def test_what_may_be_written_elsewhere_is_told_last() -> None:
    """A table and the partners of a map lie where one of two pointers leads."""
    top = (
        "#define MPI_PROC_NULL (-2)\nint scanf(const char *, ...); void *malloc(size_t);\n"
        "static double b[N]; static int *partner, *table;\n"
    )
    body = """
        partner = malloc(8 * sizeof(int)); table = malloc(8 * sizeof(int));
        int *p = argc > 1 ? partner : table;
        READ
        *p = MPI_PROC_NULL;
        MPI_Recv(b, N, MPI_DOUBLE, partner[0], 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); return b[0] > 0; }"""
    for read, words in (
        ('scanf("%d", partner);', "it depends on what `scanf` gives"),
        ("partner[0] = 1;", "writes MPI_PROC_NULL, and could not be shown to write elsewhere"),
    ):
        found = source(f"{top}int main(int argc, char **argv) {{ {body.replace('READ', read)}")
        (use,) = found.uses
        told = origin(found.program, use)
        assert told is not None
        assert words in told[0]
        assert told[2] is False


# --- what may hold it -------------------------------------------------------------------------------------------------


def tainted(found: Found) -> Taint:
    null = ProcNull(found.program)
    return Taint(found.program, null.null, null.real)


def held(body: str) -> set[str]:
    """Variables that may hold MPI_PROC_NULL."""
    found = program(
        "static int a, b, t[4]; static double d; int elsewhere(void);"
        f"int main(int argc, char **argv) {{ {body} return 0; }}"
    )
    taint = tainted(found)
    return {name for name in ("a", "b", "t", "d") if taint.holds(found.object(name), None)}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a = MPI_PROC_NULL;", {"a"}),
        ("a = argc > 1 ? MPI_PROC_NULL : 0; b = a;", {"a", "b"}),
        ("a = 3; b = a;", set()),
        ("t[1] = MPI_PROC_NULL; a = t[2];", {"t"}),
        ("t[1] = MPI_PROC_NULL; a = t[1];", {"a", "t"}),
        ("a = MPI_PROC_NULL; d = a;", {"a", "d"}),
        ("a = MPI_PROC_NULL; memcpy(t, &a, 4);", {"a", "t"}),
        ("a = MPI_PROC_NULL; MPI_Send(&a, 1, MPI_INT, 0, 7, 0); MPI_Recv(&b, 1, MPI_INT, 0, 7, 0, 0);", {"a", "b"}),
        ("a = MPI_PROC_NULL; MPI_Send(&a, 1, MPI_INT, 0, 7, 0); MPI_Recv(&b, 1, MPI_INT, 0, 8, 0, 0);", {"a"}),
    ],
)
def test_variables_that_may_hold_it(body: str, expected: set[str]) -> None:
    assert held(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < 3; i++) { b = t[i]; t[i] = a; a = i; a = MPI_PROC_NULL; }",
        "for (int i = 0; i < 3; i++) { int *p = argc ? t : &b; a = *p; *(argc ? &b : &a) = a; t[1] = MPI_PROC_NULL; }",
        "while (b < 3) { MPI_Recv(&b, 1, MPI_INT, 0, 7, 0, 0); MPI_Send(&a, 1, MPI_INT, 0, 7, 0); a = MPI_PROC_NULL; }",
        "for (;;) { if (d < 2) a = (int)d; d = b; b = MPI_PROC_NULL; }",
        "for (;;) { elsewhere(); *(int *)(long)b = a; b = elsewhere(); }",
    ],
)
def test_nobody_is_left_who_would_find_more(body: str) -> None:
    """Nodes are looked at again where what they read has changed: after that, to look at all of them changes nothing.

    In each loop what is read changes after the place that reads it.
    """
    taint = tainted(
        program(
            "static int a, b, t[4]; static double d; int elsewhere(void);"
            f"int main(int argc, char **argv) {{ {body} return 0; }}"
        )
    )
    assert not any(taint.again)
    for node in taint.program.graph.nodes:
        taint.step(node)
    assert not any(taint.again)


def test_who_has_read_a_place_looks_again() -> None:
    found = program("static int a, b; int main(int argc, char **argv) { a = b; return *(argc ? &a : &b); }")
    known, a, b = Marked(found.program), found.object("a"), found.object("b")
    known.again = bytearray(len(known.again))
    known.at = 1
    known.holds(a, None)
    known.at = 2
    known.group_looked_at(Group(frozenset({a, b}), (a, b)))
    known.at = -1
    known.put(b, (0, 4))
    assert [n for n, again in enumerate(known.again) if again] == [2]
    known.put(a, (0, 4))
    assert [n for n, again in enumerate(known.again) if again] == [1, 2]
    known.again = bytearray(len(known.again))
    known.put(a, (0, 4))
    assert not any(known.again), "it was there before"
    known.loses()
    assert all(known.again)


def test_what_a_call_makes_of_what_it_reads() -> None:
    found = program("static int a, b; int main(void) { a = MPI_PROC_NULL; b = 3; return 0; }")
    taint = tainted(found)
    assert made_of(taint, []) == kinds.ALL, "it is not known what is read"
    assert made_of(taint, [(found.object("a"), None)]) == kinds.ALL
    assert made_of(taint, [(found.object("b"), (0, 4))]) == kinds.NO_MARKS
