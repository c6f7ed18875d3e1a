"""The source of a receive is a real rank, or what is read does not rest on the message.

The MPI standard: a receive from MPI_PROC_NULL completes at once, and brings nothing.  Assumption A2: a source is a real
rank where no value flows into it that may be MPI_PROC_NULL.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """Bytes are live after the receive where it brings nothing."""
    return site.needed_for("recv", Reason.NULL_SOURCE)


CONDITION = Condition(
    "real source",
    "The source of a receive is a real rank, or what is read does not rest on the message (A2).",
    codes=(Reason.NULL_SOURCE.recv,),
    enforced=("ownership.procnull.sources:ProcNull", "ownership.procnull.real_ranks:Ranks"),
    words=("ownership.explain.reasons:liveness_refusal", "ownership.explain.hints:with_hint"),
    site=check,
)
