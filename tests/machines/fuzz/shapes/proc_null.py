"""Scenarios of messages that bring nothing: MPI_PROC_NULL by all ways of reckoning, and receives that fail."""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text, storage

SIZE = 12

NOBODY = (
    "there * peer + (1 - there) * MPI_PROC_NULL",
    "peer ^ ((peer ^ MPI_PROC_NULL) & -(1 - there))",
    "(there - 1) * -(MPI_PROC_NULL) + there * peer",
    "there ? peer : MPI_PROC_NULL",
    "(peer & -there) | (MPI_PROC_NULL & ~-there)",
    "~(there ? ~peer : ~MPI_PROC_NULL)",
    "MPI_PROC_NULL + there * (peer - MPI_PROC_NULL)",
    "(int)((double)MPI_PROC_NULL * (1 - there) + peer * there)",
    "((int[]){MPI_PROC_NULL, peer})[there]",
    "(signed char)MPI_PROC_NULL != MPI_PROC_NULL || there ? (there ? peer : MPI_PROC_NULL) : MPI_PROC_NULL",
)
"""Of ``there`` (0 or 1) and ``peer``: the peer, or nobody."""

ROUTES: tuple[tuple[str, ...], ...] = (
    (),
    ("int told = from;"
     " MPI_Sendrecv(&told, 1, MPI_INT, 0, 2, &from, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);",),
    ("int told = from; from = 0; MPI_Allreduce(&told, &from, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);",),
    ("int told = from; from = 0; MPI_Scan(&told, &from, 1, MPI_INT, MPI_MIN, MPI_COMM_SELF);",),
    ("int told = from; from = peer; MPI_Scatter(&told, 1, MPI_INT, &from, 1, MPI_INT, 0, MPI_COMM_SELF);",),
    ("int told = from; MPI_Bcast(&told, 1, MPI_INT, 0, MPI_COMM_SELF); from = told;",),
    ("char told[24]; sprintf(told, \"%d\", from); from = peer; sscanf(told, \"%d\", &from);",),
    ("char told[24]; sprintf(told, \"%d\", from); from = atoi(told);",),
    ("char told[24]; sprintf(told, \"%d\", from); from = (int)strtol(told, NULL, 10);",),
    ("FILE *file = tmpfile(); fprintf(file, \"%d\", from); rewind(file); from = peer;"
     " if (fscanf(file, \"%d\", &from) != 1) MPI_Abort(MPI_COMM_WORLD, 4); fclose(file);",),
    ("FILE *file = tmpfile(); fwrite(&from, sizeof from, 1, file); rewind(file); from = peer;"
     " if (fread(&from, sizeof from, 1, file) != 1) MPI_Abort(MPI_COMM_WORLD, 4); fclose(file);",),
    ("MPI_Status st; MPI_Recv(NULL, 0, MPI_INT, from == peer ? MPI_PROC_NULL : from, 3, MPI_COMM_WORLD, &st);"
     " if (from != peer) from = st.MPI_SOURCE;",),
    ("struct { short s; signed char c; int b : 12; } small; small.s = from; small.b = small.s; from = small.b;",),
    ("int told[3] = {peer, from, peer}; qsort(told, 3, sizeof *told, NAME_order); from = rank == 0 ? told[0] : peer;",),
    ("int told = from; unsigned char bytes[sizeof told]; memcpy(bytes, &told, sizeof told); from = peer;"
     " for (unsigned i = 0; i < sizeof told; i++) ((unsigned char *)&from)[i] = bytes[i];",),
    ("union { int i; unsigned u; } told; told.i = from; from = (int)(told.u + zero);",),
    ("char told[24]; int at = 0; MPI_Pack(&from, 1, MPI_INT, told, 24, &at, MPI_COMM_SELF); at = 0; from = peer;"
     " MPI_Unpack(told, 24, &at, &from, 1, MPI_INT, MPI_COMM_SELF);",),
    ("float told = from; from = (int)told;",),
    ("long told = from; told <<= 1; from = (int)(told / 2);",),
)  # fmt: skip
"""What a rank goes through before it is used."""


