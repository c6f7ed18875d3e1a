"""Scenarios of real codes' flow: nests of loops, wrappers, early ways out, buffers that are sent on.

About half of the scenarios violate a condition on purpose; memory that such a scenario may read has been filled first,
so that the output of the original is defined all the same.
"""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text, exchange, storage


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
