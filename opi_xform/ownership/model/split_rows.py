"""Offsets in arrays of arrays, as the row that they were made from and what is added to it."""

from __future__ import annotations

from opi_xform.memory.poly import Poly
from opi_xform.ownership.model.buffers import Program


def row_index(program: Program, o: int, lo: Poly) -> Poly | None:
    """The index of the row that an offset starts from, when it was made as ``array[index]``."""
    found = split_row(program, o, lo)
    return None if found is None else found[0]


def split_row(program: Program, o: int, lo: Poly) -> tuple[Poly, Poly] | None:
    """(row index, offset in the row) of an offset made from one row of the array."""
    symbols = program.values.symbols
    value = symbols.resolve(lo, keep_rows=True)
    row: int | None = None
    for s in value.symbols():
        info = symbols.table[s]
        if info.kind == "row" or (info.kind == "exit" and "row" in _inside_kinds(program, s)):
            if row is not None or value.coefficient(s) != 1:
                return None
            row = s
    if row is None or symbols.table[row].kind != "row" or symbols.table[row].key[0] != o:
        return None
    index = symbols.table[row].key[1]
    assert isinstance(index, Poly)
    rest = Poly(tuple((m, c) for m, c in value.terms if m != (row,)))
    return index, rest


def _inside_kinds(program: Program, s: int) -> set[str]:
    out: set[str] = set()
    table = program.values.symbols.table
    while table[s].kind == "exit":
        inside = table[s].key[1]
        assert isinstance(inside, int)
        s = inside
        out.add(table[s].kind)
    return out
