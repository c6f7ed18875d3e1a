"""What is done with a buffer's address: what each condition of ``conditions/addresses`` keeps and lets pass."""

from __future__ import annotations

import pytest
from conditions_support import FILL, SEND, TOP, buffer_facts, main, placed, reason, site

from opi_xform.codes import Reason
from opi_xform.ownership.conditions.addresses import (
    begins,
    escape,
    exposed,
    members,
    null_comparison,
    parameters,
    values,
)
from opi_xform.ownership.deciding.condition import Condition

SHARED = "double b[1000];"
OTHER = "void other(double *);"
HEAP = "static double *b, u;"
NEW = "b = malloc(1000 * sizeof(double));"


@pytest.mark.parametrize(
    ("condition", "stays", "passes", "why"),
    [
        (escape.CONDITION, main(f"other(b); {SEND}", TOP + OTHER), main(SEND), Reason.UNKNOWN_FUNCTION),
        (values.CONDITION, main(f"{SEND} return (uintptr_t)b % 7;"), main(SEND), Reason.OLD_ADDRESS),
        (
            exposed.CONDITION,  # without main(), other files see it
            f"{SHARED}\nvoid f(void) {{ {SEND} }}\n",
            f"static {SHARED}\nvoid f(void) {{ {SEND} }}\n",
            Reason.OUTSIDE,
        ),
    ],
)
def test_a_buffer(condition: Condition, stays: str, passes: str, why: Reason) -> None:
    assert condition.buffer is not None
    assert reason(condition.buffer(buffer_facts(stays))) == why.name
    assert condition.buffer(buffer_facts(passes)) is None


STRUCT = "struct s { double *p; }; static struct s h;"
SEND_MEMBER = "h.p = malloc(8000); MPI_Send(h.p, 1000, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); free(h.p);"
ASM = 'static void odd(void) { h.p[0] = 1; __asm__("nop"); }'


@pytest.mark.parametrize(("more", "stays"), [("", False), (ASM, True)])
def test_a_member_that_is_named_where_nothing_is_analysed(more: str, stays: bool) -> None:
    facts = buffer_facts(main(SEND_MEMBER, f"{STRUCT}\n{more}"))
    assert facts.found.carrier.variable in facts.program.members
    assert members.CONDITION.buffer is not None
    assert reason(members.CONDITION.buffer(facts)) == ("NOT_ANALYSED" if stays else "")


GIVES = "static void give(double *p) {{ {} MPI_Send(p, 1000, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); }}"


@pytest.mark.parametrize(
    ("condition", "stays", "passes"),
    [
        (
            begins.CONDITION,  # from the second element on
            main("MPI_Send(b + 1, 999, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"),
            main(SEND),
        ),
        (
            parameters.CONDITION,  # what the function changes is its copy
            main(f"{NEW} give(b);", f"{HEAP}\n{GIVES.format('p[0] = 1; p++; p--;')}"),
            main(f"{NEW} give(b);", f"{HEAP}\n{GIVES.format('p[0] = 1;')}"),
        ),
    ],
)
def test_a_site(condition: Condition, stays: str, passes: str) -> None:
    assert condition.site is not None
    assert reason(condition.site(site(stays))) == "CARRIER"
    assert condition.site(site(passes)) is None


@pytest.mark.parametrize(
    ("test", "stays"),
    [
        ("if (b) u++;", True),  # with libopi it is NULL, as it was given away
        ("", False),
    ],
)
def test_a_comparison_with_null(test: str, stays: bool) -> None:
    at = placed(main(f"if (argc > 1) {NEW} for (int k = 0; k < 4; k++) {{ {test} {FILL} {SEND} }}", HEAP))
    assert null_comparison.CONDITION.calls is not None
    assert reason(null_comparison.CONDITION.calls(at)) == ("OLD_ADDRESS" if stays else "")
