"""Numbers that are set on some of the paths that meet, and what they have to do with others there.

About ``opi_xform.values.unset.partly_set``.
"""

from __future__ import annotations

import pytest
from core_support import program

HEAD = "static int mark, at; int elsewhere(void); void give(int *);\n"
EMPTY = "else { first = 0; last = -1; }"


def difference(body: str) -> int | None:
    """The value of ``mark = …`` at the end of main, where it is a number."""
    text = f"{HEAD}int main(int argc, char **argv) {{ int first, last, width, other; {body} return 0; }}"
    (value,) = (found := program(text)).marked()
    return found.program.values.symbols.resolve(value).constant


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # what it has to do with the bounds stays
        (
            "if (argc > 2) { first = elsewhere(); last = elsewhere(); width = last - first + 1; }"
            f"{EMPTY} mark = width - (last - first);",
            1,
        ),
        (
            "first = 0; last = -1; if (argc > 2) { first = elsewhere(); last = elsewhere(); width = last - first + 1; }"
            "mark = width - (last - first);",
            1,
        ),
        # what both paths know stays what it is
        ("if (argc > 2) width = argc; else at = 1; mark = width - argc;", 0),
        # all of it set on one path
        ("if (argc > 2) { first = elsewhere(); width = first + 3; } mark = width - first;", 3),
        # a constant, as flags are
        ("if (argc > 2) width = 1; mark = width;", None),
        # the paths do not agree
        ("if (argc > 2) width = argc; else if (argc > 1) width = 2 * argc; mark = width - argc;", None),
        # the other path sets it
        ("if (argc > 2) width = argc; else width = elsewhere(); mark = width - argc;", None),
        ("if (argc > 2) width = argc; else give(&width); mark = width - argc;", None),
        # it begins anew in each turn
        ("for (int i = 0; i < 3; i++) { int w; if (i == 0) w = argc; at = w; width = w; } mark = width - argc;", None),
        # the bounds change later
        (
            "if (argc > 2) { first = elsewhere(); last = elsewhere(); width = last - first + 1; }"
            f"{EMPTY} last = elsewhere(); mark = width - (last - first);",
            None,
        ),
    ],
)
def test_number(body: str, expected: int | None) -> None:
    assert difference(body) == expected


def test_operations_that_share_what_they_are_of_are_followed_once() -> None:
    """Followed anew for each use, the sixty quotients below are 2**60 of them."""
    steps = "".join(f"width = argc / (width % {7 + i} + width);" for i in range(60))
    text = f"if (argc > 2) first = elsewhere(); width = first; {steps} if (width > 3) at = 1; mark = width - width;"
    assert difference(text) == 0
