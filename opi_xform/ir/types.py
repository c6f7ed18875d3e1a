"""C types, as far as the analyses need them.  Sizes are in bytes; ``None`` where a type has no constant size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from opi_xform.ir.record import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """One C type.

    kind: ``void``, ``int`` (all integer, character, bool and enumeration types), ``float``, ``pointer``, ``array``,
    ``record`` (struct or union), ``function``, ``unknown``.
    spelling: the type as the source would write it (typedef names kept).
    elem: pointee, element or result type.  count: elements of an array (None: incomplete or variable length).
    boolean: ``_Bool``, in which every number that is not 0 becomes 1.
    record: key into ``Unit.records``.  params/variadic: for functions (``params`` None: no prototype).
    """

    kind: str
    spelling: str
    size: int | None = None
    signed: bool = True
    elem: Type | None = None
    count: int | None = None
    vla: bool = False
    record: str = ""
    params: tuple[Type, ...] | None = None
    variadic: bool = False
    const: bool = False
    volatile: bool = False
    atomic: bool = False
    boolean: bool = False

    @property
    def is_pointer(self) -> bool:
        return self.kind == "pointer"

    @property
    def is_array(self) -> bool:
        return self.kind == "array"

    @property
    def is_scalar(self) -> bool:
        return self.kind in ("int", "float", "pointer")

    @property
    def holds_address(self) -> bool:
        """Floating values and integers narrower than a pointer hold no address that C could get back."""
        return not (self.kind == "float" or (self.kind == "int" and self.size is not None and self.size < 8))

    @property
    def pointee(self) -> str:
        """What an address of this type leads to: ``address`` (pointers, structs, what is not known), ``word`` (integers
        as wide as an address), ``char``, ``number`` or ``void``.
        """
        to = self.elem if self.kind in ("pointer", "array") else None
        while to is not None and to.is_array:
            to = to.elem
        if to is None or to.kind not in ("int", "float", "void"):
            return "address"
        if to.kind == "void":
            return "void"
        return "word" if to.holds_address else "char" if to.size == 1 else "number"

    def holds(self, value: int) -> bool:
        """An integer type has this number among its values."""
        if self.kind != "int" or self.size is None:
            return False
        if self.boolean:
            return value in (0, 1)
        bits = 8 * self.size
        return -(1 << (bits - 1)) <= value < 1 << (bits - 1) if self.signed else 0 <= value < 1 << bits


VOID = Type("void", "void")
INT = Type("int", "int", 4)
LONG = Type("int", "long", 8)
SIZE_T = Type("int", "unsigned long", 8, signed=False)
UNKNOWN = Type("unknown", "?")


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a record; ``offset`` in bytes (bit fields: the byte that holds the first bit)."""

    name: str
    type: Type
    offset: int
    bitfield: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A struct or union with its layout."""

    key: str
    spelling: str
    union: bool
    size: int | None
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name == name), None)

    def last(self, field: Field) -> bool:
        """Whether no other member lies after it (of a union, each)."""
        return self.union or all(f.offset <= field.offset for f in self.fields)

    def punned(self, field: Field, numbers: Iterable[tuple[int, int]], records: Mapping[str, Record]) -> bool:
        """Whether numbers in a member, (begin, end), are in bytes that are also those of an address in another one."""
        if all(f is field or f.offset >= _end(field) or _end(f) <= field.offset for f in self.fields):
            return False
        addresses = [
            place
            for f in self.fields
            if f is not field and not f.bitfield
            for place in places(f.type, f.offset, records, False)
        ]
        return any(a < end and begin < b for begin, end in numbers for a, b in addresses)

    def padding(self, field: Field) -> int:
        """Bytes after a member of a struct that belong to no member."""
        if self.union or field.bitfield or field.type.size is None or self.size is None:
            return 0
        end = field.offset + field.type.size
        return min((f.offset for f in self.fields if f.offset >= end), default=self.size) - end


def _end(field: Field) -> int:
    return field.offset + (field.type.size or 8)


def places(type_: Type, offset: int, records: Mapping[str, Record], numbers: bool) -> Iterator[tuple[int, int]]:
    """The bytes, (begin, end), of numbers in something of this type; or else of all that may be an address.

    An array counts as one place for each member of its elements: all of it.
    """
    inner = type_
    while inner.is_array and inner.elem is not None:
        inner = inner.elem
    whole = (offset, offset + (type_.size or 8))
    record = records.get(inner.record) if inner.kind == "record" else None
    if record is None:
        if (inner.kind in ("int", "float")) == numbers:
            yield whole
        return
    for f in record.fields:  # C has no struct that is in itself
        for place in places(f.type, offset + f.offset, records, numbers):
            yield whole if type_.is_array else place
