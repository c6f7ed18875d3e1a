"""A message at the beginning of a block that is handed on in parts: ``send(p, h)`` and ``send(&p[h], h)``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from opi_xform.codes import Reason
from opi_xform.ownership.explain.choosing.argument import begins_inside
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reaching.ways import between
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, in_same_words, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import STORED, Root, base_of, roots_of


def only_the_beginning(
    program: Program, use: Use, uses: Mapping[int, Sequence[Use]], set_anew: Callable[[Root], Iterable[int]]
) -> Refusal | None:
    """Of a send: another call of the function, in the same process, names a place further in by the same pointer.

    uses: those of each node.  set_anew: gives the nodes that set a pointer.
    """
    argument, frame = use.call.args[use.argument], program.graph.nodes[use.node].frame
    mine = roots_of(program).of(argument, frame) if use.side == "send" else None
    if mine is None or mine.inside or mine.moved or (name := spelling(base_of(argument))) == UNSPELLED:
        return None
    excluded, sets = branches_of(program).excluded, sorted(set_anew(mine.root))
    for n, others in sorted(uses.items()):
        if program.graph.nodes[n].frame != frame or excluded(use.node, n):
            continue
        for other in others:
            place = other.call.args[other.argument]
            found = roots_of(program).of(place, frame)
            same = found is not None and found.root == mine.root and begins_inside(place) is not None
            words = mine.root[0] != STORED or in_same_words(base_of(argument), base_of(place))  # else of which struct?
            if not (same and words) or between(program, use.node, n, sets) or between(program, n, use.node, sets):
                continue
            span, does = names_of(program).span(n), "sends from" if other.side == "send" else "receives"
            message = f"the message is the beginning of the block that `{name}` names, and {line_of(span)} {does}"
            message += " further in; a message needs a buffer of its own"
            return Refusal(Reason.CARRIER, message, ((span, "further in the block"),))
    return None
