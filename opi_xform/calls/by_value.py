"""Which numbers are read in structs that are given by value, found before values are.

The numbers of a struct are the same in its copy.  One that nobody has looked at before has no value yet that the copies
could share.  So what is read in a copy, or in a copy of that, is looked at where the copy is made.
"""

from __future__ import annotations

from opi_xform.graph.graph import Bind, Graph
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.memory.objects import Objects

Numbers = dict[int, dict[int, Type]]
"""By object: (byte from its start, type) of the whole numbers that are read in it by name."""


def numbers_read(graph: Graph, objects: Objects) -> Numbers:
    """In structs that are variables."""
    out: Numbers = {}
    for node in graph.nodes:
        action = node.action
        if isinstance(action, ins.Load) and action.type.kind == "int" and action.type.size:
            at = _place(action.address)
            if at is not None and _is_record(objects, at[0]):
                out.setdefault(objects.variable(node.frame, at[0]), {}).setdefault(at[1], action.type)
    given = [node for node in graph.nodes if isinstance(node.action, Bind)]
    for node in sorted(given, key=lambda n: -n.frame):  # of the innermost copies first
        assert isinstance(node.action, Bind)
        for key, argument in zip(node.action.params, node.action.args, strict=True):
            at = _place(argument)
            if at is None or not _is_record(objects, key) or not _is_record(objects, at[0]):
                continue
            found = out.get(objects.variable(node.frame, key), {})
            of = out.setdefault(objects.variable(node.action.caller, at[0]), {})
            for offset, type_ in found.items():
                of.setdefault(at[1] + offset, type_)
    return out


def _is_record(objects: Objects, key: str) -> bool:
    return objects.variables[key].type.kind == "record"


def _place(address: ins.Operand) -> tuple[str, int] | None:
    """A variable, and the bytes from its start."""
    offset = 0
    while isinstance(address, ins.PtrAdd) and isinstance(address.index, ins.Const):
        offset += address.index.value * address.scale
        address = address.base
    return (address.key, offset) if isinstance(address, ins.AddrVar) else None
