"""What library functions give back, to ``Taint``: numbers that are made of others, and new memory."""

from __future__ import annotations

from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import instr as ins
from opi_xform.ownership.procnull.kinds import ALL, EITHER, NO_MARKS, Marks, Stretch, is_floating
from opi_xform.ownership.procnull.marked import Marked


def made_of(taint: Marked, reads: list[tuple[int, Stretch | None]]) -> Marks:
    """What a number is that a call makes of what it reads: anything where it is not known what that is."""
    if not reads or any(taint.holds(o, stretch) for o, stretch in reads):
        return ALL
    shared = any(is_floating(taint.objects.table[o].type) for o, _ in reads if o not in taint.own)
    return taint.passed() if shared else NO_MARKS


def fill_new(taint: Marked, n: int, frame: int, effect: FunctionEffect, call: ins.CallInstr) -> None:
    """What new memory holds: zeros, nothing, what another held (``realloc``), or what nobody knows (``strdup``)."""
    spec = effect.allocates
    if spec is None or (spec.copies_from is None and not spec.contents):
        return
    old: frozenset[int] = frozenset()
    if spec.copies_from is not None and spec.copies_from < len(call.args):
        old = taint.program.points_to.operand(frame, call.args[spec.copies_from])
    for kind in EITHER:
        if spec.contents or any(taint.holds(o, None, (kind,)) for o in old):
            taint.put(taint.objects.heap(n), None, (kind,))
