"""Which of a buffer's sites convert together: conditions, placement and conditions again, until nothing changes.

Each turn keeps more sites, so there is an end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.ownership.conditions.addresses import aliases, null_comparison
from opi_xform.ownership.conditions.addresses.aliases import alias_refusal
from opi_xform.ownership.conditions.table import TABLE
from opi_xform.ownership.deciding.agreement import Verdict
from opi_xform.ownership.deciding.facts import BufferFacts, Going, Placed, Supposed
from opi_xform.ownership.model.buffers import Buffer, Options, Place, Refusal
from opi_xform.ownership.model.traced import path
from opi_xform.ownership.placement.place import Placement, place, tables
from opi_xform.ownership.placement.renewal import Renewal, renewals
from opi_xform.ownership.spelling.second_names import renaming, second_names, with_names

AS_IT_IS = Supposed()


def convert_together(
    facts: BufferFacts, verdict: Verdict, null_tests: tuple[int, ...], supposed: Supposed = AS_IT_IS
) -> None:
    """The sites of ``verdict`` that stay convert; the others are kept.  null_tests: comparisons with NULL."""
    renewed: tuple[Renewal, ...] | None = None  # None: nobody has asked for new memory yet
    while verdict.converted:
        going = Going(facts, frozenset(verdict.converted), supposed, renewed or ())
        refused = next(filter(None, (c.going(going) for c in TABLE if c.going is not None)), None)
        if refused is not None:
            if renewed is None and all(refusal.reason is Reason.CAPACITY for refusal in refused.values()):
                renewed = _renewals(going, refused)
                if renewed:
                    continue
            keep(verdict, refused)
            continue
        placed = _placed(going, null_tests)
        if isinstance(placed, Refusal):
            if renewed:
                renewed = ()
                continue
            keep(verdict, _alone(going, null_tests, placed))
            continue
        refusal = _refusal(placed)
        if refusal is not None and placed.placement.guarded:
            again = _placed(going, null_tests, True)
            if isinstance(again, Placed) and _refusal(again) is None:
                placed, refusal = again, None
        if refusal is not None and renewed:
            renewed = ()
            continue
        if refusal is not None:
            keep(verdict, dict.fromkeys(sorted(verdict.converted), refusal))
            continue
        for p in verdict.converted if renewed else ():
            verdict.assumptions.setdefault(p, set()).update(*(one.assumes for one in renewed or ()))
        verdict.lifted = placed.buffer.lifted
        verdict.edits = placed.edits
        verdict.files = placed.placement.files
        return


def _renewals(going: Going, refused: Mapping[Place, Refusal]) -> tuple[Renewal, ...]:
    """Where new memory makes room for what is touched after these receives."""
    facts = going.facts
    if len(facts.liveness.judges) != 1:
        return ()
    (judge,) = facts.liveness.judges.values()
    flow = tables(facts.program).flow
    return renewals(facts.program, flow, facts.buffer, judge, going.places, refused.keys())


def _refusal(placed: Placed) -> Refusal | None:
    return next(filter(None, (c.placed(placed) for c in TABLE if c.placed is not None)), None)


def unwritable(options: Options, verdict: Verdict) -> dict[Place, Refusal]:
    """All sites of the buffer, where an edit that they need cannot be made."""
    if not verdict.converted:
        return {}
    checks = (c.written(options, verdict.edits) for c in TABLE if c.written is not None)
    refusal = next(filter(None, checks), None)
    if refusal is None:
        return {}
    verdict.edits = ()
    return dict.fromkeys(verdict.converted, refusal)


def keep(verdict: Verdict, refusals: Mapping[Place, Refusal]) -> None:
    """The sites stay; with one side of an MPI_Sendrecv_replace the other one does, too."""
    for p, refusal in refusals.items():
        other = twin(p)
        if other in verdict.converted:
            verdict.converted.discard(other)
            verdict.refusals[other] = refusal
        verdict.converted.discard(p)
        verdict.refusals[p] = refusal


def twin(p: Place) -> Place:
    """The other side of a call that sends and receives by one argument; of other calls there is no such site."""
    file, begin, side, argument = p
    return (file, begin, "recv" if side == "send" else "send", argument)


def _placed(going: Going, null_tests: tuple[int, ...], ahead: bool = False) -> Placed | Refusal:
    """The calls of sites that would convert, and no older address that crosses one."""
    buffer = _lifting(going)
    found = _placement(going, buffer, null_tests, ahead)
    return found if isinstance(found, Refusal) else Placed(going, buffer, found)


def _placement(going: Going, buffer: Buffer, null_tests: tuple[int, ...], ahead: bool) -> Placement | Refusal:
    facts = going.facts
    buffer = with_names(facts.program, facts.units, buffer, going.places)
    telling = not facts.options.rewritten
    placed = place(facts.program, buffer, going.places, null_tests, ahead=ahead, renewed=going.renewed, telling=telling)
    if isinstance(placed, Refusal):
        return placed
    for condition in TABLE:
        refusal = condition.calls(Placed(going, buffer, placed)) if condition.calls is not None else None
        if refusal is not None:
            if condition is not aliases.CONDITION or refusal.reason is not Reason.OLD_ADDRESS:
                return refusal
            found = _renamed(going, buffer, null_tests, placed, refusal)
            return _made_for_copies(going, buffer, null_tests, refusal) if found is refusal else found
    return placed


def _made_for_copies(going: Going, buffer: Buffer, null_tests: tuple[int, ...], stale: Refusal) -> Placement | Refusal:
    """With memory where another pointer is set to the carrier's value, though that may be NULL; ``stale`` where that is
    of no use: ``w = b; … *w++ = x;``.
    """
    facts, flow = going.facts, going.facts.flow(buffer.lifted)
    copies = flow.copies() - set(buffer.touches)
    if not copies or buffer.carrier.rows or buffer.swaps:
        return stale
    more = replace(buffer, touches=tuple(sorted({*buffer.touches, *copies})))
    telling = not facts.options.rewritten
    placed = place(facts.program, more, going.places, null_tests, renewed=going.renewed, telling=telling)
    if isinstance(placed, Refusal):
        return stale
    checks = (c.calls(Placed(going, more, placed)) for c in TABLE if c.calls is not None)
    return placed if all(refusal is None for refusal in checks) else stale


def _renamed(
    going: Going, buffer: Buffer, null_tests: tuple[int, ...], placed: Placement, stale: Refusal
) -> Placement | Refusal:
    """With the carrier written in the place of names that would be older; ``stale`` where that cannot be."""
    program = going.facts.program
    seconds = second_names(program, going.facts.units, buffer) if not buffer.swaps else {}
    flow = going.facts.flow(buffer.lifted)
    if not seconds or alias_refusal(flow, buffer, placed.points, placed.rows, seconds) is not None:
        return stale
    setting = {n for second in seconds.values() for n in second.nodes}
    fewer = replace(buffer, touches=tuple(n for n in buffer.touches if n not in setting))
    again = place(
        program, fewer, going.places, null_tests, renewed=going.renewed, telling=not going.facts.options.rewritten
    )  # nothing has to be there for a name that is not used
    if isinstance(again, Placement) and alias_refusal(flow, buffer, again.points, again.rows, seconds) is None:
        placed = again
    more = renaming(program, seconds, placed.edits)
    if more is None:
        return stale
    test = null_comparison.check(Placed(going, buffer, placed))
    return test if test is not None else replace(placed, edits=(*placed.edits, *more))


def _lifting(going: Going) -> Buffer:
    """The buffer with the parameters through which it comes to the sites that convert."""
    program, buffer = going.facts.program, going.facts.buffer
    found = {key for u in going.uses(True) for key in path(program, u)[0]}
    return replace(buffer, lifted=frozenset(found)) if found else buffer


def _alone(going: Going, null_tests: tuple[int, ...], together: Refusal) -> dict[Place, Refusal]:
    """The sites that cannot convert even without the others; all of them when each could."""
    if len(going.places) > 1:
        out: dict[Place, Refusal] = {}
        for p in sorted(going.places):
            alone = _placed(Going(going.facts, frozenset({p, twin(p)} & going.places), AS_IT_IS), null_tests)
            if isinstance(alone, Refusal):
                out[p] = alone
        if out:
            return out
    return dict.fromkeys(sorted(going.places), together)
