"""Bytes of a datatype that an argument names, also of one that the program makes of others without gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opi_xform.effects.datatypes import load_datatypes
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import ZERO, Poly, number
from opi_xform.memory.values import Values

HANDLE = {
    "MPI_Type_contiguous": 2,
    "MPI_Type_vector": 4,
    "MPI_Type_dup": 1,
    "MPI_Type_create_struct": 4,
    "MPI_Type_struct": 4,
    "MPI_Type_create_resized": 3,
    "MPI_Type_commit": 0,
}
"""Calls that give a datatype whose layout may be known, and the argument that the handle's address is."""

ADDRESSES = frozenset({"MPI_Get_address", "MPI_Address"})  # what they give is the first argument, as a number
SUMS = {"MPI_Aint_add": 1, "MPI_Aint_diff": -1}  # what the second argument counts for
BYTES, FIRST = "its bytes", "where its first byte is, from the address that a call names"
QUERIES = {
    ("MPI_Type_size", 1): BYTES,
    ("MPI_Type_size_x", 1): BYTES,
    ("MPI_Type_extent", 1): BYTES,
    ("MPI_Type_get_extent", 1): FIRST,
    ("MPI_Type_get_extent", 2): BYTES,
    ("MPI_Type_get_extent_x", 1): FIRST,
    ("MPI_Type_get_extent_x", 2): BYTES,
    ("MPI_Type_get_true_extent", 1): FIRST,
    ("MPI_Type_get_true_extent", 2): BYTES,
    ("MPI_Type_get_true_extent_x", 1): FIRST,
    ("MPI_Type_get_true_extent_x", 2): BYTES,
    ("MPI_Type_lb", 1): FIRST,
    ("MPI_Type_ub", 1): BYTES,
}
"""What a call tells of a datatype, by function and argument (MPI 4.1, section 5.1.5), where it has no gaps."""
MOST_BLOCKS = 64  # of a struct type
Read = Callable[[int, int], Poly | None]  # argument that is an array, index: what the element holds at the call


def gaps(operand: ins.Operand) -> str:
    """Why the layout of a datatype is not one piece, as far as it is known."""
    found = load_datatypes().get(operand.name) if isinstance(operand, ins.Const) else None
    if found is not None:
        return f"`{found.name}` has gaps: {found.size} bytes of data in every {found.extent}"
    makers = " or ".join(f"`{name}`" for name in HANDLE if name not in ("MPI_Type_commit", "MPI_Type_struct"))
    made = f"nor that it is made of such by {makers} alone"
    return f"the datatype may have gaps, or be one of several: could not show that it is predefined, {made}"


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
    return held(known, value) if size is None else number(size)


def derived(known: Values, name: str, args: Sequence[ins.Operand], values: Sequence[Poly], read: Read) -> Poly | None:
    """Bytes of the datatype that a call of ``HANDLE`` makes (MPI 4.1, section 5.1.2); None: it may have gaps."""

    def of(i: int) -> Poly | None:
        return extent_of(known, args[i], values[i])

    match name, len(args):
        case "MPI_Type_contiguous", 3:
            inner = of(1)
            return None if inner is None else values[0] * inner
        # one block, or blocks that lie back to back
        case "MPI_Type_vector", 5 if values[0].constant == 1 or not known.symbols.resolve(values[1] - values[2]).terms:
            inner = of(3)
            return None if inner is None else values[0] * values[1] * inner
        case "MPI_Type_dup", 2:
            return of(0)
        case "MPI_Type_create_struct" | "MPI_Type_struct", 5:
            return struct(known, values[0].constant, read)
        case "MPI_Type_create_resized", 4:  # to the length that it has
            inner = of(0)
            same = inner is not None and not any(known.symbols.resolve(v).terms for v in (values[1], values[2] - inner))
            return inner if same else None
        case _:
            return None


def told(known: Values, name: str, index: int, args: Sequence[ins.Operand], values: Sequence[Poly]) -> Poly | None:
    """The number that a call of ``QUERIES`` writes through its argument; None: it is not known.

    A size that is no constant could be too large for the variable (MPI_UNDEFINED then).
    """
    query = QUERIES.get((name, index))
    if query is None or not args:
        return None
    size = extent_of(known, args[0], values[0])
    if size is None or size.constant is None or size.constant > MOST_BYTES:
        return None
    return size if query is BYTES else ZERO


def struct(known: Values, count: int | None, read: Read) -> Poly | None:
    """Bytes of a struct type whose blocks lie back to back from the first byte on, in the order of the message.

    The MPI makes it longer at its end where a C compiler would: up to a multiple of the widest member's alignment.
    What a datatype is aligned to is a power of two that divides its length, term by term.
    """
    if count is None or not 0 < count <= MOST_BLOCKS:
        return None
    end, alignments = ZERO, list[int]()
    for k in range(count):
        length, place, of = read(1, k), read(2, k), read(3, k)
        inner = None if of is None else held(known, of)
        if length is None or (length.constant or 0) < 0 or place is None or inner is None or not inner.terms:
            return None
        if known.symbols.resolve(place - end).terms:
            return None
        alignments.append(min(lowest_bit(inner), WIDEST))
        end += length * inner
    return end if lowest_bit(end) >= max(alignments) else None


def relative(known: Values, count: int | None, displacements: int, read: Read) -> bool:
    """All displacements of a datatype are constants: none is an address, or leads from one object to another."""
    if count is None or not 0 < count <= MOST_BLOCKS:
        return False
    places = [read(displacements, k) for k in range(count)]
    return all(place is not None and known.symbols.resolve(place).constant is not None for place in places)


def held(known: Values, value: Poly) -> Poly | None:
    """Bytes of the datatype that a variable holds."""
    if value.constant is not None:
        size = known.handles.get(value.constant)
        return None if size is None else number(size)
    return None if value.single is None else known.extents.get(value.single)


def lowest_bit(value: Poly) -> int:
    """The largest power of two that divides each term."""
    bits = 0
    for _, c in value.terms:
        bits |= c
    return bits & -bits


MOST_BYTES = 2**31 - 1  # that an int holds
WIDEST = 16  # bytes that a type may be aligned to
