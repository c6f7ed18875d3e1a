"""Items of lists of libf2c: those of output told from those of input, and how many bytes an item has.

f2c makes ``s_wsfe(...); do_fio(...); do_fio(...); e_wsfe();`` of ``WRITE``, and ``s_rsfe(...); do_fio(...); e_rsfe();``
of ``READ``: one function for the items of both.  An item of output is read, one of input is written.  Which it is, the
call before it tells that began the list, where that is the same on every way to the item.

An item is so many numbers, a number that the function reads itself, of as many bytes each as the last argument says.
The product of the two takes the place of the last argument, so that the table can name it.
"""

from __future__ import annotations

from dataclasses import replace

from opi_xform.effects.model import Effects
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.types import Type

NUMBERS = {"do_fio": 0, "do_lio": 1, "do_uio": 0}
"""Functions for an item of any list, with the argument that leads to the number of numbers."""
ITEMS = {name: f"{name}_writing" for name in NUMBERS}
"""What the table calls them in a list of output."""
SIZED = {name: f"{name}_sized" for name in NUMBERS}
"""What it calls them in another list, or where the list is not known."""
BEGINS = frozenset({"s_wsfe", "s_wsle", "s_wsue", "s_wdue", "s_wsfi", "s_wsli"})
"""What begins a list of output."""
STILL = frozenset({*ITEMS, *ITEMS.values(), *SIZED.values()})
SOURCE = "libf2c.toml"
_LONG = Type("int", "long", 8)
LISTS = ("s_w", "s_r", "e_w", "e_r", "f_")
"""How the names of functions begin that begin lists, end them, or have to do with files."""


def told_apart(lowered: ins.Lowered, effects: Effects) -> ins.Lowered:
    """The function with its items by names of their own, and with the bytes that they have."""
    mine = {name for name in NUMBERS if name in effects and effects[name].source == SOURCE}
    if not any(called_key(i) in mine for block in lowered.blocks for i in block):
        return lowered
    writing = _writing(lowered, effects)
    temps = lowered.temps
    blocks: list[tuple[ins.Instr, ...]] = []
    for number, block in enumerate(lowered.blocks):
        here, out = writing[number], list[ins.Instr]()
        for instr in block:
            name = called_key(instr)
            after = _after(instr, here, effects)
            if name in mine and isinstance(instr, ins.CallInstr):
                read = _number(instr, name, ins.Temp(temps))
                if read is not None:
                    temps += 1
                    out.append(read)
                    bytes_ = ins.Op("*", (_long(read.target), _long(instr.args[-1])), _LONG)
                    called = ins.AddrFunc((ITEMS if here else SIZED)[name])
                    instr = replace(instr, callee=called, args=(*instr.args[:-1], bytes_))
            here = after
            out.append(instr)
        blocks.append(tuple(out))
    return replace(lowered, blocks=tuple(blocks), temps=temps)


def _number(call: ins.CallInstr, name: str, target: ins.Temp) -> ins.Load | None:
    """How many numbers an item has, as the function reads it.  None: not by the types that it has in f2c's header."""
    at = NUMBERS[name]
    written = call.call.args
    if len(written) != len(call.args) or len(written) != at + 3 or written[-1].type.kind != "int":
        return None
    type_ = written[at].type.elem
    if not written[at].type.is_pointer or type_ is None or type_.kind != "int" or (type_.size or 0) < 4:
        return None
    return ins.Load(call.span, call.stmt, target, call.args[at], type_)


def _long(operand: ins.Operand) -> ins.Operand:
    return ins.Op("cast", (operand,), _LONG)


def _writing(lowered: ins.Lowered, effects: Effects) -> list[bool]:
    """By block: whether a list of output is open where it begins, whichever way led there."""
    count = len(lowered.blocks)
    preds: list[list[int]] = [[] for _ in range(count)]
    for block, succs in enumerate(lowered.succs):
        for to in succs:
            preds[to].append(block)
    begin = [block != 0 for block in range(count)]  # the greatest solution: what no way contradicts
    work = list(range(count))
    while work:
        block = work.pop()
        here = begin[block] and block != 0 and all(_end(lowered, p, begin[p], effects) for p in preds[block])
        if here != begin[block]:
            begin[block] = here
            work.extend(lowered.succs[block])
    return begin


def _end(lowered: ins.Lowered, block: int, here: bool, effects: Effects) -> bool:
    for instr in lowered.blocks[block]:
        here = _after(instr, here, effects)
    return here


def _after(instr: ins.Instr, here: bool, effects: Effects) -> bool:
    """Whether a list of output is open after an instruction.  Functions that are not known may begin another one."""
    if not isinstance(instr, ins.CallInstr):
        return here
    name = called_key(instr)
    if name in BEGINS:
        return True
    if name in STILL:
        return here
    effect = effects.get(name)
    if effect is None:
        return False
    return here and not (effect.calls or effect.user or name.startswith(LISTS))
