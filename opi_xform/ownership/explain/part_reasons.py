"""Why a call that names a place inside a buffer stays: which part it is, and which access spans two parts."""

from __future__ import annotations

from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast
from opi_xform.memory.accesses import Access
from opi_xform.memory.poly import ZERO
from opi_xform.ownership.explain.called import node_span, told_by_completion
from opi_xform.ownership.explain.choosing.places import block_of
from opi_xform.ownership.explain.culprits import writes_beside
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reasons import LIES_IN, WRITES, name_at, named_in
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.lvalues import UNSPELLED, Expressions, spelling
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.roots import base_of, is_inside, is_set_inside
from opi_xform.ownership.model.split_rows import split_row
from opi_xform.ownership.model.traced import binds_of

READS_ONLY = "could not show that line"  # how a refusal begins that knows of no byte that is read beside a message


def beside_refusal(judge: Judge, buffer: Buffer, use: Use, n: int, told: Refusal) -> Refusal | None:
    """Of a receive, where a node may read anything of its buffer: what the program has put beside the message before.

    told: what is said where nothing is.
    """
    unsure = told.message.startswith(READS_ONLY) or (told.message.startswith(LIES_IN) and use.lo == ZERO)
    m = writes_beside(judge, use, n) if use.side == "recv" and unsure else None
    if m is None:
        return None
    span, name = node_span(judge.program, m), name_at(judge.program, buffer, use)
    message = f"{line_of(span)} writes `{name}` beside the message, before this receive, and "
    message += f"{line_of(node_span(judge.program, n))} may read that after it"
    return replace(told, message=message, notes=(*told.notes, (span, f"`{name}` is written here")))


def not_there(program: Program, buffer: Buffer, n: int) -> str:
    """A buffer may have no memory at a node that touches it, in words; or what the node touches is another one."""
    variable, action, frames = program.variables[buffer.carrier.variable], program.graph.nodes[n].action, set()
    function = program.graph.frames[program.graph.nodes[n].frame].function
    frame = program.graph.nodes[n].frame
    while frame >= 0:
        frames.add(program.graph.frames[frame].function)
        frame = program.graph.frames[frame].parent
    where = line_of(node_span(program, n))
    if variable.type.is_array and variable.function not in ("", *frames) and isinstance(action, (ins.Load, ins.Store)):
        e = Expressions(program).of(function, action)
        through = "" if e is None or spelling(base_of(e)) == UNSPELLED else f", by `{spelling(base_of(e))}`"
        return f"could not show that {where} touches other memory than `{buffer.name}`{through}"
    table = program.values.objects.table
    heaps = [table[m] for o in buffer.objects for m in table[o].members or (o,) if o >= 0 and table[m].kind == "heap"]
    places = {(s.file, s.line): s for heap in heaps for m in heap.nodes for s in (node_span(program, m),)}
    does = f"allocate{'s' if len(places) == 1 else ''}"
    made = f", which {lines_of(places.values())} {does}," if 0 < len(places) <= WRITES else ""
    shown = f"could not show that `{buffer.name}`{made} has its memory at {where}"
    if buffer.carrier.rows and (told := told_by_completion(program, n)):
        return f"{shown}: {told}"
    return f"{shown}, and no place was found at which it could be allocated before that"


def inside_refusal(program: Program, buffer: Buffer, use: Use) -> Refusal:
    """The refusal of a use whose region does not begin where the buffer (or its row) does."""
    row, name = _row_bytes(program, use), name_at(program, buffer, use)
    if row and not buffer.carrier.rows and _is_a_row(program, use, row):
        found = _not_in_a_row(program, use, row)
        if found is not None:
            span, how = found
            message = f"the call names one row of `{name}`, and {line_of(span)} {how}"
            return Refusal(Reason.CARRIER, message, ((span, "here"),))
        missing = _rows_without_messages(program, buffer, use)
        if missing:
            message = f"the call names one row of `{name}`, and {missing} is no message's buffer by itself"
            return Refusal(Reason.CARRIER, f"{message}; what is sent would need an array of its own")
    starts = _starts(program, buffer, use)
    if starts is None:
        where = _where(program, use)
        notes: tuple[tuple[Span, str], ...] = ()
        message = f"the call begins inside `{name}`, {where}; a message needs a buffer of its own"
        if block := block_of(program, use):
            message = f"`{named_in(use)}` points into `{block}`, {where}; a message needs a buffer of its own"
        elif (given := given_inside(program, use)) is not None:
            span, called, whole = given
            message = f"{line_of(span)} gives `{called}` a place inside `{whole}`, {where}"
            message, notes = f"{message}; a message needs a buffer of its own", ((span, "here"),)
        return Refusal(Reason.CARRIER, message, notes)
    if len(starts) == 1 and 0 not in starts:
        (first,) = starts
        message = f"the call names a place {first} bytes inside `{name}`, whose beginning no message has"
        return Refusal(Reason.CARRIER, f"{message}; it would need a buffer of its own")
    spanning = _spanning(program, use, sorted(starts))
    if spanning is not None:
        span, at = spanning
        message = f"`{name}` has a message at its byte {at}, and {line_of(span)} may touch bytes on both sides of that"
        return Refusal(Reason.CARRIER, message, ((span, "here"),))
    parts = ", ".join(str(at) for at in sorted(starts))
    message = f"the messages of `{name}` begin at its bytes {parts}, in parts of one buffer"
    return Refusal(Reason.CARRIER, f"{message}; each part would need a buffer of its own")


