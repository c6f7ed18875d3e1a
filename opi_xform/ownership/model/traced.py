"""Through which parameters a buffer came to its message, and which variable was passed."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.graph.graph import Bind
from opi_xform.ir import instr as ins
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program, Use


@once
def binds_of(program: Program) -> Mapping[int, Bind]:
    """How each frame was entered."""
    return {node.frame: node.action for node in program.graph.nodes if isinstance(node.action, Bind)}


@once
def loaded(program: Program) -> Mapping[tuple[int, int], str]:
    """Temporaries (frame, number) that hold what a member of a struct held, which counts as a variable."""
    out: dict[tuple[int, int], str] = {}
    if program.members:
        for node in program.graph.nodes:
            action = node.action
            if isinstance(action, ins.Define) and isinstance(action.target, ins.Temp):
                key = action.value.key if isinstance(action.value, ins.Var) else ""
                known = out.setdefault((node.frame, action.target.number), key)
                if known != key or key not in program.members:
                    out[node.frame, action.target.number] = ""
    return out


def path(program: Program, use: Use) -> tuple[tuple[str, ...], str]:
    """The parameters through which a use's buffer came, innermost first; and the variable passed ('': none)."""
    call = program.graph.nodes[use.node].action
    assert isinstance(call, ins.CallInstr)
    return traced(program, call.args[use.argument], program.graph.nodes[use.node].frame)


def traced(program: Program, operand: ins.Operand, frame: int) -> tuple[tuple[str, ...], str]:
    """The parameters through which an operand of a frame came, innermost first; and the variable passed ('': none)."""
    out: list[str] = []
    while True:
        while isinstance(operand, ins.PtrAdd) or (isinstance(operand, ins.Op) and operand.op == "cast"):
            operand = operand.base if isinstance(operand, ins.PtrAdd) else operand.args[0]
        if isinstance(operand, ins.Temp):
            key = loaded(program).get((frame, operand.number), "")
            return tuple(out), key
        if not isinstance(operand, ins.Var):
            return tuple(out), ""
        if program.variables[operand.key].kind != "param":
            return tuple(out), operand.key
        bind = binds_of(program).get(frame)
        if bind is None or operand.key not in bind.params:
            return tuple(out), ""
        index = bind.params.index(operand.key)
        if index >= len(bind.args):
            return tuple(out), ""
        out.append(operand.key)
        operand, frame = bind.args[index], bind.caller
