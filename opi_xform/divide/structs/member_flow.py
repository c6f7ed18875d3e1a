"""Pointers that are made from an array in a struct: a row, an argument, a pointer that walks along it.

Each is followed as one to a buffer in parts is (``divide/flow.py``), from the places that name the array alone: what
other members of the struct are given to is no matter here.
"""

from __future__ import annotations

from collections.abc import Collection

from opi_xform.divide.check import is_place
from opi_xform.divide.flow import Pointers, VariableFlow, leaves, operands
from opi_xform.divide.mentions import Place
from opi_xform.graph.graph import Bind, evaluated
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import parts_of
from opi_xform.memory.accesses import Access
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program


class MemberFlow(VariableFlow):
    """One use: ``run``.  places: the mentions of the struct that name the array."""

    def __init__(self, program: Program, key: str, places: Collection[Place]) -> None:
        super().__init__(program, {key})
        self.places = places
        self.array = True

    def is_buffer(self, leaf: ins.Operand) -> bool:
        if not isinstance(leaf, ins.AddrVar) or leaf.key not in self.keys:
            return False
        return (leaf.span.file, leaf.span.begin) in self.places

    def reached(self) -> set[Place]:
        """The places that the program graph has."""
        out: set[Place] = set()
        for node in self.program.graph.nodes:
            for leaf in (leaf for operand in operands(node)[0] for leaf in leaves(operand)):
                if isinstance(leaf, ins.AddrVar) and self.is_buffer(leaf):
                    out.add((leaf.span.file, leaf.span.begin))
        return out


def through_pointer(program: Program, flow: Pointers | None, a: Access) -> bool:
    """An access goes by a pointer that was made from the array."""
    if flow is None:
        return False
    match program.graph.nodes[a.node].action:
        case ins.Load() | ins.Store():
            found = [0]
        case ins.CopyBytes():
            found = [0 if a.kind == "W" else 1]
        case ins.CallInstr():
            symbols = program.values.symbols
            given = [symbols.not_null(v) for v in program.values.args.get(a.node, ())]
            found = [i for i, v in enumerate(given) if symbols.base(v) == a.object and symbols.offset(v) == a.lo]
        case _:
            found = []
    roots = [flow.roots.get((a.node, i)) for i in found]
    return bool(roots) and all(root is not None and not is_place(root) for root in roots)


def given_elements(program: Program, a: Access) -> set[str]:
    """The members in which a call is told to touch something by a subscript alone: ``h.out``, ``&h.out[k]``.

    What is added to a cast address may lead anywhere in the struct (``(char *)h.out - k``).
    """
    action, symbols = program.graph.nodes[a.node].action, program.values.symbols
    assert isinstance(action, ins.CallInstr)
    out: set[str] = set()
    for arg, v in zip(action.call.args, program.values.args.get(a.node, ()), strict=False):
        v = symbols.not_null(v)
        if symbols.base(v) != a.object or symbols.offset(v) != a.lo:
            continue
        while isinstance(arg, ast.Cast):
            arg = arg.operand
        if isinstance(arg, ast.AddrOf):
            arg = arg.operand
        while isinstance(arg, ast.Index):
            arg = arg.base
        out.add(arg.field if isinstance(arg, ast.Member) else "")
    return out


def handed(program: Program, operand: ins.Operand, frame: int) -> ins.Operand:
    """What an operand was made from by adding to it, in the function that passed it on: its parameter is that."""
    entered = _entered(program)
    while True:
        while isinstance(operand, ins.PtrAdd):
            operand = operand.base
        bind = entered.get((frame, operand.key)) if isinstance(operand, ins.Var) else None
        if bind is None:
            return operand
        assert isinstance(operand, ins.Var)
        operand, frame = bind.args[bind.params.index(operand.key)], bind.caller


@once
def _entered(program: Program) -> dict[tuple[int, str], Bind]:
    """How the parameters got their values that get no other one: by frame and name."""
    out: dict[tuple[int, str], Bind] = {}
    several: set[tuple[int, str]] = set()
    for node in program.graph.nodes:
        action = node.action
        if isinstance(action, Bind):
            for key in action.params[: len(action.args)]:
                if out.setdefault((node.frame, key), action) is not action:
                    several.add((node.frame, key))
            continue
        if isinstance(action, ins.Define) and isinstance(action.target, ins.Var):
            several.add((node.frame, action.target.key))
        found = (x for o in evaluated(action) for x in parts_of(o) if isinstance(x, ins.AddrVar))
        several.update((node.frame, x.key) for x in found)
    return {name: bind for name, bind in out.items() if name not in several}
