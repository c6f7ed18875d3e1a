"""Memory that is allocated again and again, and is only ever known by one variable: who else may have its address."""

from __future__ import annotations

from collections.abc import Collection

from opi_xform.graph.graph import Bind
from opi_xform.ir import instr as ins
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.names import names_of


def one_name(program: Program, o: int) -> bool:
    """So what was allocated before is nobody's any more, and each access is to the memory that the variable holds then.

    Parameters may have the address while their function runs (``transfer(&out[s], n)``), which does not allocate.
    """
    holding = program.points_to.holding(o)
    if holding is None:
        return False
    named, given = set[str](), list[tuple[int, str]]()
    for holder in holding:
        at = program.values.objects.table[holder]
        if at.kind != "variable" or at.variable is None or not program.variables[at.variable].type.is_pointer:
            return False
        if at.variable in program.graph.addressed:
            return False
        if program.variables[at.variable].kind == "param":
            given.append((at.frame, at.variable))
        else:
            named.add(at.variable)
    if len(named) != 1:
        return False
    names = named.union(key for _, key in given)
    return all(_passing(program, o, frame, key, names) for frame, key in given)


def held(program: Program, o: int) -> bool:
    """All of the block may be read at a time of which the accesses do not tell.

    realloc and the like copy it into another one, and a persistent operation uses it whenever it is started.
    """
    names = names_of(program)
    for node in program.graph.nodes:
        effect = names.effect(node.action) if isinstance(node.action, ins.CallInstr) else None
        if effect is None:
            continue
        moves = effect.frees is not None and effect.allocates is not None
        if moves or (effect.mpi is not None and effect.mpi.persistent):
            assert isinstance(node.action, ins.CallInstr)
            if any(o in program.points_to.operand(node.frame, argument) for argument in node.action.args):
                return True
    return False


def _passing(program: Program, o: int, frame: int, key: str, names: Collection[str]) -> bool:
    """A parameter is given the variable as it is when the call begins, is never set, and nothing is allocated there."""
    graph = program.graph
    if graph.frames[frame].function in graph.levels:
        return False
    for n in program.values.objects.table[o].nodes:
        at = graph.nodes[n].frame
        while at >= 0 and at != frame:
            at = graph.frames[at].parent
        if at == frame:
            return False
    bound = False
    for node in graph.nodes:
        action = node.action
        if isinstance(action, Bind) and node.frame == frame:
            for param, argument in zip(action.params, action.args, strict=True):
                if param == key:
                    bound = True
                    first = _first(argument)
                    if not isinstance(first, ins.Var) or first.key not in names:
                        return False
        elif isinstance(action, ins.Define) and node.frame == frame and action.target == ins.Var(key):
            return False
    return bound


def _first(operand: ins.Operand) -> ins.Operand:
    """What an address is reckoned from."""
    while True:
        if isinstance(operand, ins.PtrAdd):
            operand = operand.base
        elif isinstance(operand, ins.Op) and operand.op == "cast" and operand.type.is_pointer:
            operand = operand.args[0]
        else:
            return operand
