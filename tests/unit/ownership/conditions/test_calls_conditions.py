"""How a call is written: what each condition of ``conditions/calls`` keeps, and what it lets pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conditions_support import FILL, SEND, TOP, buffer_facts, main, program_facts, reason, site
from ownership_support import source

from opi_xform.codes import Reason
from opi_xform.ownership.conditions.calls import (
    analysed,
    datatype,
    few_bytes,
    form,
    macro,
    own_mpi,
    requested,
    small,
    variable,
)
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts, ProgramFacts, Site
from opi_xform.ownership.model.buffers import Options, Refusal
from opi_xform.ownership.model.plan import Told

UNKNOWN_TYPE = "MPI_Send(b, 10, (MPI_Datatype)argc, 1, 7, MPI_COMM_WORLD);"
STARTED = "MPI_Request q; MPI_Send_init(b, 1000, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &q);"
BY_MACRO = f"{TOP}\n#define GO() {SEND}"


def check(condition: Condition, at: Site) -> Refusal | None:
    assert condition.site is not None
    return condition.site(at)


@pytest.mark.parametrize(
    ("condition", "stays", "passes", "why"),
    [
        (form.CONDITION, main(STARTED), main(SEND), Reason.CALL_FORM),  # a persistent request
        (macro.CONDITION, main("GO()", BY_MACRO), main(SEND), Reason.MACRO),
        (small.CONDITION, main("MPI_Send(b, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"), main(SEND), Reason.SMALL),
        (datatype.CONDITION, main(UNKNOWN_TYPE), main(SEND), Reason.CALL_FORM),
    ],
)
def test_a_site(condition: Condition, stays: str, passes: str, why: Reason) -> None:
    refusal = check(condition, site(stays))
    assert refusal is not None
    assert refusal.reason is why
    assert check(condition, site(passes)) is None


@pytest.mark.parametrize(("why", "stays"), [(Reason.NOT_ANALYSED, True), (Reason.READ_LATER, False)])
def test_a_call_that_is_not_reached(why: Reason, stays: bool) -> None:
    """Of what liveness says of a site this condition tells that alone: the rest is told by others."""
    at = site(main(SEND))
    assert check(analysed.CONDITION, at) is None
    vars(at)["needed"] = Refusal(why, "so it is")
    assert reason(check(analysed.CONDITION, at)) == (why.name if stays else "")


@pytest.mark.parametrize(("least", "stays"), [(0, False), (8000, False), (8001, True)])
def test_a_message_has_as_many_bytes_as_are_asked_for(least: int, stays: bool) -> None:
    refusal = check(few_bytes.CONDITION, site(main(SEND), options=Options(min_bytes=least)))
    assert reason(refusal) == ("FEW_BYTES" if stays else "")


@pytest.mark.parametrize(("what", "off", "stays"), [("keep", 0, True), ("keep", 1, False), ("packed", 0, False)])
def test_a_comment_keeps_its_own_call(what: str, off: int, stays: bool) -> None:
    """off: how far after the beginning of the call the statement begins of which the comment speaks."""
    text = main(FILL + SEND)
    at = site(text)
    span = at.uses[0].call.span
    told = Told(what, "b", span.file, span.begin + off, span.end + off, span)
    facts = BufferFacts(ProgramFacts(at.facts.units, at.program, Options(told=(told,))), at.facts.found)
    refusal = check(requested.CONDITION, Site(facts, at.place, at.uses, wordless=False))
    assert reason(refusal) == ("REQUESTED" if stays else "")


@pytest.mark.parametrize(
    ("top", "sent", "why"),
    [
        ("static double b[1000];", "b", None),
        ("static double *b;", "b", None),
        ("static double b;", "&b", Reason.SMALL),
        ("static struct { double x[1000]; } b;", "&b", Reason.DECLARATION),
    ],
)
def test_the_buffer_is_an_array_or_behind_a_pointer(top: str, sent: str, why: Reason | None) -> None:
    allocated = "b = malloc(8000);" if "*" in top else ""
    facts = buffer_facts(main(f"{allocated} MPI_Send({sent}, 1000, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);", top))
    check_buffer: Callable[..., Refusal | None] | None = variable.CONDITION.buffer
    assert check_buffer is not None
    refusal = check_buffer(facts)
    assert (refusal.reason if refusal is not None else None) is why


OWN = "int MPI_Send(const void *p, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) { return 0; }"
BELOW = "int PMPI_Send(const void *, int, MPI_Datatype, int, int, MPI_Comm);"
LOOP_OF_TWO_ENTRIES = "if (argc > 1) goto in; again: argc++; in: argc += 2; if (argc < 90) goto again;"


@pytest.mark.parametrize(
    ("condition", "text", "why"),
    [
        (own_mpi.CONDITION, main(SEND), None),
        (own_mpi.CONDITION, main(SEND, f"{OWN}\n{TOP}"), Reason.CALL_FORM),
        (own_mpi.CONDITION, main("P" + SEND, f"{BELOW}\n{TOP}"), Reason.CALL_FORM),
        (analysed.CONDITION, main(SEND), None),
        (analysed.CONDITION, main(f"{LOOP_OF_TWO_ENTRIES}\n{SEND}"), Reason.NOT_ANALYSED),
        (
            analysed.CONDITION,
            main(SEND, f"{TOP}\n__attribute__((constructor)) static void first(void) {{ b[0] = 1; }}"),
            Reason.NOT_ANALYSED,
        ),
    ],
)
def test_a_program(condition: Condition, text: str, why: Reason | None) -> None:
    assert condition.program is not None
    refusal = condition.program(program_facts(source(text), Options()))
    assert (refusal.reason if refusal is not None else None) is why


def test_a_message_that_goes_past_libopi_is_told_before_what_completes_it() -> None:
    complete = "int PMPI_Wait(MPI_Request *, MPI_Status *); MPI_Request rq;"
    waits = main(f"PMPI_Wait(&rq, MPI_STATUS_IGNORE);\n{SEND}", f"{complete}\n{TOP}")
    both = main(f"PMPI_Wait(&rq, MPI_STATUS_IGNORE);\nP{SEND}", f"{complete}\n{BELOW}\n{TOP}")
    assert own_mpi.CONDITION.program is not None
    told = [own_mpi.CONDITION.program(program_facts(source(text), Options())) for text in (waits, both)]
    assert [refusal.message for refusal in told if refusal is not None] == [
        "`PMPI_Wait` bypasses libopi: what it completes is no request of libopi's; `MPI_Wait` would not",
        "`PMPI_Send` bypasses libopi: what it sends reaches no receive of libopi's; `MPI_Send` would not",
    ]
