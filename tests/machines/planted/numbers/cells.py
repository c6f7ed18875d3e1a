"""Bugs in which numbers of local arrays and structs count as variables, and in which sizes decide a test."""

from tests.machines.planted.bug import Bug

_CELLS = "opi_xform.ir.cells"

BUGS = (
    Bug(
        "nobody uses the address of a number in an array",
        _CELLS,
        "            elif taken:\n                self.places.pop(place[0])\n",
        "",
        ("celled_address",),
        condition="packed",
    ),
    Bug(
        "an array is only named by its elements at constant places",
        _CELLS,
        "if not (type_.is_scalar and size and apart and alike and steady):",
        "if not type_.is_scalar:\n            known.pop(offset, None) if before is type_ else None\n"
        "        elif not (size and apart and alike and steady):",
        ("celled_index", "celled_pointer", "celled_whole", "celled_copied"),
        condition="packed",
    ),
    Bug(
        "numbers in one place are apart",
        _CELLS,
        "if not (type_.is_scalar and size and apart and alike and steady):",
        "if not (type_.is_scalar and size and steady):",
        ("celled_union",),
        condition="packed",
    ),
    Bug(
        "the size of every type decides a test",
        "opi_xform.ir.lowering.shapes",
        'operand_type=Type(kind="float"))',
        "operand_type=Type())",
        ("sized_handle",),
        condition="form of the call",
    ),
)
