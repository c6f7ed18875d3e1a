"""Every edit can be made in the text as it is: no macro writes it, and no typedef hides an array's type."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.model.buffers import Options, Refusal
from opi_xform.ownership.model.plan import Edit


def check(options: Options, edits: Sequence[Edit]) -> Refusal | None:
    """The rewriter cannot make one of them."""
    for edit in edits:
        reason = options.obstacle(edit)
        if reason:
            return Refusal(Reason.MACRO, f"an edit is not possible here: {reason}")
    return None


CONDITION = Condition("text", "No macro makes what is edited.", enforced=("rewrite.apply:obstacle",), written=check)
