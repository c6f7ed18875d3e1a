"""A line that frees one of several blocks: which pointer it frees, and where that is set."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.reasons import node_span
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of


def freed_refusal(program: Program, buffer: Buffer, n: int, argument: int) -> Refusal:
    """What a call frees may be a buffer or something else: the pointer that it names may be set to either."""
    action = program.graph.nodes[n].action
    assert isinstance(action, ins.CallInstr)
    args = action.call.args
    e = base_of(args[argument]) if argument < len(args) else None
    name = UNSPELLED if e is None else spelling(e)
    line, which = line_of(node_span(program, n)), "which is not known there"
    if isinstance(e, ast.VarRef) and name != buffer.name:
        frame = -1 if program.variables[e.var].is_global else program.graph.nodes[n].frame
        places = set_at(program, (program.values.objects.variable(frame, e.var),))
        if places:
            message = f"{line} frees `{name}`, which may be `{buffer.name}` or other memory; {which}"
            return Refusal(Reason.NO_ANCHOR, message, tuple((span, f"`{name}` is set here") for span in places))
    places = set_at(program, program.values.objects.by_name.get(buffer.carrier.variable, ()))
    notes = tuple((span, f"`{buffer.name}` is set here") for span in places)
    return Refusal(Reason.NO_ANCHOR, f"{line} frees `{buffer.name}` or other memory; {which}", notes)


def set_at(program: Program, objects: Iterable[int]) -> tuple[Span, ...]:
    """Where pointers are set to something else than a constant, if that is in several lines."""
    names, spans = names_of(program), dict[Span, None]()
    for n in (n for o in objects for n in names.defs.get(("v", o, 0), ())):
        match program.graph.nodes[n].action:
            case ins.Birth() | ins.Define(value=ins.Const()):
                pass
            case _:
                spans[names.span(n)] = None
    several = len({(span.file, span.line) for span in spans}) > 1
    return tuple(sorted(spans, key=lambda span: (span.file, span.begin))) if several else ()
