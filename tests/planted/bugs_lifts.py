"""Bugs in what is put into functions that get a carrier's address, in what names mean there, and in initialisers."""

from tests.planted.bug import Bug

_LIFTS = "opi_xform.ownership.lifts"

LIFTS = (
    Bug(
        "a function is called for one carrier",
        _LIFTS,
        "if named != carrier.variable or not self.buffer.lifted.issuperset(passed):",
        "if False:",
        ("lifted_two",),
        condition="carrier",
    ),
    Bug(
        "a parameter's name is not that of a macro",
        _LIFTS,
        "if not means_variable(self.program, self.program.functions[variable.function], variable, self.texts):",
        "if False:",
        ("lifted_macro",),
        Bug(
            "",
            "opi_xform.ownership.parameters",
            "        if not means_variable(self.program, function, variable, Texts(), left_out):\n",
            "        if False:\n",
            (),
        ),
        condition="carrier",
    ),
    Bug(
        "a carrier's name means the carrier where a second name is used",
        "opi_xform.ownership.second_names",
        "if not means_variable(program, function, carrier, texts):",
        "if False:",
        ("second_macro",),
        Bug(
            "no macro has a carrier's name",
            "opi_xform.ownership.text",
            "        out.setdefault(macro[1], macro.start(1))\n",
            "        pass\n",
            ("second_macro",),
        ),
        condition="carrier",
    ),
    Bug(
        "no macro has the name of what is put in",
        "opi_xform.ownership.text",
        "        out.setdefault(macro[1], macro.start(1))\n",
        "        pass\n",
        ("macro_named",),
        condition="carrier",
    ),
    Bug(
        "what a size is made of is nobody else's",
        "opi_xform.ownership.behind",
        "if may_set(program, keys, called) or (reads and called and program.taken):",
        "if False:",
        ("busy_size_operation",),
        condition="allocation and free",
    ),
    Bug(
        "an initialiser may end a text",
        "opi_xform.ownership.decide",
        "refusal = refusal or ended_by_initialiser(program, buffer, mine[0].side)",
        "pass",
        ("initialised_text",),
        condition="first contents",
    ),
    Bug(
        "an initialiser does nothing besides",
        "opi_xform.ownership.events",
        "variable.init is None or has_effect(variable.init)",
        "variable.init is None",
        ("initialised_effect",),
        condition="first contents",
    ),
    Bug(
        "nobody takes the address of a whole row",
        "opi_xform.ownership.source",
        "if self.rows and isinstance(m.outer, ast.AddrOf) and m.outer.operand is m.parent and m.parent.type.is_array:",
        "if False:",
        ("rows_address",),
        condition="rows and parts",
    ),
    Bug(
        "no macro declares a variable of a carrier's name",
        "opi_xform.ownership.words",
        "if any(v.name == variable.name and v.key != variable.key for v in function.variables.values()):",
        "if False:",
        ("second_in_macro",),
        condition="carrier",
    ),
    Bug(
        "a type means the same where a second name is used",
        "opi_xform.ownership.second_names",
        "if text != carrier.name and not means_type(program, lowered, variable.type.spelling, texts):",
        "if False:",
        ("second_type",),
        condition="carrier",
    ),
)
