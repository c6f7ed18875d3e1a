"""From verdicts to decisions; why a buffer stays; which functions have to be seen; pointers that change places."""

from __future__ import annotations

import pytest
from core_support import around, called_in
from ownership_support import Source, source

from opi_xform.budget import TooLargeError
from opi_xform.codes import Reason
from opi_xform.effects.table import load_effects
from opi_xform.graph.flat import Flat
from opi_xform.graph.summaries import Relevance
from opi_xform.ir import instr as ins
from opi_xform.memory.objects import Objects
from opi_xform.ownership.conditions.table import TABLE
from opi_xform.ownership.deciding.facts import BufferFacts, ProgramFacts, Site
from opi_xform.ownership.decisions import all_kept, decisions_of, with_shown
from opi_xform.ownership.model.buffers import Options, Refusal
from opi_xform.ownership.model.plan import Decision, Plan
from opi_xform.ownership.reach import Facts, Reach
from opi_xform.ownership.relevance import followed_all, relevant
from opi_xform.ownership.swaps import find, sound
from opi_xform.pointsto.constraints import GraphPointsTo

EFFECTS = load_effects()
SEND = "MPI_Send({}, 1000, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"
TOP = "static double b[1000], c[1000]; void other(double *);"


def program(body: str, top: str = TOP) -> Source:
    return source(f"{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")


# --- decisions --------------------------------------------------------------------------------------------------------


def test_each_use_in_the_sources_is_decided() -> None:
    found = program(f"{SEND.format('b')}\n{SEND.format('c')}")
    one, two = found.uses
    stray = {one.place: Refusal(Reason.READ_LATER, "why", ((one.call.span, "here"),))}
    told = decisions_of(
        found.program.functions, EFFECTS, {}, stray, lambda key: Refusal(Reason.BUDGET, f"not seen: {key}")
    )
    assert [d.decision for d in told] == ["keep", "keep"]
    assert [(d.code, d.message) for d in told] == [("OPI101", "why"), ("OPI401", "not seen: main")]
    assert [d.span.line for d in told] == [one.call.span.line, two.call.span.line]
    assert [n.message for n in told[0].notes] == ["here"]


def test_all_sites_of_a_program_that_is_too_large_stay() -> None:
    found = program(f"{SEND.format('b')}\nMPI_Send(0, 0, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);")
    plan = all_kept(found.program.functions, EFFECTS, TooLargeError(["main", "main", "f"]))
    assert [d.code for d in plan.decisions] == ["OPI401", "OPI402"], "NULL names no buffer anyway"
    assert "`main` more than 2 times" in plan.decisions[0].message
    assert plan.edits == ()


def test_a_place_inside_a_buffer_is_told_before_the_budget() -> None:
    """A program that is small enough would keep the call for that, too."""
    found = program(f"int n = b[0] > 1;\n{SEND.format('b + n')}\n{SEND.format('b')}")
    plan = all_kept(found.program.functions, EFFECTS, TooLargeError(["main", "main", "f"]))
    assert [(d.code, d.form) for d in plan.decisions] == [("OPI104", "OPI401")] * 2
    assert plan.decisions[1].message.startswith("the message lies in `b`, and line ")


def test_what_another_plan_shows_counts() -> None:
    found = program(f"{SEND.format('b')}\n{SEND.format('c')}")
    kept = all_kept(found.program.functions, EFFECTS, TooLargeError(["main"]))
    first, second = kept.decisions

    def decided(d: Decision, decision: str, code: str) -> Decision:
        return Decision(d.span, d.function, d.call, d.side, d.buffer, d.object, decision, code, "told")

    shown = with_shown(kept, Plan((decided(first, "convert", ""), decided(second, "keep", "OPI103"))))
    assert [d.decision for d in shown.decisions] == ["convert", "keep"]
    assert shown.decisions[1].code == "OPI401", "that reason may have to do with the rest of the program"
    told = with_shown(kept, Plan((decided(second, "keep", "OPI102"),)))
    assert [d.code for d in told.decisions] == ["OPI401", "OPI102"]


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "top", "code"),
    [
        (SEND.format("b"), TOP, None),
        (SEND.format("&x"), "static double x;", Reason.SMALL),
        (f"other(b);\n{SEND.format('b')}", TOP, Reason.UNKNOWN_FUNCTION),
    ],
)
def test_reasons_that_concern_every_use(body: str, top: str, code: Reason | None) -> None:
    found = program(body, top)
    (buffer,) = [x for x in found.buffers.values() if x.uses]
    facts = BufferFacts(ProgramFacts(found.units, found.program, Options()), buffer)
    refusals = [c.buffer(facts) for c in TABLE if c.buffer is not None]
    assert next((r.reason for r in refusals if r is not None), None) is code


@pytest.mark.parametrize(
    ("call", "stays"),
    [
        (SEND.format("b"), False),
        ("MPI_Request q; MPI_Send_init(b, 1000, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &q);", True),  # a persistent request
        ("MPI_Send(b, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);", True),  # it travels in the envelope
    ],
)
def test_how_a_use_is_written(call: str, stays: bool) -> None:
    found = program(call)
    buffer = found.buffers["b"]
    facts = BufferFacts(ProgramFacts(found.units, found.program, Options()), buffer)
    site = Site(facts, buffer.uses[0].place, list(buffer.uses), False)
    refusals = [c.site(site) for c in TABLE if c.site is not None and c.form]
    assert any(refusals) is stays


