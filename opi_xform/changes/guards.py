"""A receive that may be from MPI_PROC_NULL, and then does nothing: it is not called then."""

from __future__ import annotations

from opi_xform.changes.call import CallText
from opi_xform.changes.copies import is_ignored
from opi_xform.changes.model import Change
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import SiteKey


def guarded(_: Program, site: SiteKey, call: CallText, __: str, nobody: bool) -> Change | None:
    """The call under a test of its source: without a status, a receive from MPI_PROC_NULL leaves no trace."""
    use, op, peer = call.use, call.use.op, call.use.buffer.peer
    if op.kind != "recv" or not op.blocking or op.persistent or op.status is None or peer is None or not nobody:
        return None
    if not is_ignored(use.call.args[op.status]) or call.ground.means_its_own(("MPI_PROC_NULL",)):
        return None
    if call.target is not None or not all(call.again(i) for i in range(len(use.call.args))):
        return None  # what the call returns is kept, or an argument does something
    words = "a test of the source against MPI_PROC_NULL around the call"
    return Change("guard", site, {site[0]: call.around((), (), (), call.somebody(peer))}, words)
