"""Variables that ranks as threads would share, and what is decided of each."""

from __future__ import annotations

from opi_xform.ir.span import Span
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class GlobalDecision:
    """One JSON ``global`` (docs/schema/report-1.json).  span is that of the declared name.

    decision: ``private`` (each rank has its own), ``shared`` (nothing writes it) or ``refused`` (it should be private
    and cannot be).  code: ``OPI5nn`` ('' when nothing needs explaining).
    """

    name: str
    span: Span
    decision: str
    code: str = ""
    message: str = ""
