"""A message begins where its buffer does: what is handed over is a block of memory, from its start.

Where the buffer is one row of an array of pointers, the message begins at a row's start.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.explain.part_reasons import inside_refusal
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """The first copy of the call that begins elsewhere, or of which that is not known."""
    buffer = site.buffer
    for u in site.uses:
        if u.lo is None:
            message = f"where in `{buffer.name}` the call begins is not known: its pointer is set in several ways"
            return Refusal(Reason.CARRIER, message)
        if (u.row is None and u.lo.terms) or bool(u.row) != bool(buffer.carrier.rows):
            return inside_refusal(site.program, buffer, u)
    return None


CONDITION = Condition(
    "carrier",
    "The message begins where the buffer does.",
    codes=(Reason.CARRIER.send, Reason.CARRIER.recv, Reason.SEVERAL_BUFFERS.send),
    enforced=("ownership.buffers.uses:buffers", "ownership.explain.pointers.unknown_buffers:stray_refusal"),
    words=("ownership.explain.part_reasons:inside_refusal",),
    site=check,
    form=True,
)
