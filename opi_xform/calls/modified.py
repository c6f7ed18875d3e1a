"""What each loop changes, found before values are.

A store of a known number of bytes at known places (``stored.py``) changes these bytes and no others, at every turn:
what else the object holds at the loop's head it goes on holding, if nothing else in the loop may write the object.
``Modified.parts`` has such objects with all the places.  An object counts as changed as a whole in a loop where it is
born or allocated, given to code that may write it, copied to, or stored to at a place that is not known, or through a
pointer that may lead elsewhere too: all that points-to knows of it.  The object's version changes at any store to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from opi_xform.calls.calls import Calls, calls_back, is_message, region_args
from opi_xform.calls.stored import Stored, fixed_length
from opi_xform.effects.model import ArgRegion, FunctionEffect
from opi_xform.graph.graph import Bind, Lost, Node, Unbind
from opi_xform.graph.loops import LoopNest
from opi_xform.ir import instr as ins
from opi_xform.ir.typed import is_apart
from opi_xform.memory.environment import Cell
from opi_xform.record import dataclass


def writes(calls: Calls, node: Node) -> set[int]:
    """Objects that a node may change."""
    cells: Cells = {}
    _Finder(calls, ()).modifies(node, cells)
    return {cell[1] for cell in cells if cell[0] == "v" and isinstance(cell[1], int)}


Cells = dict[Cell, bool]
"""What may change; True: a pointer that is only moved (``p++``), so it goes on pointing into the same object."""


Parts = dict[int, set[tuple[int, int]]]
"""By object: (first byte, number of bytes) of all that may change of it."""


@dataclass(frozen=True, slots=True)
class Modified:
    """What an iteration of a loop may change: variables, temporaries and object contents.

    parts: objects of which only some bytes may change; of all others that are in ``cells``, all bytes.

    whole: the same of the integers and addresses in memory, where stores of floating numbers leave these as they are.
    """

    cells: Cells
    parts: Parts
    whole: Modified | None = None


def modified_cells(calls: Calls, nest: LoopNest, whole_program: bool) -> list[Modified]:
    """By loop."""
    finder = _Finder(calls, calls.graph.nodes)
    if nest.loops:
        finder.stored = Stored(calls, _set_by_others(calls), whole_program)
    found = _by_loop(calls, nest, finder)
    if not calls.objects.floats_apart or not any(_is_floating(node) for node in calls.graph.nodes):
        return found
    finder.whole_only = True
    return [replace(one, whole=whole) for one, whole in zip(found, _by_loop(calls, nest, finder), strict=True)]


def _is_floating(node: Node) -> bool:
    """It stores a floating number through an address."""
    return isinstance(node.action, ins.Store) and is_apart(node.action.type)


def _by_loop(calls: Calls, nest: LoopNest, finder: _Finder) -> list[Modified]:
    per_block: list[Cells] = []
    parts: list[Parts] = []
    whole: list[set[int]] = []
    for block in calls.graph.blocks:
        cells: Cells = {}
        finder.parts, finder.whole = {}, set()
        for n in block:
            finder.modifies(calls.graph.nodes[n], cells)
        per_block.append(cells)
        parts.append(finder.parts)
        whole.append(finder.whole)
    moved = [[cell for cell, only in cells.items() if only] for cells in per_block]
    elsewhere: dict[Cell, set[int]] = {cell: set() for cells in moved for cell in cells}  # blocks that set it anew
    for b, cells in enumerate(per_block):
        for cell in elsewhere.keys() & cells.keys():
            if not cells[cell]:
                elsewhere[cell].add(b)
    out = []
    for loop in nest.loops:
        blocks = sorted(loop.blocks)
        out.append(Modified(_union(blocks, per_block, moved, elsewhere), _parts(blocks, parts, whole)))
    return out


def _set_by_others(calls: Calls) -> set[int]:
    """Objects that something may write which names no variable: a store, a call."""
    finder = _Finder(calls, ())
    for node in calls.graph.nodes:
        if not isinstance(node.action, (ins.Define, ins.Birth, Bind)):
            finder.modifies(node, {})
    return finder.whole


def _parts(blocks: list[int], parts: Sequence[Parts], whole: Sequence[set[int]]) -> Parts:
    """Only some of an object changes where no block of the loop may change all of it."""
    out: Parts = {}
    for b in blocks:
        for o, places in parts[b].items():
            out.setdefault(o, set()).update(places)
    left = set(out)
    for b in blocks:
        left = left - whole[b]
    return {o: places for o, places in out.items() if o in left}


def _union(
    blocks: list[int], per_block: list[Cells], moved: list[list[Cell]], elsewhere: dict[Cell, set[int]]
) -> Cells:
    """Only moved where every block that changes it only moves it."""
    out: Cells = {}
    for b in blocks:
        out.update(per_block[b])
    for cell in dict.fromkeys(cell for b in blocks for cell in moved[b]):
        out[cell] = elsewhere[cell].isdisjoint(blocks)
    return out


class _Finder:
    def __init__(self, calls: Calls, nodes: Iterable[Node]) -> None:
        """nodes: those that may set temporaries with which pointers move."""
        self.calls = calls
        self.graph = calls.graph
        self.objects = calls.objects
        self.pts = calls.pts
        self.stored: Stored | None = None  # None: places are not told apart
        self.whole_only = False  # stores of floating numbers are left out
        self.parts: Parts = {}
        self.whole: set[int] = set()  # objects that are changed in another way
        self.all_of: dict[frozenset[int], Cells] = {}  # what ``modify_all`` notes of objects
        self.temps: dict[tuple[int, int], list[ins.Operand | None]] = {}  # what each is set to; None: something else
        for node in nodes:
            match node.action:
                case ins.Define(target=ins.Temp(number=t), value=value):
                    self.temps.setdefault((node.frame, t), []).append(value)
                case ins.Load(target=t) | ins.CallInstr(target=t) | Unbind(target=t) if isinstance(t, ins.Temp):
                    self.temps.setdefault((node.frame, t.number), []).append(None)
                case _:
                    pass

    def moves(self, frame: int, key: str, value: ins.Operand | None) -> bool:
        """The value is that of the variable itself, some elements further or back."""
        work, seen = [value], set()
        while work:
            match work.pop():
                case ins.PtrAdd(base=base):
                    work.append(base)
                case ins.Op(op="cast", args=(inner,), type=type_) if type_.is_pointer:
                    work.append(inner)
                case ins.Temp(number=t):
                    if t not in seen:
                        seen.add(t)
                        work.extend(self.temps.get((frame, t), (None,)))
                case ins.Var(key=found) if found == key:
                    pass
                case _:
                    return False
        return True

    def modifies(self, node: Node, cells: Cells) -> None:
        frame = node.frame
        match node.action:
            case ins.Define(target=target, value=value):
                if isinstance(target, ins.Temp):
                    cells[("t", frame, target.number)] = False
                else:
                    cell: Cell = (self.objects.variable(frame, target.key), 0)
                    cells[cell] = cells.get(cell, True) and self.moves(frame, target.key, value)
                    cells[("v", self.objects.variable(frame, target.key))] = False
            case ins.Load(target=target):
                cells[("t", frame, target.number)] = False
            case ins.Store() if self.whole_only and _is_floating(node):
                pass
            case ins.Store(address=address, type=type_, padding=padding):
                size = type_.size + padding if type_.size else None  # no size: a bit field
                self.modify_at(frame, address, size, cells)
            case ins.CopyBytes(target=destination):
                self.modify_all(self.pts.accessed(frame, destination), cells)
            case ins.Birth(var=key):
                self.modify_all(frozenset({self.objects.variable(frame, key)}), cells)
            case Bind(params=params):
                for key in params:
                    self.modify_all(frozenset({self.objects.variable(frame, key)}), cells)
                self.modify_all(self.calls.entered.get(frame, frozenset()), cells)
            case Unbind(target=result):
                if result is not None:
                    cells[("t", frame, result.number)] = False
            case ins.Escape(values=values):
                for operand in values:
                    self.modify_all(self.pts.reachable(self.pts.operand(frame, operand)), cells)
            case Lost(call=call):
                self.modify_all(self.calls.changed(node), cells)
                if call.target is not None:
                    cells[("t", frame, call.target.number)] = False
            case ins.CallInstr() as call:
                if call.target is not None:
                    cells[("t", frame, call.target.number)] = False
                if self.calls.is_followed(node, call):
                    return
                effect = self.calls.effect(call)
                if effect is None:
                    self.modify_all(self.calls.lost(node), cells)
                    return
                for region in effect.all_writes:
                    for i in region_args(region.arg, region.rest, call):
                        if region.indirect:
                            targets = self.pts.reachable(self.pts.accessed(frame, call.args[i]))
                            self.modify_all(targets, cells)
                        else:
                            self.modify_at(frame, call.args[i], self.written(effect, region, i, call), cells)
                if effect.frees is not None and effect.frees.arg < len(call.args):
                    self.modify_all(self.pts.accessed(frame, call.args[effect.frees.arg]), cells)
                spec = effect.allocates
                if spec is not None and spec.into is None:
                    self.whole.add(self.objects.heap(node.number))
                if spec is not None and spec.into is not None and spec.into < len(call.args):
                    self.modify_all(self.pts.accessed(frame, call.args[spec.into]), cells)
                for flow in effect.flows:
                    if flow.target < len(call.args):
                        self.modify_all(self.pts.accessed(frame, call.args[flow.target]), cells)
                if calls_back(effect, call) and node.number not in self.graph.followed:
                    self.modify_all(self.calls.lost(node), cells)
            case _:
                pass

    @staticmethod
    def written(effect: FunctionEffect, region: ArgRegion, i: int, call: ins.CallInstr) -> int | None:
        """Bytes that a call of the library may write behind an address; of a message that is not asked."""
        return None if effect.mpi is not None and is_message(effect, i) else fixed_length(region, i, call)

    def modify_at(self, frame: int, address: ins.Operand, size: int | None, cells: Cells) -> None:
        """Some bytes behind an address."""
        objects = self.pts.accessed(frame, address)
        places = self.stored.places(frame, address) if self.stored is not None and size else None
        if places is None or size is None:
            self.modify_all(objects, cells)
            return
        found: set[int] = set()
        for o, offset in places:
            type_ = self.objects.table[o].type
            if type_ is None or not type_.is_scalar:
                found.add(o)
                cells["v", o] = False
                self.parts.setdefault(o, set()).add((offset, size))
        self.modify_all(objects.union(o for o, _ in places) - found, cells)

    def modify_all(self, objects: frozenset[int], cells: Cells) -> None:
        found = self.all_of.get(objects)
        if found is None:
            found = self.all_of[objects] = {}
            for o in sorted(objects):
                found["v", o] = False
                type_ = self.objects.table[o].type
                if type_ is not None and type_.is_scalar:
                    found[o, 0] = False
        cells.update(found)
        self.whole |= objects
