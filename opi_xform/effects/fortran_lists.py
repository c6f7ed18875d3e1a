"""Items of output lists of libf2c, told from those of input lists.

f2c makes ``s_wsfe(...); do_fio(...); do_fio(...); e_wsfe();`` of ``WRITE``, and ``s_rsfe(...); do_fio(...); e_rsfe();``
of ``READ``: one function for the items of both.  An item of output is read, one of input is written.  Which it is, the
call before it tells that began the list, where that is the same on every way to the item.
"""

from __future__ import annotations

from dataclasses import replace

from opi_xform.effects.model import Effects
from opi_xform.ir import instr as ins

ITEMS = {name: f"{name}_writing" for name in ("do_fio", "do_lio", "do_uio")}
"""Functions for an item of any list, and what the table calls them in a list of output."""
BEGINS = frozenset({"s_wsfe", "s_wsle", "s_wsue", "s_wdue", "s_wsfi", "s_wsli"})
"""What begins a list of output."""
STILL = frozenset({*ITEMS, *ITEMS.values()})
LISTS = ("s_w", "s_r", "e_w", "e_r", "f_")
"""How the names of functions begin that begin lists, end them, or have to do with files."""


def told_apart(lowered: ins.Lowered, effects: Effects) -> ins.Lowered:
    """The function with items of output by a name of their own."""
    if not any(_name(i) in ITEMS for block in lowered.blocks for i in block) or not set(ITEMS.values()) <= set(effects):
        return lowered
    writing = _writing(lowered, effects)
    blocks: list[tuple[ins.Instr, ...]] = []
    for number, block in enumerate(lowered.blocks):
        here, out = writing[number], list[ins.Instr]()
        for instr in block:
            name = _name(instr)
            if here and name in ITEMS and isinstance(instr, ins.CallInstr):
                instr = replace(instr, callee=ins.AddrFunc(ITEMS[name]))
            here = _after(instr, here, effects)
            out.append(instr)
        blocks.append(tuple(out))
    return replace(lowered, blocks=tuple(blocks))


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
    name = _name(instr)
    if name in BEGINS:
        return True
    if name in STILL:
        return here
    effect = effects.get(name)
    if effect is None:
        return False
    return here and not (effect.calls or effect.user or name.startswith(LISTS))


def _name(instr: ins.Instr) -> str:
    return instr.callee.key if isinstance(instr, ins.CallInstr) and isinstance(instr.callee, ins.AddrFunc) else ""
