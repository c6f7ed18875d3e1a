"""``opi: assume disjoint(a, b)``: what it says of a program, and when it says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ownership_support import Source, source

from opi_xform.ir.span import Span
from opi_xform.ownership.disjoint import DISJOINT, Said, never_of, said_apart, with_assumption
from opi_xform.ownership.model.plan import Decision, Plan, Told

TOP = "static double b[N], c[N], d[N];\n"
MAIN = "int main(int argc, char **argv)\n{{\ndouble *p = b, *q = {other};\n{body}\nreturn p[0] + q[0] > 1;\n}}\n"
EITHER = "argc > 1 ? b : c"


def program(other: str, body: str = "") -> Source:
    return source(TOP + MAIN.format(other=other, body=body))


def said(found: Source, names: str, inside: bool = True) -> Said:
    """A comment in ``main``, or where the file begins."""
    (function,) = [f for f in found.program.functions.values() if f.name == "main"]
    span = function.span if inside else replace(function.span, begin=0, end=1)
    return said_apart(found.program, [Told("disjoint", names, span.file, span.begin, span.end, span)])


def test_what_the_other_may_stand_for_is_less_by_a_buffer() -> None:
    found = program(EITHER)
    ((_, fact),) = said(found, "p,q").facts
    assert (fact.variable, fact.where) == (found.key("q"), ("variable", found.key("b")))
    objects = found.program.values.objects
    ((pointer, gone),) = never_of(objects, [fact]).items()
    assert pointer == objects.variable(fact.frame, found.key("q"))
    assert gone == {objects.variable(-1, found.key("b"))}
    assert said(found, "q,p").facts[0][1] == fact, "the order of the names says nothing"


@pytest.mark.parametrize(
    ("names", "other", "why"),
    [
        ("p,q", "b", "`p` and `q` stand for the same memory"),
        ("p,q", "c", "that is known without it"),
        ("p,nobody", EITHER, "`nobody` is no one pointer or array here"),
        ("p,argc", EITHER, "`argc` is no one pointer or array here"),
    ],
)
def test_a_comment_that_says_nothing(names: str, other: str, why: str) -> None:
    found = said(program(other), names)
    assert found.facts == ()
    assert [reason for _, reason in found.refused] == [why]


def test_neither_stands_for_one_buffer() -> None:
    """One may stand for two, the other for these and a third one: which of them is no longer meant is not said."""
    found = program(f"argc > 3 ? d : {EITHER}", "if (argc > 2) p = c;")
    ((_, why),) = said(found, "p,q").refused
    assert why == "neither `p` nor `q` is known to stand for one buffer"


def test_a_comment_outside_of_all_functions() -> None:
    ((_, why),) = said(program(EITHER), "p,q", inside=False).refused
    assert why == "no site depends on the function that it stands in"


def decision(begin: int, what: str, *assumptions: str) -> Decision:
    return Decision(
        Span("a.c", begin, begin + 1, 1, 1), "f", "MPI_Send", "send", "b", "b", what, "", "", (), assumptions
    )


def test_what_converts_with_it_alone_rests_on_it() -> None:
    without = Plan((decision(1, "convert"), decision(9, "keep")))
    better = Plan((decision(1, "convert"), decision(9, "convert", "A1")))
    plan, used = with_assumption(without, better)
    assert used
    assert [d.assumptions for d in plan.decisions] == [(), ("A1", DISJOINT)]


@pytest.mark.parametrize(
    "other", [Plan((decision(1, "convert"), decision(9, "keep"))), Plan((decision(9, "convert"),))]
)
def test_a_plan_that_is_not_better_does_not_count(other: Plan) -> None:
    """The same sites convert, or another one no longer does."""
    without = Plan((decision(1, "convert"), decision(9, "keep")))
    assert with_assumption(without, other) == (without, False)
