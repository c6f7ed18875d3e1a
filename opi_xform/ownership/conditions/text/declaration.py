"""Nothing depends on the buffer being an array.

C11 6.3.2.1 and 6.5.3.4: an array is no pointer where it is the operand of ``sizeof``, ``_Alignof`` or ``&``, or is
initialised by a string.  There the text says what the declaration has to stay.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.spelling.declarations import source_refusal


def check(facts: BufferFacts) -> Refusal | None:
    """What the text demands of a declaration: of the variable's, or those of the variables that a member stands for."""
    program, carrier = facts.program, facts.found.carrier
    member = program.members.get(carrier.variable)
    named = (carrier.variable,) if member is None else member.named
    rows = carrier.rows if member is None else 0
    for key in named:
        found = source_refusal(facts.units, key, carrier.kind, program.complete, facts.options.root, rows)
        if found is not None:
            return found
    return None


CONDITION = Condition(
    "declaration",
    "Nothing depends on the buffer being an array.",
    codes=(Reason.DECLARATION.send, Reason.DECLARATION.recv),
    cases=("vla_*",),
    enforced=("ownership.spelling.declarations:source_refusal",),
    words=("ownership.spelling.declarations:source_refusal",),
    buffer=check,
)
