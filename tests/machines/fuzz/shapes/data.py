"""Scenarios of real codes' data: buffers in structs, appended elements, bytes after a cursor, parts of an object.

About half of the scenarios violate a condition on purpose; memory that such a scenario may read has been filled first,
so that the output of the original is defined all the same.
"""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text, exchange, storage


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
    """Bytes packed after a cursor by memcpy, a header first; unpacked the same way."""
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
