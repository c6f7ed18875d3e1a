"""Bugs in what is known of arrays whose first zeros are written, and of matrices that their first row names."""

from tests.planted.bug import Bug

_ZEROS = "opi_xform.ownership.zeros"
_CLEARING = "opi_xform.cli.zeroed"

ZEROS = (
    Bug(
        "what an array begins with counts as zeros",
        _ZEROS,
        'return variable.kind != "param" and _zero(variable.init)',
        "return True",
        ("zeros_others",),
        condition="first contents",
    ),
    Bug(
        "zeros may be written where something has touched the array",
        _ZEROS,
        "            if n in touching or n in inside:\n                return False\n",
        "",
        ("zeros_before",),
        condition="first contents",
    ),
    Bug(
        "zeros that an array began with end no text",
        _CLEARING,
        'return bool(mine) and (numbers or all(side == "send" for _, _, side in mine))',
        "return bool(mine)",
        ("zeros_text",),
        condition="first contents",
    ),
    Bug(
        "whatever row a message begins with, it is the first one",
        "opi_xform.ownership.uses",
        "if row == ZERO and lo == ZERO else use",
        "if row is not None else use",
        ("first_row_second",),
        Bug(
            "whatever row a message begins with, the matrix is named",
            "opi_xform.ownership.edits",
            "if isinstance(e, ast.Index) and _is_zero(e.index) and e.type.is_array and not self.is_row(e):",
            "if isinstance(e, ast.Index) and e.type.is_array and not self.is_row(e):",
            (),
        ),
        condition="carrier",
    ),
)
