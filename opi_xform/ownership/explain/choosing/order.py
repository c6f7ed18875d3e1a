"""The order in which several reasons of one site are told: the first gives its code, others follow after ``; also,``.

First comes what a person would still have to face after each change of form: nothing is gained, or the program goes on
using the data.  Then comes what a change of the source takes away, then what the analysis does not follow.  A reason
that would go with the first one is not told: a buffer of its own for the message is also one that nothing else names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.ownership.model.buffers import Refusal

ORDER = (
    ("nothing is gained, or a person keeps the call", (Reason.SMALL, Reason.FEW_BYTES, Reason.REQUESTED)),
    (
        "what the program does with its data",
        (
            Reason.READ_LATER,
            Reason.CAPACITY,
            Reason.NULL_SOURCE,
            Reason.OLD_BYTES,
            Reason.PENDING,
            Reason.OLD_ADDRESS,
            Reason.VOLATILE,
            Reason.CARRIER,
            Reason.SEVERAL_BUFFERS,
        ),
    ),
    (
        "what a change of the source takes away",
        (Reason.CALL_FORM, Reason.FIRST_CONTENTS, Reason.DECLARATION, Reason.MACRO, Reason.OUTSIDE),
    ),
    (
        "what the analysis does not follow",
        (
            Reason.UNKNOWN_FUNCTION,
            Reason.ESCAPE,
            Reason.ENTERED_AGAIN,
            Reason.CONCURRENT,
            Reason.NOT_ANALYSED,
            Reason.NO_ANCHOR,
            Reason.UNPAIRED,
            Reason.PATTERN,
            Reason.BUDGET,
        ),
    ),
)
"""Groups of reasons; docs/usage.md shows them.  Inside a group the one that was found first stays first."""

PERHAPS = "perhaps without all of it being written anew"
"""How a reason ends that is less sure than the form of a call, and surer than nothing."""

MORE = 2  # reasons that are told after the first

_RANK = {reason: rank for rank, (_, reasons) in enumerate(ORDER) for reason in reasons}
_DATA, _SOURCE = 1, 2
NOT_FOLLOWED = frozenset((Reason.UNKNOWN_FUNCTION, Reason.ESCAPE, Reason.CONCURRENT, Reason.BUDGET))
"""What leaves open what the program does with its data; the others of the last group are told where that is known."""
_OF_BUFFER = frozenset((*ORDER[_DATA][1], Reason.ESCAPE, Reason.UNKNOWN_FUNCTION, Reason.FIRST_CONTENTS))
"""What a buffer of its own for the message takes away."""


def also(refusal: Refusal, other: Refusal | None) -> Refusal:
    """With another reason, told after it."""
    if other is None or other.message in refusal.message or refusal.message.count("; also, ") >= MORE:
        return refusal
    notes = tuple(dict.fromkeys((*refusal.notes, *other.notes)))
    return replace(refusal, message=f"{refusal.message}; also, {other.message}", notes=notes)


def in_order(found: Iterable[Refusal | None]) -> Refusal | None:
    """One reason of several that each keep the site: the first in ``ORDER``, with what would be left without it."""
    known = sorted((refusal for refusal in found if refusal is not None), key=_rank)
    if not known:
        return None
    out = known[0]
    for refusal in known[1:]:
        out = out if goes_with(out, refusal) else also(out, refusal)
    return out


def goes_with(first: Refusal, other: Refusal) -> bool:
    """What takes the first reason away takes the other one away, too."""
    return first.reason in _OF_BUFFER and other.reason in _OF_BUFFER


def _rank(refusal: Refusal) -> float:
    rank = _RANK[refusal.reason]
    return _SOURCE + 0.5 if rank == _DATA and refusal.message.endswith(PERHAPS) else rank
