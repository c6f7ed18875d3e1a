"""Bytes of a datatype that an argument names."""

from __future__ import annotations

from opi_xform.ir import instr as ins
from opi_xform.program.datatypes import load_datatypes


def extent(operand: ins.Operand) -> int | None:
    """Bytes from one element to the next, when the argument is a predefined datatype without holes; else None."""
    if not isinstance(operand, ins.Const) or not operand.name:
        return None
    found = load_datatypes().get(operand.name)
    return found.extent if found is not None and found.contiguous else None
