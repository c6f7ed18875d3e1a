"""Zeros and initialisers count as written: nobody reads or sends them where an OPI_Alloc stands.

C11 6.7.9: static storage begins as zeros, and an initialiser gives an object its value.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import WORDLESS, Site
from opi_xform.ownership.explain.hints import first_contents
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """The first contents of one of the buffer's objects are live where it begins."""
    judges = site.facts.liveness.judges
    first = next((o for o in site.buffer.objects if judges[o].initial), None)
    if first is None:
        return None
    return WORDLESS if site.wordless else first_contents(judges[first], site.place)


CONDITION = Condition(
    "first contents",
    "Zeros and initialisers count as written: nobody reads or sends them where an OPI_Alloc stands; "
    "calloc's, and those of static memory after a receive that may bring nothing, are there where an OPI_Calloc "
    "stands.",
    codes=(Reason.FIRST_CONTENTS.send, Reason.FIRST_CONTENTS.recv),
    cases=("f_*", "initialised_*"),
    enforced=("ownership.liveness.liveness:Judge",),
    words=("ownership.explain.reasons:contents_refusal", "ownership.explain.hints:first_contents"),
    site=check,
)
