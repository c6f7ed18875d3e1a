"""Memory that OPI_Alloc brings where there is none yet is written before it is read.

The program may read what nobody has written (an indeterminate value, C11 3.19.2, of unsigned char and the like): it is
the same value at each read, which memory that comes later is not.  A program may send it, though, to ask for work with
an array that it will receive into: who gets it can make nothing of it.  That needs memory that is there before the
loop, and nobody but sends may read it.
"""

from __future__ import annotations

from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Placed
from opi_xform.ownership.explain.culprits import readers_of_no_contents, unwritten
from opi_xform.ownership.explain.reasons import unwritten_refusal
from opi_xform.ownership.model.buffers import Refusal


def check(placed: Placed) -> Refusal | None:
    """Memory is asked for on some ways only, and what it holds is read."""
    going = placed.going
    guarded, ahead = placed.placement.guarded, placed.placement.ahead
    if not (guarded or ahead) or going.facts.buffer.cleared:
        return None
    sends = frozenset[int]() if guarded else {u.node for u in going.facts.buffer.uses if u.side == "send"}
    judges = going.facts.liveness.judges.values()
    bare = next((judge for judge in judges if unwritten(judge, going.supposed.packed | sends)), None)
    if bare is None:
        return None
    return unwritten_refusal(placed.program, going.facts.buffer, readers_of_no_contents(bare))


CONDITION = Condition(
    "first contents",
    "Memory that comes where there was none is written before it is read.",
    cases=("unwritten_*",),
    words=("ownership.explain.reasons:unwritten_refusal",),
    placed=check,
)
