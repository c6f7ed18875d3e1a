"""A change of the program's own text, as a value."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ownership.model.plan import SiteKey
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit


@dataclass(frozen=True, slots=True)
class Change:
    """Edits of the sources, by file, that keep what the program does.

    kind: ``guard`` (a test of the source against MPI_PROC_NULL), ``copy`` (a send from a buffer of its own) or
    ``copy-out`` (a receive into one).  words: what a person would call it, fit to follow "with".
    """

    kind: str
    site: SiteKey
    edits: Mapping[str, tuple[ByteEdit, ...]]
    words: str
