"""The liveness of one buffer's objects: with what counters say of it, and what comments do, where that may help."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from opi_xform.ownership.buffers.counted import counted
from opi_xform.ownership.deciding.receives import replacing_places, touched_early
from opi_xform.ownership.liveness.findings import fine
from opi_xform.ownership.liveness.liveness import Alike, Judge
from opi_xform.ownership.model.buffers import Buffer, Options, Place, Program
from opi_xform.ownership.model.plan import Told
from opi_xform.ownership.spelling.comments import Remark, about, never_packed
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Judging:
    """judges: by object.  buffer: with what they say of it.  by_hand: sites that convert only because of a comment
    (A4).  remarks: about comments.
    """

    judges: dict[int, Judge]
    buffer: Buffer
    by_hand: frozenset[Place]
    remarks: tuple[Remark, ...]


Known = dict[Alike, Judge]
"""What was judged of the memory that buffers share, under other names."""


def judge(
    program: Program,
    buffer: Buffer,
    options: Options,
    together: Collection[Place],
    known: Known | None = None,
    told_only: bool = False,
) -> Judging:
    """together: see ``replacing_together``.  known: it grows.  told_only: no site of the buffer converts anyway."""
    known = {} if known is None else known
    judges = {o: _judge(program, buffer, o, options, known, frozenset(), told_only) for o in buffer.objects}
    remarks: list[Remark] = []
    filled = _filled(program, buffer, options, judges, known, told_only)
    by_hand = _assumed_packed(program, buffer, options, judges, filled, remarks, known)
    early: frozenset[Place] = frozenset()
    if not any(one.exceeded for one in judges.values()):  # else it stays, whatever its receives would keep
        early = touched_early(program, buffer, judges)
    buffer = replace(
        buffer,
        zeros=any(judge.zeros for judge in judges.values()),
        replacing=replacing_places(buffer, judges, {*together, *early}),
        cleared=any(judge.cleared for judge in judges.values()),
    )
    for one in judges.values():
        one.replacing = buffer.replacing
    return Judging(judges, buffer, frozenset(by_hand), tuple(remarks))


def _judge(
    program: Program,
    buffer: Buffer,
    o: int,
    options: Options,
    known: Known,
    packed: frozenset[Place],
    told_only: bool,
) -> Judge:
    """A judge of its own, with what was found out under other names."""
    alike = Judge.alike(buffer, o, options.strict, packed, told_only)
    first = known.get(alike)
    if first is None:
        first = known[alike] = Judge(program, buffer, o, options.strict, packed, told_only)
    return first.under_another_name(buffer)


def _filled(
    program: Program, buffer: Buffer, options: Options, judges: dict[int, Judge], known: Known, told_only: bool
) -> frozenset[Place]:
    """Judges once more with what counters say of sends, where that may help."""
    if buffer.swaps or all(fine(judge.initial, judge.findings) for judge in judges.values()):
        return frozenset()  # what a counter says of a name is not said of the block that it got
    filled = counted(program, buffer)
    if filled:
        judges.update((o, _judge(program, buffer, o, options, known, filled, told_only)) for o in judges)
    return filled


def _assumed_packed(
    program: Program,
    buffer: Buffer,
    options: Options,
    judges: dict[int, Judge],
    filled: frozenset[Place],
    remarks: list[Remark],
    known: Known,
) -> set[Place]:
    """Judges once more with what comments say of sends; the sites that convert only because of it."""
    packed: dict[Place, Told] = {}
    for use in buffer.uses:
        told = about(options.told, buffer, use, "packed")
        if told is None:
            continue
        if options.strict:
            remarks.append(Remark(told, "--strict does without it"))
        elif never_packed(program, buffer, use):
            message = f"nothing is written into `{buffer.name}` between its last hand-over and this send"
            remarks.append(Remark(told, message))
        else:
            packed[use.place] = told
    if not packed:
        return set()
    changed: set[Place] = set()
    for o, judge in list(judges.items()):
        again = _judge(program, buffer, o, options, known, filled | frozenset(packed), False)
        for use in judge.uses:
            key = (use.node, use.argument)
            found, new = judge.findings.get(key), again.findings.get(key)
            better = new is not None and new.ok and (found is None or not found.ok)
            if better or (judge.initial, judge.zeros) > (again.initial, again.zeros):
                changed.add(use.place)
        judges[o] = again
    for told in packed.values():
        remarks.append(Remark(told, "" if changed else "the sites are judged the same without it"))
    return changed
