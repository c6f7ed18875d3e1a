"""The call has an ownership-passing form: opi.h has a function for it."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.explain.deepest import NO_FORM
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """The table of effects has no such form for it."""
    op = site.uses[0].op
    return None if op.convertible else Refusal(Reason.CALL_FORM, op.reason or NO_FORM)


CONDITION = Condition(
    "form of the call",
    "It has an ownership-passing form.",
    codes=(Reason.CALL_FORM.send, Reason.CALL_FORM.recv),
    enforced=("ownership.buffers.uses:collect",),
    site=check,
    form=True,
)
