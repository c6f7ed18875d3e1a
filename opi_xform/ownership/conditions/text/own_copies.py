"""A variable that a header declares is one variable, not one of each file that includes it (C11 6.2.2)."""

from __future__ import annotations

from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.spelling.configurations import several


def check(facts: BufferFacts) -> Refusal | None:
    """The text of the declaration would change for all of them."""
    return several(facts.units, facts.program, facts.buffer)


CONDITION = Condition(
    "text",
    "The buffer's declaration is one variable's.",
    words=("ownership.spelling.configurations:several",),
    buffer=check,
)
