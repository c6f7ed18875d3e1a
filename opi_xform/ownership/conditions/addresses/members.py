"""A pointer in a struct or a table is one place in memory, and only its own loads and stores reach it."""

from __future__ import annotations

from opi_xform.ownership.buffers.members import member_refusal
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.model.buffers import Refusal


def check(facts: BufferFacts) -> Refusal | None:
    """Text that is not analysed names the member."""
    member = facts.program.members.get(facts.found.carrier.variable)
    return None if member is None else member_refusal(facts.units, member, facts.program)


CONDITION = Condition(
    "members and tables",
    "A pointer in a struct or a table is one place in memory, and only its own loads and stores reach it.",
    cases=("const_*", "member_*", "nested_*", "table_*", "twins_*"),
    enforced=(
        "ownership.buffers.members:promote",
        "ownership.buffers.tables:TableFinder",
        "ownership.buffers.same_member:table_of",
    ),
    words=("ownership.buffers.members:member_refusal",),
    buffer=check,
)
