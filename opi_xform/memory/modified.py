"""What each loop changes, found before values are."""

from __future__ import annotations

from opi_xform.ir import instr as ins
from opi_xform.ir.loops import LoopNest
from opi_xform.memory.calls import Calls, region_args
from opi_xform.memory.environment import Cell
from opi_xform.program.graph import Bind, Lost, Node, Unbind


def modified_cells(calls: Calls, nest: LoopNest) -> list[dict[Cell, None]]:
    """Per loop: variables, temporaries and object contents that an iteration may change."""
    finder = _Finder(calls)
    per_block: list[dict[Cell, None]] = []
    for block in calls.graph.blocks:
        cells: dict[Cell, None] = {}
        for n in block:
            finder.modifies(calls.graph.nodes[n], cells)
        per_block.append(cells)
    return [{cell: None for b in sorted(loop.blocks) for cell in per_block[b]} for loop in nest.loops]


class _Finder:
    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.graph = calls.graph
        self.objects = calls.objects
        self.pts = calls.pts

    def modifies(self, node: Node, cells: dict[Cell, None]) -> None:
        frame = node.frame
        match node.action:
            case ins.Define(target=target):
                if isinstance(target, ins.Temp):
                    cells[("t", frame, target.number)] = None
                else:
                    cells[(self.objects.variable(frame, target.key), 0)] = None
                    cells[("v", self.objects.variable(frame, target.key))] = None
            case ins.Load(target=target):
                cells[("t", frame, target.number)] = None
            case ins.Store(address=address):
                self.modify_all(self.pts.operand(frame, address), cells)
            case ins.CopyBytes(target=destination):
                self.modify_all(self.pts.operand(frame, destination), cells)
            case ins.Birth(var=key):
                self.modify_all(frozenset({self.objects.variable(frame, key)}), cells)
            case Bind(params=params):
                for key in params:
                    self.modify_all(frozenset({self.objects.variable(frame, key)}), cells)
            case Unbind(target=result):
                if result is not None:
                    cells[("t", frame, result.number)] = None
            case ins.Escape(values=values):
                for operand in values:
                    self.modify_all(self.pts.reachable(self.pts.operand(frame, operand)), cells)
            case Lost(call=call):
                self.modify_all(self.calls.lost(node), cells)
                if call.target is not None:
                    cells[("t", frame, call.target.number)] = None
            case ins.CallInstr() as call:
                if call.target is not None:
                    cells[("t", frame, call.target.number)] = None
                if self.calls.is_followed(node, call):
                    return
                effect = self.calls.effect(call)
                if effect is None:
                    self.modify_all(self.calls.lost(node), cells)
                    return
                for region in effect.all_writes:
                    for i in region_args(region.arg, region.rest, call):
                        targets = self.pts.operand(frame, call.args[i])
                        self.modify_all(self.pts.reachable(targets) if region.indirect else targets, cells)
                if effect.frees is not None and effect.frees.arg < len(call.args):
                    self.modify_all(self.pts.operand(frame, call.args[effect.frees.arg]), cells)
                spec = effect.allocates
                if spec is not None and spec.into is not None and spec.into < len(call.args):
                    self.modify_all(self.pts.operand(frame, call.args[spec.into]), cells)
                for flow in effect.flows:
                    if flow.target < len(call.args):
                        self.modify_all(self.pts.operand(frame, call.args[flow.target]), cells)
                if effect.calls and node.number not in self.graph.followed:
                    self.modify_all(self.calls.lost(node), cells)
            case _:
                pass

    def modify_all(self, objects: frozenset[int], cells: dict[Cell, None]) -> None:
        for o in sorted(objects):
            cells[("v", o)] = None
            info = self.objects.table[o]
            if info.type is not None and info.type.is_scalar:
                cells[(o, 0)] = None
