"""Planted bugs: blocks whose parts elements of arrays name."""

from __future__ import annotations

from tests.machines.planted.bug import Bug

_FOUND = "opi_xform.divide.named.by_arrays"
_PROOF = "opi_xform.divide.named.by_arrays_proof"

BUGS = (
    Bug(
        "an element of any row names a part of a block",
        _FOUND,
        "not all(unspanned(e.index, first.index) for e in (target, source))",
        "False",
        ("parts_rows_subscript",),
        condition="rows and parts",
    ),
    Bug(
        "lengths stay as they are between a block and the names of its parts",
        _FOUND,
        "if key in keys or program.variables[key].type.is_array:",
        "if program.variables[key].type.is_array:",
        ("parts_rows_length_between",),
        condition="rows and parts",
    ),
    Bug(
        "what is read by the name of a part lies in that part",
        _PROOF,
        "if o != family.number or not all(self.inside(n, a, made) for a in accesses):",
        "if False:",
        ("parts_rows_across", "parts_rows_longer", "parts_rows_length_after", "parts_rows_whole"),
        condition="rows and parts",
    ),
    Bug(
        "how far parts are from each other is nobody's matter",
        _PROOF,
        "if any(self.told(frame, e, heaps) for e in given):",
        "if False:",
        ("parts_rows_difference",),
        condition="rows and parts",
    ),
)
