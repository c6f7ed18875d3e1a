"""Until the next acquire, accesses stay inside what the take makes room for.

OPI_Take brings at least count times extent bytes, as the receiver declared (opi.h), and no more.  Where more is needed
later, and nothing of what is there by then, the buffer may get new memory (``placement/renewal.py``).
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Going
from opi_xform.ownership.explain.culprits import least_count, told_beyond
from opi_xform.ownership.explain.reasons import liveness_refusal
from opi_xform.ownership.model.buffers import Place, Refusal
from opi_xform.ownership.placement.renewal import nodes_of


def check(going: Going) -> dict[Place, Refusal]:
    """Receives that do not make room for all that is touched after them."""
    facts = going.facts
    out: dict[Place, Refusal] = {}
    for o, judge in facts.liveness.judges.items():
        found = judge.beyond(set(going.places), nodes_of(going.renewed))
        for use in facts.buffer.uses:
            if use.object == o and (use.node, use.argument) in found:
                finding = found[(use.node, use.argument)]
                readers, least = told_beyond(judge, use), least_count(judge, use, going.places)
                refusal = liveness_refusal(facts.program, facts.buffer, use, finding, readers, None, least)
                out.setdefault(use.place, refusal)
    return out


CONDITION = Condition(
    "capacity",
    "Until the next acquire, accesses stay inside what the take makes room for.",
    codes=(Reason.CAPACITY.recv,),
    cases=("e_*",),
    enforced=("ownership.liveness.liveness:Judge", "ownership.placement.renewal:renewals"),
    words=("ownership.explain.reasons:liveness_refusal",),
    going=check,
)
