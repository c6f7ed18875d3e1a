"""Pointers whose address the program gives to its own functions: ``setup(n, &out, &in)``.

In the program graph they are read and set through their address, as members of structs are: so what names them in the
function that was given it, ``*p``, is looked at together with their own name (``ownership/buffers/members.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import operands_of, parts_of, with_operands


class Addressed:
    """Which pointers these are, and the functions' bodies in which they are read and set through their address."""

    def __init__(
        self,
        functions: Iterable[str],
        lowered: Callable[[str], ins.Lowered | None],
        variables: Mapping[str, ast.Variable],
        without: Collection[str],
    ) -> None:
        """functions: all that may run.  without: pointers that stay as they are."""
        bodies = [body for name in functions if (body := lowered(name)) is not None]
        given = {
            part.key
            for body in bodies
            for block in body.blocks
            for instr in block
            if isinstance(instr, ins.CallInstr)
            and isinstance(instr.callee, ins.AddrFunc)
            and lowered(instr.callee.key) is not None
            for argument in instr.args
            for part in parts_of(argument)
            if isinstance(part, ins.AddrVar)
        }
        known = {key: v for key, v in variables.items() if v.is_global}
        for body in bodies:
            known.update(body.function.variables)
        self.variables = frozenset(
            key
            for key in given - set(without)
            if key in known and known[key].kind != "param" and plain_pointer(known[key])
        )
        self.types = {key: known[key].type for key in self.variables}

    def body(self, lowered: ins.Lowered) -> ins.Lowered:
        """The function with loads and stores of these pointers."""
        blocks = []
        temps = lowered.temps
        for instrs in lowered.blocks:
            block: list[ins.Instr] = []
            for instr in instrs:
                temporaries: dict[tuple[str, int], ins.Temp] = {}
                for part in (part for operand in operands_of(instr) for part in parts_of(operand)):
                    if isinstance(part, ins.Var) and part.key in self.variables:
                        place = (part.key, part.span.begin)
                        if place not in temporaries:
                            temporaries[place] = ins.Temp(temps)
                            temps += 1
                            address = ins.AddrVar(part.key, part.span)
                            load = ins.Load(part.span, instr.stmt, temporaries[place], address, self.types[part.key])
                            block.append(load)
                block.append(self.stored(with_operands(instr, temporaries) if temporaries else instr))
            blocks.append(tuple(block))
        return (
            lowered
            if temps == lowered.temps and not self.sets(lowered)
            else replace(lowered, blocks=tuple(blocks), temps=temps)
        )

    def sets(self, lowered: ins.Lowered) -> bool:
        return any(self.stored(instr) is not instr for block in lowered.blocks for instr in block)

    def stored(self, instr: ins.Instr) -> ins.Instr:
        """A store in place of an assignment to one of the pointers."""
        if not isinstance(instr, ins.Define) or not isinstance(instr.target, ins.Var):
            return instr
        key = instr.target.key
        if key not in self.variables:
            return instr
        return ins.Store(instr.span, instr.stmt, ins.AddrVar(key, instr.target.span), instr.value, self.types[key])


def plain_pointer(variable: ast.Variable) -> bool:
    """A pointer that can be set, by this thread alone."""
    t = variable.type
    return t.is_pointer and not (t.const or t.volatile or t.atomic or variable.thread_local)
