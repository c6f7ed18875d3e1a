"""Bugs in what a local number is after paths meet of which not all set it."""

from tests.machines.planted.bug import Bug

_PARTLY = "opi_xform.values.unset.partly_set"

BUGS = (
    Bug(
        "a flag that nobody set is set",
        _PARTLY,
        "if value.constant is not None or any(",
        "if any(",
        ("partly_flag",),
        also=Bug("and its test counts", _PARTLY, "as_tested = self.as_tested", "return comparison", ()),
        condition="set on some paths",
    ),
    Bug(
        "what is set in the first turn is set in each",
        _PARTLY,
        "return self.nest.chain(node.block) == around",
        "return True",
        ("partly_turn",),
        condition="set on some paths",
    ),
    Bug(
        "of what several paths set, the first counts",
        _PARTLY,
        "any(self.chosen(incoming[i]) != value for i in paths)",
        "False",
        ("partly_switch",),
        condition="set on some paths",
    ),
    Bug(
        "a test of what nobody set goes the way that suits",
        _PARTLY,
        "as_tested = self.as_tested",
        "return comparison",
        ("partly_tested",),
        condition="set on some paths",
    ),
    Bug(
        "what was read counts as what nobody set",
        _PARTLY,
        "paths = [i for i, v in enumerate(incoming) if not self.unset(v)]",
        "paths = [0]",
        ("partly_two", "partly_given", "partly_both"),
        also=Bug(
            "and any number will do",
            "opi_xform.values.interp",
            "if any(self.partly.unset(v) for v in incoming):",
            "if cell[0] != 't':",
            (),
        ),
        condition="set on some paths",
    ),
)
