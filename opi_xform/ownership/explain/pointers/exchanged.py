"""A message whose pointer changes places with another one: what reads it by that name, and how much of it."""

from __future__ import annotations

from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast
from opi_xform.ownership.explain.called import called_in, read_notes
from opi_xform.ownership.explain.culprits import EXCHANGED
from opi_xform.ownership.explain.live_data import LiveData
from opi_xform.ownership.explain.reaching.ways import ahead
from opi_xform.ownership.model.buffers import Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.roots import STORED, Root


def by_the_other_name(live: LiveData, use: Use, refusal: Refusal) -> Refusal:
    """Why a site stays for what another pointer has: the call that sends it or the line that reads it, and the lengths.

    refusal: any; one that says only where they change places is told more of.
    """
    if refusal.reason is not Reason.READ_LATER or [what for _, what in refusal.notes] != [EXCHANGED]:
        return refusal
    argument = use.call.args[use.argument]
    found = live.roots.of(argument, live.graph.nodes[use.node].frame)
    other = "" if found is None else live.exchanged(found.root)
    if found is None or not other or found.root[0] == STORED:
        return refusal
    root, frame = found.root, live.graph.nodes[use.node].frame
    partner, name, partners = (root[0], other, root[2]), spelling(argument), live.program.variables[other].name
    direct = _read(live, use, partner) if use.side == "send" else None
    if direct is not None:
        return replace(
            refusal, notes=(*refusal.notes, *read_notes(live.program, use.node, [_at(live, direct)], [partners]))
        )
    # what comes is read under the other name; what is sent is where something else comes, and is read by the old one
    reader, called = (partner, partners) if use.side == "recv" else (root, name)
    brings = use if use.side == "recv" else _first(live, use, partner, "recv")
    brought = "" if brings is None else _count(brings)
    sends, read = _first(live, use, reader, "send"), _read(live, use, reader)
    much = "" if sends is None else _count(sends)
    if brings is None or name == UNSPELLED or (read is None and (not brought or much in ("", brought))):
        return refusal
    receive = "this receive" if brings is use else f"the receive at {line_of(live.names.span(brings.node))}"
    notes: tuple[tuple[Span, str], ...] = ()
    sent = ""
    if sends is not None and brought and much not in ("", brought):
        sent = f"{line_of(live.names.span(sends.node))} sends (`{much}`) no more of `{called}`"
        notes = ((live.names.span(sends.node), f"`{called}` is sent by this call"),)
    if read is not None:
        at = called_in(live.program, read, frame)
        span = live.names.span(read if at is None else at)
        notes = (*read_notes(live.program, use.node, [_at(live, read)], [called]), *notes)
        sent = f"{line_of(span)} reads and {sent}" if sent else f"{line_of(span)} reads no more of `{called}`"
    message = f"could not show that {sent} than {receive} brings{f' (`{brought}`)' if brought else ''}"
    message += f": `{name}` changes places with `{partners}` at {line_of(refusal.notes[0][0])}"
    return replace(refusal, message=message, notes=(*notes, *refusal.notes))


def _at(live: LiveData, n: int) -> tuple[Span, int]:
    return live.names.span(n), n


def _first(live: LiveData, use: Use, root: Root, side: str) -> Use | None:
    """The first call after a use, in its function, that has the memory of a name as its message."""
    frame = live.graph.nodes[use.node].frame
    found = {
        n: u for n, uses in live.uses.items() for u in uses if u.side == side and live.graph.nodes[n].frame == frame
    }
    own = {n: u for n, u in found.items() if (o := live.roots.of(u.call.args[u.argument], frame)) and o.root == root}
    return next((own[n] for n in ahead(live.graph, use.node, set(own)) if not live.excluded(use.node, n)), None)


def _read(live: LiveData, use: Use, root: Root) -> int | None:
    """The first line after a use that reads the memory by a name, and is no message."""
    loads = {n.number for n in live.graph.nodes if isinstance(n.action, ins.Load) and live.touch.reads(n.number)}
    mine = {n for n in loads if root in live.touch.by(n) and not live.never(live.graph.nodes[n].block)}
    return next(iter(ahead(live.graph, use.node, mine)), None)


def _count(use: Use) -> str:
    """How many elements a call says it has, in its words; '' for what has none."""
    if use.buffer.count is None:
        return ""
    e = uncast(use.call.args[use.buffer.count])
    found = spelling(e)
    return "" if found == UNSPELLED else found
