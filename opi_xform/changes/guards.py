"""A receive that may be from MPI_PROC_NULL, and then does nothing: it is not called then."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.changes.call import CallText
from opi_xform.changes.copies import is_ignored, nobody
from opi_xform.changes.ground import Ground
from opi_xform.changes.model import Change, Site
from opi_xform.ownership.model import Program, Use


def guarded(program: Program, site: Site, uses: Sequence[Use], use: Use, ground: Ground) -> Change | None:
    """The call under a test of its source: without a status, a receive from MPI_PROC_NULL leaves no trace."""
    op, peer = use.op, use.buffer.peer
    if op.kind != "recv" or not op.blocking or op.persistent or op.status is None or peer is None:
        return None
    call = CallText.of(program, use, ground)
    if call is None or not is_ignored(use.call.args[op.status]) or ground.means_its_own(("MPI_PROC_NULL",)):
        return None
    if call.target is not None or not all(call.again(i) for i in range(len(use.call.args))):
        return None  # what the call returns is kept, or an argument does something
    test = nobody(program, call, uses, peer)
    words = "a test of the source against MPI_PROC_NULL around the call"
    return Change("guard", site, {site[0]: call.around((), (), (), test)}, words) if test else None
