"""What is made of the buffer's address is made by the rules that the edits keep.

OPI_Alloc brings memory at another address (docs/soundness.md, "old addresses"): a number made of the address,
a difference, or an order of two addresses is another one then.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.model.buffers import Refusal


def check(facts: BufferFacts) -> Refusal | None:
    """The first thing done with the address that makes all sites stay."""
    return facts.values.refusal


CONDITION = Condition(
    "old addresses",
    "No other value made of the buffer's address is used across an acquire or a release.",
    codes=(Reason.OLD_ADDRESS.send, Reason.OLD_ADDRESS.recv),
    cases=("c_*", "replace_*"),
    enforced=("ownership.model.addresses:value_refusal",),
    words=("ownership.model.addresses:value_refusal",),
    buffer=check,
)
