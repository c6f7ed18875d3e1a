"""Where the calls of a conversion go: sources before and after, in the layout that a person would give them.

Every test converts all sites that have a counterpart; whether a site may convert is not asked here.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from case_tools import case_path, run_tool
from place_cases import CASES

from opi_xform.analysis.known import program
from opi_xform.codes import Reason
from opi_xform.effects.table import load_effects
from opi_xform.frontend import parse_unit
from opi_xform.graph.whole import merge
from opi_xform.launch.mpi import LaunchError, find_mpicc
from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.model.buffers import Program, Refusal
from opi_xform.ownership.model.plan import Edit, Plan
from opi_xform.ownership.placement.place import Placement, place
from opi_xform.rewrite.apply import rewrite
from opi_xform.text.sources import Sources

RUNTIME = Path(__file__).resolve().parents[4] / "runtime" / "include"

try:
    MPICC = str(find_mpicc())
except LaunchError:
    MPICC = ""

pytestmark = pytest.mark.skipif(not MPICC, reason="no MPI here")

HEAD = """\
#include <mpi.h>
#include <stdlib.h>
#define N 2048
static double u[N], v[N];
"""
MAIN = """\
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run(rank, argc);
    MPI_Finalize();
    return 0;
}
"""


def analysed(paths: list[Path]) -> Program:
    flags = [
        w for w in subprocess.run([MPICC, "-show"], capture_output=True, text=True).stdout.split() if w[:2] == "-I"
    ]
    return program(merge([parse_unit(str(p), flags) for p in paths]), load_effects())


def placements(prog: Program) -> dict[str, Placement | Refusal]:
    found, _ = buffers(prog, collect(prog))
    out = {}
    for buffer in found:
        if buffer.carrier.kind == "array" and not prog.variables[buffer.carrier.variable].type.is_array:
            continue
        sites = frozenset(u.place for u in buffer.uses if u.op.convertible)
        out[buffer.name] = place(prog, buffer, sites)
    return out


def transformed(tmp_path: Path, body: str) -> str:
    """``body`` with all its sites converted; it compiles without a warning."""
    source = tmp_path / "case.c"
    source.write_text(HEAD + body + MAIN)
    prog = analysed([source])
    edits: list[Edit] = []
    for name, placed in placements(prog).items():
        assert isinstance(placed, Placement), (name, placed)
        edits.extend(placed.edits)
    plan = Plan((), tuple(edits), (str(source),))
    after = rewrite(plan, Sources()).changed[str(source)].decode()
    result = tmp_path / "after.c"
    result.write_text(after)
    command = [MPICC, "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{RUNTIME}", str(result)]
    compiled = subprocess.run(command, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    head = HEAD.replace("#include <mpi.h>\n", '#include <mpi.h>\n#include "opi.h"\n')
    assert after.startswith(head)
    assert after.endswith(MAIN)
    return after[len(head) : len(after) - len(MAIN)]


def refusal(tmp_path: Path, body: str) -> Refusal:
    source = tmp_path / "case.c"
    source.write_text(HEAD + body + MAIN)
    (found,) = placements(analysed([source])).values()
    assert isinstance(found, Refusal)
    return found


@pytest.mark.parametrize("name", [n for n, (_, after) in CASES.items() if after is not None])
def test_before_and_after(tmp_path: Path, name: str) -> None:
    before, after = CASES[name]
    assert transformed(tmp_path, before) == after


def test_a_row_that_may_not_be_packed_is_not_given(tmp_path: Path) -> None:
    """The rows of the two loops differ, so a send cannot be sure of its row: it gets a guard or the buffer stays."""
    body = CASES["rows that are sent in fewer turns than they are packed"][0]
    after = transformed(tmp_path, body)
    send = after.index("OPI_Give(&sbuf[d]")
    assert "if (!sbuf[d])" in after[:send]


@pytest.mark.parametrize(
    "body",
    [
        # the carrier is an alias, freed under another name
        "static void run(int p, int n) { double *b = malloc(n * 8), *c = b; b[0] = 1;"
        " MPI_Send(b, n, MPI_DOUBLE, p, 0, MPI_COMM_WORLD); free(c); }\n",
        # the declaration is jumped over
        "static void run(int p, int n) { switch (n) { double b[N]; case 1: b[0] = 1;"
        " MPI_Send(b, N, MPI_DOUBLE, p, 0, MPI_COMM_WORLD); } }\n",
        # the loop's condition wants a buffer that its body has given away
        "static double b[N];\nstatic void run(int p, int n) { b[0] = n; while (b[0] > 0)"
        " { u[0]++; MPI_Send(b, N, MPI_DOUBLE, p, 0, MPI_COMM_WORLD); } }\n",
        # the declaration is a macro's
        "#define ARRAY(x) static double x[N]\nARRAY(b);\nstatic void run(int p, int n) { b[0] = n;"
        " MPI_Send(b, N, MPI_DOUBLE, p, 0, MPI_COMM_WORLD); }\n",
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path: Path, body: str) -> None:
    assert refusal(tmp_path, body).reason in (Reason.NO_ANCHOR, Reason.UNPAIRED)


def test_points_name_every_change_of_the_pointer(tmp_path: Path) -> None:
    body = CASES["malloc and free"][0]
    source = tmp_path / "case.c"
    source.write_text(HEAD + body + MAIN)
    found = placements(analysed([source]))
    sender, receiver = found["b"], found["r"]
    assert isinstance(sender, Placement)
    assert isinstance(receiver, Placement)
    assert len(sender.acquires) == 2, "OPI_Alloc: after what comes before it, and before what comes after it"
    assert {when for _, when in sender.acquires} == {"after", "before"}
    assert len(sender.releases) == 1
    assert len(receiver.acquires) == 1
    assert receiver.releases
    assert set(sender.points) == {*sender.acquires, *sender.releases}


def test_an_array_declared_in_two_files_changes_in_both(tmp_path: Path) -> None:
    (tmp_path / "buf.h").write_text("#define N 64\nextern double b[N];\n")
    first = tmp_path / "one.c"
    first.write_text('#include "buf.h"\ndouble b[N];\nvoid pack(void) { b[0] = 1; }\n')
    second = tmp_path / "two.c"
    second.write_text(
        '#include <mpi.h>\n#include "buf.h"\nvoid pack(void);\nint main(void)\n{\n    pack();\n'
        "    MPI_Send(b, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);\n}\n"
    )
    placed = placements(analysed([first, second]))["b"]
    assert isinstance(placed, Placement)
    changed = rewrite(Plan((), placed.edits, placed.files), Sources()).changed
    texts = {Path(name).name: data.decode() for name, data in changed.items()}
    link = re.search(r"b_opi_[0-9a-f]{8}", texts["buf.h"])
    assert link is not None
    assert texts["buf.h"] == f'#define N 64\nextern double *b __asm__("{link[0]}");\n'
    assert f'double *b __asm__("{link[0]}");' in texts["one.c"]
    assert "void pack(void) { OPI_Alloc(&b, sizeof(double[N])); b[0] = 1; }" in texts["one.c"]
    assert "OPI_Give(&b, N," in texts["two.c"]


def test_memory_under_a_local_name_first_is_asked_for_once_a_turn() -> None:
    case = case_path("convert", "local_first_7.c")
    code, out, err = run_tool([str(case), "--diff"])
    added = [line for line in out.splitlines() if line.startswith("+") and "OPI_Alloc" in line]
    assert (code, added) == (0, ["+    OPI_Alloc(&fresh, n * sizeof *fresh);"]), err


def test_numbers_that_a_function_multiplies_keep_the_type_that_they_are_passed_in(tmp_path: Path) -> None:
    source = tmp_path / "made.c"
    body = """static void *made(size_t k, unsigned w) { return calloc(k, w); }
