"""Why a buffer, or one site of it, stays whatever becomes of the other sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opi_xform.graph.graph import RECURSION, Lost
from opi_xform.ir import ast
from opi_xform.ownership.buffers.members import member_refusal
from opi_xform.ownership.conditions.allocators import allocator_refusal
from opi_xform.ownership.conditions.jumps import jump_refusal
from opi_xform.ownership.conditions.levels import levels_refusal
from opi_xform.ownership.explain.culprits import least_count, meets, readers_after
from opi_xform.ownership.explain.datatypes import layout_refusal
from opi_xform.ownership.explain.deepest import NO_FORM, SMALL, small, too_small
from opi_xform.ownership.explain.hints import with_hint
from opi_xform.ownership.explain.part_reasons import inside_refusal
from opi_xform.ownership.explain.reasons import liveness_refusal, node_span, of_callee
from opi_xform.ownership.liveness.liveness import Finding, Judge
from opi_xform.ownership.model.buffers import Buffer, Options, Program, Refusal, Use
from opi_xform.ownership.spelling.declarations import source_refusal

COPIES = 4  # of one call, for which a hint is tried

WORDLESS = Refusal("01", "")
"""Some reason of a place of which another buffer tells why it stays."""


def whole_refusal(units: Sequence[ast.Unit], program: Program, buffer: Buffer, options: Options) -> Refusal | None:
    """Reasons that concern every use of the buffer."""
    variable = program.variables[buffer.carrier.variable]
    if buffer.carrier.kind == "array" and not variable.type.is_array:
        if variable.type.is_scalar:
            return Refusal(
                "08", f"`{variable.name}` is a single {variable.type.spelling}, which travels in the envelope"
            )
        type_ = variable.type.spelling.partition(" (unnamed")[0]  # behind it: the path of its file
        return Refusal("13", f"`{variable.name}` is a {type_}, not an array or a pointer")
    if not program.values.objects.exposed.isdisjoint(buffer.objects):  # nothing of the program's own happens to it
        others = source_refusal(units, buffer.carrier.variable, buffer.carrier.kind, program.complete, options.root)
        if others is not None:
            return others
    for o in buffer.objects:
        lost = program.values.given_away.get(o)
        if lost is not None:
            node, reason = lost
            reason = _called_again(program, node) if reason == RECURSION else of_callee(program, node, reason)
            code = "403" if reason.startswith("unknown function") else "escape"
            return Refusal(code, f"`{buffer.name}`: {reason}", ((node_span(program, node), reason),))
    promised = allocator_refusal(program, buffer, options.strict) or jump_refusal(program, buffer)
    if promised is not None:
        return promised
    member = program.members.get(buffer.carrier.variable)
    found = levels_refusal(program, buffer)
    if found is None and member is not None:
        found = member_refusal(units, member, program)
    named = (buffer.carrier.variable,) if member is None else member.named
    rows = buffer.carrier.rows if member is None else 0
    for key in named if found is None else ():
        found = source_refusal(units, key, buffer.carrier.kind, program.complete, options.root, rows)
        if found is not None:
            break
    return found


def _called_again(program: Program, node: int) -> str:
    """What a call does that is made from inside the function which it calls."""
    action = program.graph.nodes[node].action
    names = action.functions if isinstance(action, Lost) else ()
    return f"`{names[0].rpartition(':')[2]}`, called from inside itself, may use it once more" if names else RECURSION


def form_refusal(program: Program, buffer: Buffer, uses: list[Use], least: int) -> Refusal | None:
    """Why one source-level use stays for how it is written, whatever the program does with the buffer.

    least: see ``too_small``.
    """
    first = uses[0]
    if not first.op.convertible:
        return Refusal("07", first.op.reason or NO_FORM)
    if not first.call.callee_span.editable or not first.call.span.editable:
        return Refusal("09", "the call is written by a macro body")
    if small(uses):
        return Refusal("08", SMALL)
    few = too_small(program, uses, least)
    if few is not None:
        return few
    for u in uses:
        if u.lo is None:
            return Refusal(
                "04", f"where in `{buffer.name}` the call begins is not known: its pointer is set in several ways"
            )
        if (u.row is None and u.lo.terms) or bool(u.row) != bool(buffer.carrier.rows):
            return inside_refusal(program, buffer, u)
        if u.length is None:
            return layout_refusal(program, u)
    return None


def site_refusal(
    program: Program, buffer: Buffer, uses: list[Use], facts: dict[int, Judge], wordless: bool, least: int
) -> Refusal | None:
    """Why one source-level use stays: every copy of it must agree."""
    refusal = form_refusal(program, buffer, uses, least)
    if refusal is not None:
        return refusal
    for u in uses:
        finding: Finding | None = facts[u.object].findings.get((u.node, u.argument))
        if finding is None:
            return Refusal("11", "the call is not reached")
        if not finding.ok:
            if wordless:
                return WORDLESS
            return _needed(program, buffer, uses[uses.index(u) :], facts)
    return None


def _needed(program: Program, buffer: Buffer, uses: Sequence[Use], facts: Mapping[int, Judge]) -> Refusal:
    """What is read after a use; with the hint that holds for all copies of the call."""
    found: list[Refusal] = []
    for u in uses:
        judge = facts[u.object]
        finding = judge.findings.get((u.node, u.argument)) or Finding(False, "01")
        if not finding.ok:
            readers = readers_after(judge, u)
            shared = meets(judge, u, readers[0]) if readers else None
            least = least_count(judge, u) if finding.code == "01" else None
            refusal = liveness_refusal(program, buffer, u, finding, readers, shared, least)
            found.append(with_hint(refusal, judge, u, readers))
            if not found[0].hint or found[-1].hint != found[0].hint or len(found) > COPIES:
                return replace(found[0], hint=None)
    return found[0]
