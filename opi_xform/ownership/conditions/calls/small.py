"""The message is larger than what travels in its envelope anyway: with less, nothing would be gained."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.buffers.message_sizes import how_small, small
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """In every copy of the call it is as small."""
    return Refusal(Reason.SMALL, how_small(site.uses)) if small(site.uses) else None


CONDITION = Condition(
    "small",
    "The message is larger than what travels in its envelope.",
    codes=(Reason.SMALL.send, Reason.SMALL.recv),
    site=check,
    form=True,
    sound=False,
)
