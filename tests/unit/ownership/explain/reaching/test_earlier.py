"""What runs only in an earlier turn of a loop than a message is no reason at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import source_in

from opi_xform.ownership.explain.reaching.earlier import earlier, only_earlier

HEAD = """void one(void); void other(void);
static void spread(int rank, int size)
{
"""
LOOP = """for (int r = 0; r < size; r++) {
if (r == 0) { other(); continue; }
one();
}
"""
MAIN = """}
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    spread(rank, size);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("body", "before"),
    [
        (LOOP, True),
        (LOOP.replace("r == 0", "r == 2").replace("one();", "if (r > 2) one();"), True),
        (LOOP.replace("r == 0", "r == 2"), False),  # and in the turns before
        (LOOP.replace("r == 0", "r == rank"), False),
        (LOOP.replace("r == 0", "r == size - 1"), False),
        (LOOP.replace("continue;", ""), False),  # in the same turn
        (f"for (int t = 0; t < 3; t++) {LOOP}", False),  # in the first turn the next time
        (LOOP.replace("int r = 0", "int r = rank"), False),  # which number the first turn has
        (LOOP.replace("r == 0", "rank == 0"), False),
        (LOOP.replace("{ other(); continue; }", "continue;") + "other();", False),
    ],
)
def test_what_the_first_turn_does_comes_before_what_later_ones_do(body: str, before: bool, tmp_path: Path) -> None:
    program = source_in(tmp_path, HEAD + body + MAIN).program
    calls = {n.number: getattr(getattr(n.action, "callee", None), "key", "") for n in program.graph.nodes}
    one, other = (next(n for n, key in calls.items() if key == wanted) for wanted in ("one", "other"))
    assert only_earlier(program, one, other) is before
    assert earlier(program, one, [other, one]) == ({other} if before else set())
