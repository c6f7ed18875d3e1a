"""Local numbers that no other function can name: their address is nowhere but in calls of the library that forget it.

A call that is not followed (``relevance``) writes to what it can reach.  To these it cannot.
"""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.graph import Bind, Lost, Unbind
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import operands_of, parts_of
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program


@once
def unshared(program: Program) -> frozenset[int]:
    """The objects of these variables: automatic ones and parameters, in every copy of their function."""
    table = program.values.objects.table
    named = set(_given_away(program))
    return frozenset(
        o
        for o, info in enumerate(table)
        if info.kind == "variable" and info.frame >= 0 and info.variable is not None and info.variable not in named
    )


def _given_away(program: Program) -> Iterator[str]:
    """Variables whose address is stored, compared, returned or given to a function that may keep it or is not known."""
    graph = program.graph
    for node in (*graph.nodes, *graph.background.nodes):
        action = node.action
        match action:
            case ins.Load():
                continue
            case ins.Store(value=value):
                yield from _addresses(value)
            case ins.CallInstr():
                effect = _forgets(program, action)
                for i, operand in enumerate(action.args):
                    if effect is None or i in effect.retains or i in effect.retains_stored:
                        yield from _addresses(operand)
                yield from _addresses(action.callee)
            case Lost(call=call):
                for operand in call.args:
                    yield from _addresses(operand)
            case Bind(args=args):
                for operand in args:
                    yield from _addresses(operand)
            case Unbind(value=returned):
                if returned is not None:
                    yield from _addresses(returned)
            case ins.Instr():
                for operand in operands_of(action):
                    yield from _addresses(operand)
            case _:
                pass


def _forgets(program: Program, call: ins.CallInstr) -> FunctionEffect | None:
    """The entry of a library function that does nothing with addresses but read and write there."""
    if not isinstance(call.callee, ins.AddrFunc) or call.callee.key in program.graph.lowered:
        return None
    effect = program.effects.get(call.callee.key)
    if effect is None or effect.flows or effect.calls or effect.returns or effect.mpi is not None or effect.frees:
        return None
    return effect if effect.allocates is None or effect.allocates.into is None else None


def _addresses(operand: ins.Operand) -> Iterator[str]:
    for part in parts_of(operand):
        if isinstance(part, ins.AddrVar | ins.AddrLocal):
            yield part.key
        elif isinstance(part, ins.Nondet):
            for inner in part.args:
                yield from _addresses(inner)
