"""Planted bugs of the cases of a ``switch``, which are tests one after the other."""

from tests.machines.planted.bug import Bug

_STATEMENTS = "opi_xform.ir.lowering.statements"
_CONDITION = "read after send"

BUGS = (
    Bug(
        "a case of several numbers is one of the first",
        _STATEMENTS,
        "label[0] == label[1] and ",
        "",
        ("switch_labels",),
        condition=_CONDITION,
    ),
    Bug(
        "every case asks for one number",
        _STATEMENTS,
        "ins.Const(label[0])",
        "ins.Const(0)",
        ("switch_labels",),
        condition=_CONDITION,
    ),
    Bug(
        "the number of a case loses its sign",
        "opi_xform.frontend.clang.tree",
        "number = self.kind[case] == Kind.CASE_STMT and self.kids[case][-1] != at",
        "number = False",
        ("switch_labels",),
        condition=_CONDITION,
    ),
)
