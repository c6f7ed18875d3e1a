"""``/* opi: match NAME */`` at a send and at the receive that it meets: a channel.

Either side may convert alone, that is always correct; the message is copied once then.  A channel of which one side
stays is told (OPI301), for the other side's gain hangs on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opi_xform.cli.inputs.annotations import Annotation
from opi_xform.ownership.model.plan import Decision, Note, Plan
from opi_xform.text.sources import Sources

_SIDES = {"send": "send", "recv": "receive"}


def channels(annotations: Sequence[Annotation], plan: Plan, sources: Sources) -> dict[str, list[Decision]]:
    """The sites of each channel, in source order."""
    found: dict[str, list[Decision]] = {}
    by_file: dict[str, list[Decision]] = {}
    for decision in plan.decisions:
        by_file.setdefault(sources.name(decision.span.file), []).append(decision)
    for a in annotations:
        if a.verb == "match":
            here = found.setdefault(a.word, [])
            here += [d for d in by_file.get(a.file, ()) if a.begin <= d.span.begin < a.end and d not in here]
    return found


def with_channels(annotations: Sequence[Annotation], plan: Plan, sources: Sources) -> Plan:
    """The plan, with a remark for each channel that converts on one side only."""
    remarks = []
    for name, sites in channels(annotations, plan, sources).items():
        sides = {side: [d for d in sites if d.side == side] for side in _SIDES}
        whole = {side for side, of in sides.items() if of and all(d.decision == "convert" for d in of)}
        kept = [d for d in sites if d.decision == "keep"]
        if len(whole) != 1 or not all(sides.values()):
            continue
        (side,) = whole
        message = f"of channel `{name}` only the {_SIDES[side]} converts: one copy of its messages remains"
        notes = tuple(Note(d.span, f"{d.call} of {d.buffer} stays: {d.code} {d.message}") for d in kept)
        remarks.append(Decision(sides[side][0].span, "", "", "", "", name, "keep", "OPI301", message, notes))
    return replace(plan, diagnostics=(*plan.diagnostics, *remarks)) if remarks else plan
