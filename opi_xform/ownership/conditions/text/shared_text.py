"""Every edit lies in text that is written once, and runs as one function."""

from __future__ import annotations

from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Placed
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.spelling.configurations import shared_text


def check(placed: Placed) -> Refusal | None:
    """A call would be put into a function of a header, or into text that is included inside functions."""
    return shared_text(placed.program, placed.going.places, placed.placement.edits)


CONDITION = Condition(
    "text",
    "Every edit lies in text that is written once.",
    cases=("g_header_*", "written_out_*"),
    enforced=("ownership.spelling.configurations:shared_text",),
    words=("ownership.spelling.configurations:shared_text",),
    placed=check,
)
