"""A site that liveness lets convert is allowed by the pattern table of its side, too.

The paper's automata classify a buffer's life; ``ownership/patterns`` runs their tables backward over its events.  The
two ways to the answer are written apart.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.patterns.agree import disagreement


def check(site: Site) -> Refusal | None:
    """A pattern does not allow what leads on from a copy of the call."""
    return disagreement(site.program, site.buffer, site.uses, site.facts.patterns)


CONDITION = Condition(
    "two ways",
    "A site that liveness lets convert is allowed by the pattern table of its side, too.",
    codes=(Reason.PATTERN.send,),
    cases=("send_read_same", "send_read_string", "pack_conditional"),
    enforced=("ownership.patterns.agree:Patterns", "ownership.patterns.agree:disagreement"),
    words=("ownership.patterns.agree:disagreement",),
    site=check,
)
