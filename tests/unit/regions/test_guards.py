"""The ways out of a branch as sets; and that what is asked of a region does not depend on what else is looked at."""

from __future__ import annotations

import pytest
from core_support import Found, judge, members, program
from islpy import Set

from opi_xform.memory.symbols import Symbols
from opi_xform.regions.guards import Guards
from opi_xform.regions.live import Live
from opi_xform.regions.sets import Regions

HEAD = """static double b[8], v;
static int mark;
int main(int argc, char **argv)
{
    int n = argc;
    mark = n;
"""


def guards(text: str) -> tuple[Found, Guards, Regions]:
    found = program(HEAD + text + "    return 0;\n}\n")
    values = found.program.values
    regions = Regions(values.symbols, 1)
    return found, Guards(values, regions, None), regions


def of(found: Found, n: int) -> dict[int, int]:
    symbol = found.marked()[0].single
    assert symbol is not None
    return {symbol: n}


def test_one_way_where_the_comparison_holds_and_the_other_where_not() -> None:
    found, asked, _ = guards("    if (n < 3)\n        v = 1;\n")
    (node,) = found.program.values.conditions
    pair = asked.condition(node)
    assert pair is not None
    for n in (1, 2, 3, 4):
        holds, fails = (bool(members(s, of(found, n), 1)) for s in pair)
        assert (holds, fails) == (n < 3, n >= 3)
    assert asked.condition(node) is pair


def test_an_unsigned_comparison_that_may_wrap_says_nothing() -> None:
    found, asked, _ = guards("    if ((unsigned)n - 5u < 3u)\n        v = 1;\n")
    (node,) = found.program.values.conditions
    assert asked.condition(node) is None


def test_the_ways_of_a_switch_share_no_value_and_leave_none_out() -> None:
    """One with a range is no row of tests."""
    text = "    switch (n) {\n    case 1: v = 1; break;\n    case 4 ... 5: v = 2; break;\n    default: v = 3;\n    }\n"
    found, asked, regions = guards(text)
    (node,) = found.program.values.switches
    ways = asked.cases(node, found.program.graph.nodes[node].action)  # type: ignore[arg-type]
    for n in range(1, 8):
        taken = [bool(members(regions.all if s is None else s, of(found, n), 1)) for s in ways]
        assert taken.count(True) == 1, (n, taken)
        assert taken.index(True) == {1: 0, 4: 1, 5: 1}.get(n, len(taken) - 1)


LOOP = """    for (int k = 0; k < n; k++) {
        v = b[5];
        for (int i = 0; i < 4; i++)
            b[i] = k;
        v = b[6];
    }
    v = b[2];
    v = b[7];
    return 0;
}
"""


def asked(where: str, entry: bool) -> tuple[Live, Set]:
    """The bytes that are live after a line of ``LOOP``."""
    found = program(HEAD + LOOP)
    judged = judge(found, "b")
    (node,) = [n.number for n in found.on_line(where) if n.number in judged.accesses]
    events = judged.events(None, None, frozenset())
    live = Live(found.program.graph, found.program.nest, judged.values, judged.regions, [], events, [node], entry=entry)
    return live, live.solve()[node]


@pytest.mark.parametrize(
    ("where", "needed"), [("b[5]", {5, 6, 7}), ("b[6]", {2, 5, 6, 7}), ("b[2]", {7}), ("b[7]", set())]
)
def test_what_lies_before_a_question_makes_no_difference(where: str, needed: set[int]) -> None:
    """Without the entry of the program only what lies behind the question is looked at."""
    found = [members(asked(where, entry)[1], {}, 8) for entry in (True, False)]
    assert found == [needed, needed]


def test_a_loop_before_a_question_is_not_looked_at() -> None:
    assert [len(asked("b[2]", entry)[0].summaries) for entry in (True, False)] == [2, 0]
    assert [len(asked("b[6]", entry)[0].summaries) for entry in (True, False)] == [2, 2]


@pytest.mark.parametrize(
    ("names", "constraints"),
    [
        ("s7", "s7 <= o < 4 + s7 and s7 >= 0"),
        ("s12, s1_2, s1, start", "2*s1 + s1_2 <= o < s12 and start >= s1"),
        ("s1, s12, s1_2, start", "2*s12 + s1_2 <= o < s1 and start >= s12"),
        ("j, s3", "j < s3"),
        ("s20, s3, s4", "s3 = s4 + s20"),
        ("s4, s20, s3", "s20 = s3 + s4"),
    ],
)
def test_a_text_with_other_names_is_the_set_with_other_names(names: str, constraints: str) -> None:
    regions = Regions(Symbols(), 1)
    regions.parse("s3, s20, s4", "s20 = s4 + s3")  # shapes that were read before, with other names
    regions.parse("s8, s9_9, s7, start", "2*s7 + s9_9 <= o < s8 and start >= s7")
    read = Set.read_from_str(regions.context, f"[{names}] -> {{ [o] : {constraints} }}")
    found = regions.parse(names, constraints)
    assert found.plain_is_equal(read)
    assert str(found) == str(read)
    assert regions.parse(names, constraints) is found
