"""What conversions leave without a use is deleted: functions nothing calls any more, loops that only count."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from ownership_support import source

from opi_xform.ir import ast
from opi_xform.launch.mpi import LaunchError, find_mpicc
from opi_xform.ownership.placement.leftovers import only_counts

RUNTIME = Path(__file__).resolve().parents[4] / "runtime" / "include"

try:
    MPICC = str(find_mpicc())
except LaunchError:
    MPICC = ""

pytestmark = pytest.mark.skipif(not MPICC, reason="no MPI here")

PROGRAM = """#include <mpi.h>
#include <stdlib.h>
#define N 64
static double u[N], v[N];

{functions}
static void run(int rank)
{{
{declarations}
    if (rank == 0) {{
        for (int i = 0; i < N; i++)
            b[i] = u[i];
        MPI_Send(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    }} else if (rank == 1) {{
        MPI_Recv(b, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += b[i];
    }}
{after}
}}

int main(int argc, char **argv)
{{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run(rank);
    MPI_Finalize();
    return 0;
}}
"""
VECTOR = """/* A vector of n numbers. */
static double *vector(int n)
{
    double *p = malloc((size_t)n * sizeof(double));
    if (p == NULL)
        exit(1);
    return p;
}
"""
RELEASE = """static void release(double *p)
{
    free(p);
}
"""


def transformed(folder: Path, program: str, *flags: str) -> str:
    """The result, which compiles without a warning."""
    (folder / "a.c").write_text(program)
    command = [sys.executable, "-m", "opi_xform.cli.main", "a.c", "-o", "out"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    command = [MPICC, "-fsyntax-only", "-Wall", "-Werror", *flags, f"-I{RUNTIME}", str(folder / "out/a.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return (folder / "out/a.c").read_text()


def test_functions_without_a_call_go_with_their_comments(tmp_path: Path) -> None:
    functions = VECTOR + "\n" + RELEASE
    program = PROGRAM.format(functions=functions, declarations="    double *b = vector(N);", after="    release(b);")
    text = transformed(tmp_path, program)
    assert "OPI_Give(&b" in text
    assert "vector" not in text
    assert "release" not in text


def test_a_comment_with_the_beginning_of_another_one_goes_whole(tmp_path: Path) -> None:
    functions = VECTOR.replace("/* A vector", "/*-----\n/* A vector") + "/* what is next */\nint next = 1;\n"
    program = PROGRAM.format(functions=functions, declarations="    double *b = vector(N);", after="    free(b);")
    text = transformed(tmp_path, program, "-Wno-comment")
    assert "vector" not in text
    assert "/*-----" not in text
    assert "/* what is next */\nint next = 1;" in text


@pytest.mark.parametrize(
    ("functions", "after"),
    [
        (VECTOR, "    double *w = vector(3);\n    w[0] = 1;\n    v[0] += w[0];\n    free(w);"),  # another call
        (VECTOR + "double *(*maker)(int) = vector;\n", ""),  # its address
        (VECTOR.replace("static ", ""), ""),  # another file may call it
        (VECTOR + "#ifdef OTHER\ndouble *w(void) { return vector(2); }\n#endif\n", ""),  # another configuration does
    ],
    ids=["called", "address taken", "external", "named elsewhere"],
)
def test_functions_that_may_be_needed_stay(tmp_path: Path, functions: str, after: str) -> None:
    program = PROGRAM.format(
        functions=functions, declarations="    double *b = vector(N);", after=f"    free(b);\n{after}"
    )
    text = transformed(tmp_path, program, "-Wno-unused-function")
    assert "OPI_Give(&b" in text
    assert "double *vector(int n)" in text


@pytest.mark.parametrize(
    "functions",
    [
        VECTOR.replace("static double", "static\n#undef TURNS\n#define TURNS 2\ndouble"),
        VECTOR.replace("    if (p", "#undef TURNS\n#define TURNS 2\n    if (p"),
        VECTOR.replace("    if (p", "    /* why */ # define MORE 2\n    if (p"),
    ],
    ids=["between its words", "in its body", "behind a comment"],
)
def test_a_function_with_a_directive_in_it_stays(tmp_path: Path, functions: str) -> None:
    """What follows rests on it: it is marked as unused (``rewrite/unused.py``)."""
    program = PROGRAM.format(
        functions=f"#define TURNS 1\n{functions}int turns = TURNS;\n",
        declarations="    double *b = vector(N);",
        after="    free(b);\n",
    )
    text = transformed(tmp_path, program)
    assert "OPI_Give(&b" in text
    assert "static __attribute__((__unused__))" in text
    directives = [line for line in text.splitlines() if "#" in line and "opi.h" not in line]
    assert directives == [line for line in program.splitlines() if "#" in line]


ROWS = """#include <mpi.h>
#include <stdlib.h>
#define N 64
static double u[N], v[N];
int main(int argc, char **argv)
{{
    double *sent[4];
    static double got[N];
    int d, rank, n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (d = 0; d < 4; d++)
        sent[d] = malloc(N * sizeof(double));
    for (d = 0; d < 4; d++) {{
        for (int i = 0; i < N; i++)
            sent[d][i] = u[i];
        MPI_Sendrecv(sent[d], N, MPI_DOUBLE, rank, d, got, N, MPI_DOUBLE, rank, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += got[i];
    }}
{free}
    v[0] += n + d;
    MPI_Finalize();
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("free", "left"),
    [
        ("    for (int d = 0; d < 4; d++)\n        free(sent[d]);", ""),
        ("    for (int d = 0; d < 4; d++) {\n        free(sent[d]);\n    }", ""),
        (
            "    for (int d = 0; d < 4; d++) {\n        free(sent[d]);\n        n++;\n    }",
            "    for (int d = 0; d < 4; d++) {\n        n++;\n    }\n",
        ),
        (
            "    for (d = 0; d < 4; d++)\n        free(sent[d]);",
            "    for (d = 0; d < 4; d++)\n        OPI_Free(&sent[d]);\n",
        ),
    ],
    ids=["counts", "braces", "does more", "its counter is used"],
)
def test_loops_that_only_count(tmp_path: Path, free: str, left: str) -> None:
    text = transformed(tmp_path, ROWS.format(free=free))
    assert "OPI_Givetake(&sent[d]" in text
    assert text[text.index("OPI_Free(&got);\n    }\n") + 22 : text.index("    v[0] += n")] == left


@pytest.mark.parametrize(
    ("loop", "only"),
    [
        ("for (int i = 0; i < n; i++);", True),
        ("for (int i = n; i > 0; i -= 2);", True),
        ("for (int i = 0; i < n; n--);", False),  # changes what others read
        ("for (int i = 0; i < volatile_n; i++);", False),  # a read that others may see, or wait for
        ("for (int i = 0; i < f(); i++);", False),
        ("for (int i = n++; i < n; i++);", False),
        ("for (; n < 4; n++);", False),
    ],
)
def test_what_only_counts(loop: str, only: bool) -> None:
    found = source(f"int f(void); volatile int volatile_n;\nvoid g(int n)\n{{\n    {loop}\n}}\n")
    (function,) = found.units[0].functions.values()
    (statement,) = function.body.body
    assert isinstance(statement, ast.For)
    assert only_counts(function, statement) is only
