"""Why the rows of an array of buffers cannot be told apart: which lines mean which rows, and in which loop.

And reads that are only supposed, beyond another row or at a deeper level.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.codes import Reason
from opi_xform.graph.graph import Lost
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import calls_of
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.called import loop_around, node_span
from opi_xform.ownership.explain.reaching.levels import supposed
from opi_xform.ownership.explain.reaching.turns import of_another_row
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.lvalues import Expressions, spelling
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


def told_by_completion(program: Program, n: int) -> str:
    """Which row a node means, where a call that completes a request tells that: `MPI_Waitany(…, &m, …)` and `b[m]`."""
    node, graph = program.graph.nodes[n], program.graph
    function = graph.frames[node.frame].function
    e = Expressions(program).of(function, node.action) if isinstance(node.action, (ins.Load, ins.Store)) else None
    indices = set[str]()
    while isinstance(e, (ast.Index, ast.Member, ast.Cast)):
        if isinstance(e, ast.Index) and isinstance(index := _plain(e.index), ast.VarRef):
            indices.add(index.var)
        e = e.operand if isinstance(e, ast.Cast) else e.base
    for call in calls_of(program.functions[function]) if indices else ():
        effect = program.effects.get(call.callee.name) if isinstance(call.callee, ast.FuncRef) else None
        completes = None if effect is None or effect.mpi is None else effect.mpi.completes
        told = None if completes is None or completes.index is None else _plain(call.args[completes.index])
        if isinstance(told, ast.AddrOf) and isinstance(told.operand, ast.VarRef) and told.operand.var in indices:
            assert isinstance(call.callee, ast.FuncRef)
            row, which = spelling(told.operand), f"`{call.callee.name}` at {line_of(call.span)} tells"
            said = f"the row of {line_of(node_span(program, n))} is `{row}`, which {which}"
            return f"{said}; a loop over the rows after `MPI_Waitall` would show it"
    return ""


def _plain(e: ast.Expr) -> ast.Expr:
    while isinstance(e, ast.Cast):
        e = e.operand
    return e


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
