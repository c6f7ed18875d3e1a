"""No byte of the buffer is read after the send before it is written again.

Friedley et al.: the sender gives the buffer away, and what it reads afterwards is not there.  Liveness (a backward
problem of data flow) of its bytes, as integer sets, tells what is read.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """Bytes are live after the send, and another access than a send reads them."""
    return site.needed_for("send", Reason.READ_LATER)


CONDITION = Condition(
    "read after send",
    "No byte of the buffer is read after the send before it is written again.",
    codes=(Reason.READ_LATER.send,),
    cases=("send_*", "statement_*"),
    enforced=("ownership.liveness.liveness:Judge", "regions.live:Live"),
    words=("ownership.explain.reasons:liveness_refusal", "ownership.explain.hints:with_hint"),
    site=check,
)
