"""Where the calls of a conversion go: sources before and after, in the layout that a person would give them.

Every test converts all sites that have a counterpart; whether a site may convert is not asked here.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from opi_xform.frontend import parse_unit
from opi_xform.launch.mpi import LaunchError, find_mpicc
from opi_xform.ownership.model import Program, Refusal
from opi_xform.ownership.place import Placement, place
from opi_xform.ownership.plan import Edit, Plan
from opi_xform.ownership.uses import buffers, collect
from opi_xform.program.driver import merge, program
from opi_xform.program.effects import load_effects
from opi_xform.rewrite.apply import rewrite
from opi_xform.rewrite.sources import Sources

RUNTIME = Path(__file__).resolve().parent.parent / "runtime" / "include"

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


CASES = {
    "the example of the design": (
        """\
static double sbuf[N], rbuf[N];
static void run(int peer, int n)
{
    MPI_Request rq[2];
    MPI_Irecv(rbuf, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[0]);
    for (int i = 0; i < n; i++)
        sbuf[i] = u[i];
    MPI_Isend(sbuf, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[1]);
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        v[i] = rbuf[i];
}
""",
        """\
static double *sbuf, *rbuf;
static void run(int peer, int n)
{
    MPI_Request rq[2];
    OPI_Itake(&rbuf, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[0]);
    OPI_Alloc(&sbuf, sizeof(double[N]));
    for (int i = 0; i < n; i++)
        sbuf[i] = u[i];
    OPI_Igive(&sbuf, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[1]);
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        v[i] = rbuf[i];
    OPI_Free(&rbuf);
}
""",
    ),
    "local arrays, early returns and a return that uses the buffer": (
        """\
