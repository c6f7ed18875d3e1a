"""After a receive only those bytes are read that it brings.

The memory that OPI_Take brings holds the message, and nothing of what the buffer held before.  Assumption A1: no byte
is read beyond the length of the message that matched.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """Bytes are live after the receive that it does not bring; or what reads them may read another buffer."""
    return site.needed_for("recv", Reason.READ_LATER, Reason.OLD_BYTES, Reason.SEVERAL_BUFFERS)


CONDITION = Condition(
    "read after receive",
    "After a receive only those bytes are read that it brings.",
    codes=(Reason.READ_LATER.recv, Reason.OLD_BYTES.recv),
    cases=("recv_*", "counted_read_*"),
    enforced=("ownership.liveness.liveness:Judge", "regions.live:Live", "regions.grown:Grown"),
    words=("ownership.explain.reasons:liveness_refusal", "ownership.explain.hints:with_hint"),
    site=check,
)
