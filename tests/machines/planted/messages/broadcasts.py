"""Bugs in what a broadcast reads in its root, and brings elsewhere."""

from tests.machines.planted.bug import Bug

_BROADCASTS = "opi_xform.ownership.liveness.broadcasts"

BUGS = (
    Bug(
        "the root of a broadcast reads nothing of its buffer",
        "opi_xform.ownership.liveness.buffer_events",
        'self.on_ranks("==", a,',
        'self.on_ranks("!=", a,',
        ("send_bcast_root",),
        condition="read after send",
        other_way=True,
    ),
    Bug(
        "a broadcast always brings something",
        _BROADCASTS,
        "brings = not failures_of(program).returns",
        "brings = True",
        ("send_bcast_errors",),
        condition="read after send",
    ),
    Bug(
        "MPI_ROOT is no root of a broadcast",
        _BROADCASTS,
        "if rank is not None and symbols.is_nonneg(symbols.resolve(root)):",
        "if rank is not None:",
        ("send_bcast_inter",),
        condition="read after send",
    ),
)
