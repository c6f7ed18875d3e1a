"""Counters that advance together: what they are to one another after the loop."""

from __future__ import annotations

import pytest
from core_support import program

HEAD = "static int mark, flag[100], list[100]; static double buf[400]; int elsewhere(void);\n"


def difference(body: str) -> int | None:
    """The value of ``mark = …`` at the end of main, where it is a number."""
    found = program(f"{HEAD}int main(int argc, char **argv) {{ int n = 0, m = 0, i, c; {body} return 0; }}")
    (value,) = found.marked()
    return found.program.values.symbols.resolve(value).constant


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (i = 0; i < argc; i++) if (flag[i]) { n++; m += 4; } mark = m - 4 * n;", 0),
        ("for (i = 0; i < argc; i++) if (flag[i]) { m += 4; n++; } mark = m - 4 * n;", 0),
        ("n = 7; m = 1; for (i = 0; i < argc; i++) if (flag[i]) { n++; m += 4; } mark = m - 4 * n;", -27),
        ("for (i = 0; i < argc; i++) { if (flag[i]) continue; n++; m += 2; } mark = m - 2 * n;", 0),
        ("for (i = 0; i < argc; i++) if (flag[i]) { n++; for (c = 0; c < 3; c++) m++; } mark = m - 3 * n;", 0),
        ("for (i = 0; i < argc; i++) { if (flag[i]) { n += 2; m += 6; } else { n++; m += 3; } } mark = m - 3 * n;", 0),
        ("for (i = 0; i < argc; i++) if (flag[i]) { n--; m += 2; } mark = m + 2 * n;", 0),
        ("for (i = 0; i < argc; i++) { if (flag[i]) n++, m += 2; if (list[i]) n++, m += 2; } mark = m - 2 * n;", 0),
        ("for (i = 0; i < argc; i++) if (flag[i]) { n += list[i]; m += 2 * list[i]; } mark = m - 2 * n;", 0),
        ("for (i = 0; i < argc; i++) { if (flag[i] == 2) break; if (flag[i]) n++, m += 2; } mark = m - 2 * n;", 0),
        # not in step
        ("for (i = 0; i < argc; i++) if (flag[i]) { n++; m += flag[i]; } mark = m - 2 * n;", None),
        ("for (i = 0; i < argc; i++) { if (flag[i]) n++; if (list[i]) m += 2; } mark = m - 2 * n;", None),
        ("for (i = 0; i < argc; i++) { if (flag[i]) n++; else m += 2; } mark = m - 2 * n;", None),
        ("for (i = 0; i < argc; i++) if (flag[i]) { n++; if (list[i]) continue; m += 2; } mark = m - 2 * n;", None),
        ("for (i = 0; i < argc; i++) if (flag[i]) { n++; m = 2; } mark = m - 2 * n;", None),
        ("for (i = 0; i < argc; i++) if (flag[i]) { n++; m += 2; m = elsewhere(); } mark = m - 2 * n;", None),
        ("for (i = 0; i < argc; i++) if (flag[i]) { n++; for (c = 0; c < list[i]; c++) m++; } mark = m - 3 * n;", None),
        ("for (i = 0; i < argc; i++) if (flag[i]) { n += 2; m += 5; } else { n++; m += 3; } mark = m - 3 * n;", None),
        ("for (i = 0; i < argc; i++) { n++; if (flag[i]) break; m += 2; } mark = m - 2 * n;", None),
        ("for (i = 0; i < argc; i++) if (flag[i]) { n++; m += 2; if (list[i]) break; n++; } mark = m - 2 * n;", None),
    ],
)
def test_difference_after_the_loop(body: str, expected: int | None) -> None:
    assert difference(body) == expected
