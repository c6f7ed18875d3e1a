"""Bytes of a datatype that an argument names, also of one that the program makes of others without gaps."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly, number
from opi_xform.memory.values import Values
from opi_xform.program.datatypes import load_datatypes

HANDLE = {"MPI_Type_contiguous": 2, "MPI_Type_vector": 4, "MPI_Type_dup": 1, "MPI_Type_commit": 0}
"""Calls that give a datatype whose layout may be known, and the argument that the handle's address is."""


def gaps(operand: ins.Operand) -> str:
    """Why the layout of a datatype is not one piece, as far as it is known."""
    found = load_datatypes().get(operand.name) if isinstance(operand, ins.Const) else None
    if found is not None:
        return f"`{found.name}` has gaps: {found.size} bytes of data in every {found.extent}"
    makers = " or ".join(f"`{name}`" for name in HANDLE if name != "MPI_Type_commit")
    return f"the datatype may have gaps, or be one of several: it is not predefined, nor made of such by {makers} alone"


def extent(operand: ins.Operand) -> int | None:
    """Bytes from one element to the next, when the argument is a predefined datatype without holes; else None."""
    if not isinstance(operand, ins.Const) or not operand.name:
        return None
    found = load_datatypes().get(operand.name)
    return found.extent if found is not None and found.contiguous else None


def extent_of(known: Values, operand: ins.Operand, value: Poly) -> Poly | None:
    """The same, also of a handle in a variable, and of one that the program has from a call of ``HANDLE``.

    value: of the operand.
    """
    size = extent(operand)
    if size is None and value.constant is not None:
        size = known.handles.get(value.constant)
    if size is not None:
        return number(size)
    handle = value.single
    return None if handle is None else known.extents.get(handle)


def derived(known: Values, name: str, args: Sequence[ins.Operand], values: Sequence[Poly]) -> Poly | None:
    """Bytes of the datatype that a call of ``HANDLE`` makes (MPI 4.1, section 5.1.2); None: it may have gaps."""

    def of(i: int) -> Poly | None:
        return extent_of(known, args[i], values[i])

    match name, len(args):
        case "MPI_Type_contiguous", 3:
            inner = of(1)
            return None if inner is None else values[0] * inner
        case "MPI_Type_vector", 5 if known.symbols.resolve(values[1]) == known.symbols.resolve(values[2]):
            inner = of(3)
            return None if inner is None else values[0] * values[1] * inner
        case "MPI_Type_dup", 2:
            return of(0)
        case _:
            return None
