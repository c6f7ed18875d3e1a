"""Receives that keep what is there where their source is MPI_PROC_NULL (``OPI_Take_replace``, ``OPI_Itake_replace``).

Such a receive is two: from a real rank it brings what is read after it, and what was there goes; from MPI_PROC_NULL it
does nothing.  ``Judge`` finds where one has to be both.  The call is written once for all buffers that come to it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from opi_xform.ownership.explain.deepest import shared_places
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Place, Program
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.procnull.sources import proc_null
from opi_xform.ownership.requests.pending import some_pending_at


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


def touched_early(program: Program, buffer: Buffer, facts: Mapping[int, Judge]) -> frozenset[Place]:
    """Receives that return at once, may be from MPI_PROC_NULL, and into whose buffer the program may look before they
    are complete: from MPI_PROC_NULL there is nothing to wait for, and boundary values are often set there.

    An OPI_Itake leaves NULL meanwhile, wherever it is from.
    """
    names, null = names_of(program), proc_null(program)
    out: set[Place] = set()
    for u in buffer.uses:
        peer = u.buffer.peer
        if u.side != "recv" or u.op.blocking or not u.op.opi_recv_replace or u.place in out:
            continue
        if (peer is None or null.possible(u.node, peer)) and some_pending_at(names, u, facts[u.object].accesses):
            out.add(u.place)
    return frozenset(out)


def replacing_places(buffer: Buffer, facts: Mapping[int, Judge], also: Collection[Place]) -> frozenset[Place]:
    """The receives of a buffer that keep what is there: those that have to, and of others ``also``."""
    out = {u.place for u in buffer.uses if u.side == "recv" and u.place in also}
    for u in buffer.uses:
        finding = facts[u.object].findings.get((u.node, u.argument))
        if finding is not None and finding.replacing:
            out.add(u.place)
    return frozenset(out)
