"""The buffer is an array, or memory behind a pointer: the edits know how to write these.

A single value travels in the message's envelope, and nothing would be gained.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.model.buffers import Refusal


def check(facts: BufferFacts) -> Refusal | None:
    """The variable that is sent is neither an array nor a pointer."""
    variable = facts.program.variables[facts.found.carrier.variable]
    if facts.found.carrier.kind != "array" or variable.type.is_array:
        return None
    if variable.type.is_pointer:
        message = f"the call names the pointer `{variable.name}` itself, and not the memory that it points to"
        return Refusal(Reason.SMALL, message)
    if variable.type.is_scalar:
        message = f"`{variable.name}` is a single {variable.type.spelling}, which travels in the envelope"
        return Refusal(Reason.SMALL, message)
    type_ = variable.type.spelling.partition(" (unnamed")[0]  # after it: the path of its file
    return Refusal(Reason.DECLARATION, f"`{variable.name}` is a {type_}, not an array or a pointer")


CONDITION = Condition("variable", "The buffer is an array, or memory behind a pointer.", buffer=check, sound=False)
