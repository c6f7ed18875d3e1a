"""What people add to the analysis in comments at calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opi_xform.cli.inputs.annotations import DISJOINT, PACKED, Annotation
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Told


def told(annotations: Iterable[Annotation], path_of: dict[str, str]) -> Iterator[Told]:
    """The comments that say more than the analysis finds.  path_of: the files' names as the analysis has them."""
    for a in annotations:
        span = Span(path_of.get(a.file, a.file), a.begin, a.end, a.line, 1, editable=False)
        packed, disjoint = PACKED.fullmatch(a.word), DISJOINT.fullmatch(a.word)
        if a.verb == "keep" and not a.word:
            yield Told("keep", "", span.file, a.begin, a.end, span)
        elif a.verb == "assume" and packed is not None:
            yield Told("packed", packed[1], span.file, a.begin, a.end, span)
        elif a.verb == "assume" and disjoint is not None:
            yield Told("disjoint", disjoint[1], span.file, a.begin, a.end, span)
