"""Text that names several pointers in memory by the same words: a function that is called for several tables, say."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ownership.buffers.members import Finder
from opi_xform.ownership.explain.called import called_in
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import place
from opi_xform.ownership.model.names import names_of

NOWHERE = -1  # see ``Place``
Words = tuple[str, str, int, int]  # function, file, first and last byte of an lvalue
Place = tuple[int, int]  # object, byte; NOWHERE for one that is computed


def named_by_words(program: Program, finder: Finder) -> dict[Words, dict[Place, int]]:
    """Which pointers in memory each lvalue of the sources stands for, with the first node that shows it."""
    out: dict[Words, dict[Place, int]] = {}
    for node in program.graph.nodes:
        action = node.action
        if not isinstance(action, (ins.Load, ins.Store)) or not action.type.is_pointer:
            continue
        operands = program.values.operands.get(node.number, ())
        function = program.graph.frames[node.frame].function
        e = finder.written.of(function, action) if operands else None
        if e is None:
            continue
        base = finder.symbols.base(operands[0])
        at = None if base is None else finder.symbols.resolve(finder.symbols.offset(operands[0])).constant
        one = (NOWHERE if base is None else base, NOWHERE if at is None else at)
        out.setdefault((function, *place(e)), {}).setdefault(one, node.number)
    return out


def of_several_tables(
    program: Program, words: Mapping[Words, Mapping[Place, int]], table: int, name: str, frame: int
) -> tuple[str, tuple[tuple[Span, str], ...]] | None:
    """What is said of rows of a table by words that mean rows of other tables in other calls; None for none.

    name: of the table in the function of a message.  frame: the copy of that function.
    """
    for (function, *_), places in words.items():
        mine = [n for (o, _), n in places.items() if o == table]
        others = [n for (o, _), n in places.items() if o != table]
        if not mine or not others:
            continue
        span, called = names_of(program).span(mine[0]), program.functions[function].name
        message = f"{line_of(span)}, in `{called}`, names rows of `{name}` and of other tables by the same words"
        message += ": rows are followed where such words mean one table"
        notes = [(span, "rows of several tables are named here")]
        calls = [
            (called_in(program, n, frame), f"called for {what} here")
            for n, what in ((mine[0], f"`{name}`"), (others[0], "another table"))
        ]
        notes += [
            (names_of(program).span(n), what)
            for n, what in calls
            if n is not None and names_of(program).span(n) != span
        ]
        return message, tuple(notes)
    return None
