"""Buffers that are made where they are first needed, or anew where they are too small, in the loop that uses them."""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text

_FAULTS = ("next", "same", "part", "after", "tail", "old", "count", "test", "or", "zeros", "least")


def growing(rng: random.Random, name: str) -> str:
    """A send and a receive buffer; what a faulty scenario reads is filled wherever the buffer is made."""
    fault = rng.choice(_FAULTS) if rng.random() < BAD else ""
    form = rng.choice(("grow", "grow", "first", "helper", "lazy", "lazy", "ends"))
    form = {"count": "lazy", "or": "grow", "least": "lazy", "old": "grow", "same": "grow"}.get(fault, form)
    lazy = form in ("lazy", "ends")
    out = Text()
    home = (
        rng.choice(("static", "local", "member", "pointer")) if form != "helper" else rng.choice(("static", "member"))
    )
    b, r = _declared(out, home, name)
    most, step = rng.choice((14, 20)), rng.choice((3, 5, 7))
    clear = bool(fault)
    if form == "helper":
        out.line(f"static void {name}_provide(int n)")
        out.open()
        out.line(f"if (n <= {name}_room) return;")
        _made(out, b, "n", clear)
        out.line(f"{name}_room = n;")
        out.close()
    out.line(f"static void {name}(void)")
    out.open()
    if home == "local":
        out.line("double *b = NULL, *r = NULL;")
    if home == "pointer":
        out.line(f"struct {name}_box *x = &{name}_x;")
    out.line("int rroom = 0;")
    out.line(f"{name}_room = 0;")
    out.open(f"for (int t = 0; t < {rng.choice((3, 4, 5))} + zero; t++)")
    out.line(f"int n = 6 + t * {step} % {most};")
    if fault == "next":
        out.line(f"if (t > 0) total += {b}[1];")
    if fault == "old":
        out.line(f"double *old = {b};")
    if fault == "test" and rng.random() < 0.5:
        out.line(f"if ({b}) total += 3;")
    _provided(rng, out, form, fault, name, b, str(6 + most), clear)
    if fault == "old":
        out.line("if (t > 0) total += old[2];")
    if fault == "tail" or rng.random() < 0.3:  # as large as the program made it, whatever it needs in this turn
        room = str(6 + most) if lazy else f"{name}_room"
        out.line(f"{b}[{room} - 1] = field[t];")
    out.line(f"for (int i = {'1' if fault in ('part', 'zeros') else '0'}; i < n; i++)")
    out.line(f"    {b}[i] = field[i] + t + rank;")
    if rng.random() < 0.5:
        out.open("if (rroom < n)")
        _made(out, r, "n", clear)
        out.line("rroom = n;")
        out.close()
    else:
        out.line(f"if (!{r})")
        out.open()
        _made(out, r, str(6 + most), clear)
        out.line(f"rroom = {6 + most};")
        out.close()
    out.line("MPI_Request q;")
    out.line(f"MPI_Irecv({r}, n, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &q);")
    out.line(f"MPI_Send({b}, n, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD);")
    out.line("MPI_Wait(&q, MPI_STATUS_IGNORE);")
    if fault == "after":
        out.line(f"total += {b}[3];")
    if fault == "test":
        out.line(f"total += {b} != NULL;")
    if fault == "tail":
        out.line("for (int i = 0; i < rroom; i++)" if rng.random() < 0.5 else "for (int i = 0; i < n; i++)")
    else:
        out.line("for (int i = 0; i < n; i++)")
    out.line(f"    total += {r}[i] * (i + 1);")
    out.close()
    if fault != "old":
        out.line(f"if ({b}) free({b});" if rng.random() < 0.3 else f"free({b});")
    out.line(f"free({r});")
    if home != "local":
        out.line(f"{b} = NULL; {r} = NULL;")
    return out.done(name)


def _declared(out: Text, home: str, name: str) -> tuple[str, str]:
    """The two pointers as the functions name them."""
    out.line(f"static int {name}_room;")
    if home == "static":
        out.line(f"static double *{name}_b, *{name}_r;")
        return f"{name}_b", f"{name}_r"
    if home == "local":
        return "b", "r"
    out.line(f"static struct {name}_box {{ double *b; int n; double *r; }} {name}_x;")
    return ("x->b", "x->r") if home == "pointer" else (f"{name}_x.b", f"{name}_x.r")


def _made(out: Text, b: str, count: str, clear: bool) -> None:
    out.line(f"free({b});")
    out.line(f"{b} = malloc({count} * sizeof(double));")
    if clear:
        out.line(f"memset({b}, 0, {count} * sizeof(double));")


def _provided(rng: random.Random, out: Text, form: str, fault: str, name: str, b: str, most: str, clear: bool) -> None:
    """The lines that see to it that there is room for n elements."""
    if form == "helper":
        out.line(f"{name}_provide(n);")
        return
    if form in ("lazy", "ends"):
        size = f"({most} + 20 - t)" if fault == "least" else most
        out.open(f"if ({rng.choice((f'!{b}', f'{b} == NULL', f'NULL == {b}'))})")
        if fault == "zeros":
            out.line(f"{b} = calloc({size}, sizeof(double));")
        else:
            out.line(f"{b} = malloc({size} * sizeof(double));")
        if form == "ends":
            out.line(f"if (!{b}) MPI_Abort(MPI_COMM_WORLD, 1);")
        if clear and fault not in ("zeros", "least"):
            out.line(f"memset({b}, 0, {size} * sizeof(double));")
        if fault == "count":
            out.line("total += 5;")
        out.close()
        if fault == "least":
            out.line(f"for (int i = 0; i < {most} + 20; i++) {b}[i] = i;")
        return
    also = f"!{b} || " if fault == "or" else ""
    out.open(f"if ({also}n > {name}_room)")
    if form == "first":
        out.line(f"{name}_room = n + {rng.choice((0, 4))};")
    size = f"{name}_room" if form == "first" else "n"
    if fault != "old":
        out.line(f"free({b});")
    out.line(f"{b} = malloc({size} * sizeof(double));")
    if clear:
        out.line(f"memset({b}, 0, {size} * sizeof(double));")
    if form != "first":
        out.line(f"{name}_room = n;")
    if fault == "or":
        out.line("total += 7;")
    out.close()
    if fault == "same":
        out.line(f"else total += {b}[2];")
