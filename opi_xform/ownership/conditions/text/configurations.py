"""No other configuration of the program uses the buffer.

Code under a false ``#if`` is not parsed.  Assumption A6: it stays left out, and an ``#error`` sees to it.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.model.buffers import Refusal


def check(facts: BufferFacts) -> Refusal | None:
    """Text that is left out names the buffer, and nothing can see to it that it stays so."""
    found = facts.left_out
    return found if isinstance(found, Refusal) else None


CONDITION = Condition(
    "whole program",
    "So are all configurations.",
    codes=(Reason.OUTSIDE.send, Reason.OUTSIDE.recv),
    cases=("g_*",),
    enforced=(
        "ownership.spelling.configurations:left_out",
        "ownership.spelling.configurations:naming",
        "ownership.spelling.declarations:source_refusal",
    ),
    words=("ownership.spelling.configurations:left_out",),
    buffer=check,
)
