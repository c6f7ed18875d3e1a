"""What may change a variable without a word of the program in hand: MPI, the library, handlers, threads, callbacks."""

from __future__ import annotations

from collections.abc import Collection

from opi_xform.ir import instr as ins
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program


def may_set(program: Program, keys: Collection[str], called: bool = True) -> bool:
    """Others may set one of these variables, at any time or (``called``) at a call.

    They know its address, or it is theirs; or it is named in a function that they may call.
    """
    values, objects = program.values, program.values.objects
    known = at_any_time(program)
    if called:
        known |= objects.called_back | values.escaped.keys()
    for key in keys:
        type_ = program.variables[key].type
        if type_.volatile or type_.atomic or key in objects.others:
            return True
        if any(o in known for o in objects.by_name.get(key, ())):
            return True
    return False


@once
def at_any_time(program: Program) -> frozenset[int]:
    """Objects that others may change, whatever the program does."""
    values, objects = program.values, program.values.objects
    return frozenset(objects.exposed | objects.foreign | values.foreign.keys() | _pending(program))


@once
def _pending(program: Program) -> frozenset[int]:
    """Objects that an operation may write until somebody completes it."""
    out: set[int] = set()
    for node in program.graph.nodes:
        call = node.action
        if isinstance(call, ins.CallInstr) and isinstance(call.callee, ins.AddrFunc):
            effect = program.effects.get(call.callee.key)
            if effect is not None and effect.mpi is not None and effect.mpi.request is not None:
                out.update(program.values.accesses.objects(node.number, "W"))
    return frozenset(out)
