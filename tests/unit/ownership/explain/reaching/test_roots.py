"""What only the root of a collective call reads is no read of another rank."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import run_tool
from ownership_support import source

from opi_xform.ir import instr as ins
from opi_xform.ownership.explain.reaching.roots import at_root, on_no_root

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]), each[9], first[9];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 9; i++)
        first[i] = n * i, each[i] = n;
    double *all = malloc(n * size * 8), *mine = malloc(n * 8);
    for (int i = 0; i < n; i++)
        mine[i] = i;
    if (ONE) {
        for (int i = 0; i < n * size; i++)
            all[i] = i;
        MPI_Send(all, n * size, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);
    }
"""
TAIL = """
    free(all);
    free(mine);
    MPI_Finalize();
    return 0;
}
"""
SCATTER = "MPI_Scatter(all, n, MPI_DOUBLE, mine, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);"
SCATTERV = "MPI_Scatterv(all, each, first, MPI_DOUBLE, mine, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);"
BCAST = "MPI_Bcast(all, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);"
GATHER = "MPI_Gather(mine, n, MPI_DOUBLE, all, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);"
REDUCE = "MPI_Reduce(mine, all, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);"
ALLGATHER = "MPI_Allgather(mine, n, MPI_DOUBLE, all, n, MPI_DOUBLE, MPI_COMM_WORLD);"
PRINT = 'printf("%g\\n", all[n]); // HERE'


def told(after: str, folder: Path, test: str = "rank == 1") -> tuple[str, str]:
    text = HEAD.replace("ONE", test) + after + TAIL
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "--output-format", "json"])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    return site["decision"], site.get("message", "")


@pytest.mark.parametrize("call", [SCATTER, SCATTERV])
@pytest.mark.parametrize("test", ["rank == 1", "rank > 0", "rank", "rank == size - 1 && rank > 0"])
def test_a_read_of_the_root_is_told_as_one_that_the_site_does_not_come_to(call: str, test: str, tmp_path: Path) -> None:
    decision, message = told(call, tmp_path, test)
    name = call.partition("(")[0]
    assert decision == "keep"
    assert f"counts as reading `all`: `{name}` does so in its root only, which no process is" in message


@pytest.mark.parametrize("call", [SCATTER, SCATTERV])
@pytest.mark.parametrize("test", ["rank == 0", "n > 3"])
def test_where_the_site_may_be_on_the_root_it_is_a_read(call: str, test: str, tmp_path: Path) -> None:
    decision, message = told(call, tmp_path, test)
    assert (decision, message.partition("`all` ")[1]) == ("keep", "`all` ")
    assert message.endswith(f"after the send, by the root of `{call.partition('(')[0]}`")


def test_the_advice_that_is_given_helps(tmp_path: Path) -> None:
    others = SCATTER.replace("(all", "(NULL")
    assert told(f"if (rank == 0) {SCATTER} else {others}", tmp_path)[0] == "convert"


@pytest.mark.parametrize("call", [SCATTER, GATHER, REDUCE])
def test_what_another_rank_does_stands_in_no_way(call: str, tmp_path: Path) -> None:
    """Neither what the root reads, nor what it gathers: line HERE reads what was sent."""
    text = HEAD + call + "\nif (rank == 1)\n" + PRINT
    line = text.splitlines().index(PRINT) + 1
    assert told(text.removeprefix(HEAD), tmp_path) == ("keep", f"`all` is read at line {line} after the send")


@pytest.mark.parametrize(
    ("call", "read", "written"),
    [
        (SCATTER, True, False),
        (SCATTERV, True, False),
        (BCAST, True, False),
        (GATHER, True, True),  # where it is in place
        (REDUCE, True, True),
        (ALLGATHER, False, False),
        (GATHER.replace("(mine", "(all"), False, True),
        (GATHER.replace("all", "p"), False, False),
    ],
)
def test_what_a_call_does_in_its_root_alone(call: str, read: bool, written: bool) -> None:
    body = "MPI_Init(0, 0); int rank, n = rank, each[9], first[9]; MPI_Comm_rank(MPI_COMM_WORLD, &rank);"
    body += f"double *p = mine; if (rank == 1) MPI_Send(all, 9, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD); {call}"
    found = source(f"static double all[99], mine[99];\nint main(void) {{ {body} return 0; }}\n")
    use = found.uses[0]
    n = max(m.number for m in found.program.graph.nodes if isinstance(m.action, ins.CallInstr))
    assert at_root(found.program, n, use.object) is read
    assert at_root(found.program, n, use.object, True) is written
    assert on_no_root(found.program, use.node, n, use.object) is read
    assert on_no_root(found.program, use.node, n, use.object, True) is written
    assert not on_no_root(found.program, n, n, use.object)
