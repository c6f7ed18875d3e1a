"""The call is written where it stands: a macro's body is used in several places."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """Its name or its arguments come from a macro's body."""
    call = site.uses[0].call
    if call.callee_span.editable and call.span.editable:
        return None
    return Refusal(Reason.MACRO, "the call is written by a macro body")


CONDITION = Condition(
    "text",
    "No macro's body makes the call.",
    codes=(Reason.MACRO.send, Reason.MACRO.recv),
    enforced=("frontend.macros.written_out:written_out",),
    site=check,
    form=True,
)
