"""A buffer of a message's own, as the pages of the codes tell it, and programs of which a site converts with it.

``python -m tests.audit`` writes ``section`` into the pages; what it shows is what the test puts in place of a call.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

from tests.case_tools import Case

HEADING = "## A buffer of its own"
SEND = """double *out = malloc(n * sizeof *out);
if (out == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
for (int i = 0; i < n; i++)
    out[i] = u[i * width];                 /* all that is sent, before each send */
MPI_Send(out, n, MPI_DOUBLE, right, 0, comm);
free(out);
"""
RECV = """double *in = malloc(n * sizeof *in);
if (in == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
MPI_Recv(in, n, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
if (left != MPI_PROC_NULL)                 /* nothing comes from there */
    for (int i = 0; i < n; i++)
        u[i * width] = in[i];              /* no more than what came */
free(in);
"""
ISEND = SEND.replace("MPI_Send(out, n, MPI_DOUBLE, right, 0, comm);", "MPI_Request r;\n%s\nMPI_Wait(&r, &status);") % (
    "MPI_Isend(out, n, MPI_DOUBLE, right, 0, comm, &r);"
)
IRECV = RECV.replace("MPI_Recv(in, n, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);", "MPI_Request r;\n%s\n%s") % (
    "MPI_Irecv(in, n, MPI_DOUBLE, left, 0, comm, &r);",
    "MPI_Wait(&r, &status);",
)
BYTES = {"n, MPI_DOUBLE": "n * sizeof(double), MPI_BYTE"}
BOTH = """double *out = malloc(n * sizeof *out), *in = malloc(n * sizeof *in);
for (int i = 0; i < n; i++)
    out[i] = u[i * width];
MPI_Sendrecv(out, n, MPI_DOUBLE, right, 0, in, n, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
if (left != MPI_PROC_NULL)
    for (int i = 0; i < n; i++)
        u[i * width] = in[i];
free(out);
free(in);
"""
SENDS = ("OPI101", "OPI102", "OPI103", "OPI104", "OPI105", "OPI106", "OPI107", "OPI110", "OPI113", "OPI114", "OPI115")
RECVS = ("OPI201", "OPI202", "OPI203", "OPI204", "OPI205", "OPI206", "OPI207", "OPI210", "OPI213", "OPI214", "OPI215")
CODES = frozenset((*SENDS, *RECVS, "OPI216", "OPI402"))
"""The codes on whose pages it stands."""

HEAD = "This mostly helps, whatever the program does with its data: a buffer that this message alone has."
TOOL = (
    "`opi-xform --fix FILE:LINE` writes that for a blocking call of a predefined datatype, where it surely keeps what "
    "the program does. It shows the change only if the site converts with it."
)
HAND = (
    "By hand, follow the lines above: `malloc` itself, in the function of the call; a predefined datatype in place of "
    "a derived one."
)
NAMES = (
    "Take other names where the function has a variable `%s` already. `n` is the call's count: where it is 1, a single "
    "variable is sent, and a block of its own gains nothing unless that is a large struct."
)
STRUCT = (
    "A struct's datatype: `n * sizeof *%s` of `MPI_BYTE`, from a buffer of that struct. The other side of the message "
    "has to say the same."
)
LATER_SEND = (
    "`MPI_Isend`: its wait stands in the same function, and `free(out)` after it. With a wait elsewhere leave it."
)
LATER_RECV = (
    "`MPI_Irecv`: its wait stands in the same function, and what comes after `MPI_Recv` above stands after it. With a "
    "wait elsewhere leave it."
)
AGAIN_SEND = (
    "`MPI_Issend` and `MPI_Send_init` become `MPI_Isend`, in each turn, if nothing rests on the receive's having begun."
)
AGAIN_RECV = "`MPI_Recv_init` becomes `MPI_Irecv`, in each turn."
NEVER = (
    "It is no help where the call is not analysed, where threads or a macro are in the way, or where a pointer of the "
    "program may stand for any memory. The reason that the site has then tells that."
)
COPY = "It is a copy, and libopi makes one of a call that stays. Where the call may stay, leave it."
WIDTH = 100


def section(code: str) -> str:
    """What the page of a code says of it, with the heading; '' where it is no help."""
    if code not in CODES:
        return ""
    send, recv = code[3] != "2", code[3] != "1"
    shown = "\n".join((SEND,) * send + (RECV,) * recv)
    struct = STRUCT % ("out" if send else "in")
    names = NAMES % ("` or `".join(("out",) * send + ("in",) * recv))
    items = (TOOL, HAND, names, struct, *(LATER_SEND, AGAIN_SEND) * send, *(LATER_RECV, AGAIN_RECV) * recv, NEVER, COPY)
    told = "\n".join(textwrap.fill(f"- {item}", WIDTH, subsequent_indent="  ") for item in items)
    return f"\n{HEADING}\n\n{textwrap.fill(HEAD, WIDTH)}\n\n```c\n{shown}```\n\n{told}\n"


PROGRAM = """#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 6000
%(file)s
int main(int argc, char **argv)
{
    int rank, size, n = N / 2, width = 2;
    double total = 0;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    %(before)s
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < N; i++)
            u[i] = u[i] / 2 + rank + i * t;
        {
            %(send)s
        }
        {
            %(recv)s
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i %% 7);
    printf("%%d %%.17g\\n", rank, total);
    MPI_Finalize();
    return argc > 3;
}
"""
PLAIN = ("MPI_Send(u, n, MPI_DOUBLE, right, 0, comm);", "MPI_Recv(u, n, MPI_DOUBLE, left, 0, comm, &status);")


@dataclass(frozen=True, slots=True)
class Stays:
    """What stands at file scope, before the loop, and as the two calls; the codes with which these stay."""

    file: str
    before: str
    calls: tuple[str, str]
    codes: tuple[str, str]

    def program(self, name: str, send: str = "", recv: str = "") -> Case:
        """With other text in place of the calls, where some is given."""
        parts = {"file": self.file, "before": self.before, "send": send or self.calls[0], "recv": recv or self.calls[1]}
        return Case(name, Path(), ("p.c",), ("p.c",), {"p.c": PROGRAM % parts}, (), ())


VECTOR = "MPI_Datatype column;\n    MPI_Type_vector(n, 1, width, MPI_DOUBLE, &column);\n    MPI_Type_commit(&column);"
STAYS = {
    "live": Stays("static double u[N];", "", PLAIN, ("OPI101", "OPI201")),
    "inside": Stays(
        "static double u[N];",
        "int k = argc;",
        (
            "MPI_Send(u + k, n, MPI_DOUBLE, right, 0, comm);",
            "MPI_Recv(u + k, n, MPI_DOUBLE, left, 0, comm, &status);",
        ),
        ("OPI101", "OPI201"),
    ),
    "datatype": Stays(
        "static double u[N];",
        VECTOR,
        ("MPI_Send(u, 1, column, right, 0, comm);", "MPI_Recv(u, 1, column, left, 0, comm, &status);"),
        ("OPI107", "OPI207"),
    ),
    "persistent": Stays(
        "static double u[N];",
        "",
        (
            "MPI_Request s; MPI_Send_init(u, n, MPI_DOUBLE, right, 0, comm, &s); MPI_Start(&s); MPI_Wait(&s, &status);",
            "MPI_Request s; MPI_Recv_init(u, n, MPI_DOUBLE, left, 0, comm, &s); MPI_Start(&s); MPI_Wait(&s, &status);",
        ),
        ("OPI107", "OPI207"),
    ),
    "escape": Stays("static double u[N];\nuintptr_t known;", "known = (uintptr_t)u;", PLAIN, ("OPI101", "OPI214")),
    "several": Stays("static double a[N], b[N];", "double *u = argc > 2 ? a : b;", PLAIN, ("OPI402", "OPI402")),
    "member": Stays("static struct { int much; double u[N]; } all;", "double *u = all.u;", PLAIN, ("OPI101", "OPI201")),
    "table": Stays(
        "static double *rows[2];",
        "double *u = calloc(N, sizeof *u);\n    rows[argc > 2] = u;",
        (PLAIN[0], "for (int i = 0; i < N; i++) total += rows[argc > 2][i];\n            " + PLAIN[1]),
        ("OPI105", "OPI205"),
    ),
    "swap": Stays(
        "",
        "double *u = calloc(N, sizeof *u), *v = calloc(N, sizeof *v), *w;",
        (PLAIN[0], PLAIN[1] + "\n            w = u; u = v; v = w;"),
        ("OPI402", "OPI402"),
    ),
}