def given_inside(program: Program, use: Use) -> tuple[Span, str, str] | None:
    """Where a function is called with a place inside a buffer for the parameter that a message's call names.

    With the function's name, and that of the buffer where it is called.
    """
    frame = program.graph.nodes[use.node].frame
    e = uncast(use.call.args[use.argument])
    while isinstance(e, ast.VarRef) and (bind := binds_of(program).get(frame)) is not None and e.var in bind.params:
        function, call = program.functions[program.graph.frames[frame].function], program.graph.frames[frame].call
        action, at = program.graph.nodes[call].action, bind.params.index(e.var)
        if is_set_inside(function, e.var) or not isinstance(action, ins.CallInstr) or at >= len(action.call.args):
            return None
        e, frame = uncast(action.call.args[at]), bind.caller
        if is_inside(e):
            whole = spelling(base_of(e))
            return None if whole == UNSPELLED else (action.span, function.name, whole)
    return None


def _is_a_row(program: Program, use: Use, row: int) -> bool:
    """The message begins where a row does, and is known to end in it."""
    found = None if use.lo is None else split_row(program, use.object, use.lo)
    length = None if use.length is None else use.length.constant
    return found is not None and not found[1].terms and length is not None and length <= row


def _where(program: Program, use: Use) -> str:
    """What is known of the place where a message begins."""
    symbols = program.values.symbols
    lo = None if use.lo is None else symbols.resolve(use.lo)
    if lo is not None and lo.constant is not None:
        return f"at its byte {lo.constant}"
    names = [symbols.table[s] for s in lo.symbols()] if lo is not None else []
    if any(name.scope and name.kind != "opaque" for name in names):  # else it is only computed in each turn
        return "at another place in each turn of a loop"
    return "at a place that the program computes"


def _row_bytes(program: Program, use: Use) -> int:
    type_ = program.values.objects.table[use.object].type
    if type_ is None or not type_.is_array or type_.elem is None or not type_.elem.is_array:
        return 0
    return type_.elem.size or 0


def _accesses(program: Program, o: int) -> list[Access]:
    found = index_of(program).accesses.of(o)
    return [a for n in sorted(found) for a in found[n]]


def _not_in_a_row(program: Program, use: Use, row: int) -> tuple[Span, str] | None:
    """An access that is not known to stay in the row that it names."""
    excluded = branches_of(program).excluded
    for a in _accesses(program, use.object):
        if excluded(use.node, a.node):
            continue
        found = None if a.lo is None else split_row(program, use.object, a.lo)
        span = node_span(program, a.node)
        if found is None:
            return span, "touches it other than by one of its rows"
        start, length = found[1].constant, None if a.length is None else a.length.constant
        if a.within == row:
            continue
        if start is not None and length is not None:
            if start < 0 or start + length > row:
                return span, f"touches {start + length} bytes from the beginning of a row of {row}"
        elif found[0].constant is not None:
            return span, "may go beyond the row that it names"
    return None


def _rows_without_messages(program: Program, buffer: Buffer, use: Use) -> str:
    """The rows that no message has, as words; '' when there are none, or it is not known."""
    type_ = program.values.objects.table[use.object].type
    indices: set[int] = set()
    for other in buffer.uses:
        if other.object == use.object:
            index = None if other.row is None else program.values.symbols.resolve(other.row).constant
            if index is None:
                return ""
            indices.add(index)
    missing = sorted(set(range((type_.count if type_ is not None else None) or 0)) - indices)
    if not missing:
        return ""
    return f"row {missing[0]}" + (f" (of {len(missing)})" if len(missing) > 1 else "")


def _starts(program: Program, buffer: Buffer, use: Use) -> set[int] | None:
    """Where the messages of the object begin, in bytes; None when some place is not a number."""
    out: set[int] = set()
    for other in buffer.uses:
        if other.object != use.object:
            continue
        at = None if other.lo is None else program.values.symbols.resolve(other.lo).constant
        if at is None:
            return None
        out.add(at)
    return out


def _spanning(program: Program, use: Use, starts: list[int]) -> tuple[Span, int] | None:
    """An access that touches bytes on both sides of a place where a message begins."""
    for a in _accesses(program, use.object):
        lo = None if a.lo is None else program.values.symbols.resolve(a.lo).constant
        length = None if a.length is None else a.length.constant
        if lo is None or length is None:
            continue
        for at in starts:
            if lo < at < lo + length:
                return node_span(program, a.node), at
    return None
