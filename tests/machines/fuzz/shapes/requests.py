"""Scenarios of real codes' messages: tables of requests, probed lengths, buffers that take turns.

About half of the scenarios violate a condition on purpose; memory that such a scenario may read has been filled first,
so that the output of the original is defined all the same.
"""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text, storage


def requests(rng: random.Random, name: str) -> str:
    """Several buffers in a table, their requests in arrays; completed together, one by one, or by testing."""
    fault = rng.choice(("after", "short", "neighbour", "old")) if rng.random() < BAD else ""
    parts, size = rng.choice((2, 3)), rng.choice((6, 15))
    out = Text()
    heap = rng.random() < 0.6
    if heap:
        make = f"calloc({size}, sizeof(double))" if fault else f"malloc({size} * sizeof(double))"
        shared = rng.random() < 0.4
        if shared:
            out.line(f"static double *{name}_s[{parts}], *{name}_r[{parts}];")
    else:
        out.line(f"static double {name}_s[{parts}][{size}], {name}_r[{parts}][{size}];")
    out.line(f"static void {name}(void)")
    out.open()
    out.line(f"MPI_Request q[{2 * parts}];")
    if heap and not shared:
        out.line(f"double *{name}_s[{parts}], *{name}_r[{parts}];")
    s, r = f"{name}_s", f"{name}_r"
    each = f"for (int d = 0; d < {parts}; d++)"
    if heap:
        out.open(each)
        out.line(f"{s}[d] = {make};")
        out.line(f"{r}[d] = {make};")
        out.close()
    out.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    if fault == "old":
        out.line(f"total += {r}[{parts - 1}][0];")
    out.line(each)
    out.line(f"    MPI_Irecv({r}[d], {size}, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &q[d]);")
    together = rng.random() < 0.5
    pack = [f"for (int i = {'1' if fault == 'short' else '0'}; i < {size}; i++)", f"    {s}[d][i] = field[i + d] + t;"]
    out.block(each, [*pack, *([] if not together else [
        f"MPI_Isend({s}[d], {size}, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &q[{parts} + d]);"])])  # fmt: skip
    if not together:
        out.line(each)
        out.line(f"    MPI_Isend({s}[d], {size}, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &q[{parts} + d]);")
    how = rng.choice(("all", "all", "any", "one", "test"))
    read = f"total += sum({r}[d], {size});"
    if how == "any":
        out.line("double part = 0, before = total;")
        out.block(each, [
            "int at;",
            f"MPI_Waitany({parts}, q, &at, MPI_STATUS_IGNORE);",
            f"for (int i = 0; i < {size}; i++)",
            f"    part += (double)(long)({r}[at][i] * 2) * (at + 1);",
        ])  # fmt: skip
        out.line("total = before + part;")
        out.line(f"MPI_Waitall({parts}, q + {parts}, MPI_STATUSES_IGNORE);")
    elif how == "one":
        out.block(each, ["MPI_Wait(&q[d], MPI_STATUS_IGNORE);", read])
        out.line(each)
        out.line(f"    MPI_Wait(&q[{parts} + d], MPI_STATUS_IGNORE);")
    else:
        if how == "test":
            out.line("int done = 0;")
            out.line("while (!done)")
            out.line(f"    MPI_Testall({2 * parts}, q, &done, MPI_STATUSES_IGNORE);")
        else:
            out.line(f"MPI_Waitall({2 * parts}, q, MPI_STATUSES_IGNORE);")
        out.block(each, [read])
    if fault == "after":
        out.line(f"total += {s}[{rng.randrange(parts)}][1];")
    if fault == "neighbour":
        out.line(f"for (int d = 0; d + 1 < {parts}; d++)")
        out.line(f"    total += {s}[d + 1][2] - {s}[d][2];")
    out.close()
    if heap:
        out.block(each, [f"free({s}[d]);", f"free({r}[d]);"])
    return out.done(name)


def probed(rng: random.Random, name: str) -> str:
    """A message whose length only the sender knows: probed, counted, received into new memory."""
    fault = rng.choice(("after", "beyond", "hole")) if rng.random() < BAD else ""
    size = rng.choice((8, 16))
    out = Text()
    out.line(f"static void {name}(void)")
    out.open()
    out.line("MPI_Status status;")
    out.line("int got;")
    out.open(f"for (int t = 0; t < {rng.choice((1, 2))} + zero; t++)")
    out.line(f"int n = {size} - rank * 3 - t;")
    make = "calloc(n + 2, sizeof(double))" if fault else rng.choice(("malloc(n * sizeof(double))", "malloc(8 * n)"))
    out.line(f"double *s = {make};")
    out.line("for (int i = 0; i < n; i++)")
    out.line("    s[i] = field[i] + t;" if fault != "hole" else "    if (i != 2) s[i] = field[i];")
    out.line("MPI_Request q;")
    out.line("MPI_Isend(s, n, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &q);")
    out.line("MPI_Probe(peer, 4, MPI_COMM_WORLD, &status);")
    out.line("MPI_Get_count(&status, MPI_DOUBLE, &got);")
    extra = " + 2" if fault == "beyond" else ""
    made = f"calloc(got{extra}, sizeof(double))" if fault else "malloc(got * sizeof(double))"
    out.line(f"double *r = {made};")
    out.line("MPI_Recv(r, got, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &status);")
    out.line(f"total += sum(r, got{extra});")
    out.line("MPI_Wait(&q, MPI_STATUS_IGNORE);")
    if fault == "after":
        out.line("total += s[n - 1];")
    out.line("free(r);")
    out.line("free(s);")
    out.close()
    return out.done(name)


def doubled(rng: random.Random, name: str) -> str:
    """Two buffers that take turns, by index or by swapping their names; the send completes a turn later."""
    fault = rng.choice(("old", "short", "after")) if rng.random() < BAD else ""
    size = rng.choice((7, 16))
    out = Text()
    heap = rng.random() < 0.5
    if not heap:
        out.line(f"static double {name}_s[2][{size}];")
    recv = storage(rng, out, f"{name}_r", "double", size, bool(fault))
    out.line(f"static void {name}(void)")
    out.open()
    recv.start(out)
    s = f"{name}_s"
    if heap:
        make = f"calloc({size}, sizeof(double))" if fault else f"malloc({size} * sizeof(double))"
        out.line(f"double *{s}[2];")
        out.line(f"{s}[0] = {make};")
        out.line(f"{s}[1] = {make};")
    out.line("MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};")
    out.open(f"for (int t = 0; t < {rng.choice((2, 4))} + zero; t++)")
    at = rng.choice(("t & 1", "t % 2"))
    out.line(f"MPI_Wait(&q[{at}], MPI_STATUS_IGNORE);")
    if fault == "old":
        out.line(f"total += {s}[{at}][0] * (t > 1);" if heap else f"total += {s}[{at}][0];")
    out.line(f"for (int i = {'1' if fault == 'short' else '0'}; i < {size}; i++)")
    out.line(f"    {s}[{at}][i] = field[i] + t;")
    out.line(f"MPI_Isend({s}[{at}], {size}, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, &q[{at}]);")
    out.line(f"MPI_Recv({recv.place}, {size}, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);")
    out.line(f"total += sum({recv.place}, {size});")
    out.close()
    out.line("MPI_Waitall(2, q, MPI_STATUSES_IGNORE);")
    if fault == "after":
        out.line(f"total += {s}[0][1];")
    if heap:
        out.line(f"free({s}[0]);")
        out.line(f"free({s}[1]);")
    recv.stop(out)
    return out.done(name)
