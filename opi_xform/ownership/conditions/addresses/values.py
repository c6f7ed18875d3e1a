"""What is made of the buffer's address is made by the rules that the edits keep.

OPI_Alloc brings memory at another address (docs/soundness.md, "old addresses"): a number made of the address,
a difference, or an order of two addresses is another one then.
"""

from __future__ import annotations

from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.explain.other_pointers import copied_from
from opi_xform.ownership.explain.pointers.second_names import also_names
from opi_xform.ownership.model.addresses import STORED
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED


def check(facts: BufferFacts) -> Refusal | None:
    """The first thing done with the address that makes all sites stay."""
    found = facts.values.refusal
    if found is None or found.reason is not Reason.OLD_ADDRESS or STORED not in found.message:
        return found
    copied = copied_from(facts.program, facts.found.carrier.variable)
    if copied is None:
        also = also_names(facts.program, facts.found.carrier.variable)
        if also is None and UNSPELLED in found.message and found.notes:
            line = line_of(found.notes[0][0])
            message = (
                f"{line} stores a pointer into the memory of `{facts.found.name}`, which would go on pointing there"
            )
            return replace(found, message=message)
        return found if also is None else replace(found, message=also[0], notes=(*also[1], *found.notes))
    (name, span), copy = copied, facts.found.name
    message = f"{line_of(span)} makes `{copy}` a copy of `{name}`, which would go on pointing to memory that is gone"
    return replace(found, message=message, notes=((span, "copied here"), *found.notes))


CONDITION = Condition(
    "old addresses",
    "No other value made of the buffer's address is used across an acquire or a release.",
    codes=(Reason.OLD_ADDRESS.send, Reason.OLD_ADDRESS.recv),
    cases=("c_*", "replace_*"),
    enforced=("ownership.model.addresses:value_refusal",),
    words=("ownership.model.addresses:value_refusal",),
    buffer=check,
)
