"""A receive that may be from MPI_PROC_NULL leaves the buffer where it is then, as the MPI's own does.

The MPI standard: a receive from MPI_PROC_NULL completes without any change of the buffer.  ``OPI_Take_replace`` and
``OPI_Itake_replace`` do the same (``deciding/receives.py`` finds where one is wanted).
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """Where a receive would have to keep what is there, and the buffer can take no part in that."""
    buffer, program = site.buffer, site.program
    if site.place not in buffer.replacing:
        return None
    if buffer.swaps:
        message = f"the source may be MPI_PROC_NULL for another buffer, and `{buffer.name}` changes places"
        return Refusal(Reason.NULL_SOURCE, message)
    if site.facts.options.strict or program.alone:
        message = f"`{buffer.name}` may be touched before the receive is complete, as it may be from MPI_PROC_NULL"
        return Refusal(Reason.PENDING, message)
    return None


CONDITION = Condition(
    "real source",
    "Or the call that takes the receive's place leaves the buffer where it is.",
    enforced=("ownership.deciding.receives:replacing_together",),
    site=check,
)
