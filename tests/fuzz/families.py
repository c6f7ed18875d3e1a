"""Scenarios of real codes' shapes: structs, tables of buffers, counters, cursors, nests, wrappers, requests, probes.

Each family makes one function of a random program (tests/fuzz/generate.py), with storage and helpers of its own.
About half of the scenarios violate a condition on purpose; memory that such a scenario may read has been filled first,
so that the output of the original is defined all the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz.forms import Text, exchange, storage

Family = Callable[[random.Random, str], str]
BAD = 0.45
"""The share of scenarios with a violation."""


def members(rng: random.Random, name: str) -> str:
    """Buffers in the members of a struct, made, packed, exchanged and freed in functions of their own."""
    size = rng.choice((10, 24))
    bad = rng.random() < BAD
    out = Text()
    heap = rng.random() < 0.6
    out.line(f"struct {name}_box {{")
    out.line("    int n;")
    out.line("    double *out, *in;" if heap else f"    double out[{size}], in[{size}];")
    out.line("};")
    where = rng.choice(("static", "local", "heap"))
    if where == "static":
        out.line(f"static struct {name}_box {name}_b;")
    if heap:
        make = "calloc(b->n, sizeof(double))" if bad else "malloc(b->n * sizeof(double))"
        out.line(f"static void {name}_make(struct {name}_box *b, int n)")
        out.block("", ["b->n = n;", f"b->out = {make};", f"b->in = {make};"])
    fault = rng.choice(("short", "later", "once", "tail")) if bad else ""
    first = "1" if fault == "short" else "0"
    out.line(f"static void {name}_pack(struct {name}_box *b, int t)")
    guard = "if (t == 0) " if fault == "once" else ""
    out.block("", [f"{guard}for (int i = {first}; i < b->n; i++)", "    b->out[i] = field[i] + t;"])
    out.line(f"static void {name}_swap(struct {name}_box *b)")
    count = "b->n - 1" if fault == "tail" else "b->n"
    out.block("", exchange(rng, "b->out", "b->in", count))
    out.line(f"static void {name}(void)")
    out.open()
    access = {"static": f"{name}_b", "local": "b", "heap": "(*b)"}[where]
    pointer = {"static": f"&{name}_b", "local": "&b", "heap": "b"}[where]
    if where == "local":
        out.line(f"struct {name}_box b;")
    elif where == "heap":
        out.line(f"struct {name}_box *b = malloc(sizeof *b);")
    if heap:
        out.line(f"{name}_make({pointer}, {size});")
    else:
        out.line(f"{access}.n = {size};")
        if bad and where != "static":
            out.line(f"fill({access}.out, {size}, 1);")
            out.line(f"fill({access}.in, {size}, 2);")
    out.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    out.line(f"{name}_pack({pointer}, t);")
    out.line(f"{name}_swap({pointer});")
    if fault == "later":
        out.line(f"total += {access}.out[{size - 1}];")
    limit = f"{access}.n" if not bad or fault in ("tail", "later") else f"{size}"
    out.line(f"for (int i = 0; i < {limit}; i++)")
    out.line(f"    total += {access}.in[i] * (i + 1);")
    out.close()
    if heap:
        out.line(f"free({access}.out);")
        out.line(f"free({access}.in);")
    if where == "heap":
        out.line("free(b);")
    return out.done(name)


def append(rng: random.Random, name: str) -> str:
    """Elements that are structs, or numbers, appended while a condition holds; the count travels first."""
    size = rng.choice((12, 30))
    fault = rng.choice(("member", "preset", "gap", "again")) if rng.random() < BAD else ""
    out = Text()
    structs = rng.random() < 0.5 or fault == "member"
    element = f"struct {name}_item" if structs else "double"
    if structs:
        out.line(f"struct {name}_item {{ double x; double y; int id; int on; }};")
    send = storage(rng, out, f"{name}_s", element, size + 2, bool(fault), structs)
    recv = storage(rng, out, f"{name}_r", element, size + 2, False, structs)
    out.line(f"static void {name}(void)")
    out.open()
    send.start(out)
    recv.start(out)
    out.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    out.line(f"int n = {'1' if fault == 'preset' else '0'}, m = 0;")
    out.open(f"for (int i = 0; i < {size}; i++)")
    out.line(f"if ((i + rank + t) % {rng.choice((2, 3))} == 0)")
    out.line("    continue;")
    s = send.place
    if structs:
        out.line(f"{s}[n].x = field[i];")
        y = "if (i % 4) " if fault == "member" else ""
        out.line(f"{y}{s}[n].y = t;")
        out.line(f"{s}[n].id = i;")
        out.line(f"{s}[n].on = rank;")
        out.line("n++;" if fault != "gap" else "n += i == 1 ? 2 : 1;")
    elif fault == "gap":
        out.line(f"{s}[n] = field[i];")
        out.line("n += i == 1 ? 2 : 1;")
    else:
        out.line(rng.choice((f"{s}[n++] = field[i] + t;", f"{s}[n] = field[i]; n++;")))
    out.close()
    tail = "peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE"
    out.line(f"MPI_Sendrecv(&n, 1, MPI_INT, peer, 1, &m, 1, MPI_INT, {tail});")
    unit = f" * (int)sizeof({element})" if structs else ""
    kind = "MPI_BYTE" if structs else "MPI_DOUBLE"
    for line in exchange(rng, s, recv.place, f"n{unit}", kind, f"m{unit}"):
        out.line(line)
    out.open("for (int i = 0; i < m; i++)")
    r = recv.place
    out.line(f"total += {r}[i].x * {r}[i].id + {r}[i].y + {r}[i].on;" if structs else f"total += {r}[i] * (i + 1);")
    out.close()
    if fault == "again":
        out.line(f"total += {s}[0]{'.x' if structs else ''};")
    out.close()
    send.stop(out)
    recv.stop(out)
    return out.done(name)


def cursor(rng: random.Random, name: str) -> str:
    """Bytes packed behind a cursor by memcpy, a header first; unpacked the same way."""
    fault = rng.choice(("gap", "after", "twice")) if rng.random() < BAD else ""
    n = rng.choice((5, 14))
    room = 8 * (2 * n + 6)
    out = Text()
    send = storage(rng, out, f"{name}_s", "char", room, bool(fault))
    recv = storage(rng, out, f"{name}_r", "char", room, bool(fault))
    out.line(f"static void {name}(void)")
    out.open()
    send.start(out)
    recv.start(out)
    out.open(f"for (int t = 0; t < {rng.choice((1, 2))} + zero; t++)")
    out.line(f"char *p = {send.place};")
    out.line(f"double head = {n} + t, got[2], x;")
    out.line("memcpy(p, &head, sizeof head);")
    out.line(f"p += {'16' if fault == 'gap' else 'sizeof head'};")
    if rng.random() < 0.5:
        out.line(f"memcpy(p, field + t, {n} * sizeof(double));")
        out.line(f"p += {n} * sizeof(double);")
    else:
        out.open(f"for (int i = 0; i < {n}; i++)")
        out.line("memcpy(p, &field[i], sizeof(double));")
        out.line("p += sizeof(double);")
        out.close()
    if rng.random() < 0.5:
        out.line("memcpy(p, &total, sizeof total);")
        out.line("p += sizeof total;")
    out.line(f"int n = (int)(p - {send.place});")
    for line in exchange(rng, send.place, recv.place, "n", "MPI_BYTE"):
        out.line(line)
    if fault == "after":
        out.line(f"memcpy(&x, {send.place} + 8, sizeof x);")
        out.line("total += x;")
    out.line(f"const char *q = {recv.place};")
    out.line("memcpy(got, q, sizeof got);")
    out.line("total += got[0] + got[1];")
    out.open(f"for (int i = 0; i < {n}; i++)")
    out.line("memcpy(&x, q + 8 * (i + 1), sizeof x);")
    out.line("total += x * i;")
    out.close()
    if fault == "twice":
        out.line(f"total += {send.place}[n - 1];")
    out.close()
    send.stop(out)
    recv.stop(out)
    return out.done(name)


def nest(rng: random.Random, name: str) -> str:
    """Two loops around the packing: rows, columns, triangles, strides, with sizes that are known or not."""
    a, b = rng.choice(((3, 5), (4, 4), (6, 7)))
    fault = rng.choice(("row", "column", "diagonal", "after")) if rng.random() < BAD else ""
    out = Text()
    send = storage(rng, out, f"{name}_s", "double", a * b, bool(fault))
    recv = storage(rng, out, f"{name}_r", "double", a * b, bool(fault))
    out.line(f"static void {name}(void)")
    out.open()
    send.start(out)
    recv.start(out)
    known = rng.random() < 0.5
    if not known:
        out.line(f"int na = {a} + zero, nb = {b} + zero;")
    na, nb = (str(a), str(b)) if known else ("na", "nb")
    out.open(f"for (int t = 0; t < {rng.choice((1, 2))} + zero; t++)")
    s, r = send.place, recv.place
    i0, j0 = "1" if fault == "row" else "0", "1" if fault == "column" else "0"
    shape = rng.choice(("rows", "columns", "counter", "triangle", "strided"))
    count = f"{na} * {nb}"
    if shape == "triangle":
        a = b = min(a, b)
        na = str(a) if known else "na"
        if not known:
            out.line(f"na = {a} + zero;")
        count = f"{na} * ({na} + 1) / 2"
        out.line("int k = 0;")
        out.line(f"for (int i = 0; i < {na}; i++)")
        out.line(f"    for (int j = 0; j {'<' if fault == 'diagonal' else '<='} i; j++)")
        out.line(f"        {s}[k++] = field[i * 8 + j] + t;")
        count = rng.choice(("k", count)) if not fault else count
    elif shape == "counter":
        out.line("int k = 0;")
        out.line(f"for (int i = {i0}; i < {na}; i++)")
        out.line(f"    for (int j = {j0}; j < {nb}; j++)")
        out.line(f"        {s}[k++] = field[i * 8 + j] * 2;")
    elif shape == "strided":
        out.line(f"for (int j = {j0}; j < {nb}; j++)")
        out.line(f"    for (int k = j; k < {na} * {nb}; k += {nb})")
        out.line(f"        {s}[k] = field[k];")
    else:
        index = f"i * {nb} + j" if shape == "rows" else f"j * {na} + i"
        out.line(f"for (int i = {i0}; i < {na}; i++)")
        out.line(f"    for (int j = {j0}; j < {nb}; j++)")
        out.line(f"        {s}[{index}] = field[i + 8 * j] + t;")
    for line in exchange(rng, s, r, count):
        out.line(line)
    if fault == "after":
        out.line(f"total += {s}[2];")
    out.line(f"total += sum({r}, {count});")
    out.close()
    send.stop(out)
    recv.stop(out)
    return out.done(name)


def wrapped(rng: random.Random, name: str) -> str:
    """Memory and messages through wrappers, as codes have them that check every call."""
    fault = rng.choice(("after", "short", "kept", "before")) if rng.random() < BAD else ""
    size = rng.choice((9, 20))
    out = Text()
    make = rng.choice(("malloc(n * sizeof(double))", "malloc(n * sizeof *p)"))
    if fault:
        make = "calloc(n, sizeof(double))"
    out.line(f"static double *{name}_new(size_t n)")
    out.block("", [f"double *p = {make};", "if (p == NULL)", "    MPI_Abort(MPI_COMM_WORLD, 2);", "return p;"])
    out.line(f"static void {name}_send({rng.choice(('const void', 'void', 'double'))} *p, int n, int to)")
    body = ["MPI_Send(p, n, MPI_DOUBLE, to, 9, MPI_COMM_WORLD);"]
    if fault == "kept":
        body.append("total += ((const double *)p)[0];")
    out.block("", body)
    out.line(f"static void {name}_recv({rng.choice(('void', 'double'))} *p, int n, int from)")
    out.block("", ["MPI_Recv(p, n, MPI_DOUBLE, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"])
    out.line(f"static void {name}(void)")
    out.open()
    inside = rng.random() < 0.5
    if not inside:
        out.line(f"double *s = {name}_new({size}), *r = {name}_new({size});")
    out.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    if inside:
        out.line(f"double *s = {name}_new({size}), *r = {name}_new({size});")
    if fault == "before":
        out.line("total += r[0];")
    out.line(f"for (int i = {'1' if fault == 'short' else '0'}; i < {size}; i++)")
    out.line("    s[i] = field[i] - t;")
    out.open("if (rank == 0)")
    out.line(f"{name}_send(s, {size}, peer);")
    out.line(f"{name}_recv(r, {size}, peer);")
    out.close()
    out.open("else")
    out.line(f"{name}_recv(r, {size}, peer);")
    out.line(f"{name}_send(s, {size}, peer);")
    out.close()
    out.line(f"total += sum(r, {size});")
    if fault == "after":
        out.line(f"total += s[{size - 1}];")
    if inside:
        out.line("free(s);")
        out.line("free(r);")
    out.close()
    if not inside:
        out.line("free(s);")
        out.line("free(r);")
    return out.done(name)


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


def leaving(rng: random.Random, name: str) -> str:
    """Ways out: returns before the send, a clean-up label, buffers packed and not sent on one path."""
    fault = rng.choice(("after", "once", "short")) if rng.random() < BAD else ""
    size = rng.choice((8, 18))
    out = Text()
    make = f"calloc({size}, sizeof(double))" if fault else f"malloc({size} * sizeof(double))"
    way = rng.choice(("goto", "return", "skip"))
    out.line(f"static int {name}_try(int t)")
    out.open()
    out.line("int code = 1;")
    out.line(f"double *s = {make};")
    out.line(f"double *r = {make};")
    out.line("if (s == NULL || r == NULL)")
    out.line("    goto out;")
    guard = "if (t == 0) " if fault == "once" else ""
    out.line(f"{guard}for (int i = {'2' if fault == 'short' else '0'}; i < {size}; i++)")
    out.line("    s[i] = field[i] * (t + 1);")
    if way == "goto":
        out.line("if (t == seven - 5)")
        out.line("    goto out;")
    elif way == "return":
        out.open("if (t == seven - 5)")
        out.line("free(s);")
        out.line("free(r);")
        out.line("return 3;")
        out.close()
    else:
        out.open("if (t != seven - 6)")
    for line in exchange(rng, "s", "r", str(size)):
        out.line(line)
    out.line(f"total += sum(r, {size});")
    out.line("code = 0;")
    if way == "skip":
        out.close()
    if fault == "after":
        out.line("total += s[3];")
    out.line("out:")
    out.line("free(r);")
    out.line("free(s);")
    out.line("return code;")
    out.close()
    out.line(f"static void {name}(void)")
    out.block("", ["for (int t = 0; t < 3 + zero; t++)", f"    total += {name}_try(t);"])
    out.depth, out.body_end = 0, True
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


def parts(rng: random.Random, name: str) -> str:
    """One object in parts, each packed and sent by itself; or one access that spans them."""
    fault = rng.choice(("span", "short", "after")) if rng.random() < BAD else ""
    part, size = rng.choice((2, 3)), rng.choice((6, 10))
    out = Text()
    send = storage(rng, out, f"{name}_s", "double", part * size, bool(fault))
    recv = storage(rng, out, f"{name}_r", "double", part * size, bool(fault))
    out.line(f"static void {name}(void)")
    out.open()
    send.start(out)
    recv.start(out)
    out.open(f"for (int t = 0; t < {rng.choice((1, 2))} + zero; t++)")
    s, r = send.place, recv.place
    first = "1" if fault == "short" else "0"
    if rng.random() < 0.5:
        out.open(f"for (int d = 0; d < {part}; d++)")
        out.line(f"for (int i = {first}; i < {size}; i++)")
        out.line(f"    {s}[d * {size} + i] = field[i] + d;")
        for line in exchange(rng, f"{s} + d * {size}", f"{r} + d * {size}", str(size)):
            out.line(line)
        out.line(f"total += sum({r} + d * {size}, {size});")
        out.close()
    else:
        for d in range(part):
            out.line(f"for (int i = {first}; i < {size}; i++)")
            out.line(f"    {s}[{d * size} + i] = field[i] * {d + 1};")
            for line in exchange(rng, f"{s} + {d * size}", f"&{r}[{d * size}]", str(size)):
                out.line(line)
        if fault != "span":
            for d in range(part):
                out.line(f"total += sum({r} + {d * size}, {size});")
    if fault == "span":
        out.line(f"total += sum({r}, {part * size});")
    if fault == "after":
        out.line(f"total += {s}[{size}];")
    out.close()
    send.stop(out)
    recv.stop(out)
    return out.done(name)


def relayed(rng: random.Random, name: str) -> str:
    """One array that receives, is changed, is sent on, and is scratch in between."""
    fault = rng.choice(("after", "partial")) if rng.random() < BAD else ""
    size = rng.choice((8, 14))
    out = Text()
    buffer = storage(rng, out, f"{name}_b", "double", size, bool(fault))
    other = storage(rng, out, f"{name}_o", "double", size, bool(fault))
    out.line(f"static void {name}(void)")
    out.open()
    buffer.start(out)
    other.start(out)
    out.open(f"for (int t = 0; t < {rng.choice((1, 2))} + zero; t++)")
    b, o = buffer.place, other.place
    out.line(f"fill({o}, {size}, t + rank);")
    for line in exchange(rng, o, b, str(size)):
        out.line(line)
    change = rng.choice((f"{b}[i] += i;", f"{b}[i] = {b}[i] * 2 + field[i];"))
    out.line(f"for (int i = {'3' if fault == 'partial' else '0'}; i < {size}; i++)")
    out.line(f"    {change}")
    for line in exchange(rng, b, o, str(size)):
        out.line(line)
    out.line(f"total += sum({o}, {size});")
    if fault == "after":
        out.line(f"total += {b}[{size - 2}];")
    if rng.random() < 0.5:
        out.line(f"fill({b}, {size}, 3);")
        out.line(f"total += {b}[t];")
    out.close()
    buffer.stop(out)
    other.stop(out)
    return out.done(name)


FAMILIES: tuple[Family, ...] = (
    members, append, cursor, nest, wrapped, requests, probed, leaving, doubled, parts, relayed,
)  # fmt: skip
