"""Bugs about what a program puts into a buffer before a receive, and finds there after a short message."""

from tests.machines.planted.bug import Bug

_CONSTANTS = "opi_xform.ownership.liveness.constants"
_MARKS = "opi_xform.ownership.liveness.marks"

BUGS = (
    Bug(
        "what a function is given is no mark",
        _CONSTANTS,
        "                    yield node, (node.frame, key), (caller, argument)",
        "                    yield node, (node.frame, key), None",
        ("f_marks_given",),
        condition="first contents",
    ),
    Bug(
        "what is no number is no mark",
        _CONSTANTS,
        'for letter in ("", "f", "l")',
        "for letter in ()",
        ("f_marks_number",),
        condition="first contents",
    ),
    Bug(
        "arithmetic makes no marks",
        _CONSTANTS,
        'case ins.Nondet(reason="floating arithmetic", args=args) if args:',
        "case ins.Nondet() if False:",
        ("f_marks_computed",),
        condition="first contents",
    ),
    Bug(
        "what is set before the loop is no mark",
        _CONSTANTS,
        "if self.loops.isdisjoint(program.nest.chain(at.block)) and isinstance(key, str):",
        "if False:",
        ("f_marks_computed",),
        condition="first contents",
    ),
    Bug(
        "what lies in memory before the loop is no mark",
        _CONSTANTS,
        "return [node for node in nodes if not self.loops.isdisjoint(self.program.nest.chain(node.block))]",
        "return nodes",
        ("f_marks_template", "f_marks_member"),
        condition="first contents",
    ),
    Bug(
        "what main is given is no mark",
        _CONSTANTS,
        "return () if first or (",
        "return () if (",
        ("f_marks_main",),
        condition="first contents",
    ),
    Bug(
        "a compound literal is no mark",
        _CONSTANTS,
        "return self.literal(node)",
        "return None",
        ("f_marks_literal",),
        condition="first contents",
    ),
    Bug(
        "what is copied is no mark",
        _CONSTANTS,
        "        return out if objects else None",
        "        return None",
        ("f_marks_struct", "f_marks_copied"),
        condition="first contents",
    ),
    Bug(
        "marks stand before their receive",
        _MARKS,
        "                (later if once or out else work).append(way)",
        "                if not back:\n                    (later if once or out else work).append(way)",
        ("f_marks_behind",),
        condition="first contents",
    ),
    Bug(
        "marks for all parts are none for one",
        _MARKS,
        "moving = _moving(program, use) & around",
        "moving = around - around",
        ("starts_marked_before",),
        condition="starts",
    ),
    Bug(
        "zeros before each receive are care",
        _MARKS,
        "set_back = behind and (",
        "set_back = (",
        ("f_marks_zeros",),
        condition="first contents",
    ),
    Bug(
        "what a function copies from a text is no mark",
        _CONSTANTS,
        "if texts and all(",
        "if False and all(",
        ("f_marks_text", "f_marks_printed"),
        condition="first contents",
    ),
    Bug(
        "static memory ends no text",
        "opi_xform.ownership.conditions.contents.ends",
        "lasting = variable.type.is_array and variable.is_global",
        "lasting = False",
        ("f_text_static_memory", "f_list_static"),
        condition="first contents",
    ),
)
