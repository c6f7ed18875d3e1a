"""Broadcasts: the root alone reads its buffer, and every other rank of the communicator gets all of it anew."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.memory.poly import Poly, symbol
from opi_xform.once import once
from opi_xform.ownership.liveness.failures import failures_of
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.names import names_of
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Broadcast:
    """One whose root is known.

    away: the rank of the process less the root, 0 on the root.  brings: on other ranks all of the buffer comes, as no
    call of MPI may fail and return.
    """

    away: Poly
    brings: bool


@once
def broadcasts_of(program: Program) -> Mapping[int, Broadcast]:
    """By node.  Only blocking ones count, where the process has asked for its rank.

    A root that may be negative may be MPI_ROOT, or MPI_PROC_NULL, of an intercommunicator: of such a call the ranks
    tell nothing.
    """
    symbols, out = program.values.symbols, dict[int, Broadcast]()
    brings = not failures_of(program).returns
    for n, op in names_of(program).operations.items():
        args = program.values.args.get(n, ())
        if op.kind != "collective" or not op.replaces or not op.blocking or op.persistent or op.send != op.recv:
            continue
        if op.comm is None or op.root is None or max(op.comm, op.root) >= len(args):
            continue
        rank, root = symbols.known("op", "output", "MPI_Comm_rank", 1, (args[op.comm],)), args[op.root]
        if rank is not None and symbols.is_nonneg(symbols.resolve(root)):
            out[n] = Broadcast(symbols.resolve(symbol(rank) - root), brings)
    return out
