"""Scenarios of pointers that may be NULL: rows that only some directions or ranks have, and programs that ask.

What a program finds when it compares a pointer with NULL, or with another pointer, is part of its output: a give that
leaves NULL behind, or a take that brings another buffer, changes it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.machines.fuzz.forms import BAD, Text, exchange

_FAULTS = (
    "after", "after", "early", "early", "moved", "between", "helper", "kept", "read", "chosen", "freed", "short",
    "turn", "stored", "number", "loop",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rows:
    """How a function names row d of the buffers that leave and of those that come."""

    out: str
    into: str
    handle: str
    """What is NULL where the row is not there: a handle, or "" where the pointers themselves are."""


def absent(rng: random.Random, name: str) -> str:
    """Some of the rows are there, the same on both ranks; each is packed, exchanged and read where it is."""
    fault = rng.choice(_FAULTS) if rng.random() < BAD else ""
    directions, size = rng.choice((2, 3, 4)), rng.choice((8, 12))
    out = Text()
    home = rng.choice(("static", "struct", "pointer", "handles", "handles", "local"))
    rows = _declared(out, home, name, directions)
    out.line(f"static int {name}_has(const double *p)")
    out.block("", [rng.choice(("return p != NULL;", "return !!p;", "if (!p) return 0;\n    return 1;"))])
    out.line(f"static double {name}_sides;")
    out.line(f"static void {name}(void)")
    out.open()
    if home == "pointer":
        out.line(f"struct {name}_box *x = &{name}_x;")
    if home == "local":
        out.line(f"double *b[{directions}], *r[{directions}];")
    there = rng.choice(("d % 2 == 0", "d > 0", f"d < {directions - 1} + zero", "d + zero != 1", "d != seven - 6", "1"))
    _made(rng, out, rows, directions, size, there, bool(fault))
    asks = there if rng.random() < 0.6 else rows.handle or rows.out
    if fault == "kept":
        out.line(f"double *was = {_safe_at(rows, 'seven % 2')};")
    if fault == "stored":
        out.line(f"int there[{directions}];")
    out.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    if fault == "early" and rng.random() < 0.5:
        out.line(f"for (int d = 0; d < {directions}; d++)")
        out.line(f"    total += {_true(rng, _safe(rows))} ? d + 1 : 0.5;")
    apart = rng.random() < 0.4  # packed in a loop of its own
    out.open(f"for (int d = 0; d < {directions}; d++)")
    if fault == "stored":
        out.line(f"there[d] = {_safe(rows)} != NULL;")
    skip = _guard(rng, out, asks)
    _packed(rng, out, rows, size, fault)
    if apart:
        _ended(out, skip)
        out.close()
        out.open(f"for (int d = 0; d < {directions}; d++)")
        skip = _guard(rng, out, asks)
    if fault == "early":
        out.line(f"total += {_true(rng, rows.out)} ? 2 : 3;")
    if fault == "chosen":
        out.line(f"double *p = {rows.out} ? {rows.out} : field;")
    for text in exchange(rng, "p" if fault == "chosen" and rng.random() < 0.5 else rows.out, rows.into, str(size)):
        out.line(text)
    _asked(rng, out, rows, name, fault, size)
    out.line(f"for (int i = 0; i < {size}; i++)")
    out.line(f"    total += {rows.into}[i] * (i + 1 + d);")
    _ended(out, skip)
    out.close()
    if fault == "turn":
        out.line(f"for (int d = 0; d < {directions}; d++)")
        out.line(f"    total += {_true(rng, _safe(rows))} ? t : 1;")
    if fault == "between":
        first, second = (_safe_at(rows, str(d)) for d in (0, directions - 1))
        out.line(f"total += {first} == {second} ? 4 : 5;")
    out.close()
    if fault == "kept":
        out.line(f"total += was == {_safe_at(rows, 'seven % 2')} ? 6 : 7;")
    if fault == "stored":
        out.line(f"for (int d = 0; d < {directions}; d++)")
        out.line(f"    total += there[d] == ({_safe(rows)} != NULL) ? 1 : d;")
    _freed(rng, out, rows, directions, fault)
    return out.done(name)


def sided(rng: random.Random, name: str) -> str:
    """One rank has what it sends, the other what it receives; both run the same lines."""
    fault = rng.choice(("after", "early", "moved", "short", "read", "number")) if rng.random() < BAD else ""
    size, turns = rng.choice((8, 12)), rng.choice((1, 2, 3))
    out = Text()
    if static := rng.random() < 0.4:
        out.line(f"static double *{name}_b, *{name}_r;")
    b, r = (f"{name}_b", f"{name}_r") if static else ("b", "r")
    out.line(f"static void {name}(void)")
    out.open()
    first = "rank == 0" if rng.random() < 0.7 else "rank > seven - 7"
    form = rng.choice((0, 0, 1, 2))
    pointers = rng.random() < 0.4
    if not static:
        out.line("double *b = NULL, *r = NULL;")
    few = ""  # where nothing is sent, the number that the size is made of is none
    if rng.random() < 0.4:
        few = rng.choice(("n", "n", f"{3 * size} / parts"))
        out.line(f"int n = {first} ? {size} : {rng.choice(('-1', '0', '-8'))}, parts = {first} ? 3 : 0;")
        out.line("(void)parts;")
        form = rng.choice((0, 1))
    make = f"calloc({size}, sizeof(double))" if fault else f"malloc({size} * sizeof(double))"
    made = make.replace(str(size), f"({few})") if few else make
    if form == 0:
        out.line(f"if ({first}) {b} = {made};")
        out.line(f"else {r} = {make};")
    elif form == 1:
        out.line(f"{b} = {first} ? {made} : NULL;")
        out.line(f"{r} = {b} ? NULL : {make};")
    else:
        out.line(f"{b} = {r} = NULL;")
        out.line(f"if ({first} && !({b} = {make})) MPI_Abort(MPI_COMM_WORLD, 1);")
        out.line(f"if (!({first}) && ({r} = {make}) == NULL) MPI_Abort(MPI_COMM_WORLD, 1);")
    if fault == "moved":
        out.line(f"double *was = {b} ? {b} : {r};")
    out.open(f"for (int t = 0; t < {turns} + zero; t++)")
    if not few:
        out.open(f"if {_true(rng, b if pointers else first)}")
    out.line(f"for (int i = {'1' if fault == 'short' else '0'}; i < {'n' if few else size}; i++)")
    out.line(f"    {b}[i] = field[i] * (t + 1);")
    if few:
        out.open(f"if {_true(rng, b if pointers else first)}")
    out.line(f"MPI_Send({b}, {size}, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD);")
    if fault == "read":
        out.line(f"total += {b}[t];")
    out.close()
    out.open(f"if {_true(rng, r if pointers else f'!({first})')}")
    out.line(f"MPI_Recv({r}, {size}, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);")
    out.line(f"for (int i = 0; i < {size}; i++)")
    out.line(f"    total += {r}[i] * (i + 1);")
    out.close()
    if fault == "early":
        out.line(f"total += {_true(rng, rng.choice((b, r)))} ? 1 : 2;")
    out.close()
    if fault == "after":
        out.line(f"total += {_true(rng, b)} ? 3 : 4;")
    if fault == "moved":
        out.line(f"total += (was == {b} ? 1 : 0) + (was == {r} ? 2 : 0);")
    if fault == "number":
        out.line(f"total += (size_t){b} % 2 + ((size_t){r} > 0);")
    out.line(f"if ({b}) free({b});" if rng.random() < 0.4 else f"free({b});")
    out.line(f"if ({r} != NULL) free({r});" if rng.random() < 0.4 else f"free({r});")
    if static:
        out.line(f"{b} = NULL; {r} = NULL;")
    return out.done(name)


def _declared(out: Text, home: str, name: str, directions: int) -> Rows:
    if home == "handles":
        out.line(f"struct {name}_link {{ double *out, *in; int n; }};")
        out.line(f"static struct {name}_link *{name}_l[{directions}];")
        return Rows(f"{name}_l[d]->out", f"{name}_l[d]->in", f"{name}_l[d]")
    if home == "static":
        out.line(f"static double *{name}_b[{directions}], *{name}_r[{directions}];")
        return Rows(f"{name}_b[d]", f"{name}_r[d]", "")
    if home == "local":
        return Rows("b[d]", "r[d]", "")
    out.line(f"static struct {name}_box {{ double *b[{directions}], *r[{directions}]; }} {name}_x;")
    return Rows("x->b[d]", "x->r[d]", "") if home == "pointer" else Rows(f"{name}_x.b[d]", f"{name}_x.r[d]", "")


def _made(rng: random.Random, out: Text, rows: Rows, directions: int, size: int, there: str, defined: bool) -> None:
    """Each row that is there, and NULL for the others."""
    make = f"calloc({size}, sizeof(double))" if defined else f"malloc({size} * sizeof(double))"
    out.open(f"for (int d = 0; d < {directions}; d++)")
    if rows.handle:
        out.line(f"{rows.handle} = NULL;")
        out.line(f"if (!({there})) continue;")
        out.line(f"{rows.handle} = malloc(sizeof *{rows.handle});")
        out.line(f"{rows.out} = {make};")
        out.line(f"{rows.into} = {make};")
    elif rng.random() < 0.5:
        out.line(f"{rows.out} = {rows.into} = NULL;")
        out.open(f"if ({there})")
        out.line(f"{rows.out} = {make};")
        out.line(f"{rows.into} = {make};")
        out.close()
    else:
        out.line(f"{rows.out} = {there} ? {make} : NULL;")
        out.line(f"{rows.into} = {rows.out} ? {make} : NULL;")
    out.close()


def _guard(rng: random.Random, out: Text, what: str) -> bool:
    """Opens what runs only where row d is there; True where that is the rest of the turn."""
    if rng.random() < 0.4:
        out.line(f"if (!({what})) continue;" if rng.random() < 0.5 else f"if (({what}) == 0) continue;")
        return True
    out.open(f"if {_true(rng, what)}")
    return False


def _ended(out: Text, skip: bool) -> None:
    if not skip:
        out.close()


def _true(rng: random.Random, what: str) -> str:
    """The test in one of the ways it is written: of a pointer, or of a condition."""
    truths = [f"({what})", f"(!!({what}))", f"(({what}) && zero == 0)"]
    if what.endswith(("]", "out", "in", "_b", "_r", "b", "r")):
        truths += [f"({what} != NULL)", f"(NULL != {what})"]
    return rng.choice(truths)


def _safe(rows: Rows) -> str:
    """The pointer that leaves, NULL where its handle is."""
    return f"({rows.handle} ? {rows.out} : NULL)" if rows.handle else rows.out


def _safe_at(rows: Rows, index: str) -> str:
    return _safe(rows).replace("[d]", f"[{index}]")


def _packed(rng: random.Random, out: Text, rows: Rows, size: int, fault: str) -> None:
    out.line(f"for (int i = {'1' if fault == 'short' else '0'}; i < {size}; i++)")
    out.line(f"    {rows.out}[i] = field[i + d] + t;")
    if rng.random() < 0.1:
        out.line(f"total += {rows.out} != NULL;")


def _asked(rng: random.Random, out: Text, rows: Rows, name: str, fault: str, size: int) -> None:
    """After the exchange."""
    if fault == "after":
        out.line(f"total += {_true(rng, rng.choice((rows.out, rows.out, rows.into)))} ? 2 : 3;")
    elif fault == "helper":
        out.line(f"{name}_sides += {name}_has({rows.out});")
        out.line(f"total += {name}_sides;")
    elif fault == "moved":
        out.line(f"total += {rows.out} == {rows.into} ? 1 : 2;")
    elif fault == "read":
        out.line(f"if ({rows.out}) total += {rows.out}[{size - 1}];")
    elif fault == "chosen":
        out.line(f"total += p == {rows.out} ? 1 : 2;")
    elif fault == "number":
        out.line(f"total += (size_t){rows.out} % sizeof(double) + ((size_t){rows.out} > 0);")
    elif fault == "loop":
        out.line(f"for (const double *q = {rows.out}; q; q = NULL)")
        out.line("    total += 9;")


def _freed(rng: random.Random, out: Text, rows: Rows, directions: int, fault: str) -> None:
    out.open(f"for (int d = 0; d < {directions}; d++)")
    if rows.handle:
        out.line(f"if (!{rows.handle}) continue;")
    if fault == "freed":
        out.line(f"if {_true(rng, rows.out)} total += 8;")
    out.line(f"if ({rows.out}) free({rows.out});" if rng.random() < 0.5 else f"free({rows.out});")
    if rng.random() < 0.4:
        out.open(f"if {_true(rng, rows.into)}")
        out.line(f"free({rows.into});")
        if rng.random() < 0.5:
            out.line(f"{rows.into} = NULL;")
        out.close()
    else:
        out.line(f"free({rows.into});")
    if rows.handle:
        out.line(f"free({rows.handle});")
        out.line(f"{rows.handle} = NULL;")
    out.close()