def somewhere(rng: random.Random, name: str) -> str:
    """Rank 0 receives from nobody; what it reads afterwards is what was there, unless it asks first."""
    fault = rng.random() < 2 * BAD
    out = Text()
    send = storage(rng, out, f"{name}_s", "double", SIZE, True)
    recv = storage(rng, out, f"{name}_r", "double", SIZE, True)
    route = rng.choice(ROUTES)
    if any("NAME_order" in text for text in route):
        out.line(f"static int {name}_order(const void *a, const void *b)")
        out.block("", ["return *(const int *)a - *(const int *)b;"])
    out.line(f"static void {name}(void)")
    out.open()
    send.start(out)
    recv.start(out)
    s, r = send.place, recv.place
    out.line(f"int there = rank == 1, from = {rng.choice(NOBODY)};")
    for text in route:
        out.block("", [text.replace("NAME", name)])
    out.line("there = !there;")
    out.line("int to = there ? peer : MPI_PROC_NULL;")
    out.line(f"fill({r}, {SIZE}, -3);")
    out.line(f"fill({s}, {SIZE}, rank + 0.5);")
    asks = "" if fault else rng.choice(("if (rank == 1)", "if (from == peer)", "if (from != MPI_PROC_NULL)"))
    way = rng.randrange(3)
    if way == 0:
        out.line(f"MPI_Sendrecv({s}, {SIZE}, MPI_DOUBLE, to, 6, {r}, {SIZE}, MPI_DOUBLE, from, 6, MPI_COMM_WORLD,")
        out.line("             MPI_STATUS_IGNORE);")
    elif way == 1:
        out.open()
        out.line("MPI_Request q[2];")
        out.line(f"MPI_Irecv({r}, {SIZE}, MPI_DOUBLE, from, 6, MPI_COMM_WORLD, &q[0]);")
        out.line(f"MPI_Isend({s}, {SIZE}, MPI_DOUBLE, to, 6, MPI_COMM_WORLD, &q[1]);")
        out.line("MPI_Waitall(2, q, MPI_STATUSES_IGNORE);")
        out.close()
    else:
        out.line("if (rank == 0)")
        out.line(f"    MPI_Send({s}, {SIZE}, MPI_DOUBLE, to, 6, MPI_COMM_WORLD);")
        out.line(f"MPI_Recv({r}, {SIZE}, MPI_DOUBLE, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);")
    if asks:
        out.line(asks)
    out.line(f"{'    ' if asks else ''}total += sum({r}, {SIZE});")
    send.stop(out)
    recv.stop(out)
    return out.done(name)


def failing(rng: random.Random, name: str) -> str:
    """Errors return, and a receive that asks for a rank that is not there brings nothing."""
    fault = rng.random() < 2 * BAD
    looks = fault or rng.random() < 0.5
    out = Text()
    recv = storage(rng, out, f"{name}_r", "double", SIZE, True)
    out.line(f"static double {name}_s[{SIZE}];")
    out.line(f"static void {name}(void)")
    out.open()
    recv.start(out)
    r = recv.place
    out.line("MPI_Comm own;")
    out.line("MPI_Comm_dup(MPI_COMM_WORLD, &own);")
    out.line("MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);")
    out.line(f"fill({r}, {SIZE}, -3);")
    out.line(f"fill({name}_s, {SIZE}, rank);")
    out.line("if (rank == 0)")
    out.line(f"    MPI_Send({name}_s, {SIZE}, MPI_DOUBLE, 1, 3, own);")
    from_ = "seven + 3" if fault else "peer"
    out.open("if (rank == 1)")
    way = rng.randrange(2)
    code = "int code = " if looks else ""
    if way == 0:
        out.line(f"{code}MPI_Recv({r}, {SIZE}, MPI_DOUBLE, {from_}, 3, own, MPI_STATUS_IGNORE);")
    else:
        out.line("MPI_Request q = MPI_REQUEST_NULL;")
        out.line(f"{code}MPI_Irecv({r}, {SIZE}, MPI_DOUBLE, {from_}, 3, own, &q);")
        out.line(f"{'code |= ' if looks else ''}MPI_Wait(&q, MPI_STATUS_IGNORE);")
    if looks:
        out.line("if (code != MPI_SUCCESS)")
        out.line("    total += 0.25;")
    out.line(f"total += sum({r}, {SIZE});")
    if fault:
        out.line(f"MPI_Recv({name}_s, {SIZE}, MPI_DOUBLE, 0, 3, own, MPI_STATUS_IGNORE);")
    out.close()
    out.line("MPI_Comm_free(&own);")
    recv.stop(out)
    return out.done(name)