static double run(int peer, int n)
{
    double sbuf[N], rbuf[N];
    for (int i = 0; i < N; i++)
        sbuf[i] = u[i];
    if (n == 3)
        return 1.0;
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(rbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return rbuf[0] + rbuf[1];
}
""",
        """\
static double run(int peer, int n)
{
    double *sbuf = NULL, *rbuf = NULL;
    OPI_Alloc(&sbuf, sizeof(double[N]));
    for (int i = 0; i < N; i++)
        sbuf[i] = u[i];
    if (n == 3) {
        OPI_Free(&sbuf);
        return 1.0;
    }
    OPI_Give(&sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    OPI_Take(&rbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double opi_result2 = rbuf[0] + rbuf[1];
    OPI_Free(&rbuf);
    return opi_result2;
}
""",
    ),
    "a local array of a loop, left by break and continue": (
        """\
static void run(int peer, int n)
{
    for (int k = 0; k < 10; k++) {
        double b[N];
        for (int i = 0; i < N; i++)
            b[i] = u[i] * k;
        if (k == n)
            break;
        if (k == peer)
            continue;
        MPI_Send(b, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
}
""",
        """\
static void run(int peer, int n)
{
    for (int k = 0; k < 10; k++) {
        double *b = NULL;
        OPI_Alloc(&b, sizeof(double[N]));
        for (int i = 0; i < N; i++)
            b[i] = u[i] * k;
        if (k == n) {
            OPI_Free(&b);
            break;
        }
        if (k == peer) {
            OPI_Free(&b);
            continue;
        }
        OPI_Give(&b, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
}
""",
    ),
    "a request array that was used before the buffer was declared": (
        """\
static void run(int peer, int n)
{
    MPI_Request rq[1] = {MPI_REQUEST_NULL};
    MPI_Waitall(1, rq, MPI_STATUSES_IGNORE);
    if (n > 1) {
        double r[N];
        MPI_Irecv(r, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &rq[0]);
        MPI_Waitall(1, rq, MPI_STATUSES_IGNORE);
    }
}
""",
        """\
static void run(int peer, int n)
{
    MPI_Request rq[1] = {MPI_REQUEST_NULL};
    MPI_Waitall(1, rq, MPI_STATUSES_IGNORE);
    if (n > 1) {
        double *r = NULL;
        OPI_Itake(&r, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &rq[0]);
        MPI_Waitall(1, rq, MPI_STATUSES_IGNORE);
        OPI_Free(&r);
    }
}
""",
    ),
    "one packing function called twice: the call moves to the caller": (
        """\
static double sbuf[N];
static void half(int h)
{
    for (int i = 0; i < N / 2; i++)
        sbuf[h * N / 2 + i] = u[i];
}
static void run(int peer, int n)
{
    half(0);
    half(n % 2);
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
""",
        """\
static double *sbuf;
static void half(int h)
{
    for (int i = 0; i < N / 2; i++)
        sbuf[h * N / 2 + i] = u[i];
}
static void run(int peer, int n)
{
    OPI_Alloc(&sbuf, sizeof(double[N]));
    half(0);
    half(n % 2);
    OPI_Give(&sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
""",
    ),
    "a buffer that is passed is released by its owner, not behind its back": (
        """\
static double one[N], two[N];
static void add(const double *p)
{
    for (int i = 0; i < N; i++)
        v[i] += p[i];
}
static void run(int peer, int n)
{
    MPI_Recv(one, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(two, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    add(one);
    add(two);
}
""",
        """\
static double *one, *two;
static void add(const double *p)
{
    for (int i = 0; i < N; i++)
        v[i] += p[i];
}
static void run(int peer, int n)
{
    OPI_Take(&one, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OPI_Take(&two, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    add(one);
    OPI_Free(&one);
    add(two);
    OPI_Free(&two);
}
""",
    ),
    "branches that disagree: the call moves in front of them": (
        """\
static double sbuf[N];
static void run(int peer, int n)
{
    if (n > 2)
        sbuf[0] = 1;
    for (int i = 1; i < N; i++)
        sbuf[i] = u[i];
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
""",
        """\
static double *sbuf;
static void run(int peer, int n)
{
    OPI_Alloc(&sbuf, sizeof(double[N]));
    if (n > 2)
        sbuf[0] = 1;
    for (int i = 1; i < N; i++)
        sbuf[i] = u[i];
    OPI_Give(&sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
""",
    ),
    "the same condition twice": (
        """\
static double sbuf[N], rbuf[N];
static void run(int rank, int n)
{
    if (rank == 0)
        for (int i = 0; i < N; i++)
            sbuf[i] = u[i];
    else
        MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    else
        v[0] = rbuf[0];
}
""",
        """\
static double *sbuf, *rbuf;
static void run(int rank, int n)
{
    if (rank == 0) {
        OPI_Alloc(&sbuf, sizeof(double[N]));
        for (int i = 0; i < N; i++)
            sbuf[i] = u[i];
    } else
        OPI_Take(&rbuf, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        OPI_Give(&sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    else {
        v[0] = rbuf[0];
        OPI_Free(&rbuf);
    }
}
""",
    ),
    "a guard where nothing else is right": (
        """\
static double sbuf[N];
static void run(int peer, int n)
{
    for (int t = 0; t < n; t++) {
        for (int i = 0; i < N; i++)
            sbuf[i] = u[i];
        if (u[t] > 0)
            MPI_Send(sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
}
""",
        """\
static double *sbuf;
static void run(int peer, int n)
{
    for (int t = 0; t < n; t++) {
        if (!sbuf)
            OPI_Alloc(&sbuf, sizeof(double[N]));
        for (int i = 0; i < N; i++)
            sbuf[i] = u[i];
        if (u[t] > 0)
            OPI_Give(&sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
}
""",
    ),
    "received and not always used: freed before the next receive": (
        """\
static double rbuf[N];
static void run(int peer, int n)
{
    for (int t = 0; t < n; t++)
        MPI_Recv(rbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
""",
        """\
static double *rbuf;
static void run(int peer, int n)
{
    for (int t = 0; t < n; t++) {
        OPI_Free(&rbuf);
        OPI_Take(&rbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
""",
    ),
    "malloc and free": (
        """\
static void run(int peer, int n)
{
    double *b = malloc(n * sizeof *b);
    for (int i = 0; i < n; i++)
        b[i] = u[i];
    MPI_Send(b, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    free(b);
    double *r = (double *)calloc(n + 1, sizeof(double));
    MPI_Recv(r, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (n > 4)
        v[0] = r[0];
    free(r);
}
""",
        """\
static void run(int peer, int n)
{
    double *b = NULL;
    OPI_Alloc(&b, n * sizeof *b);
    for (int i = 0; i < n; i++)
        b[i] = u[i];
    OPI_Give(&b, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    double *r = NULL;
    OPI_Take(&r, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (n > 4)
        v[0] = r[0];
    OPI_Free(&r);
}
""",
    ),
    "a size that must be kept": (
        """\
static double *sbuf;
static void setup(int n)
{
    sbuf = malloc(n * sizeof(double));
}
static void run(int peer, int n)
{
    setup(n);
    for (int i = 0; i < n; i++)
        sbuf[i] = u[i];
    MPI_Send(sbuf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    if (sbuf)
        free(sbuf);
}
""",
        """\
static double *sbuf;
static size_t sbuf_bytes;
static void setup(int n)
{
    sbuf = NULL;
    sbuf_bytes = n * sizeof(double);
}
static void run(int peer, int n)
{
    setup(n);
    OPI_Alloc(&sbuf, sbuf_bytes);
    for (int i = 0; i < n; i++)
        sbuf[i] = u[i];
    OPI_Give(&sbuf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
""",
    ),
    "a function that only allocates": (
        """\
static double *block(int n)
{
    double *p = malloc(n * sizeof *p);
    if (!p)
        exit(1);
    return p;
}
static void run(int peer, int n)
{
    double *keep = block(3), *b = block(2 * n);
    for (int i = 0; i < n; i++)
        b[i] = u[i] + keep[0];
    MPI_Send(b, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    free(b);
    free(keep);
}
""",
        """\
static double *block(int n)
{
    double *p = malloc(n * sizeof *p);
    if (!p)
        exit(1);
    return p;
}
static void run(int peer, int n)
{
    double *keep = block(3), *b = NULL;
    OPI_Alloc(&b, (2 * n) * sizeof(double));
    for (int i = 0; i < n; i++)
        b[i] = u[i] + keep[0];
    OPI_Give(&b, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    free(keep);
}
""",
    ),
    "rows in loops over all of them": (
        """\
static double sbuf[4][N], rbuf[4][N];
static void unpack(int d)
{
    for (int i = 0; i < N; i++)
        v[i] += rbuf[d][i];
}
static void run(int peer, int n)
{
    MPI_Request rq[8];
    for (int t = 0; t < n; t++) {
        for (int d = 0; d < 4; d++)
            MPI_Irecv(rbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[d]);
        for (int d = 0; d < 4; d++) {
            for (int i = 0; i < N; i++)
                sbuf[d][i] = u[i];
            MPI_Isend(sbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[4 + d]);
        }
        MPI_Waitall(8, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < 4; d++)
            if (u[d] > 0)
                unpack(d);
    }
}
""",
        """\
static double *sbuf[4], *rbuf[4];
static void unpack(int d)
{
    for (int i = 0; i < N; i++)
        v[i] += rbuf[d][i];
}
static void run(int peer, int n)
{
    MPI_Request rq[8];
    for (int t = 0; t < n; t++) {
        for (int d = 0; d < 4; d++)
            OPI_Itake(&rbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[d]);
        for (int d = 0; d < 4; d++) {
            OPI_Alloc(&sbuf[d], sizeof(double[N]));
            for (int i = 0; i < N; i++)
                sbuf[d][i] = u[i];
            OPI_Igive(&sbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[4 + d]);
        }
        MPI_Waitall(8, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < 4; d++) {
            if (u[d] > 0)
                unpack(d);
            OPI_Free(&rbuf[d]);
        }
    }
}
""",
    ),
    "rows that are sent in fewer turns than they are packed": (
        """\
static double sbuf[4][N];
static void run(int peer, int n)
{
    for (int t = 0; t < n; t++) {
        for (int d = 0; d < 4; d++)
            for (int i = 0; i < N; i++)
                sbuf[d][i] = u[i];
        for (int d = 1; d < 4; d++)
            MPI_Send(sbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD);
    }
}
""",
        None,
    ),
}


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
    assert refusal(tmp_path, body).code in ("14", "15")


def test_points_name_every_change_of_the_pointer(tmp_path: Path) -> None:
    body = CASES["malloc and free"][0]
    source = tmp_path / "case.c"
    source.write_text(HEAD + body + MAIN)
    found = placements(analysed([source]))
    sender, receiver = found["b"], found["r"]
    assert isinstance(sender, Placement)
    assert isinstance(receiver, Placement)
    assert (len(sender.acquires), len(sender.releases)) == (1, 1)
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
