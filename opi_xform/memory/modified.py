"""What each loop changes, found before values are."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.ir import instr as ins
from opi_xform.ir.loops import LoopNest
from opi_xform.memory.calls import Calls, calls_back, region_args
from opi_xform.memory.environment import Cell
from opi_xform.program.graph import Bind, Lost, Node, Unbind


def writes(calls: Calls, node: Node) -> set[int]:
    """Objects that a node may change."""
    cells: Cells = {}
    _Finder(calls, ()).modifies(node, cells)
    return {cell[1] for cell in cells if cell[0] == "v" and isinstance(cell[1], int)}


Cells = dict[Cell, bool]
"""What may change; True: a pointer that is only moved (``p++``), so it goes on pointing into the same object."""


def modified_cells(calls: Calls, nest: LoopNest) -> list[Cells]:
    """Per loop: variables, temporaries and object contents that an iteration may change."""
    finder = _Finder(calls, calls.graph.nodes)
    per_block: list[Cells] = []
    for block in calls.graph.blocks:
        cells: Cells = {}
        for n in block:
            finder.modifies(calls.graph.nodes[n], cells)
        per_block.append(cells)
    moved = [[cell for cell, only in cells.items() if only] for cells in per_block]
    return [_union(sorted(loop.blocks), per_block, moved) for loop in nest.loops]


def _union(blocks: list[int], per_block: list[Cells], moved: list[list[Cell]]) -> Cells:
    """Only moved where every block that changes it only moves it."""
    out: Cells = {}
    for b in blocks:
        out.update(per_block[b])
    for b in blocks:
        for cell in moved[b]:
            out[cell] = all(per_block[other].get(cell, True) for other in blocks)
    return out


class _Finder:
    def __init__(self, calls: Calls, nodes: Iterable[Node]) -> None:
        """nodes: those that may set temporaries with which pointers move."""
        self.calls = calls
        self.graph = calls.graph
        self.objects = calls.objects
        self.pts = calls.pts
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
            case ins.Store(address=address):
                self.modify_all(self.pts.accessed(frame, address), cells)
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
                        targets = self.pts.accessed(frame, call.args[i])
                        self.modify_all(self.pts.reachable(targets) if region.indirect else targets, cells)
                if effect.frees is not None and effect.frees.arg < len(call.args):
                    self.modify_all(self.pts.accessed(frame, call.args[effect.frees.arg]), cells)
                spec = effect.allocates
                if spec is not None and spec.into is not None and spec.into < len(call.args):
                    self.modify_all(self.pts.accessed(frame, call.args[spec.into]), cells)
                for flow in effect.flows:
                    if flow.target < len(call.args):
                        self.modify_all(self.pts.accessed(frame, call.args[flow.target]), cells)
                if calls_back(effect, call) and node.number not in self.graph.followed:
                    self.modify_all(self.calls.lost(node), cells)
            case _:
                pass

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
