"""Bugs about what tells an end of what is read."""

from tests.machines.planted.bug import Bug

_READ_ENDS = "opi_xform.ownership.liveness.read_ends"
_MARKS = "opi_xform.ownership.liveness.marks"

BUGS = (
    Bug(
        "what functions return tells no end",
        _READ_ENDS,
        "if target is not None and value is not None and self.of(callee, value, held):",
        "if False:",
        ("end_by_function",),
        condition="first contents",
    ),
    Bug(
        "what is set by a test tells no end",
        _READ_ENDS,
        "return bool(around) and bool(self.ended_by(tests) & around)",
        "return False",
        ("end_by_setting", "end_in_function"),
        condition="first contents",
    ),
    Bug(
        "what is less than one is no zero",
        _READ_ENDS,
        "numbers = (*numbers, 1, -1)",
        "pass",
        ("end_below_one",),
        condition="first contents",
    ),
    Bug(
        "a function that calls itself reads to no end",
        _READ_ENDS,
        "if self.characters and any(self.graph.body(t.frame).function.key in self.graph.cyclic for t in tests):",
        "if False:",
        ("end_by_recursion",),
        condition="first contents",
    ),
    Bug(
        "copies of characters tell no end",
        _READ_ENDS,
        "if copies and self.of(node.frame, value, held):",
        "if False:",
        ("end_in_copy",),
        condition="first contents",
    ),
    Bug(
        "a part of a text has no end",
        "opi_xform.ownership.liveness.zero_ends",
        '_callee(program, n).startswith(("str", "wcs"))',
        "False",
        ("end_of_part",),
        condition="first contents",
    ),
    Bug(
        "a list of numbers ends by no zero",
        "opi_xform.ownership.conditions.contents.ends",
        "(ends_at_zero,)",
        "()",
        ("end_in_function", "end_of_numbers"),
        condition="first contents",
    ),
    Bug(
        "only what is declared as numbers is a list of them",
        "opi_xform.ownership.conditions.contents.ends",
        "(ends_at_zero,)",
        '((ends_at_zero,) if elem.kind == "int" else ())',
        ("f_list_records", "f_list_records_positive", "f_list_void"),
        condition="first contents",
    ),
    Bug(
        "nobody reads whole numbers of memory that is declared as floating ones",
        "opi_xform.ownership.conditions.contents.ends",
        'if side != "recv" or elem is None:',
        'if side != "recv" or elem is None or elem.kind == "float":',
        ("f_list_floating",),
        condition="first contents",
    ),
    Bug(
        "static memory of records ends no list",
        "opi_xform.ownership.conditions.contents.ends",
        "if filled is None and not lasting:",
        'if filled is None and not (lasting and elem.kind == "int"):',
        ("f_list_next", "f_list_records_static", "f_text_member_static"),
        condition="first contents",
    ),
    Bug(
        "a function that is asked for the next one ends no list in a static array",
        "opi_xform.ownership.liveness.zero_ends",
        "found.walked_to_zero() or found.answered_at_zero()",
        "found.walked_to_zero()",
        ("f_list_answer",),
        condition="first contents",
    ),
    Bug(
        "marks that are put before a loop of receives are none",
        _MARKS,
        "                (later if once or out else work).append(way)",
        "                if not (once or out):\n                    work.append(way)",
        ("f_marks_once", "f_marks_passed"),
        condition="first contents",
    ),
    Bug(
        "marks are only what ends a loop",
        _MARKS,
        "told = bool(marks) and ReadEnds(program, buffer.objects).tell(marks)",
        "told = False",
        ("f_marks_passed",),
        condition="first contents",
    ),
)
