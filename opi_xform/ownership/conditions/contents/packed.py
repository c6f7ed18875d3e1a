"""Every byte that a send sends is written since the last hand-over, on every path.

The memory that OPI_Alloc brings holds nothing of what the buffer held before.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """Bytes are live after the send, and a send reads them."""
    return site.needed_for("send", Reason.OLD_BYTES)


CONDITION = Condition(
    "packed",
    "Every byte that a send sends is written since the last hand-over, on every path.",
    codes=(Reason.OLD_BYTES.send,),
    cases=("pack_*", "to_nobody_*"),
    enforced=("ownership.liveness.liveness:Judge", "regions.telescope:Telescope"),
    words=("ownership.explain.reasons:liveness_refusal", "ownership.explain.hints:with_hint"),
    site=check,
)
