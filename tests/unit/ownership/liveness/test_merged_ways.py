"""A merged value tells of the way on which it came, as long as no loop around has turned since."""

import pytest
from core_support import Found, judge, program

from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.liveness.holding import Holding
from opi_xform.ownership.liveness.merged_ways import dominating, ways
from opi_xform.ownership.model.buffers import Use

RECV = "MPI_Recv(b, 100, MPI_DOUBLE, from, 7, 0, 0);"
TEXT = """
static double b[100];
int main(int argc, char **argv) {{
    int from = argc - 1;
    {body}
    return 0;
}}
"""


def receive(body: str) -> tuple[Found, Use]:
    found = program(TEXT.format(body=body))
    (use,) = (u for u in collect(found.program) if u.side == "recv")
    return found, use


def told(body: str) -> list[tuple[list[bool], int | None]]:
    """By way: the outcomes of the comparisons on it, and the value where it is a constant."""
    found, use = receive(body)
    (s,) = found.program.values.args[use.node][3].symbols()
    block = found.program.graph.nodes[use.node].block
    return [([holds for _, holds in w.holds], w.value.constant) for w in ways(found.program, s, block)]


def test_each_way_has_its_comparisons_and_its_value() -> None:
    assert told("if (argc > 1) from = 5; else from = -2;" + RECV) == [([True], 5), ([False], -2)]
    assert told("if (argc > 1) from = -2;" + RECV) == [([True], -2), ([False], None)]
    assert told("if (argc > 1) from = 5; else from = -2; for (int i = 0; i < argc; i++) {" + RECV + "}") != []


@pytest.mark.parametrize(
    "body",
    [
        RECV,  # not merged
        "for (int t = 0; t < 9; t++) {" + RECV + "if (argc > t) from = 5; else from = -2; }",  # of an earlier turn
        "do { if (argc > from) from = 5; else from = -2; } while (b[from]);" + RECV,
    ],
)
def test_nothing_is_told_of_other_values(body: str) -> None:
    assert told(body) == []


@pytest.mark.parametrize(("tested", "brought"), [("argc > 1", True), ("argc > 0", False), ("argc != 7", False)])
def test_what_is_read_where_the_source_is_a_rank_is_brought(tested: str, brought: bool) -> None:
    found, _ = receive(f"if (argc > 1) from = 5; else from = MPI_PROC_NULL; {RECV} if ({tested}) return b[0];")
    judged = judge(found, "b")
    assert isinstance(judged.holding, Holding)
    (finding,) = judged.findings.values()
    assert (finding.ok and not finding.replacing) is brought


def test_comparisons_around_a_block_are_those_that_all_ways_pass() -> None:
    found, use = receive(f"if (argc > 1) {{ if (argc > 5) b[0] = 1; {RECV} }}")
    (condition,) = dominating(found.program, found.program.graph.nodes[use.node].block, set())
    assert condition[1]
    assert not dominating(found.program, found.program.graph.nodes[use.node].block, set(), 1000)
