"""Lines that are told of a buffer although no process comes to them that makes the call which stays."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.codes import Reason
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of

OF_ALL = frozenset((Reason.FIRST_CONTENTS, Reason.UNPAIRED, Reason.CAPACITY))
"""What is asked of a buffer as a whole: whoever has it, and wherever."""


def of_another_process(program: Program, uses: Sequence[Use], refusal: Refusal) -> str:
    """What to say of the first line that is told with a refusal, where none of a call's processes runs it; ''.

    Such a line keeps the call all the same: the buffer's variable has one declaration, and one place that makes it.
    """
    if refusal.reason not in OF_ALL or not refusal.notes or uses[0].object < 0:
        return ""
    span, excluded = refusal.notes[0][0], branches_of(program).excluded
    at = (span.file, span.line)
    objects = {u.object for u in uses}
    touching = {n for o in objects for n in program.values.accesses.nodes(o)}
    nodes = [n for n in touching if (here := node_span(program, n)).file == at[0] and here.line == at[1]]
    if not nodes or not all(excluded(u.node, n) for u in uses for n in nodes):
        return ""
    return f"; no process that makes this call runs {line_of(span)}, but its buffer is one variable for all of them"
