"""Bugs in what is known of macros whose uses are written out."""

from tests.machines.planted.bug import Bug

_OUT = "opi_xform.frontend.macros.written_out"
_USES = "opi_xform.frontend.macros.macro_uses"
_STEADY = "opi_xform.frontend.macros.one_meaning"
_AGAIN = "opi_xform.attempts.macros"

_TREES = Bug(
    "a text with uses written out is the same program",
    _AGAIN,
    "return new is not None and old is not None and [r.shape for r in new] == [r.shape for r in old]",
    "return True",
    (),
)

BUGS = (
    Bug(
        "an operator in a macro's body is the node around a label's number",
        "opi_xform.frontend.lower.exprs",
        "(kind == _UNEXPOSED or tree.is_number_of_case(i))",
        "kind in (_UNEXPOSED, int(Kind.UNARY_OPERATOR))",
        ("macro_step_turn", "macro_step_skip", "macro_step_phase", "macro_truth_twice"),
        condition="values",
    ),
    Bug(
        "what counts its uses is written out",
        _OUT,
        " or macros.reached(use) & _COUNTED",
        "",
        ("written_out_counted",),
        _TREES,
        condition="text",
    ),
    Bug(
        "a macro in the body may show an argument as it is written",
        _OUT,
        "            if self.quoted.quotes(inner, position):\n                raise _UnknownError\n",
        "            del inner, position\n",
        ("written_out_quoted", "written_out_pasted"),
        _TREES,
        condition="text",
    ),
    Bug(
        "an argument may be several when it is expanded",
        _OUT,
        "            if one.definition is None or not self._one(one):\n",
        "            if one.definition is None:\n",
        ("written_out_commas",),
        _TREES,
        condition="text",
    ),
    Bug(
        "a macro may be another one in another configuration",
        _STEADY,
        "frozenset(defined) - changing - conditional",
        "frozenset(defined) - changing",
        ("written_out_conditional",),
        condition="whole program",
    ),
    Bug(
        "a macro may have two definitions",
        _USES,
        "return use.name in self.steady.single and self.steady.changing.isdisjoint(self.macros.reached(use))",
        "return True",
        ("written_out_configured", "written_out_conditional", "written_out_redefined"),
        condition="whole program",
    ),
    Bug(
        "all files that read a header's text say the same of it",
        _AGAIN,
        "if uses.setdefault((one.file, one.begin), one) != one:",
        "if uses.setdefault((one.file, one.begin), one) is None:",
        ("written_out_header",),
        _TREES,
        condition="text",
    ),
    Bug(
        "a macro is no pointer that a struct is reached by",
        "opi_xform.ownership.spelling.paths",
        "if name != self.program.variables[path.root.var].name:",
        "if False:",
        ("written_out_member",),
        condition="text",
    ),
)
