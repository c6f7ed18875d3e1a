"""Receives that keep what is there where their source is MPI_PROC_NULL (``OPI_Take_replace``, ``OPI_Itake_replace``).

Such a receive is two: from a real rank it brings what is read behind it, and what was there goes; from MPI_PROC_NULL it
does nothing.  ``Judge`` finds where one has to be both.  The call is written once for all buffers that come to it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from opi_xform.ownership.deepest import shared_places
from opi_xform.ownership.liveness import Judge
from opi_xform.ownership.model import Buffer, Place, Program, Refusal
from opi_xform.ownership.procnull import proc_null


def replacing_together(program: Program, groups: Sequence[Buffer]) -> frozenset[Place]:
    """Receives that several buffers come to, and whose source may be MPI_PROC_NULL for one of them."""
    shared = shared_places(groups, ())
    null = proc_null(program)
    out: set[Place] = set()
    for use in (u for buffer in groups for u in buffer.uses):
        if use.side == "recv" and use.place in shared - out and use.op.opi_recv_replace:
            peer = use.buffer.peer
            if peer is not None and null.possible(use.node, peer):
                out.add(use.place)
    return frozenset(out)


def replacing_places(buffer: Buffer, facts: Mapping[int, Judge], together: Collection[Place]) -> frozenset[Place]:
    """The receives of a buffer that keep what is there: those that have to, and ``together``."""
    out = {u.place for u in buffer.uses if u.side == "recv" and u.place in together}
    for u in buffer.uses:
        finding = facts[u.object].findings.get((u.node, u.argument))
        if finding is not None and finding.replacing:
            out.add(u.place)
    return frozenset(out)


def replacing_refusal(buffer: Buffer, place: Place) -> Refusal | None:
    """A buffer whose pointer changes places with another one takes no part in it."""
    if place not in buffer.replacing or not buffer.swaps:
        return None
    return Refusal("03", f"the source may be MPI_PROC_NULL for another buffer, and `{buffer.name}` changes places")
