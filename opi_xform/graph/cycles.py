"""Functions that may be entered from inside themselves, and all that run below them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opi_xform.dataflow.scc import components, reached
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import operands_of, parts_of
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Cycles:
    """cyclic: functions that lead to a call of themselves.  below: these, and all functions that they lead to.

    The one copy of such a function in the program graph is its first level; the others are not there.
    """

    cyclic: frozenset[str]
    below: frozenset[str]


def cycles(
    functions: Sequence[str],
    lowered: Callable[[str], ins.Lowered | None],
    targets: Callable[[ins.CallInstr], Sequence[str]],
) -> Cycles:
    """A function leads to those that it names, whether it calls them or has them called; targets: of a call through a
    pointer.
    """
    number = {name: i for i, name in enumerate(functions)}
    next_: list[list[int]] = []
    for name in functions:
        body = lowered(name)
        found: dict[int, None] = {}
        for instr in (i for block in body.blocks for i in block) if body is not None else ():
            keys = [x.key for o in operands_of(instr) for x in parts_of(o) if isinstance(x, ins.AddrFunc)]
            if isinstance(instr, ins.CallInstr) and not isinstance(instr.callee, ins.AddrFunc):
                keys += targets(instr)
            found.update((number[key], None) for key in keys if key in number)
        next_.append(list(found))
    groups = components(range(len(functions)), lambda n: next_[n])
    cyclic = {n for group in groups for n in group if len(group) > 1 or n in next_[n]}
    below = reached(cyclic, lambda n: next_[n])
    return Cycles(frozenset(functions[n] for n in cyclic), frozenset(functions[n] for n in below))
