"""Where the program compares the pointer with NULL, it finds what it found before.

OPI_Give and OPI_Free leave NULL in the carrier, and OPI_Alloc ends the job where there is no memory.  So a test of the
pointer may find another answer, and a program that goes on without memory would not.  OPI_Malloc tells of it.
"""

from __future__ import annotations

from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Placed
from opi_xform.ownership.model.buffers import Refusal


def check(placed: Placed) -> Refusal | None:
    """A test that the placement could not show to find the same (``Placement.test``)."""
    return placed.placement.test


CONDITION = Condition(
    "comparison with NULL",
    "Where the program compares the pointer with NULL, it finds what it found before.",
    cases=("c_null_*", "null_*", "lazy_*"),
    enforced=(
        "ownership.allocation.null_tests:uncertain_test",
        "ownership.allocation.lazy_tests:tests_of_allocations",
    ),
    words=("ownership.placement.place:place",),
    calls=check,
)
