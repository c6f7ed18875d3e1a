"""Places in source files.  Offsets count bytes, lines and columns start at 1 (columns count bytes too)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from opi_xform.ir.record import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes ``[begin, end)`` of ``file`` in which a construct is *written*.

    ``editable`` is true when the text at the span is exactly the construct: it is not produced by a macro body, or it
    lies whole inside one macro argument that is expanded once and never stringified.
    ``macro`` names the macro whose expansion produced the construct, when there is one.
    """

    file: str
    begin: int
    end: int
    line: int
    column: int
    editable: bool = True
    macro: str | None = None


NOWHERE = Span("", 0, 0, 0, 0, editable=False)
