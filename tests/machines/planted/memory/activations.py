"""Bugs in what each activation of a function that calls itself has for itself."""

from tests.machines.planted.bug import Bug

_OWN = "opi_xform.calls.own"
_LEVELS = "opi_xform.ownership.conditions.memory.levels"
_STEPS = "opi_xform.values.steps"
_CONDITION = "buffers of one activation"

BUGS = (
    Bug(
        "parameters hold at each level what they hold at the first",
        _STEPS,
        "                    values = self.of_each_level(node, params)",
        "                    pass",
        ("activation_count", "activation_null", "levels_own", "levels_arm"),
        condition=_CONDITION,
    ),
    Bug(
        "main begins with numbers that nobody knows",
        _OWN,
        "            self.graph.frames[chain[0]].parent >= 0  # nothing is unknown where main begins\n            and ",
        "            ",
        ("activation_main",),
        condition=_CONDITION,
    ),
    Bug(
        "memory holds at each level what it holds at the first",
        _STEPS,
        "                    self.havoc(anew, node)",
        "                    pass",
        ("activation_global",),
        condition=_CONDITION,
    ),
    Bug(
        "the program gives no negative number to a deeper level",
        "opi_xform.values.interp",
        "        self.given()",
        "        pass",
        ("activation_signs",),
        also=Bug("", "opi_xform.regions.signs", " or values.owners:", ":", ()),
        condition=_CONDITION,
    ),
    Bug(
        "deeper levels get no MPI_PROC_NULL",
        "opi_xform.ownership.procnull.taint",
        "                    self.once_more(node, node.action.call)",
        "                    pass",
        ("activation_source",),
        condition=_CONDITION,
    ),
    Bug(
        "the graph shows each call by which a function is entered again",
        _OWN,
        "            and self.enters(chain[0])",
        "            and True",
        ("activation_source_pointer",),
        condition=_CONDITION,
    ),
    Bug(
        "what a level returns is no buffer",
        _OWN,
        "return o in self.pts.operand(callee, value)",
        "return False",
        ("activation_result",),
        also=Bug(
            "nor what comes back",
            _OWN,
            "return o in back or o in self.calls.lost(node)",
            "return o in self.calls.lost(node)",
            (),
        ),
        condition=_CONDITION,
    ),
    Bug(
        "a pointer that other levels see is this level's",
        _OWN,
        "and self.held_inside(o, inner)",
        "and True",
        ("activation_left", "activation_out", "activation_static"),
        also=Bug(
            "and so is memory that leads to a buffer",
            _OWN,
            "and not self.pts.kept(frozenset({o}))",
            "and True",
            (),
            also=Bug(
                "which no deeper level reaches",
                "opi_xform.calls.calls",
                "return found if again < 0 else found & self.inside(again)",
                "return found if again < 0 else frozenset()",
                (),
            ),
        ),
        condition=_CONDITION,
    ),
    Bug(
        "one variable keeps the sizes of all levels' buffers",
        _LEVELS,
        "if owners and isinstance(edit, InsertStatement) and not _in_a_function(program, place):",
        "if False:",
        ("lifted_recursive",),
        condition=_CONDITION,
    ),
    Bug(
        "a request is one level's own",
        _LEVELS,
        "return found if all(owners) and not _goes_on(program, buffer, found) else frozenset()",
        "return found if all(owners) else frozenset()",
        ("activation_pending", "activation_pending_left"),
        condition=_CONDITION,
    ),
)
