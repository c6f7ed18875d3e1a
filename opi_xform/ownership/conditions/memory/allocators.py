"""What a program was promised of the memory it allocated, and OPI_Alloc and OPI_Take do not keep."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.effects.model import Length
from opi_xform.ir import instr as ins
from opi_xform.ownership.conditions.memory.alignment import needing
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import ALIGNMENT, Buffer, Program, Refusal

_ALLOCA = (ins.AddrFunc("alloca"), ins.AddrFunc("__builtin_alloca"))
_POSIX = 8  # posix_memalign takes no less
FARTHER = "A7"


def allocator_refusal(program: Program, buffer: Buffer, strict: bool = False) -> Refusal | None:
    """Memory that goes with its function, or whose address must have more zeros than a taken buffer's has."""
    for n in buffer.carrier.allocations:
        action = program.graph.nodes[n].action
        here = ((node_span(program, n), "allocated here"),)
        if isinstance(action, ins.CallInstr) and action.callee in _ALLOCA:
            message = f"`{buffer.name}` is memory of alloca, which goes when its function returns"
            message += "; it would have to be malloc's"
            return Refusal(Reason.DECLARATION, message, here)
        length = _promised(program, n)
        if length is None:
            continue
        asked = _constant(program, n, length)
        if asked is not None and (asked < _POSIX or asked & (asked - 1)):
            return Refusal(
                Reason.DECLARATION, f"`{buffer.name}` is asked for with an alignment of {asked}, which is none", here
            )
        if asked is not None and asked <= ALIGNMENT:
            continue
        many = "a number of bytes that is not known" if asked is None else f"{asked} bytes"
        message = f"`{buffer.name}` is aligned to {many}, and a taken buffer to {ALIGNMENT}"
        if strict:
            return Refusal(Reason.DECLARATION, message, here)
        reason = needing(program, buffer)
        if reason is not None:
            where, why = reason
            return Refusal(Reason.DECLARATION, f"{message}: {why}", here if where is None else (*here, (where, "here")))
    return None


def aligned_farther(program: Program, buffer: Buffer) -> bool:
    """The program asks for more than a taken buffer has, or nobody knows for how much: assumption A7."""
    lengths = ((n, _promised(program, n)) for n in buffer.carrier.allocations)
    asked = [_constant(program, n, length) for n, length in lengths if length is not None]
    return any(many is None or many > ALIGNMENT for many in asked)


def _promised(program: Program, n: int) -> Length | None:
    """The alignment that the allocator called at ``n`` promises beyond malloc's."""
    action = program.graph.nodes[n].action
    if not isinstance(action, ins.CallInstr) or not isinstance(action.callee, ins.AddrFunc):
        return None
    effect = program.effects.get(action.callee.key)
    return effect.allocates.alignment if effect is not None and effect.allocates is not None else None


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


def check(facts: BufferFacts) -> Refusal | None:
    """The allocator of the buffer promised what a taken buffer has not."""
    return allocator_refusal(facts.program, facts.found, facts.options.strict)


CONDITION = Condition(
    "allocation and free",
    "Allocation, growth and freeing are what the tool takes them for, and what they do besides still happens.",
    cases=(
        "grow_*",
        "malloc_*",
        "c_free_*",
        "a_*",
        "null_choice_*",
        "memalign_*",
        "local_first_*",
        "freed_*",
        "g_aligned_*",
        "g_mapped_*",
        "busy_*",
        "far_*",
    ),
    enforced=(
        "ownership.allocation.allocations:find_allocations",
        "ownership.conditions.memory.allocators:allocator_refusal",
        "ownership.conditions.memory.alignment:needing",
        "ownership.allocation.repeated:can_follow",
        "ownership.allocation.busy:still_called",
        "ownership.allocation.deallocations:deallocation",
        "ownership.allocation.busy_frees:still_freed",
    ),
    buffer=check,
)
