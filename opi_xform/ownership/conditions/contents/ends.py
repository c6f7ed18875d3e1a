"""What the program puts into the buffer before a receive does not end what is read of a shorter message.

Assumption A1 does not believe it of a program that does so: it reads up to a mark, and the mark may be its own.
"""

from __future__ import annotations

from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.explain.reasons import ended_by_initialiser, marked
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """Zeros, an initialiser, or a mark may be the end of a text or list."""
    refusal = ended_by_initialiser(site.program, site.buffer, site.uses[0].side)
    if refusal is not None:
        return refusal
    findings = ((u, site.finding(u)) for u in site.uses)
    believed = [u for u, finding in findings if finding is not None and "A1" in finding.assumptions]
    return marked(site.program, site.buffer, believed)


CONDITION = Condition(
    "first contents",
    "What is there before a receive does not end what is read of its message.",
    enforced=("ownership.explain.reasons:ended_by_initialiser", "ownership.explain.reasons:marked"),
    words=("ownership.explain.reasons:ended_by_initialiser", "ownership.explain.reasons:marked"),
    site=check,
)
