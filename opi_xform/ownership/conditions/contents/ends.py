"""What the program puts into the buffer before a receive does not end what is read of a shorter message.

Assumption A1 does not believe it of a program that does so: it reads up to a mark, and the mark may be its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.pointers.settings import set_nowhere
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.liveness.marks import marks_before
from opi_xform.ownership.liveness.zero_ends import (
    all_zeros,
    copied_as_text,
    ends_at_zero,
    has_characters,
    read_to_an_end,
    read_to_zero,
    reads_as_text,
)
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, Expressions, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of

Notes = tuple[tuple[Span, str], ...]
TEXT_ENDS = "could not show that the message brings the end of its text"  # anything else is the better reason


def check(site: Site) -> Refusal | None:
    """Zeros, an initialiser, or a mark may be the end of a text or list."""
    refusal = ended_by_initialiser(site.program, site.buffer, site.uses[0].side)
    if refusal is not None:
        return refusal
    findings = ((u, site.finding(u)) for u in site.uses)
    believed = [u for u, finding in findings if finding is not None and "A1" in finding.assumptions]
    return marked(site.program, site.buffer, believed)


def ended_by_initialiser(program: Program, buffer: Buffer, side: str) -> Refusal | None:
    """A text, or a list of whole numbers, that comes without the zero that ends it may be ended by those that its array
    began with; one that is read to its end by zeros that ``calloc`` or ``memset`` fills its buffer with, too.

    What is read is then more than the message, which A1 does not believe of anybody who writes zeros for it.
    """
    variable = program.variables[buffer.carrier.variable]
    elem: Type | None = variable.type
    while elem is not None and (elem.is_array or elem.is_pointer):
        elem = elem.elem
    if side != "recv" or elem is None:
        return None
    text = elem.kind == "int" and elem.size == 1
    if variable.type.is_array and variable.init is not None and elem.kind != "float":
        message = f"a text may come without its end, and the initialiser of `{buffer.name}` may be what ends it"
        if not text:
            message = f"what is read after a message that is short may be the initialiser of `{buffer.name}`"
            message += "; without that, nothing but the message counts as read (A1)"
        return Refusal(Reason.FIRST_CONTENTS, message, ((variable.span, "initialised here"),))
    filled = _zeros_before(program, buffer)
    lasting = variable.type.is_array and variable.is_global  # its memory begins with zeros
    text = text or ((filled is not None or lasting) and has_characters(program, buffer))
    if filled is not None and not text and (reads := reads_as_text(program, buffer)) is not None:
        message = f"could not show how much of `{buffer.name}` {line_of(node_span(program, reads))} reads"
        message += f", and zeros that are put into `{buffer.name}` may be what it reads after a shorter message"
        return Refusal(Reason.FIRST_CONTENTS, message, ((node_span(program, filled), "zeros are put into it here"),))
    if filled is None and not lasting:
        return None
    ways = (read_to_an_end, copied_as_text) if text else (ends_at_zero,)
    if filled is None:  # nobody has put the zeros there for that
        ways = (read_to_zero,)
    if not any(way(program, buffer) for way in ways):
        return None
    what = f"a {'text' if text else 'list'} may come without its end"
    if filled is None or (text and not _before(program, buffer, filled)):  # the message finds what was there at first
        notes = ((variable.span, f"`{buffer.name}` begins with zeros, which may be what ends it"),) if lasting else ()
        return Refusal(Reason.FIRST_CONTENTS, TEXT_ENDS if text else what, notes)
    message = f"{what}, and zeros that are put into `{buffer.name}` may be what ends it"
    return Refusal(Reason.FIRST_CONTENTS, message, ((node_span(program, filled), "zeros are put into it here"),))


def _zeros_before(program: Program, buffer: Buffer) -> int | None:
    """The first call that fills a buffer with zeros, if one does so before a receive in its process such a one."""
    return min(all_zeros(program, buffer), key=lambda n: (not _before(program, buffer, n), n), default=None)


def _before(program: Program, buffer: Buffer, n: int) -> bool:
    """A node may come before a receive, in its process."""
    excluded, follows = branches_of(program).excluded, names_of(program).follows
    return any(u.side == "recv" and follows(n, u.node) and not excluded(u.node, n) for u in buffer.uses)


def marked(program: Program, buffer: Buffer, uses: Iterable[Use]) -> Refusal | None:
    """What the program puts into the buffer before a receive may be what is read where the message is shorter."""
    for use in uses:
        n = marks_before(program, buffer, use) if use.side == "recv" else None
        if n is not None:
            span = node_span(program, n)
            message = (
                f"the message may be shorter than `{buffer.name}`, and what {line_of(span)} puts there may be its end"
            )
            notes: Notes = ((span, "put there before the receive"),)
            if UNKNOWN in program.values.accesses.objects(n):  # it may be any memory
                message, notes = _may_be_there(program, buffer, n)
            return Refusal(Reason.FIRST_CONTENTS, message, notes)
    return None


def _may_be_there(program: Program, buffer: Buffer, n: int) -> tuple[str, Notes]:
    """What is said of a line that writes through a pointer to memory that is not known."""
    node, span = program.graph.nodes[n], node_span(program, n)
    frame = program.graph.frames[node.frame]
    e = Expressions(program).of(frame.function, node.action)
    pointer = UNSPELLED if e is None else spelling(base_of(e.base if isinstance(e, ast.Member) else e))
    which = "where that is" if pointer == UNSPELLED else f"which memory `{pointer}` points to there"
    message = f"the message may be shorter than `{buffer.name}`, and {line_of(span)} may put its end there"
    unset = set_nowhere(program, node.action.address, node.frame) if isinstance(node.action, ins.Store) else ""
    if unset:
        which = f"{which}, as no line sets `{unset}`"
    notes = [(span, "written here")]
    if frame.call >= 0:
        notes.append((node_span(program, frame.call), "called from here"))
    return f"{message}: could not show {which}", tuple(notes)


CONDITION = Condition(
    "first contents",
    "What is there before a receive does not end what is read of its message.",
    enforced=("ownership.conditions.contents.ends:ended_by_initialiser", "ownership.conditions.contents.ends:marked"),
    words=("ownership.conditions.contents.ends:ended_by_initialiser", "ownership.conditions.contents.ends:marked"),
    site=check,
)
