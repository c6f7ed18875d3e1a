"""The message has as many bytes as ``--min-bytes`` asks for."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.buffers.message_sizes import too_small
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.model.buffers import Refusal


def check(site: Site) -> Refusal | None:
    """In every copy of the call it is known to have fewer."""
    return too_small(site.program, site.uses, site.facts.options.min_bytes)


CONDITION = Condition(
    "min bytes",
    "The message has as many bytes as --min-bytes asks for.",
    codes=(Reason.FEW_BYTES.send, Reason.FEW_BYTES.recv),
    words=("ownership.buffers.message_sizes:too_small",),
    site=check,
    form=True,
    sound=False,
)
