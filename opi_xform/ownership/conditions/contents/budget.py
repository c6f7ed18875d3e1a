"""What is too large to be computed counts as read everywhere and written nowhere."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.memory.accesses import Access
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.explain.called import called_from, node_span
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Refusal, Use
from opi_xform.ownership.model.lines import line_of

SHOWN = 3  # notes
EVERYWHERE = "it counts as read everywhere and written nowhere"


def check(facts: BufferFacts) -> Refusal | None:
    """The integer sets of one of its objects took too long."""
    exceeded = [judge for judge in facts.liveness.judges.values() if judge.exceeded]
    return _refusal(facts.found.name, exceeded[0], None) if exceeded else None


def at_site(facts: BufferFacts, use: Use) -> Refusal | None:
    """The same in the words of a site, with what its own function does; None where another object takes too long."""
    judge = facts.liveness.judges.get(use.object)
    return _refusal(facts.found.name, judge, use) if judge is not None and judge.exceeded else None


def _refusal(name: str, judge: Judge, use: Use | None) -> Refusal:
    found = hardest(judge, use)
    if found is not None:
        n, does, why = found
        span = node_span(judge.program, n)
        far = use is not None and called_from(judge.program, n, use.node) is None
        which = f"which bytes of `{name}`{', in which this message is as well,' if far else ''} {line_of(span)} {does}"
        which += f" is too complicated to compute: {why}"
        counts = "all of it counts as read" if does == "reads" else "it counts as written nowhere"
        return Refusal(Reason.BUDGET, f"{which}; {counts}", ((span, f"{does} it here"),))
    spans = dict.fromkeys(node_span(judge.program, n) for n in sorted(judge.accesses))
    lines = {(span.file, span.line): span for span in spans}
    if not lines:
        return Refusal(Reason.BUDGET, f"which bytes of `{name}` are read is too complicated to compute; {EVERYWHERE}")
    first = next(iter(lines.values()))
    where = line_of(first) if len(lines) == 1 else f"{line_of(first)} and {len(lines) - 1} other lines"
    does = "touches" if len(lines) == 1 else "touch"
    message = f"which bytes of `{name}` {where} {does} is too complicated to compute together; {EVERYWHERE}"
    return Refusal(Reason.BUDGET, message, tuple((span, "touches it here") for span in lines.values())[:SHOWN])


def hardest(judge: Judge, use: Use | None = None) -> tuple[int, str, str] | None:
    """The access of a buffer that is hardest to compute, what it does, and why that is hard; None where none is.

    Of a buffer into which something comes a read that a message leads to, and of another one what writes it.
    use: a site; what its function does, or what it calls, comes first where that is as hard.
    """
    program, received = judge.program, any(u.side == "recv" for u in judge.uses)
    wanted = "R" if received else "W"
    ahead, nodes = judge.ahead(), program.graph.nodes
    found = [a for accesses in judge.accesses.values() for a in accesses if a.kind == wanted and a.lo is not None]
    found = [a for a in found if not received or not ahead or nodes[a.node].block in ahead]
    ranked = sorted(found, key=lambda a: (*(-x for x in _hard(judge, a)), a.node))
    near = [] if use is None else [a for a in ranked if called_from(program, a.node, use.node) is not None]
    if near and [x > 1 for x in _hard(judge, near[0])[:2]] == [x > 1 for x in _hard(judge, ranked[0])[:2]]:
        ranked = near
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
    return first.node, "reads" if received else "writes", why


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
