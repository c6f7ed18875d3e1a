"""A person may keep a call: ``/* opi: keep */``."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.spelling.comments import keep_refusal


def check(site: Site) -> Refusal | None:
    """A comment at the call says so."""
    return keep_refusal(site.facts.options.told, site.buffer, site.uses)


CONDITION = Condition(
    "on request",
    "No comment asks to keep the call.",
    codes=(Reason.REQUESTED.send, Reason.REQUESTED.recv),
    words=("ownership.spelling.comments:keep_refusal",),
    site=check,
    sound=False,
)
