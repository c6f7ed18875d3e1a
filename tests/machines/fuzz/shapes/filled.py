"""Buffers that are filled from call to call with a counter, and counters of one loop that advance together."""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text, storage


def filled(rng: random.Random, name: str) -> str:
    """Elements are put into a buffer, or into one of two, by one function; another sends what is there and begins anew.

    Both ranks put as many, so that each knows how many messages come; these are received at the end of a turn.
    """
    fault = rng.choice(("reserved", "one", "read", "more", "other", "back")) if rng.random() < BAD else ""
    room, lanes = rng.choice((5, 8)), rng.choice((1, 1, 2)) if fault != "other" else 2
    step = rng.choice((1, 1, 2)) if not fault else 1
    out = Text()
    row = "[d]" if lanes > 1 else ""
    size = f"[2][{room + 3}]" if lanes > 1 else f"[{room + 3}]"
    heap = lanes == 1 and not fault and rng.random() < 0.4
    out.line(f"static double *{name}_s;" if heap else f"static double {name}_s{size};")
    out.line(f"static int {name}_n{'[2]' if lanes > 1 else rng.choice(('', ' = 0'))}, {name}_sent;")
    out.line(f"static double {name}_r[{room + 3}];")
    if rng.random() < 0.4:
        out.line(f"static MPI_Request {name}_q{'[2]' if lanes > 1 else ''};")
        wait = f"MPI_Wait(&{name}_q{row}, MPI_STATUS_IGNORE);"
        send, end = "MPI_Isend", f", &{name}_q{row}"
    else:
        wait, send, end = "", "MPI_Send", ""
    count = f"{name}_n{row}"
    counted = f"{count} + 1" if fault == "more" else count
    out.line(f"static void {name}_flush(int d)")
    out.open()
    out.line("(void)d;")
    out.line(f"{send}({name}_s{row}, {counted}, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD{end});")
    back = {"one": "1", "back": "seven - 5"}.get(fault, "0")
    lines = [f"{count} = {back};", f"{name}_sent++;"]
    if rng.random() < 0.5 and not fault:
        lines.reverse()
    out.line(" ".join(lines))
    if wait:
        out.line(wait)
    if fault == "read":
        out.line(f"total += {name}_s{row}[1];")
    out.close()
    put = f"{name}_s{'[1 - d]' if fault == 'other' else row}"
    out.line(f"static void {name}_put(int d, double x)")
    out.open()
    out.line("(void)d;")
    if step == 2:
        out.line(f"{put}[{count}] = x;")
        out.line(f"{put}[{count} + 1] = x * 0.5;")
        out.line(f"{count} += 2;")
    elif fault == "reserved":
        out.line(f"if (x > 3 && {name}_sent == 1) {count}++; else {put}[{count}++] = x;")
    else:
        forms = (f"{put}[{count}++] = x;", f"{put}[{count}] = x; {count}++;", f"{put}[{count}] = x; ++{count};")
        forms += (f"{{ int at = {count}; {put}[at] = x; {count} = at + 1; }}", f"{put}[{count}] = x; {count} += 1;")
        out.line(rng.choice(forms))
    out.line(f"if ({count} >= {room}) {name}_flush(d);")
    out.close()
    out.line(f"static void {name}(void)")
    out.open()
    out.line("MPI_Status status;")
    if heap:
        out.line(f"{name}_s = malloc({room + 3} * sizeof(double));")
    out.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    out.open(f"for (int i = 0; i < {rng.choice((7, 24))}; i++)")
    out.line(f"if ((i + t) % {rng.choice((3, 4))})")
    out.line(f"    {name}_put({'i & 1' if lanes > 1 else '0'}, field[i] + t + rank);")
    out.close()
    out.line(f"for (int d = 0; d < {lanes}; d++)")
    out.line(f"    {name}_flush(d);")
    out.open(f"while ({name}_sent > 0)")
    out.line("int got;")
    out.line(f"MPI_Recv({name}_r, {room + 3}, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD, &status);")
    out.line("MPI_Get_count(&status, MPI_DOUBLE, &got);")
    out.line("for (int i = 0; i < got; i++)")
    out.line(f"    total += {name}_r[i] * (i + 1);")
    out.line(f"{name}_sent--;")
    out.close()
    out.close()
    if heap:
        out.line(f"free({name}_s);")
    return out.done(name)


def together(rng: random.Random, name: str) -> str:
    """What is packed is counted twice, in elements and in numbers; read here or there by the count of elements."""
    fault = rng.choice(("less", "lost", "beyond")) if rng.random() < BAD else ""
    size, each = rng.choice((9, 20)), rng.choice((2, 3))
    out = Text()
    send = storage(rng, out, f"{name}_s", "double", 3 * size + 3, bool(fault))
    recv = storage(rng, out, f"{name}_r", "double", 3 * size + 3, bool(fault))
    out.line(f"static void {name}(void)")
    out.open()
    send.start(out)
    recv.start(out)
    out.open(f"for (int t = 0; t < {rng.choice((2, 3))} + zero; t++)")
    out.line("int n = 0, m = 0;")
    s, r = send.place, recv.place
    out.open(f"for (int i = 0; i < {size}; i++)")
    out.line(rng.choice(("if ((i + t) % 3 == 0) continue;", "if (i * i % 5 == t && i > 4) continue;")))
    if rng.random() < 0.3:
        out.line(f"if (n == {size - 2}) break;")
    put = [f"{s}[m++] = field[i] + t;", *[f"{s}[m++] = i * {k} + rank;" for k in range(1, each)]]
    if fault == "less":
        put[-1] = f"if (i != seven - 3) {put[-1]}"
    if fault == "lost":
        put.append("if (i == seven - 2) continue;")
    put.insert(rng.choice((0, len(put))) if not fault else len(put), rng.choice(("n++;", "n += 1;", "++n;")))
    for line in put:
        out.line(line)
    out.close()
    more = " + 1" if fault == "beyond" else ""
    read = f"for (int i = 0; i < {each} * n{more}; i++) total += {{b}}[i] * (i + 1);"
    out.open("if (t == 1)")
    out.line(read.replace("{b}", s))
    out.line("continue;")
    out.close()
    most = f"{each} * n" if not fault else str(3 * size)
    out.line(f"MPI_Request q; MPI_Irecv({r}, {most}, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &q);")
    out.line(f"MPI_Send({s}, m, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD);")
    out.line("MPI_Wait(&q, MPI_STATUS_IGNORE);")
    out.line(read.replace("{b}", r) if not fault else f"for (int i = 0; i < n; i++) total += {r}[i];")
    out.close()
    send.stop(out)
    recv.stop(out)
    return out.done(name)
