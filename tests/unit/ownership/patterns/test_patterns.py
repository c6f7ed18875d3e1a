"""The second way to a decision: the tables against the paper's, and small programs with the answer for one send."""

from __future__ import annotations

import pytest
from ownership_support import Source, source
from paper_tables import paper_tables

from opi_xform.dataflow.table import Sets, Table, shipped_table
from opi_xform.memory.poly import number, symbol
from opi_xform.ownership.patterns.agree import Patterns, disagreement
from opi_xform.ownership.patterns.happenings import Happening, Happenings
from opi_xform.ownership.patterns.outcomes import Bound, Outcomes
from opi_xform.ownership.patterns.paths import Paths
from opi_xform.report.codes import DISAGREE as CODE

SIDES = {
    "send-pattern": (
        "sender-pattern",
        {
            "Start": ("Start",),
            "End": ("End",),
            "OpenPack": ("Open",),
            "ClosedPack": ("Packed",),
            "EorCP": ("End", "Packed"),
        },
        {"Send": "Send", "Read": "Read", "ClosedWrite": "ClosedWrite"},
    ),
    "receive-pattern": (
        "receiver-pattern",
        {"Start": ("Start",), "End": ("End",), "Unpack": ("Unpack",), "Empty": ("Empty",)},
        {"Recv": "Recv", "InRead": "InRead"},
    ),
}
LIVES = {"Allocate": "Allocate", "Deallocate": "Deallocate"}


def bits(table: Table, names: tuple[str, ...]) -> int:
    return sum(table.states[name] for name in names)


@pytest.mark.parametrize("name", sorted(SIDES))
def test_it_does_what_the_paper_says_wherever_that_does_not_fail(name: str) -> None:
    table = shipped_table(name)
    paper, states, events = SIDES[name]
    compared = 0
    for (before, event), step in paper_tables()[paper].steps.items():
        if before not in states or step.to not in states or event not in events | LIVES:
            continue
        assert table.steps[(events | LIVES)[event]][bits(table, states[before])] == bits(table, states[step.to]), (
            before,
            event,
        )
        compared += 1
    assert compared >= 12


@pytest.mark.parametrize("name", sorted(SIDES))
def test_the_paper_s_meets_are_unions_or_failures(name: str) -> None:
    """Of states of which none is ``Open``: where the paper's meet is no failure, it stands for both."""
    table = shipped_table(name)
    paper, states, _ = SIDES[name]
    for (a, b), met in paper_tables()[paper].meets.items():
        if {a, b, met} <= states.keys() and name == "send-pattern" and "OpenPack" not in (a, b):
            assert bits(table, states[met]) & ~(bits(table, states[a]) | bits(table, states[b])) & ~table.allows == 0
        if {a, b, met} <= states.keys() and "OpenPack" in (a, b):
            assert met == "OpenPack"


@pytest.mark.parametrize("name", sorted(SIDES))
def test_only_open_is_not_allowed_and_sets_are_joined(name: str) -> None:
    table, lattice = shipped_table(name), Sets(shipped_table(name))
    assert lattice.bottom & ~table.allows == table.states["Open"]
    for steps in table.steps.values():
        assert steps[0] == 0
        assert all(steps[a | b] == steps[a] | steps[b] for a in range(len(steps)) for b in range(len(steps)))
    assert lattice.meet(lattice.top, 1) == 1
    assert lattice.leq(lattice.bottom, 1)
    assert not lattice.leq(1, lattice.bottom)
    assert "Open" in lattice.explain(0, table.states["Open"])
    assert lattice.explain(lattice.bottom, 1) == ""
    assert table.steps["Escape"] == (0, *[table.states["Open"]] * lattice.bottom)


# --- bounds ---------------------------------------------------------------------------------------------------------


