"""What is too large to be computed counts as read everywhere and written nowhere."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ir.span import Span
from opi_xform.memory.accesses import Access
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lines import line_of


def check(facts: BufferFacts) -> Refusal | None:
    """The integer sets of one of its objects took too long."""
    exceeded = [judge for judge in facts.liveness.judges.values() if judge.exceeded]
    if not exceeded:
        return None
    found = hardest(exceeded[0])
    if found is None:
        return Refusal(Reason.BUDGET, "the regions of this buffer are too complicated; it counts as read everywhere")
    span, does, why = found
    which = f"which bytes of `{facts.found.name}` {line_of(span)} {does} is too complicated to compute: {why}"
    return Refusal(Reason.BUDGET, f"{which}; all of it counts as read", ((span, f"{does} it here"),))


def hardest(judge: Judge) -> tuple[Span, str, str] | None:
    """The access of a buffer that is hardest to compute, what it does, and why that is hard; None where none is.

    Of a buffer into which something comes a read, and of another one what writes it.
    """
    program, received = judge.program, any(u.side == "recv" for u in judge.uses)
    wanted = "R" if received else "W"
    found = [a for accesses in judge.accesses.values() for a in accesses if a.kind == wanted and a.lo is not None]
    ranked = sorted(found, key=lambda a: (*(-x for x in _hard(judge, a)), a.node))
    if not ranked or not any(_hard(judge, ranked[0])):
        return None
    first = ranked[0]
    factors, loops, _ = _hard(judge, first)
    if factors > 1:
        why = "its place is made of products of numbers that are known only when the program runs"
    elif loops > 1:
        why = f"it stands in {loops} loops, one in the other"
    else:
        why = "its place depends on many numbers that are known only when the program runs"
    return node_span(program, first.node), "reads" if received else "writes", why


def _hard(judge: Judge, a: Access) -> tuple[int, int, int]:
    """How many unknown numbers are multiplied in a place, how many loops are around, and how many numbers it has."""
    symbols, program = judge.program.values.symbols, judge.program
    places = [symbols.resolve(p) for p in (a.lo, a.length) if p is not None]
    factors = max((len(m) for p in places for m, _ in p.terms), default=0)
    loops = len(list(program.nest.chain(program.graph.nodes[a.node].block)))
    return factors if factors > 1 else 0, loops if loops > 1 else 0, len({s for p in places for s in p.symbols()})


CONDITION = Condition(
    "budget",
    "What is too large to be computed counts as read everywhere and written nowhere.",
    codes=(Reason.BUDGET.send,),
    cases=("budget_*",),
    enforced=("regions.sets:Regions",),
    buffer=check,
)
