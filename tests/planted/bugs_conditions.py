"""Planted bugs of the conditions about text, declarations, forms of calls and places, and of the budget."""

from tests.planted.bug import Bug

_PLACE = "opi_xform.ownership.place"
_SOURCE = "opi_xform.ownership.source"
_DECIDE = "opi_xform.ownership.decide"

CONDITIONS = (
    Bug(
        "what takes too long to compute is fine",
        "opi_xform.ownership.liveness",
        "            self.exceeded = True\n",
        "            self.findings = {(u.node, u.argument): Finding(True) for u in self.uses}\n",
        ("budget_branches",),
        condition="budget",
    ),
    Bug(
        "volatile buffers are like others",
        _SOURCE,
        "            if var.type.volatile or var.type.atomic:\n",
        "            if False:\n",
        ("odd_volatile",),
        condition="shared with others",
    ),
    Bug(
        "types of other arrays do not depend on the buffer's",
        _SOURCE,
        "                    if self.array and self.inside(place):\n",
        "                    if False:\n",
        ("declaration_dimension",),
        condition="declaration",
    ),
    Bug(
        "a datatype in a variable is the first one that the program names",
        "opi_xform.memory.extent",
        "    if value.constant is not None:\n        size = known.handles.get(value.constant)",
        "    if True:\n        size = next(iter(known.handles.values()), None)",
        ("form_type_chosen",),
        condition="form of the call",
    ),
    Bug(
        "blocks of a vector lie back to back",
        "opi_xform.memory.extent",
        '"MPI_Type_vector", 5 if known.symbols.resolve(values[1]) == known.symbols.resolve(values[2])',
        '"MPI_Type_vector", 5',
        ("typed_gaps",),
        condition="form of the call",
    ),
    Bug(
        "blocks of a struct type lie back to back",
        "opi_xform.memory.extent",
        "        if known.symbols.resolve(place - end).terms:\n",
        "        if False:\n",
        ("typed_struct_hole", "typed_struct_order", "typed_struct_first"),
        condition="form of the call",
    ),
    Bug(
        "a datatype that is resized begins where it began",
        "opi_xform.memory.extent",
        "for v in (values[1], values[2] - inner)",
        "for v in (values[2] - inner,)",
        ("typed_resized_first",),
        condition="form of the call",
    ),
    Bug(
        "a datatype that is resized is as long as before",
        "opi_xform.memory.extent",
        "for v in (values[1], values[2] - inner)",
        "for v in (values[1],)",
        ("typed_resized", "typed_struct_resized"),
        condition="form of the call",
    ),
    Bug(
        "a struct type has no padding at its end",
        "opi_xform.memory.extent",
        "    return end if lowest_bit(end) >= max(alignments) else None\n",
        "    return end\n",
        ("typed_struct_tail",),
        condition="form of the call",
    ),
    Bug(
        "datatypes have no gaps",
        "opi_xform.memory.extent",
        "found is not None and found.contiguous",
        "found is not None",
        ("form_gap",),
        condition="form of the call",
    ),
    Bug(
        "a pointer stays the same while a parameter stands for it",
        _DECIDE,
        "    if keys and reassigned(program, buffer, keys):\n",
        "    if False:\n",
        ("b_param_reassigned",),
        condition="carrier",
    ),
    Bug(
        "no declaration is jumped over",
        _PLACE,
        '            if bits & RAW and self.buffer.carrier.kind == "array":\n',
        "            if False:\n",
        ("placement_jumped",),
        Bug(
            "no declaration is jumped over on the way to an access",
            _PLACE,
            "any(s & RAW for s in state.events.values() if s & RAW)",
            "False",
            (),
        ),
        condition="placement",
    ),
    Bug(
        "what one file wants of a header's text is right for all",
        _DECIDE,
        "        if shared is not None:\n",
        "        if False:\n",
        ("g_header_inline",),
        condition="text",
    ),
    Bug(
        "text that is included inside functions stands in one of them",
        "opi_xform.ownership.elsewhere",
        "        if span.file in _fragments(program):\n",
        "        if False:\n",
        ("g_fragment",),
        condition="text",
    ),
)
