"""Text that several threads may run holds no edit: each of them would run it."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.codes import Reason
from opi_xform.ir.span import Span
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal
from opi_xform.ownership.model.plan import Edit
from opi_xform.ownership.spelling.configurations import written_at


def in_threads(threads: Iterable[Span], span: Span) -> bool:
    """A statement lies in a region, or in a function that one calls; the statement that is the region does not."""
    here = (span.begin, span.end)
    around = (t for t in threads if t.file == span.file and (t.begin, t.end) != here)
    return any(t.begin <= span.begin and span.end <= t.end for t in around)


def threads_written(program: Program, buffer: Buffer, edits: Iterable[Edit]) -> Refusal | None:
    """An edit lies in such text; None when none does."""
    for edit in edits:
        place = written_at(edit)
        region = next((t for t in program.threads if t.file == place.file and t.begin < place.begin < t.end), None)
        if region is not None:
            message = f"what converting `{buffer.name}` takes would be written where OpenMP threads run"
            return Refusal(Reason.ESCAPE, message, ((place, "here"), (region, "several threads may run this")))
    return None
