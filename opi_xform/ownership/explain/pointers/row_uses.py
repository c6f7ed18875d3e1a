"""Why the rows of an array of buffers cannot be told apart: which lines mean which rows, and in which loop.

And reads that are only supposed, beyond another row or at a deeper level.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.codes import Reason
from opi_xform.graph.graph import Lost
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.called import loop_around, node_span
from opi_xform.ownership.explain.reaching.touching import supposed
from opi_xform.ownership.explain.reaching.turns import of_another_row
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.record import dataclass

Notes = tuple[tuple[Span, str], ...]
SHOWN = 4


@dataclass(frozen=True, slots=True)
class Untold:
    """Why rows cannot be told apart: nodes that name rows, and the loop of which one turn is about two of them.

    loop -1: the index of the (first) node's row counts no loop's turns.
    """

    loop: int
    nodes: tuple[int, ...]


def rows_untold(program: Program, buffer: Buffer, untold: Sequence[Untold]) -> tuple[Reason, str, Notes]:
    """untold: what keeps the rows of a buffer from being told apart; the first of it is told."""
    first, name = untold[0], buffer.name
    spans = [node_span(program, n) for n in first.nodes]
    loop = _loop(program, first.loop)
    where = "a loop" if loop is None else f"the loop in {line_of(loop)}"
    if loop is not None and len(spans) == 1:
        message = f"it could not be shown that {where} runs over the row of `{name}` that {line_of(spans[0])} uses"
    elif len(spans) == 1:
        message = f"it could not be shown which row of `{name}` {line_of(spans[0])} uses"
        message += ": its index counts the turns of no loop there"
    elif len(set(map(line_of, spans))) == 1:
        message = f"{line_of(spans[0])} uses two rows of `{name}` in one turn of {where}"
    else:
        message = f"{lines_of(spans)} use two rows of `{name}` in one turn of {where}"
    notes: dict[tuple[Span, str], None] = {}
    firsts = {one.loop: one for one in reversed(untold)}
    for one in sorted(firsts.values(), key=untold.index):
        what = "this row's index counts the turns of no loop" if one.loop < 0 else "one row is used here"
        notes.update(dict.fromkeys((node_span(program, n), what) for n in one.nodes))
    message += f", so what is done to {'it' if len(spans) == 1 else 'one'} may be done to the row of this message"
    return Reason.NO_ANCHOR, message, tuple(notes)[:SHOWN]


def read_in_another_row(program: Program, buffer: Buffer, use: Use, n: int) -> Refusal | None:
    """A line reads another row of a table than that of a message, and perhaps more than that row."""
    if not of_another_row(program, use, n):
        return None
    span = node_span(program, n)
    message = f"could not show that {line_of(span)} reads nothing of `{buffer.name}` beyond the row that it names"
    message += ", which is another one than that of this call"
    return Refusal(Reason.READ_LATER, message, ((span, "another row is read here"),))


def supposed_refusal(program: Program, buffer: Buffer, use: Use, n: int) -> Refusal | None:
    """What is said where nothing but a deeper level may read what is needed after a message."""
    lost = program.graph.nodes[n].action
    if not isinstance(lost, Lost) or not lost.functions or not supposed(program, n, use.object):
        return None
    span, key = node_span(program, n), lost.functions[0]
    called = program.functions[key].name if key in program.functions else key
    message = f"could not show that `{called}`, called from inside itself at {line_of(span)}, reads nothing of"
    return Refusal(Reason.READ_LATER, f"{message} `{buffer.name}`", ((span, "called from inside itself here"),))


def _loop(program: Program, loop: int) -> Span | None:
    nodes = program.graph.blocks[program.nest.loops[loop].header][:1] if loop >= 0 else ()
    return loop_around(program, nodes[0]) if nodes else None
