"""The call is reached from main, by paths that the analysis follows."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import ProgramFacts, Site
from opi_xform.ownership.model.buffers import Program, Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.spelling.attributes import unseen_call


def check_program(facts: ProgramFacts) -> Refusal | None:
    """Functions run that nothing is seen to call, or a loop has two entries: no path through it is known then."""
    unseen = unseen_call(facts.units)
    if unseen is not None:
        span, message = unseen
        return Refusal(Reason.NOT_ANALYSED, message, ((span, "here"),))
    if facts.program.nest.irreducible:
        return _two_entries(facts.program)
    return None


def _two_entries(program: Program) -> Refusal:
    """Where the loop is: the first place to which a way leads back that another way does not come by."""
    graph, nest, names = program.graph, program.nest, names_of(program)
    back = ((b, s) for b in range(len(graph.succs)) for s in graph.succs[b] if s <= b and not nest.dominates(s, b))
    for s in (s for _, s in back if graph.blocks[s]):
        n = graph.blocks[s][0]
        key, span = graph.frames[graph.nodes[n].frame].function, names.span(n)
        if key in program.functions and span.line:
            what = f"`{program.functions[key].name}` has a loop with two entries (goto into a loop), at {line_of(span)}"
            return Refusal(
                Reason.NOT_ANALYSED, f"{what}: the ways through the program are not followed", ((span, "here"),)
            )
    what = "the program's control flow has a loop with two entries (goto into a loop)"
    return Refusal(Reason.NOT_ANALYSED, what)


def check(site: Site) -> Refusal | None:
    """A copy of the call is not reached."""
    return site.needed_for("", Reason.NOT_ANALYSED)


CONDITION = Condition(
    "analysed",
    "The call is reached from main, by paths that the analysis follows.",
    codes=(Reason.NOT_ANALYSED.send, Reason.NOT_ANALYSED.recv),
    enforced=(
        "ownership.spelling.attributes:unseen_call",
        "frontend.lower.attributes:Finder",
        "ownership.decide:decide",
    ),
    program=check_program,
    site=check,
)
