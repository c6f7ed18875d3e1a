"""The datatype has no gaps, so that the message is the block (MPI standard, section 5.1: type maps and extents)."""

from __future__ import annotations

from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.explain.datatypes import layout_refusal
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """The first copy of the call of which the bytes are not known."""
    use = next((u for u in site.uses if u.length is None), None)
    return None if use is None else layout_refusal(site.program, use)


CONDITION = Condition(
    "form of the call",
    "Its datatype has no gaps.",
    words=("ownership.explain.datatypes:layout_refusal",),
    site=check,
    form=True,
)
