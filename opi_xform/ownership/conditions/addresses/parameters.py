"""The buffer comes to a site through parameters that may become the address of their caller's pointer.

C11 6.5.2.2: a parameter is a copy of its argument.  Where a function gives away what it has a copy of, its caller's
pointer has to change, so the parameter becomes a pointer to it.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Site
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.reaching.in_force import at_the_site
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.traced import path
from opi_xform.ownership.spelling.parameters import reassigned


def check(site: Site) -> Refusal | None:
    """The first parameter on the way that cannot."""
    program, buffer, parameters = site.program, site.buffer, site.facts.of.parameters
    keys = list(dict.fromkeys(key for u in site.uses for key in path(program, u)[0]))
    for key in keys:
        refusal = parameters.refusal(key)
        if refusal is not None:
            return at_the_site(program, refusal, key, site.uses)
        stops = parameters.others([key]) if site.facts.options.strict else ()
        if stops:
            note = (stops[0].span, "this text is left out here, and another configuration compiles it")
            message = f"code under a false #if calls `{stops[0].name}`, which would change"
            return Refusal(Reason.OUTSIDE, message, (note,))
    changed = reassigned(program, buffer, keys) if keys else None
    if changed is not None:
        name, span = program.variables[keys[0]].name, node_span(program, changed)
        message = f"`{name}` is a parameter, and `{buffer.name}` itself may change at {line_of(span)}"
        if any(use.node == changed for use in site.uses):
            message = f"`{name}` is a parameter, and could not show that this call leaves the pointer `{buffer.name}`"
            return Refusal(Reason.CARRIER, f"{message} as it is")
        return Refusal(Reason.CARRIER, f"{message} while it stands for it", ((span, "it may change here"),))
    return None


CONDITION = Condition(
    "carrier",
    "One lvalue names the start of the buffer; it outlives, unmoved, every request that holds its address.",
    cases=("b_*", "lifted_*", "matrix_*", "second_*", "macro_named"),
    enforced=("ownership.spelling.parameters:Parameters", "ownership.spelling.lifts:Lifts"),
    words=("ownership.spelling.parameters:Parameters",),
    site=check,
)