def test_bounds_exclude_each_other_where_no_number_is_left() -> None:
    x = symbol(0)
    assert Bound(x, lo=1).excludes(Bound(x, hi=0))
    assert not Bound(x, lo=1).excludes(Bound(x, hi=1))
    assert Bound(x, 3, 3).excludes(Bound(x, holes=frozenset({3})))
    assert not Bound(x, 3, 4).excludes(Bound(x, holes=frozenset({3})))
    assert Bound(x, lo=1).and_also(Bound(x, hi=4)) == Bound(x, 1, 4)


# --- programs -------------------------------------------------------------------------------------------------------

MAIN = """
static double buf[N], other[N]; int flag, n; double x;
int main(int argc, char **argv) {{
    flag = argc; n = argc;
    for (int i = 0; i < N; i++) buf[i] = i;
    {body}
    return 0;
}}
"""
SEND = "MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
RECV = "MPI_Recv(buf, 10, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
PACK = "for (int i = 0; i < N; i++) buf[i] = 2 * i;"


def asked(body: str) -> tuple[Source, Patterns]:
    found = source(MAIN.format(body=body))
    buffer = found.buffers["buf"]
    (o,) = buffer.objects
    return found, Patterns(found.program, buffer, o, ())


def allowed(body: str) -> bool:
    """Whether the first site may pass ownership, by the table of its side."""
    found, patterns = asked(body)
    return patterns.disallowed(found.buffers["buf"].uses[0]) is None


@pytest.mark.parametrize(
    ("body", "yes"),
    [
        (SEND, True),
        (f"{SEND} x = buf[3];", False),
        (f"{SEND} {PACK} x = buf[3];", True),
        (f"{SEND} if (flag) x = buf[3];", False),
        (f"{SEND} if (flag) {{ {PACK} }} x = buf[3];", False),
        (f"{SEND} if (flag) {{ {PACK} }} if (flag) x = buf[3];", True),
        (f"if (flag) {{ {SEND} }} if (!flag) x = buf[3];", True),
        (f"{SEND} buf[3] = 1; x = buf[3];", True),
        (f"{SEND} buf[4] = 1; x = buf[3];", False),
        (f"{SEND} x = buf[n];", False),
        (f"for (int t = 0; t < 3; t++) {{ {SEND} }}", False),
        (f"for (int t = 0; t < 3; t++) {{ {PACK} {SEND} }}", True),
        (f"for (int t = 0; t < 3; t++) {{ if (t > 0) {{ {PACK} }} {SEND} }}", True),
        (f"for (int t = 0; t < 3; t++) {{ if (t > 1) {{ {PACK} }} {SEND} }}", False),
        (f"{SEND} for (int i = 0; i < N; i++) {{ if (i % 3) buf[i] = 1; else buf[i] = 2; }} x = buf[3];", True),
        (f"{SEND} for (int i = 0; i < N; i++) if (other[i] > 0) buf[i] = 1; x = buf[3];", False),
        (f"if (flag) {{ {SEND} }} for (int i = 0; i < N; i++) if (flag) buf[i] = 1; if (flag) x = buf[3];", True),
        (f"{SEND} for (int i = 0; i < N; i++) if (flag) buf[i] = 1; if (flag) x = buf[3];", True),
        (f"if (flag) {{ {SEND} }} for (int i = 0; i < N; i++) if (!flag) buf[i] = 1; x = buf[3];", False),
        (f"{SEND} for (int i = 0; i < N; i++) if (n > 2) buf[i] = 1; if (flag) x = buf[3];", False),
        (f"{SEND} for (int i = 0; i < N; i++) {{ if (n) buf[i] = 1; n = i; }} if (n) x = buf[3];", False),
        (f"{SEND} for (int i = 0; i < N; i++) {{ n = i % 5; if (n) buf[i] = 1; }} if (n) x = buf[3];", False),
        (f"{SEND} memcpy(buf, other, sizeof buf); x = buf[3];", True),
        (f"for (;;) {{ {PACK} {SEND} }}", True),
        (f"for (;;) {{ {SEND} x = buf[2]; }}", False),
        (f"{RECV} x = buf[3];", True),
        (f"{RECV} x = buf[10];", False),
        (f"{RECV} x = buf[n];", True),
        (f"{RECV} buf[10] = 1; x = buf[10];", True),
    ],
)
def test_a_site(body: str, yes: bool) -> None:
    assert allowed(body) == yes


