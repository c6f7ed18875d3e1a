"""What is too large to be computed counts as read everywhere and written nowhere."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.model.buffers import Refusal


def check(facts: BufferFacts) -> Refusal | None:
    """The integer sets of one of its objects took too long."""
    if not any(judge.exceeded for judge in facts.liveness.judges.values()):
        return None
    message = "the regions of this buffer are too complicated; it counts as read everywhere"
    return Refusal(Reason.BUDGET, message)


CONDITION = Condition(
    "budget",
    "What is too large to be computed counts as read everywhere and written nowhere.",
    codes=(Reason.BUDGET.send,),
    cases=("budget_*",),
    enforced=("regions.sets:Regions",),
    buffer=check,
)
