"""Sites that stay for what the program does, however its text is written: other words for the same are no help.

What a program with other words for the same (``macros.py``) reads, writes and sends is what this one does.  A site
that stays because of bytes that are read, of the form of its call, or of a budget, stays there as well.  Sends and
receives with which a block's life ends or begins convert whatever is said of them otherwise, those that name it by a
local pointer to elements (``ownership/last/edits.py``): none may be left of which the program allows that.  Where no
other attempt comes after this one, more sites stay: messages that begin inside their buffers (some attempts divide
these, or give messages buffers of their own), calls that the program graph does not have, messages of which it is not
known which block they are in, structs, and buffers whose address is given to what is not followed, or of which a number
or a copy is made (others may name pointers in other ways, so that more is known of them).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opi_xform.attempts.again import site
from opi_xform.ir import ast
from opi_xform.ir.walk import uncast
from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.conditions.addresses import values
from opi_xform.ownership.conditions.calls import variable
from opi_xform.ownership.deciding.facts import BufferFacts, ProgramFacts
from opi_xform.ownership.last.edits import in_any_words
from opi_xform.ownership.model.buffers import Buffer, Options, Place, Program, Use
from opi_xform.ownership.model.plan import Decision, Plan, SiteKey
from opi_xform.ownership.spelling.mentions import plain

FORM = frozenset({"OPI107", "OPI108", "OPI118", "OPI207", "OPI208", "OPI218"})
"""What is so of a call in any words, and under any name of its buffer."""
_BYTES = frozenset({"OPI101", "OPI102", "OPI110", "OPI201", "OPI202", "OPI203", "OPI210", "OPI401"})
_TOO_LONG = frozenset({"OPI401"})
_UNSEEN = frozenset({"OPI111", "OPI211"})
"""Calls that are not followed: what is told of their bytes is what the text lets suppose."""


def no_text_helps(program: Program, plan: Plan, alone: bool) -> bool:
    """All sites that stay do so whatever the words are.  alone: no other attempt is made with other words."""
    uses = collect(program)
    groups, strays = buffers(program, uses)
    unknown = {use.place for use in strays}
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
        bytes_ = d.code in _BYTES and d.form not in _UNSEEN
        return d.code in FORM or (alone and here not in reached) or bytes_ or here in inside

    kept = [d for d in plan.decisions if d.decision == "keep"]
    open_ = {site(d) for d in kept if not stays(d)}
    if open_ and (not alone or program.exchanges or not open_ <= _never(program, groups, open_)):
        return False
    named = {site(d) for d in kept if d.code not in FORM}
    return not in_any_words(program, {p: mine for p, mine in plainly.items() if p[:3] in named})


def no_name_helps(program: Program, plan: Plan) -> bool:
    """All sites that stay do so under any names of their buffers, where no other attempt comes after short names.

    A message that is written to begin at an index that is not constant begins there from whatever name.  Rows of arrays
    are left aside: which row a message begins with may be a matter of names.  Sets of bytes that take too long to
    compute are the same sets under other names.
    """
    uses: dict[SiteKey, list[Use]] = {}
    for use in collect(program):
        uses.setdefault(use.place[:3], []).append(use)

    def stays(d: Decision) -> bool:
        here = uses.get(site(d))
        return here is None or {d.code, d.form} & (FORM | _TOO_LONG) != set() or all(_begins_at_index(u) for u in here)

    kept = [d for d in plan.decisions if d.decision == "keep"]
    if not all(map(stays, kept)):
        return False
    named: dict[Place, list[Use]] = {}
    for use in (u for d in kept if d.code not in FORM for u in uses.get(site(d), ())):
        if _may_be_handed_over(program, plain(use.call.args[use.argument])):
            named.setdefault(use.place, []).append(use)
    return not in_any_words(program, named)


def _begins_at_index(use: Use) -> bool:
    """A message is written ``&a[i]`` or ``a + i``, of elements that are no arrays, and begins inside its buffer."""
    if use.lo is None or not use.lo.terms or use.row is not None:
        return False
    match uncast(use.call.args[use.argument]):
        case ast.AddrOf(operand=ast.Index(base=base, index=index)) | ast.Binary(op="+", left=base, right=index):
            elem = base.type.elem
            return elem is not None and not elem.is_array and not elem.is_pointer and not isinstance(index, ast.IntLit)
        case _:
            return False


def _never(program: Program, groups: Sequence[Buffer], sites: Collection[SiteKey]) -> set[SiteKey]:
    """Sites whose buffer is neither an array nor a block, or of whose address something is made."""
    facts = ProgramFacts((), program, Options())
    out: set[SiteKey] = set()
    for buffer in groups:
        mine = {use.place[:3] for use in buffer.uses}
        if not mine.isdisjoint(sites) and not mine <= out:
            one = BufferFacts(facts, buffer)
            if variable.check(one) is not None or values.check(one) is not None:
                out |= mine
    return out


def _may_be_handed_over(program: Program, e: ast.Expr) -> bool:
    """A local pointer that ``last/edits.py`` (``address``) would let a call set."""
    named = program.variables[e.var] if isinstance(e, ast.VarRef) else None
    if named is None or named.kind not in ("local", "param") or not named.type.is_pointer:
        return False
    return named.type.elem is not None and named.type.elem.kind not in ("void", "function")
