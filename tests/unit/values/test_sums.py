"""Loops that count the same: what is known of a counter by what an earlier loop has counted."""

from __future__ import annotations

import pytest
from core_support import program

from opi_xform.values.equal_counts import Sums

HEAD = "static int mark, size, has[100], rows[100], cols[100]; static double buf[400]; int elsewhere(void);\n"
HEAD += "static unsigned marks[100], most[2];\n"
COUNT = "for (c = 0; c < argc; c++) if (has[c] != argc) n += rows[c] * cols[c] * 2;"


def counts_as_much(before: str, pack: str) -> bool:
    """Whether m, after ``pack``, is known to be n of ``before`` or more."""
    body = f"int n = 0, m = 0, c, k, j; {before} {pack} mark = n + m; return 0;"
    text = f"{HEAD}int main(int argc, char **argv) {{ {body} }}"
    found = program(text).program
    sums = Sums(found.graph, found.nest, found.values)
    totals = [(h, t) for hs in found.values.headers.values() for h in hs if (t := sums.total(h)) is not None]
    return any(sums.not_more(h) for h, _ in totals)


@pytest.mark.parametrize(
    ("pack", "expected"),
    [
        (COUNT.replace("n +=", "m +="), True),
        ("for (c = 0; c < argc; c++) if (has[c] != argc) for (k = 0; k < rows[c]; k++) m += 2 * cols[c];", True),
        ("for (c = 1; c <= argc; c++) if (argc != has[c - 1]) m += 2 * cols[c - 1] * rows[c - 1];", True),
        ("for (c = 0; c < argc; c++) { if (has[c] == argc) continue; m += cols[c] * rows[c] * 2; }", True),
        # not the same
        ("for (c = 0; c < argc; c++) if (has[c] == argc) m += rows[c] * cols[c] * 2;", False),
        ("for (c = 0; c < argc; c++) if (has[c] < argc) m += rows[c] * cols[c] * 2;", False),
        ("for (c = 1; c < argc; c++) if (has[c] != argc) m += rows[c] * cols[c] * 2;", False),
        ("for (c = 0; c < argc; c++) if (has[c] != argc) m += rows[c] * rows[c] * 2;", False),
        ("for (c = 0; c < argc; c++) { if (c == size) break; if (has[c] != argc) m += rows[c] * cols[c] * 2; }", False),
        ("rows[1] = 2; for (c = 0; c < argc; c++) if (has[c] != argc) m += rows[c] * cols[c] * 2;", False),
        ("for (c = 0; c < argc; c++) if (has[c] != argc) { m += rows[c] * cols[c] * 2; rows[c + 1] = 3; }", False),
        ("for (c = 0; c < argc; c++) if (has[c] != argc) m += rows[c] * cols[c] * 2 - 1;", False),
    ],
)
def test_as_much(pack: str, expected: bool) -> None:
    assert counts_as_much(COUNT, pack) == expected


@pytest.mark.parametrize(
    ("pack", "expected"),
    [
        ("marks[c] < most[1]", True),
        ("most[1] > marks[c]", True),
        ("marks[c] + 1 <= most[1]", False),
        ("(int)marks[c] < (int)most[1]", False),
        ("(long)marks[c] < (long)most[1]", False),
        ("marks[c] - most[1] < 0", False),
    ],
)
def test_under_unsigned_conditions(pack: str, expected: bool) -> None:
    counting = COUNT.replace("has[c] != argc", "marks[c] < most[1]")
    assert counts_as_much(counting, counting.replace("marks[c] < most[1]", pack).replace("n +=", "m +=")) == expected


def test_what_is_counted_later_does_not_count() -> None:
    assert not counts_as_much("", COUNT.replace("n +=", "m +="))


def reads_as_much(before: str, unpack: str) -> bool:
    """Whether m, after ``unpack``, is known to be n of ``before`` or less."""
    body = f"int n = 0, m = 0, c, k, j; {before} {unpack} mark = n + m; return 0;"
    found = program(f"{HEAD}int main(int argc, char **argv) {{ {body} }}").program
    sums = Sums(found.graph, found.nest, found.values)
    return any(sums.not_less(h) for hs in found.values.headers.values() for h in hs)


INSIDE = "for (c = 0; c < argc; c++) if (has[c] != argc) "


@pytest.mark.parametrize(
    ("count", "unpack", "expected"),
    [
        (COUNT, f"{INSIDE} for (k = 0; k < rows[c]; k++) for (j = 0; j < cols[c]; j++) m += 2;", True),
        (COUNT, f"{INSIDE} for (k = 0; k < rows[c]; k++) for (j = 0; j <= cols[c]; j++) m += 2;", False),
        # one number of turns that may be negative, by itself
        (f"{INSIDE} n += rows[c];", f"{INSIDE} for (k = 0; k < rows[c]; k++) m++;", False),
        (f"{INSIDE} n += 3;", f"{INSIDE} for (k = 0; k < 3; k++) m++;", True),
        # ``UINT_MAX`` as a number that is added, and as one up to which nobody counts
        (f"{INSIDE} n += marks[c];", f"{INSIDE} for (k = 0; k < marks[c]; k++) m++;", True),
        (f"{INSIDE} n += marks[c];", f"{INSIDE} for (k = 0; k < (int)marks[c]; k++) m++;", False),
        (f"{INSIDE} n += 3 * marks[c];", f"{INSIDE} for (k = 0; k < (int)marks[c]; k++) m += 3;", False),
        # what was counted may itself be less than its steps tell
        (f"{INSIDE} for (k = 0; k < rows[c]; k++) n += cols[c] * 2;", COUNT.replace("n +=", "m +="), False),
    ],
)
def test_not_more_than_was_counted(count: str, unpack: str, expected: bool) -> None:
    assert reads_as_much(count, unpack) == expected
