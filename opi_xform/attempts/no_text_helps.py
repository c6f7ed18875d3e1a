"""Sites that stay for what the program does, however its text is written: other words for the same are no help.

What a program with other words for the same (``macros.py``) reads, writes and sends is what this one does.  A site
that stays because of bytes that are read, of the form of its call, or of a budget, stays there as well.  Sends and
receives with which a block's life ends or begins convert whatever is said of them otherwise, those that name it by a
local pointer to elements (``ownership/last/edits.py``): none may be left of which the program allows that.  Where no
other attempt comes after this one, more sites stay: messages that begin inside their buffers (some attempts divide
these, or give messages buffers of their own), calls that the program graph does not have, messages of which it is not
known which block they are in, and buffers whose address is given to what is not followed (others may name pointers in
other ways, so that more is known of them).
"""

from __future__ import annotations

from opi_xform.attempts.again import site
from opi_xform.ir import ast
from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.last.edits import in_any_words
from opi_xform.ownership.model.buffers import Place, Program, Use
from opi_xform.ownership.model.plan import Decision, Plan, SiteKey
from opi_xform.ownership.spelling.mentions import plain

FORM = frozenset({"OPI107", "OPI108", "OPI118", "OPI207", "OPI208", "OPI218"})
"""What is so of a call in any words, and under any name of its buffer."""
_BYTES = frozenset({"OPI101", "OPI102", "OPI110", "OPI201", "OPI202", "OPI203", "OPI210", "OPI401"})


def no_text_helps(program: Program, plan: Plan, alone: bool) -> bool:
    """All sites that stay do so whatever the words are.  alone: no other attempt is made with other words."""
    uses = collect(program)
    unknown = {use.place for use in buffers(program, uses)[1]} if alone else set()
    plainly: dict[Place, list[Use]] = {}
    inside: set[SiteKey] = set()
    reached: set[SiteKey] = set()
    for use in uses:
        reached.add(use.place[:3])
        if _may_be_handed_over(program, plain(use.call.args[use.argument])):
            plainly.setdefault(use.place, []).append(use)
        begins_inside = use.lo is None or (use.row is None and use.lo.terms)
        # that memory is given away is the first condition that is asked of it
        if alone and (begins_inside or use.place in unknown or use.object in program.values.given_away):
            inside.add(use.place[:3])

    def stays(d: Decision) -> bool:
        here = site(d)
        return d.code in FORM or (alone and here not in reached) or d.code in _BYTES or here in inside

    kept = [d for d in plan.decisions if d.decision == "keep"]
    if not all(map(stays, kept)):
        return False
    open_ = {site(d) for d in kept if d.code not in FORM}
    return not in_any_words(program, {p: mine for p, mine in plainly.items() if p[:3] in open_})


def _may_be_handed_over(program: Program, e: ast.Expr) -> bool:
    """A local pointer that ``last/edits.py`` (``address``) would let a call set."""
    variable = program.variables[e.var] if isinstance(e, ast.VarRef) else None
    if variable is None or variable.kind not in ("local", "param") or not variable.type.is_pointer:
        return False
    return variable.type.elem is not None and variable.type.elem.kind not in ("void", "function")
