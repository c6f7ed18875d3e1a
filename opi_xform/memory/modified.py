"""What each loop changes, found before values are."""

from __future__ import annotations

from opi_xform.ir import instr as ins
from opi_xform.ir.loops import LoopNest
from opi_xform.memory.calls import Calls, region_args
from opi_xform.memory.values import Cell
from opi_xform.program.graph import Bind, Lost, Node, Unbind


def modified_cells(calls: Calls, nest: LoopNest) -> list[set[Cell]]:
    """Per loop: variables, temporaries and object contents that an iteration may change."""
    finder = _Finder(calls)
    per_block: list[set[Cell]] = []
    for block in calls.graph.blocks:
        cells: set[Cell] = set()
        for n in block:
            finder.modifies(calls.graph.nodes[n], cells)
        per_block.append(cells)
    return [set().union(*(per_block[b] for b in loop.blocks)) for loop in nest.loops]


class _Finder:
    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.graph = calls.graph
        self.objects = calls.objects
        self.pts = calls.pts

    def modifies(self, node: Node, cells: set[Cell]) -> None:
        frame = node.frame
        match node.action:
            case ins.Define(target=target):
                if isinstance(target, ins.Temp):
                    cells.add(("t", frame, target.number))
                else:
                    cells.add((self.objects.variable(frame, target.key), 0))
                    cells.add(("v", self.objects.variable(frame, target.key)))
            case ins.Load(target=target):
                cells.add(("t", frame, target.number))
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
                    cells.add(("t", frame, result.number))
            case ins.Escape(values=values):
                for operand in values:
                    self.modify_all(self.pts.reachable(self.pts.operand(frame, operand)), cells)
            case Lost(call=call):
                self.modify_all(self.calls.lost(node), cells)
                if call.target is not None:
                    cells.add(("t", frame, call.target.number))
            case ins.CallInstr() as call:
                if call.target is not None:
                    cells.add(("t", frame, call.target.number))
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

    def modify_all(self, objects: frozenset[int], cells: set[Cell]) -> None:
        for o in objects:
            cells.add(("v", o))
            info = self.objects.table[o]
            if info.type is not None and info.type.is_scalar:
                cells.add((o, 0))