# --- functions that have to be seen -----------------------------------------------------------------------------------

PROGRAM = """
static double b[64], u[64]; static int n, k; void unknown(void);
static void computes(void) { for (int i = 0; i < 8; i++) u[i] *= 2; }
static void counts(void) { n = 7; }
static void gives(void) { unknown(); }
static void reads(void) { u[0] = b[3]; }
static void never(void) { exit(1); }
int main(int argc, char **argv)
{
    computes(); counts(); reads(); if (argc > 5) never(); if (argc > 7) gives();
    MPI_Send(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    return 0;
}
"""


def relevance(text: str) -> Relevance:
    found = around(text)
    variables = {k: v for k, v in found.whole.variables.items() if v.is_global} | found.whole.variables
    return relevant(found.lowerings, EFFECTS, found.pointers, variables, found.called_back)


def test_functions_that_a_message_can_depend_on() -> None:
    told = relevance(PROGRAM)
    seen = {name.rpartition(":")[2] for name in told.seen}
    assert {"counts", "reads", "gives"} <= seen
    assert "computes" not in seen
    assert {name.rpartition(":")[2] for name in told.ending} == {"never"}
    assert {name.rpartition(":")[2] for name in told.reached} >= {"main", "computes", "never"}
    every = followed_all(told)
    assert every.seen >= told.seen
    assert "computes" in {name.rpartition(":")[2] for name in every.seen}


def facts(name: str) -> tuple[Facts, Objects]:
    """What a function of the program does by itself."""
    found = around(PROGRAM)
    flat = Flat(found.lowerings, EFFECTS, found.pointers)
    objects = Objects(found.whole.variables)
    points_to = GraphPointsTo(flat.graph(), found.whole.variables, objects, EFFECTS, flat=True)
    reach = Reach(flat, points_to, found.whole.variables, EFFECTS)
    (frame,) = [i for i, key in enumerate(flat.names) if key.rpartition(":")[2] == name]
    return reach.facts(frame), objects


@pytest.mark.parametrize(
    ("name", "written", "loud", "opaque"),
    [
        ("computes", {"u"}, False, False),
        ("counts", {"n"}, False, False),
        ("reads", {"u"}, False, False),
        ("gives", set(), True, True),
    ],
)
def test_what_a_function_does_by_itself(name: str, written: set[str], loud: bool, opaque: bool) -> None:
    told, objects = facts(name)
    globals_ = {o.number: o.name for o in objects.table if o.frame < 0 and o.number}
    assert {globals_[o] for o in told.written if o in globals_} & {"u", "n", "b"} == written
    assert told.opaque is opaque
    assert (told.loud or told.speaks) is loud
    assert ("b" in {objects.table[o].name for o in told.touched}) is (name == "reads")


def test_the_functions_that_one_calls() -> None:
    told, _ = facts("main")
    called = {name.rpartition(":")[2] for name in told.callees}
    assert {"computes", "counts", "reads", "never", "gives"} <= called
    assert "never" in {name.rpartition(":")[2] for name in told.wanted}
    body = around(PROGRAM).lowerings.get("main")
    assert len([c for c in called_in(body) if isinstance(c.callee, ins.AddrFunc)]) == 6


# --- pointers that change places --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("double *t = p; p = q; q = t;", 1),
        ("double *t; t = p; p = q; q = t;", 1),
        ("double *t = p; p = q; q = p;", 0),
        ("double *t = p; p = q; other(t); q = t;", 0),
        ("p = q;", 0),
    ],
)
def test_pointers_that_change_places(body: str, count: int) -> None:
    """In the graph as it is written: the sends see to it that nothing was taken out before."""
    found = source(
        "static double *p, *q; void other(double *); static double *r;\n"
        "int main(int argc, char **argv)\n{\np = malloc(80); q = malloc(80);\n"
        f"if (argc) {{ {body} }}\nr = p;\nMPI_Send(p, 10, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);\nreturn r == q;\n}}\n"
    )
    swaps = find(found.program)
    assert len(swaps) == count
    for one in swaps:
        places = {one.first[0], one.second[0]}
        assert len(places) == 2
        assert one.stores[0] < one.stores[1]
    assert len(sound(found.program, swaps)) <= count


@pytest.mark.parametrize(("sent", "count"), [("q", 1), ("r", 1), ("other", 0), ("fixed", 0)])
def test_pointers_change_places_where_a_message_may_be_in_their_blocks(sent: str, count: int) -> None:
    """Of other blocks it says nothing, and the program would be looked at once more for it."""
    found = source(
        "static double *p, *q, *r, *other; static double fixed[10];\nint main(int argc, char **argv)\n{\n"
        "p = malloc(80); q = malloc(80); other = malloc(80); r = p;\n"
        "if (argc) { double *t = p; p = q; q = t; }\n"
        f"MPI_Send({sent}, 10, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);\nreturn p == q;\n}}\n"
    )
    assert len(find(found.program)) == count
