"""Request slots: where in memory the requests lie that a call fills or completes."""

from __future__ import annotations

from opi_xform.ir import instr as ins
from opi_xform.memory.objects import UNKNOWN
from opi_xform.memory.poly import Poly, number
from opi_xform.ownership.model.names import Names
from opi_xform.record import dataclass
from opi_xform.values.joined import Joints


@dataclass(frozen=True, slots=True)
class Slots:
    """Request slots ``[lo, lo + length)`` bytes of one object."""

    object: int
    lo: Poly
    length: Poly


def slots_of(names: Names, node: int, argument: int | None, count: Poly | None = None) -> Slots | None:
    """The requests that an argument of a call points to, when their place is known."""
    args = names.program.values.args.get(node, ())
    if argument is None or argument >= len(args):
        return None
    symbols = names.program.values.symbols
    address = symbols.not_null(args[argument])  # where there is none, there is no request
    base = symbols.base(address)
    if base is None or base == UNKNOWN:
        return None
    length = number(_size(names, node, argument)) * (count if count is not None else number(1))
    return Slots(base, symbols.resolve(symbols.offset(address)), symbols.resolve(length))


def _size(names: Names, node: int, argument: int) -> int:
    """Bytes of one request, as the argument's type has it."""
    action = names.graph.nodes[node].action
    if isinstance(action, ins.CallInstr) and argument < len(action.call.args):
        elem = action.call.args[argument].type.elem
        if elem is not None and elem.kind in ("int", "pointer", "record") and elem.size:
            return elem.size
    return names.program.request_size


def lost_slots(names: Names, o: int) -> dict[int, Slots | None]:
    """The nodes that overwrite requests of object ``o`` other than by completing them (None: somewhere in it)."""
    values = names.program.values
    resolve = values.symbols.resolve
    lost: dict[int, Slots | None] = dict.fromkeys(names.defs.get(("v", o, 0), ()))  # assignments, and new lives
    for access in names.writes(o):
        n = access.node
        call = names.operations.get(n)
        if call is not None and (call.completes is not None or call.kind == "start"):
            continue
        made = slots_of(names, n, call.request) if call is not None else None
        if made is not None and made.object == o:
            lost[n] = made
        elif access.lo is None or access.length is None:
            lost[n] = None
        elif n not in lost:
            lost[n] = Slots(o, resolve(access.lo), resolve(access.length))
        elif lost[n] is not None:
            lost[n] = None  # two regions at once
    return lost


def within(joints: Joints, slot: Slots, region: Slots) -> bool:
    """The slot lies in the region."""
    return joints.not_less(slot.lo, region.lo) and joints.not_less(_end(region), _end(slot))


def apart(joints: Joints, slot: Slots, region: Slots) -> bool:
    """The two share no byte."""
    return joints.not_less(slot.lo, _end(region)) or joints.not_less(region.lo, _end(slot))


def joints_of(names: Names, start: int = -1) -> Joints:
    """To compare slots: anywhere, or where control comes from block ``start`` in the same turn of its loops."""
    return Joints(names.graph, names.program.nest, names.program.values, start)


def _end(slots: Slots) -> Poly:
    return slots.lo + slots.length
