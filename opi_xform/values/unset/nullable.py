"""Pointers that are NULL or the beginning of one object: ``if (n > room) { free(b); b = malloc(n); }``.

At the header of a loop a pointer that can point to a single object is that object's address and an offset, a symbol.
The offset is 0 when all that comes in is the address itself, NULL, what nobody set, or what came in at the header:
whoever follows the pointer has the address, and of one that is NULL the offset tells nothing.  So a comparison with
such an offset is not used for anything: what it finds differs from turn to turn.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opi_xform.calls.calls import Calls
from opi_xform.ir import instr as ins
from opi_xform.memory.environment import Cell
from opi_xform.memory.objects import Objects
from opi_xform.memory.poly import ZERO, Poly, symbol
from opi_xform.memory.queries import PointsTo
from opi_xform.memory.symbols import Symbols
from opi_xform.memory.values import Values

WALKS = -2
"""In place of an object: the symbol is what a pointer has moved on since the loop began."""


def may_walk(symbols: Symbols, value: Poly) -> bool:
    """A pointer is an object's address or NULL."""
    return symbols.base(value) is None and symbols.base(symbols.not_null(value)) is not None


def walked(symbols: Symbols, s: int, init: Poly, ends: Sequence[Poly | None], inside: Collection[int]) -> Poly | None:
    """How far a pointer moves in each turn of a loop, from ``init`` and ``s`` on; None where that may differ.

    ends: what it is where turns end.  inside: the loop, and those in it.
    """
    steps = {None if end is None else symbols.resolve(end - init) - symbol(s) for end in ends}
    step = next(iter(steps)) if len(steps) == 1 else None
    if step is None or s in step.symbols() or symbols.scope(step) & frozenset(inside):
        return None
    return step


def single_target(objects: Objects, points_to: PointsTo, cell: Cell) -> int | None:
    """The one object that a pointer variable can point to."""
    if not isinstance(cell[0], int):
        return None
    owner = objects.table[cell[0]]
    if owner.variable is None or owner.type is None or not owner.type.is_pointer:
        return None
    targets = points_to.variable(owner.frame, owner.variable)
    if len(targets) == 1:
        target = next(iter(targets))
        if objects.table[target].kind != "unknown":
            return target
    return None


def resolve_offset(values: Values, s: int, base: int, incoming: Sequence[Poly]) -> None:
    """Gives the offset ``s`` of a pointer into ``base`` its value where it is known; incoming: what the pointer is on
    the ways to the header.
    """
    if values.objects.table[base].kind != "heap":
        return
    found = _offsets(values, s, base, incoming)
    if found is None:
        return
    offsets, null = found
    for offset in sorted(offsets):
        values.symbols.defs.setdefault(offset, ZERO)
    if null:
        values.nullable.update(offsets)


def _offsets(values: Values, s: int, base: int, incoming: Sequence[Poly]) -> tuple[set[int], bool] | None:
    """The offsets that are 0 when ``s`` is, and that ``s`` comes from, and whether NULL comes in; None when there is
    anything else.
    """
    symbols = values.symbols
    null = False
    offsets, whole = {s}, set[int]()
    work = [(v, False) for v in incoming]  # and whether it is an offset
    while work:
        value, offset = work.pop()
        if not offset:
            if value == ZERO or value.single in values.unset:
                null = True
                continue
            found = symbols.base(value)
            if found == base:
                value, offset = symbols.offset(value), True
            elif found is not None:
                return None
        if offset:
            value = symbols.resolve(value)
            if value.constant == 0:
                continue
        t = value.single
        if t is None:
            return None
        seen = offsets if offset else whole
        if t in seen:
            continue
        seen.add(t)
        info = symbols.table[t]
        while info.kind == "exit":
            inside = info.key[1]
            assert isinstance(inside, int)
            if inside in seen:
                break
            seen.add(inside)
            info = symbols.table[inside]
        else:
            if info.number not in values.joins:
                return None
            work += [(v, offset) for v in values.joins[info.number]]
    return offsets, null


def note_lazy(values: Values, calls: Calls) -> None:
    """Notes the objects that are used by such pointers, and forgets the comparisons with them."""
    if not values.nullable:
        return
    symbols = values.symbols
    for n, condition in list(values.conditions.items()):
        if may_be_null(values, condition.left) or may_be_null(values, condition.right):
            del values.conditions[n]
    for a in values.accesses.single():
        if a.lo is not None and not _frees(calls, a.node) and may_be_null(values, a.lo):
            values.lazy.add(a.object)
    for n, arguments in values.args.items():
        if not _frees(calls, n):
            bases = (symbols.base(v) for v in arguments if may_be_null(values, v))
            values.lazy.update(o for o in bases if o is not None)


def may_be_null(values: Values, value: Poly) -> bool:
    """Whether one of these offsets is in an address, also as what a loop left of it: then it may be NULL."""
    table = values.symbols.table
    for s in value.symbols():
        while s not in values.nullable and table[s].kind == "exit":
            inside = table[s].key[1]
            assert isinstance(inside, int)
            s = inside
        if s in values.nullable:
            return True
    return False


def _frees(calls: Calls, n: int) -> bool:
    action = calls.graph.nodes[n].action
    effect = calls.effect(action) if isinstance(action, ins.CallInstr) else None
    return effect is not None and effect.frees is not None and effect.allocates is None
