"""Text that several threads may run holds no edit: each of them would run it."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Placed
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal
from opi_xform.ownership.model.plan import Edit
from opi_xform.ownership.spelling.configurations import written_at


def threads_written(program: Program, buffer: Buffer, edits: Iterable[Edit]) -> Refusal | None:
    """An edit lies in such text; None when none does."""
    for edit in edits:
        place = written_at(edit)
        region = next((t for t in program.threads if t.file == place.file and t.begin < place.begin < t.end), None)
        if region is not None:
            message = f"what converting `{buffer.name}` takes would be written where OpenMP threads run"
            return Refusal(Reason.ESCAPE, message, ((place, "here"), (region, "several threads may run this")))
    return None


def check(placed: Placed) -> Refusal | None:
    """See ``threads_written``."""
    return threads_written(placed.program, placed.going.facts.buffer, placed.edits)


CONDITION = Condition(
    "OpenMP threads",
    "What threads run does the same in order, and holds no edit.",
    cases=("omp_*",),
    enforced=(
        "frontend.lower.openmp:find_regions",
        "program.threads:followed",
        "ownership.placement.anchors:in_threads",
        "ownership.conditions.text.threads:threads_written",
    ),
    placed=check,
)
