"""Bugs in how addresses travel: in pointers that are volatile, as bytes, and from where nothing is known."""

from tests.machines.planted.bug import Bug

_CONSTRAINTS = "opi_xform.pointsto.constraints"
_INCLUSIONS = "opi_xform.pointsto.inclusions"
_LOWER = "opi_xform.ir.lowering.expressions"

BUGS = (
    Bug(
        "a volatile pointer points to what is outside, and to nothing that is stored in it",
        _LOWER,
        "            type_ = replace(type_, volatile=True)\n",
        '            return ins.Nondet("volatile")\n',
        ("c_volatile_store", "c_atomic_store", "c_volatile_pointer", "c_atomic_pointer"),
        condition="bytes of addresses",
    ),
    Bug(
        "numbers that are read hold no part of an address",
        _CONSTRAINTS,
        "                    if not member:\n",
        "                    if False:\n",
        ("c_bytes_count", "c_bytes_words", "c_bytes_chars", "c_bytes_swapped"),
        condition="bytes of addresses",
    ),
    Bug(
        "bytes that are written make no address",
        _INCLUSIONS,
        'case "put" | "fill":\n',
        'case "neither":\n',
        ("c_bytes_count", "c_bytes_words", "c_bytes_pipe", "c_bytes_message"),
        condition="bytes of addresses",
    ),
    Bug(
        "what a library function reads stays where it is",
        _CONSTRAINTS,
        "            self.system.view(kind, pointer, BYTES)\n",
        '            if kind in ("put", "fill"):\n                self.system.view(kind, pointer, BYTES)\n',
        ("c_bytes_pipe", "c_bytes_pipe_struct", "c_bytes_message", "c_bytes_gathered"),
        condition="bytes of addresses",
    ),
    Bug(
        "halves of an address are numbers",
        _CONSTRAINTS,
        "                    self.as_number(frame, item.args[0])\n",
        "                    pass\n",
        ("c_bytes_halves_of_count",),
        condition="bytes of addresses",
    ),
    Bug(
        "a pointer of which nothing is known leads nowhere",
        _CONSTRAINTS,
        "        return self.anything\n",
        "        return found\n",
        ("c_nowhere_written",),
        condition="bytes of addresses",
    ),
    Bug(
        "a union's address is that of each struct in it",
        _LOWER,
        "            if is_union(source.elem) and to.elem",
        "            if False and to.elem",
        ("c_bytes_union_cast",),
        condition="bytes of addresses",
    ),
    Bug(
        "one struct is copied into another one as structs of one kind are",
        "opi_xform.pointsto.travel",
        'f"{to.kind} {to.record}"',
        "to.kind",
        ("c_bytes_struct_halves",),
        condition="bytes of addresses",
    ),
    Bug(
        "allocated memory that has pointers is read as characters only",
        _INCLUSIONS,
        '        elif kind in ("numbers", "words") and info.kind == "heap":\n',
        "        elif False:\n",
        ("c_bytes_heap_halves", "c_bytes_heap_words"),
        condition="bytes of addresses",
    ),
)
