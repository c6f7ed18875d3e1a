"""Numbers that lie where a union has an address: their bytes may be those of one."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir.ast import Expr, Index, Member
from opi_xform.ir.types import Field, Record, places


def is_punned(base: Expr, record: Record, field: Field, records: Mapping[str, Record]) -> bool:
    """Of a member that is a number or has numbers.  The union may be any struct around it, as far as it is written."""
    numbers = tuple(places(field.type, field.offset, records, True))
    while not record.punned(field, numbers, records):
        through = None
        while isinstance(base, Index) and base.base.type.is_array:
            base = through = base.base
        if not isinstance(base, Member):
            return False
        outer = records.get(base.base.type.record)
        inside = outer.field(base.field) if outer is not None else None
        if outer is None or inside is None:
            return False
        if through is not None:
            numbers = ((base.offset, base.offset + (base.type.size or 8)),)
        else:
            numbers = tuple((begin + base.offset, end + base.offset) for begin, end in numbers)
        record, field, base = outer, inside, base.base
    return True