static void run(int peer, unsigned h, unsigned w)
{
    double *b = made(h * h, w), *c = calloc(64, 64);
    for (unsigned i = 0; i < h * h; i++)
        b[i] = c[i] = 1;
    MPI_Send(b, h * h, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    MPI_Send(c, 64, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    free(b);
    free(c);
}
"""
    source.write_text(HEAD + body + "int main(void) { run(1, 64, 8); }\n")
    code, out, err = run_tool([str(source), "--diff"])
    added = [line for line in out.splitlines() if line.startswith("+") and "OPI_Alloc" in line]
    assert code == 0, err
    assert added == ["+    OPI_Alloc(&b, (size_t)(h * h) * w);", "+    OPI_Alloc(&c, (size_t)64 * 64);"]


@pytest.mark.parametrize("last", ["out:;", ";", "{ }", "(void)peer;", "if (0) peer = 1;", "peer = 1;"])
def test_a_block_that_ends_with_a_statement_that_does_nothing(tmp_path: Path, last: str) -> None:
    """The array's buffer is held where a loop before that statement ends: it is freed at the block's end."""
    source = tmp_path / "case.c"
    body = f"""
static double sum;

static void run(int peer)
{{
    double v[N];
    for (int t = 0; t < 5; t++) {{
        for (int i = 0; i < N; i++)
            v[i] = i + t;
        MPI_Send(v, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(v, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            sum += v[i];
        if (sum > 1e5)
            {"goto out" if last == "out:;" else "break"};
        sum += v[3];
    }}
    {last}
}}

"""
    source.write_text(HEAD + body + "int main(void) { run(1); }\n")
    code, out, err = run_tool([str(source), "--diff"])
    added = [line for line in out.splitlines() if line.startswith("+")]
    assert code == 0, err
    assert sum("OPI_Give" in line or "OPI_Take" in line for line in added) == 2
    ends = [i for i, line in enumerate(out.splitlines()) if line.startswith(("+}", " }")) and i]
    freed = [i for i, line in enumerate(out.splitlines()) if line.startswith("+    OPI_Free(&v);")]
    assert any(f + 1 in ends for f in freed), out
