"""How many elements a status tells of: no more than the receive has room for that was given it last.

``MPI_Recv(b, n, T, …, &status); MPI_Get_count(&status, T, &count);``: ``count`` is at most ``n`` (MPI 4.1, section
3.2.5), or negative (MPI_UNDEFINED).
"""

from __future__ import annotations

from opi_xform.calls.calls import Calls
from opi_xform.ir import instr as ins
from opi_xform.memory.extent import extent, extent_of
from opi_xform.memory.poly import Poly
from opi_xform.memory.symbols import Most
from opi_xform.memory.values import Values

COUNTS = "MPI_Get_count"
_STATUS, _DATATYPE = 0, 1  # its arguments


def most_come(known: Values, calls: Calls, version: int, told: tuple[ins.CallInstr, tuple[Poly, ...]]) -> Most | None:
    """What a count is at most.  version: of the status' memory, which names the node that has changed it last.
    told: the call that tells the count, and its values.
    """
    key, (call, values) = known.symbols.table[version].key, told
    n = key[0] if len(key) == 1 else None
    receive = calls.graph.nodes[n].action if isinstance(n, int) else None
    if not isinstance(n, int) or not isinstance(receive, ins.CallInstr):
        return None
    effect = calls.effect(receive)
    op, given = None if effect is None else effect.mpi, known.args.get(n)
    if op is None or given is None or not op.blocking or op.recv is None or op.status is None:
        return None
    count, datatype = op.recv.count, op.recv.type
    if op.kind not in ("recv", "sendrecv") or op.recv.vector or count is None or datatype is None:
        return None
    if max(count, datatype, op.status) >= len(given) or given[op.status] != values[_STATUS]:
        return None
    if _same(call.args[_DATATYPE], values[_DATATYPE], receive.args[datatype], given[datatype]):
        return Most(1, given[count])
    size, room = extent(call.args[_DATATYPE]), extent_of(known, receive.args[datatype], given[datatype])
    return None if size is None or room is None else Most(size, given[count] * room)


def _same(a: ins.Operand, value: Poly, b: ins.Operand, other: Poly) -> bool:
    """Two arguments are one datatype."""
    if isinstance(a, ins.Const) and isinstance(b, ins.Const):
        return a.name == b.name != ""
    return value == other
