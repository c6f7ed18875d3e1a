"""Assumption A3: where the signs of sizes that are multiplied decide, and where they are proved."""

import pytest
from core_support import program

from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.liveness.liveness import Judge

TEXT = """
static double a[64][64], b[4096];
int size(void);
int main(void) {{
    {types} n = size(), m = size();
    {guard}
    {pack}
    MPI_Send(b, {count}, MPI_DOUBLE, 1, 7, 0);
    return 0;
}}
"""
BY_INDEX = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i * m + j] = a[i][j];"
BY_ROW = "for (int i = 0; i < n; i++) { double *p = b + i * m; for (int j = 0; j < m; j++) p[j] = a[i][j]; }"


def finding(pack: str, guard: str = "", types: str = "int", count: str = "n * m", strict: bool = False) -> str:
    """``old`` when the send brings bytes from before the pack, else the assumptions that exclude it."""
    found = program(TEXT.format(pack=pack, guard=guard, types=types, count=count))
    uses = collect(found.program)
    groups, _ = buffers(found.program, uses)
    judge = Judge(found.program, groups[0], found.object("b"), strict)
    (result,) = judge.findings.values()
    assert result.ok
    return "old" if judge.initial else " ".join(result.assumptions)


@pytest.mark.parametrize("pack", [BY_INDEX, BY_ROW])
def test_two_unknown_signs_are_an_assumption(pack: str) -> None:
    """With n = m = -2 nothing is packed and four elements are sent."""
    assert finding(pack) == "A3"
    assert finding(pack, strict=True) == "old"


@pytest.mark.parametrize("guard", ["if (n < 0) return 1;", "if (m <= 0 || n < 5) return 1;", "n = 7;", "m = 7;"])
def test_one_known_sign_is_a_proof(guard: str) -> None:
    for strict in (False, True):
        assert finding(BY_INDEX, guard, strict=strict) == ""


def test_what_the_program_makes_negative_is_not_assumed_positive() -> None:
    assert finding(BY_INDEX, "n = -2; if (size()) n = 2;") == "A3"  # m may be what makes it right
    assert finding(BY_INDEX, "n = -2; m = -3; if (size()) { n = 2; m = 3; }") == "old"


def test_a_guard_on_the_product_is_none() -> None:
    assert finding(BY_INDEX, "if (n * m < 0) return 1;") == "A3"


def test_a_counter_needs_no_sign() -> None:
    pack = "int k = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[k++] = a[i][j];"
    assert finding(pack, count="k", strict=True) == ""


def test_a_hole_is_no_matter_of_signs() -> None:
    pack = "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) b[i * m + j] = a[i][j];"
    assert finding(pack) == "old"
