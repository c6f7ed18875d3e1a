"""A pointer that stands for several buffers in turn: which lines set it, first that from which it has its value."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.choosing.places import set_inside
from opi_xform.ownership.explain.other_pointers import value_named
from opi_xform.ownership.explain.reaching.in_force import in_force
from opi_xform.ownership.explain.reaching.ways import between
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.lvalues import UNSPELLED
from opi_xform.ownership.model.names import names_of

SHOWN = 3
STEPS = 8  # names that are followed to where a value is read
MALLOC_AND_COPY = "memory from malloc and a copy, in the place of realloc, would still be several buffers"

Words = tuple[str, tuple[tuple[Span, str], ...]]


def several(program: Program, what: str, sets: Sequence[int], near: Sequence[int], at: int, returned: str) -> Words:
    """What is said of a pointer that several lines set.

    near: those of the nodes that give it what it has at a node.  at: this one.  returned: the function that returns it;
    '' for none.
    """
    if (placed := set_inside(program, what, near)) is not None:
        return placed
    names = names_of(program)
    lines = {(span.file, span.line): span for span in map(names.span, sets)}
    here = {(span.file, span.line): span for span in map(names.span, near)}
    if len(here) == 1:
        (span,) = here.values()
        others = [lines[k] for k in sorted(lines.keys() - here.keys())][: SHOWN - 1]
        copied = still_named(program, near[0], at) if len(near) == 1 else UNSPELLED
        notes = ((span, f"{what} is set here"), *((other, f"{what} is set anew here") for other in others))
        if others and copied != UNSPELLED and f"`{copied}`" != what:
            message = f"{what} is a second name of what `{copied}` points to: {line_of(span)} sets it from that; "
            return f"{message}{lines_of(others)} set{'s' if len(others) == 1 else ''} it anew", notes
    places = [span for _, span in sorted(lines.items())]
    where, more = lines_of(places[:SHOWN]), ", and in other lines" if len(places) > SHOWN else ""
    if len(here) == 1 and len(places) > SHOWN:
        where, more, places = f"{line_of(span)} for this call, and for others at {lines_of(others)}", "", []
    called = f"{what}, which `{returned}` returns," if returned else what
    message = f"{called} may stand for several buffers: it is set at {where}{more}"
    if any(_moves(program, n) for n in sets):
        message += f"; {MALLOC_AND_COPY}"
    told = tuple((span, f"{what} is set here") for span in places[:SHOWN])
    return message, told or notes


def set_in_force(program: Program, what: str, sets: Sequence[int], at: int) -> Words | None:
    """Of several nodes that set a pointer, the one that gives it what it has at a node: a place inside a block."""
    return set_inside(program, what, in_force(program, sets, at)) if len(sets) > 1 else None


def still_named(program: Program, n: int, at: int) -> str:
    """The other pointer to which a node sets one, as it is written, where it is the same at a node that comes later;
    UNSPELLED: there is none, or it may be set anew before.
    """
    names, node = names_of(program), program.graph.nodes[n]
    if not isinstance(node.action, ins.Define):
        return UNSPELLED
    sets = set[int]()
    name = names.name(node.frame, value := _plain(node.action.value))
    for _ in range(STEPS):
        found = names.defs.get(name, ()) if name is not None else ()
        if isinstance(value, ins.Var):
            sets.update(found)
            break
        action = program.graph.nodes[found[0]].action if len(found) == 1 else None
        if not isinstance(action, ins.Define):
            sets.update(a.node for m in found for o in program.values.accesses.objects(m) for a in names.writes(o))
            break
        name = names.name(node.frame, value := _plain(action.value))
    return UNSPELLED if between(program, n, at, sorted(sets)) else value_named(program, node.frame, value)


def _plain(value: ins.Operand) -> ins.Operand:
    while isinstance(value, ins.Op) and value.op == "cast":
        value = value.args[0]
    return value


def _moves(program: Program, n: int) -> bool:
    """A call like ``realloc``."""
    action = program.graph.nodes[n].action
    effect = names_of(program).effect(action) if isinstance(action, ins.CallInstr) else None
    return effect is not None and effect.frees is not None and effect.allocates is not None
