"""The call is reached from main, by paths that the analysis follows."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import ProgramFacts, Site
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.spelling.attributes import unseen_call


def check_program(facts: ProgramFacts) -> Refusal | None:
    """Functions run that nothing is seen to call, or a loop has two entries: no path through it is known then."""
    unseen = unseen_call(facts.units)
    if unseen is not None:
        span, message = unseen
        return Refusal(Reason.NOT_ANALYSED, message, ((span, "here"),))
    if facts.program.nest.irreducible:
        message = "the program's control flow has a loop with two entries (goto into a loop)"
        return Refusal(Reason.NOT_ANALYSED, message)
    return None


def check(site: Site) -> Refusal | None:
    """A copy of the call is not reached."""
    return site.needed_for("", Reason.NOT_ANALYSED)


CONDITION = Condition(
    "analysed",
    "The call is reached from main, by paths that the analysis follows.",
    codes=(Reason.NOT_ANALYSED.send, Reason.NOT_ANALYSED.recv),
    enforced=("ownership.spelling.attributes:unseen_call", "ownership.decide:decide"),
    program=check_program,
    site=check,
)
