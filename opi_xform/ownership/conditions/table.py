"""All conditions of a conversion, in the order in which they are asked; each is a module, ``CONDITION`` there.

The order decides which reason is told of several, and that what takes long is asked last.  docs/soundness.md shows the
table with the cases and the planted bugs of each row (``python -m tests.audit``).
"""

from __future__ import annotations

from opi_xform.ownership.conditions.addresses import (
    aliases,
    begins,
    escape,
    exposed,
    members,
    null_comparison,
    parameters,
    values,
)
from opi_xform.ownership.conditions.calls import (
    analysed,
    datatype,
    few_bytes,
    form,
    macro,
    own_mpi,
    pending_requests,
    requested,
    small,
    variable,
)
from opi_xform.ownership.conditions.contents import (
    budget,
    capacity,
    ends,
    first_contents,
    packed,
    read_after_receive,
    read_after_send,
    real_source,
    replacing,
    two_ways,
    unwritten,
)
from opi_xform.ownership.conditions.enforced import ENFORCED
from opi_xform.ownership.conditions.memory import allocators, jumps, levels
from opi_xform.ownership.conditions.text import (
    configurations,
    declaration,
    own_copies,
    shared_text,
    threads,
    writable,
)

TABLE = (
    own_mpi.CONDITION,
    variable.CONDITION,
    exposed.CONDITION,
    escape.CONDITION,
    allocators.CONDITION,
    jumps.CONDITION,
    requested.CONDITION,
    unwritten.CONDITION,
    shared_text.CONDITION,
    levels.CONDITION,
    members.CONDITION,
    declaration.CONDITION,
    values.CONDITION,
    budget.CONDITION,  # from here on liveness is asked
    own_copies.CONDITION,
    configurations.CONDITION,
    form.CONDITION,
    macro.CONDITION,
    small.CONDITION,
    few_bytes.CONDITION,
    begins.CONDITION,
    datatype.CONDITION,
    analysed.CONDITION,
    read_after_send.CONDITION,
    packed.CONDITION,
    read_after_receive.CONDITION,
    real_source.CONDITION,
    parameters.CONDITION,
    replacing.CONDITION,
    ends.CONDITION,
    first_contents.CONDITION,
    two_ways.CONDITION,
    pending_requests.CONDITION,
    capacity.CONDITION,
    aliases.CONDITION,
    null_comparison.CONDITION,
    threads.CONDITION,
    writable.CONDITION,
    *ENFORCED,
)
