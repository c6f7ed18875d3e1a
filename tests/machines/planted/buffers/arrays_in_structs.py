"""Bugs in what is known of arrays that leave their struct."""

from tests.machines.planted.bug import Bug

_FROM_STRUCTS = "opi_xform.divide.structs.from_structs"
_NAMED_TEXT = "opi_xform.divide.structs.named_text"
_LOOSENED = "opi_xform.attempts.struct_arrays"

_POINTER = Bug(
    "a pointer to another member may come to this one",
    _FROM_STRUCTS,
    "        if self.between(a, 0, begin) or self.between(a, end, record.size or 0):\n",
    "        if True:\n",
    ("struct_array_pointer",),
    condition="arrays in structs",
)

_USED = Bug(
    "a macro that names the array is used in no other text",
    _NAMED_TEXT,
    "return not any(naming & text.identifiers for unit in self.units for text in unit.skipped)",
    "return True",
    ("struct_array_macro_left", "struct_array_macro_own"),
    condition="arrays in structs",
)

BUGS = (
    _USED,
    Bug(
        "a pointer that is made from the array stays in it",
        _FROM_STRUCTS,
        "if self.between(a, begin, end):",
        "if True:",
        ("struct_array_walks_on", "struct_array_given_on", "struct_array_one_of"),
        condition="arrays in structs",
    ),
    Bug(
        "a message of a function that is given the array is one of the array, wherever it begins",
        _FROM_STRUCTS,
        "if names != {name} or not mine:",
        "if not mine:",
        ("struct_array_put_moved",),
        condition="arrays in structs",
    ),
    Bug(
        "a parameter is what its function was given, though the function sets it",
        "opi_xform.divide.structs.member_flow",
        "for name, bind in out.items() if name not in several",
        "for name, bind in out.items()",
        ("struct_array_got_moved",),
        condition="arrays in structs",
    ),
    Bug(
        "what is one of several numbers is the smallest",
        "opi_xform.divide.check",
        "number(max(numbers)) - symbol(s)",
        "number(min(numbers)) - symbol(s)",
        ("struct_array_one_of",),
        condition="arrays in structs",
    ),
    Bug(
        "a message that begins in an array of a struct may end in the next one",
        _FROM_STRUCTS,
        "return last or self.fits(a, end)",
        "return True",
        ("struct_array_two_sent", "struct_array_two_received"),
        condition="arrays in structs",
    ),
    Bug(
        "all that such a message brings was written by the array's name",
        _LOOSENED,
        "return [one for one in ways if one.unshown <= sent]",
        "return ways",
        ("struct_array_two_sent",),
        condition="arrays in structs",
    ),
    Bug(
        "the size that the program asks for is the same in the wide edits",
        _FROM_STRUCTS,
        "if unshown and any(isinstance(m.parents[0], ast.SizeOf) for m in mine if m.parents):",
        "if False:",
        ("struct_array_two_sizeof",),
        condition="arrays in structs",
    ),
    Bug(
        "an array that is written from end to end need not be all of the message",
        _FROM_STRUCTS,
        "((record.size or 0) - field.offset) // row if unshown else 0",
        "(field.type.count or 0)",
        ("struct_array_two_sent",),
        condition="arrays in structs",
    ),
    Bug(
        "an array of a function's own may have any contents, those of the next one, too",
        _FROM_STRUCTS,
        'if not one or variable.kind == "local":',
        "if not one:",
        ("struct_array_two_sent_local",),
        condition="arrays in structs",
    ),
    Bug(
        "a message from the array in front may come to this one",
        _FROM_STRUCTS,
        "return self.fits(a, begin)",
        "return True",
        ("struct_array_before", "struct_array_bcast"),
        condition="arrays in structs",
    ),
    _POINTER,
    Bug(
        "a struct is named as a whole",
        _FROM_STRUCTS,
        "if len(found) != len(self.index.by_key.get(variable.key, ())):",
        "if False:",
        ("struct_array_copied", "struct_array_zeroed"),
        also=_POINTER,
        condition="arrays in structs",
    ),
    Bug(
        "a struct that several files declare has its array at one place",
        _FROM_STRUCTS,
        "if any((m.member.offset, m.member.type.spelling) != (field.offset, field.type.spelling) for m in mine):",
        "if False:",
        ("struct_array_layouts",),
        condition="arrays in structs",
    ),
    Bug(
        "no two arrays get one name",
        _FROM_STRUCTS,
        "if self.given.setdefault(new, (variable.name, name)) == (variable.name, name):",
        "if True:",
        ("struct_array_same_name",),
        condition="arrays in structs",
    ),
    Bug(
        "a macro that is defined elsewhere does not name an array of a function's own struct",
        _NAMED_TEXT,
        "if function is not None and self.left_out(variable, called):",
        "if False:",
        ("struct_array_macro",),
        also=_USED,
        condition="arrays in structs",
    ),
    Bug(
        "text that is left out here may name the array",
        _NAMED_TEXT,
        "if named and (file, a) not in known and not inside:",
        "if False:",
        ("struct_array_if",),
        condition="arrays in structs",
    ),
)
