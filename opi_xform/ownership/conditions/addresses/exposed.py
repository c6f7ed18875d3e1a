"""The buffer's variable is seen by the files given alone.

C11 6.2.2: an identifier with external linkage names one object in all files of a program.  What a file does with it
that was not given is not known, so such an object stays where something outside may come to it.
"""

from __future__ import annotations

from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.spelling.declarations import source_refusal


def check(facts: BufferFacts) -> Refusal | None:
    """What the text says of a variable that others may reach: nothing of the program's own happens to it then."""
    program, carrier = facts.program, facts.found.carrier
    if program.values.objects.exposed.isdisjoint(facts.found.objects):
        return None
    return source_refusal(facts.units, carrier.variable, carrier.kind, program.complete, facts.options.root)


CONDITION = Condition(
    "whole program",
    "All files that can see the buffer are part of the analysis.",
    words=("ownership.spelling.declarations:source_refusal",),
    buffer=check,
)
