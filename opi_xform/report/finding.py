"""What ``--check`` has found, for every form of output."""

from __future__ import annotations

from opi_xform.ownership.model.plan import Decision, Note
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason for exit code 1, at the place a person has to look at.  ``line`` 0: the whole file.

    site: the decision it is about, None where it is about a comment or an output file.  notes: the path that leads
    there.  before: what the baseline says of that site, ``convert``, or '' when it knows none.
    """

    file: str
    line: int
    column: int
    code: str
    message: str
    notes: tuple[Note, ...] = ()
    site: Decision | None = None
    before: str = ""


_FIRST = frozenset(("01", "02", "03", "10", "16"))
"""Codes, by their last digits, whose notes are accesses, the first of which decides; others have a path to one."""


def deciding(decision: Decision) -> Note | None:
    """The access that keeps a site: of several that each would, the first; of a path, its end."""
    if not decision.notes:
        return None
    return decision.notes[0 if decision.code[-2:] in _FIRST else -1]
