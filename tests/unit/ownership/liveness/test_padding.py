"""Assumption A4: a struct that is written member by member has padding that nobody wrote."""

import pytest
from core_support import program

from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.liveness.liveness import Judge

TEXT = """
void *memset(void *, int, unsigned long);
typedef {type} T;
static T b[100];
static T one;
static double u[100];
int main(void) {{
    {before}
    for (int i = 0; i < 100; i++) {{
        {pack}
    }}
    MPI_Send(b, 100 * sizeof(T) / 4, MPI_INT, 1, 7, 0);
    return 0;
}}
"""
TAIL = "struct { double x, y; int id; }"
MIDDLE = "struct { char kind; double x; short a; int b; }"
MEMBERS = {
    TAIL: "b[i].x = u[i]; b[i].y = 2; b[i].id = i;",
    MIDDLE: "b[i].kind = 1; b[i].x = u[i]; b[i].a = 2; b[i].b = i;",
}


def finding(type_: str, pack: str, before: str = "", strict: bool = False) -> str:
    """``old`` when the send brings bytes from before the pack, else the assumptions that exclude it."""
    found = program(TEXT.format(type=type_, pack=pack, before=before))
    uses = collect(found.program)
    groups, _ = buffers(found.program, uses)
    judge = Judge(found.program, groups[0], found.object("b"), strict)
    (result,) = judge.findings.values()
    assert result.ok
    return "old" if judge.initial else " ".join(result.assumptions)


@pytest.mark.parametrize("type_", [TAIL, MIDDLE])
def test_padding_is_an_assumption(type_: str) -> None:
    assert finding(type_, MEMBERS[type_]) == "A4"
    assert finding(type_, MEMBERS[type_], strict=True) == "old"


@pytest.mark.parametrize("type_", [TAIL, MIDDLE])
def test_bytes_that_are_written_need_no_assumption(type_: str) -> None:
    assert finding(type_, MEMBERS[type_], "memset(b, 0, sizeof b);", strict=True) == ""
    assert finding(type_, "b[i] = one;", strict=True) == ""


@pytest.mark.parametrize(
    ("type_", "pack"),
    [
        (TAIL, "b[i].x = u[i]; b[i].id = i;"),  # y
        (TAIL, "b[i].x = u[i]; b[i].y = 2;"),  # id; what follows is no padding
        (MIDDLE, "b[i].kind = 1; b[i].x = u[i]; b[i].b = i;"),  # a, and the padding after it
        ("union { double x; char c; }", "b[i].c = 1;"),  # the rest of a union is another member
        ("struct { int a : 3; int b : 3; double x; }", "b[i].a = 1; b[i].b = 2; b[i].x = u[i];"),  # bits are no bytes
        ("struct { int id; char name[12]; }", "b[i].id = i; b[i].name[0] = 0;"),  # a string's rest
        ("struct { char c[20]; }", "*(double *)&b[i].c[0] = u[i];"),
    ],
)
def test_a_member_left_out_is_a_hole(type_: str, pack: str) -> None:
    assert finding(type_, pack) == "old"
