"""What a program was promised of the memory it allocated, and OPI_Alloc and OPI_Take do not keep."""

from __future__ import annotations

from opi_xform.ir import instr as ins
from opi_xform.ownership.model import ALIGNMENT, Buffer, Program, Refusal
from opi_xform.ownership.reasons import node_span
from opi_xform.program.effects import Length

_ALLOCA = (ins.AddrFunc("alloca"), ins.AddrFunc("__builtin_alloca"))


def allocator_refusal(program: Program, buffer: Buffer) -> Refusal | None:
    """Memory that goes with its function, or whose address must have more zeros than a taken buffer's has."""
    for n in buffer.carrier.allocations:
        action = program.graph.nodes[n].action
        if not isinstance(action, ins.CallInstr) or not isinstance(action.callee, ins.AddrFunc):
            continue
        here = ((node_span(program, n), "allocated here"),)
        if action.callee in _ALLOCA:
            message = f"`{buffer.name}` is memory of alloca, which goes when its function returns; malloc would do"
            return Refusal("13", message, here)
        effect = program.effects.get(action.callee.key)
        spec = effect.allocates if effect is not None else None
        if spec is None or spec.alignment is None:
            continue
        asked = _constant(program, n, spec.alignment)
        if asked is None or asked > ALIGNMENT:
            many = "a number of bytes that is not known" if asked is None else f"{asked} bytes"
            message = f"`{buffer.name}` is aligned to {many}, and a taken buffer to {ALIGNMENT}"
            return Refusal("13", message, here)
    return None


def _constant(program: Program, n: int, length: Length) -> int | None:
    """A product of the arguments of the call at ``n``; None where it is not the same number in every run."""
    values = program.values.args.get(n, ())
    out = 1
    for factor in length:
        if factor.kind == "const":
            out *= factor.value
        elif factor.kind == "arg" and factor.value < len(values):
            value = program.values.symbols.resolve(values[factor.value]).constant
            if value is None:
                return None
            out *= value
        else:
            return None
    return out
