"""Functions that only hand out memory that they have just allocated: ``void *xmalloc(size_t n) { … return p; }``.

Where each function is looked at once (``flat.py``), what they return would be one object for the whole program, and
every pointer in it one with all others.  So each of their calls counts as an allocation of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.operands import operands_of, parts_of, zero_constant


def fresh(body: ins.Lowered, effects: Mapping[str, FunctionEffect]) -> ins.CallInstr | None:
    """The call whose memory a function returns, and does nothing else with but to look whether it is there.

    None: there is no such call, or it is not known what else holds the memory.
    """
    result = body.function.type.elem
    instrs = [instr for block in body.blocks for instr in block]
    calls = [instr for instr in instrs if isinstance(instr, ins.CallInstr) and _allocates(instr, effects)]
    if body.refused or result is None or not result.is_pointer or len(calls) != 1 or calls[0].target is None:
        return None
    held = _holders(instrs, calls[0].target)
    for instr in instrs:
        if not _harmless(instr, held, body, effects):
            return None
    returned = [instr.value for instr in instrs if isinstance(instr, ins.ReturnInstr)]
    if not returned or not all(value is not None and (_is(value, held) or _null(value)) for value in returned):
        return None
    return calls[0]


def _allocates(call: ins.CallInstr, effects: Mapping[str, FunctionEffect]) -> bool:
    effect = effects.get(called_key(call))
    made = effect.allocates if effect is not None else None
    if made is None or made.into is not None or made.copies_from is not None or made.shared:
        return False
    assert effect is not None
    return effect.returns_arg is None and effect.returns_stored is None and not effect.returns_library


def _holders(instrs: list[ins.Instr], first: ins.Temp) -> set[ins.Var | ins.Temp]:
    """Temporaries and variables that are given the memory's address."""
    held: set[ins.Var | ins.Temp] = {first}
    more = True
    while more:
        found = {i.target for i in instrs if isinstance(i, ins.Define) and _is(i.value, held)} - held
        held |= found
        more = bool(found)
    return held


def _harmless(
    instr: ins.Instr, held: set[ins.Var | ins.Temp], body: ins.Lowered, effects: Mapping[str, FunctionEffect]
) -> bool:
    """Nobody else gets the address, nothing is read or written after it, and who holds it holds nothing else."""
    named = {x.key for x in held if isinstance(x, ins.Var)}
    for operand in operands_of(instr):
        if any(isinstance(part, ins.AddrVar) and part.key in named for part in parts_of(operand)):
            return False
    match instr:
        case ins.Define(target=target, value=value):
            if target in held:
                own = isinstance(target, ins.Temp) or _local(body, target.key)
                return own and (_is(value, held) or _null(value))
            return not _mentions(value, held) or _compares(value)
        case ins.Branch(cond=cond):
            return not _mentions(cond, held) or _is(cond, held) or _compares(cond)
        case ins.ReturnInstr():
            return True
        case ins.CallInstr(args=args):
            effect = effects.get(called_key(instr))
            given = [arg for arg in args if _mentions(arg, held)]
            return not given or (effect is not None and effect.noreturn)
    return not any(_mentions(operand, held) for operand in operands_of(instr))


def _local(body: ins.Lowered, key: str) -> bool:
    variable = body.function.variables.get(key)
    return variable is not None and variable.kind == "local" and not variable.type.volatile


def _stripped(operand: ins.Operand) -> ins.Operand:
    while isinstance(operand, ins.Op) and operand.op == "cast" and operand.type.is_pointer:
        operand = operand.args[0]
    return operand


def _is(operand: ins.Operand, held: set[ins.Var | ins.Temp]) -> bool:
    return _stripped(operand) in held


def _null(operand: ins.Operand) -> bool:
    return zero_constant(_stripped(operand))


def _mentions(operand: ins.Operand, held: set[ins.Var | ins.Temp]) -> bool:
    return any(part in held for part in _names(operand))


def _names(operand: ins.Operand) -> Iterator[ins.Var | ins.Temp]:
    return (part for part in parts_of(operand) if isinstance(part, (ins.Var, ins.Temp)))


def _compares(operand: ins.Operand) -> bool:
    """A comparison, or what is made of some; an address in it tells nothing but whether it is NULL."""
    while isinstance(operand, ins.Op) and operand.op == "not":
        operand = operand.args[0]
    return isinstance(operand, ins.Op) and operand.op in ("==", "!=")