def test_what_is_needed_is_told_with_its_line_and_code() -> None:
    found, patterns = asked(f"{SEND}\n    x = buf[3];")
    buffer = found.buffers["buf"]
    why = disagreement(found.program, buffer, list(buffer.uses), dict.fromkeys(buffer.objects, patterns))
    assert why is not None
    assert why.reason.codes == {CODE}
    assert f"line {found.line('x = buf[3]')}" in why.message
    assert disagreement(found.program, buffer, [], {}) is None


def test_sends_that_are_said_to_be_packed_need_nothing() -> None:
    found = source(MAIN.format(body=f"for (int t = 0; t < 3; t++) {{ {SEND} }}"))
    buffer = found.buffers["buf"]
    (use,) = buffer.uses
    assert Patterns(found.program, buffer, use.object, ()).disallowed(use) is not None
    assert Patterns(found.program, buffer, use.object, (use.place,)).disallowed(use) is None


def test_places_are_compared() -> None:
    found, _ = asked(SEND)
    buffer = found.buffers["buf"]
    happenings = Happenings(found.program, buffer, buffer.objects[0], ())
    read = Happening(0, "read", number(8), number(8))
    assert happenings.beside(Happening(1, "write", number(0), number(8)), read)
    assert not happenings.beside(Happening(1, "write", number(0), number(9)), read)
    assert happenings.beside(read, Happening(1, "write", number(16), number(8)))
    assert not happenings.beside(Happening(1, "write", None, number(8)), read)
    assert happenings.beyond(read, Happening(1, "recv", number(0), number(15)))
    assert not happenings.beyond(read, Happening(1, "recv", number(0), number(16)))
    assert happenings.beyond(read, Happening(1, "recv", number(9), number(90)))
    assert happenings.event(Happening(1, "write", number(8), number(8), certain=False), read, None) == "OpenWrite"


def test_outcomes_hold_where_every_way_has_them() -> None:
    found, _ = asked(f"if (n > 2) {{ {SEND} }} else x = 1;\n    x = 7;")
    outcomes = Outcomes(found.program)
    graph = found.program.graph
    use = found.buffers["buf"].uses[0]
    bounds = outcomes.around(graph.nodes[use.node].block)
    assert [(b.lo, b.hi > 1000) for b in bounds.values() if b.lo > 0] == [(3, True)]
    after = [n for n in graph.nodes if n.number > use.node]
    assert not [b for b in outcomes.around(graph.nodes[after[-1].number].block).values() if b.lo == 3]


def test_a_number_of_bytes_is_more_than_nothing() -> None:
    outcomes = Outcomes(asked(SEND)[0].program)
    n = symbol(outcomes.symbols.count(0))
    assert outcomes.positive(n.scaled(8)) == (Bound(n, lo=1),)
    assert outcomes.positive(n.scaled(8) + number(24)) == (Bound(n, lo=-2),)
    assert outcomes.positive(n.scaled(8) - number(4)) == (Bound(n, lo=1),)
    assert outcomes.positive(number(8)) == ()
    assert outcomes.positive(None) == ()


def test_stretches_in_which_nothing_happens_are_passed_over() -> None:
    idle = "if (n) x = 1; else x = 2;\n" * 5
    found, patterns = asked(f"{SEND} {idle} x = buf[3];")
    use = found.buffers["buf"].uses[0]
    paths = Paths(found.program, (), patterns.by_block)
    block = found.program.graph.nodes[use.node].block
    (way,) = {w.to for w in paths.ways(block)}
    assert any(h.kind == "read" for h in patterns.by_block[way])
