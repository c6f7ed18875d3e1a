"""Scenarios of two buffers whose pointers change places."""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text

_FAULTS = (
    "after", "way", "twice", "hole", "short", "name", "pending", "size", "null", "stored", "zeros", "held", "kept",
)  # fmt: skip


def exchanged(rng: random.Random, name: str) -> str:
    """What came is worked on and sent on, under the names that the last swap gave the buffers."""
    fault = rng.choice(_FAULTS) if rng.random() < BAD else ""
    home = rng.choice(("local", "static", "member", "pointer"))
    size = rng.choice((9, 17))
    repack = rng.random() < 0.4 or fault == "hole"  # what is sent is made anew in each turn
    out = Text()
    a, b = _declared(rng, out, home, name, size)
    by_call = rng.random() < 0.5 and home != "local"
    if by_call:
        out.block(
            f"static void {name}_swap(double **x, double **y)",
            ["double *t = *x;", "*x = *y;", "*y = t;"],
        )
    if fault == "stored":
        out.line(f"static double *{name}_seen[2];")
    out.line(f"static void {name}(void)")
    out.open()
    _made(rng, out, home, name, a, b, size, fault)
    if not repack and fault not in ("zeros", "hole"):
        out.line(f"for (int i = 0; i < {size}; i++) {a}[i] = field[i];")
    if fault == "short":
        out.line(f"{b}[{size - 1}] = 3;")
    if fault == "held":
        out.line("double *was = NULL;")
    out.line("MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};")
    out.open(f"for (int t = 0; t < {rng.choice((3, 4, 5))} + zero; t++)")
    first = rng.random() < 0.3 and not fault
    swapping = [f"{name}_swap(&{a}, &{b});"] if by_call else [f"double *t_ = {a};", f"{a} = {b};", f"{b} = t_;"]
    if first and repack:
        _swap(out, swapping, "")
    if repack:
        out.line(f"for (int i = {1 if fault == 'hole' else 0}; i < {size}; i++) {a}[i] = field[i] + t;")
    if fault == "name":
        out.line(f"double *old = {rng.choice((a, b))};")
    if fault == "stored":
        out.line(f"{name}_seen[0] = {b};")
    pending = _exchange(rng, out, a, b, size, fault)
    if rng.random() < 0.3:
        out.line(f"total += sum({b}, {size});")
    if not (first and repack):
        condition = ""
        if fault == "way" or (repack and not fault and rng.random() < 0.5):
            condition = rng.choice(("t % 2", "t == 1", "rank == 0", "seven == 7 && t"))
        _swap(out, swapping, condition)
        if fault == "twice":
            _swap(out, swapping, "")
        if rng.random() < 0.15 and not condition and fault != "twice":
            _swap(out, swapping, "")
            _swap(out, swapping, "")
    else:
        condition = "always"
    if pending:
        out.line(pending)
    _use(rng, out, a, b, size, fault, repack, bool(condition), name)
    out.close()
    if fault == "null":
        out.line(f"total += {a} != NULL; total += {b} ? 2 : 5;")
    frees = [f"free({a});", f"free({b});"]
    rng.shuffle(frees)
    for text in frees:
        out.line(text)
    if home != "local":
        out.line(f"{a} = NULL; {b} = NULL;")
    return out.done(name)


def _declared(rng: random.Random, out: Text, home: str, name: str, size: int) -> tuple[str, str]:
    """The two pointers as the function names them."""
    if home == "local":
        return "a", "b"
    if home == "static":
        out.line(f"static double *{name}_a, *{name}_b;")
        return f"{name}_a", f"{name}_b"
    out.line(f"static struct {name}_box {{ double *a; int n; double *b; }} {name}_x;")
    return ("x->a", "x->b") if home == "pointer" else (f"{name}_x.a", f"{name}_x.b")


def _made(rng: random.Random, out: Text, home: str, name: str, a: str, b: str, size: int, fault: str) -> None:
    if home == "local":
        out.line("double *a, *b;")
    if home == "pointer":
        out.line(f"struct {name}_box *x = &{name}_x;")
    clear = bool(fault) or rng.random() < 0.3
    for pointer in (a, b):
        count = f"{size} + 4" if fault == "size" and pointer == b else str(size)
        out.line(f"{pointer} = calloc({count}, sizeof(double));" if clear else f"{pointer} = malloc({count} * 8);")


def _exchange(rng: random.Random, out: Text, a: str, b: str, size: int, fault: str) -> str:
    """The messages; returns the line that completes them, where it is to stand after the swap."""
    count = f"{size} - 1" if fault == "short" else str(size)
    form = rng.choice(("sendrecv", "irecv", "both"))
    form = "irecv" if fault in ("pending", "kept") else form
    if form == "sendrecv":
        out.line(
            f"MPI_Sendrecv({a}, {count}, MPI_DOUBLE, peer, 3, {b}, {count}, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, "
            "MPI_STATUS_IGNORE);"
        )
        return ""
    out.line(f"MPI_Irecv({b}, {count}, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &q[0]);")
    if form == "both":
        out.line(f"MPI_Isend({a}, {count}, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &q[1]);")
    elif fault == "kept":
        out.line(f"MPI_Issend({a}, {count}, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &q[1]);")
    else:
        out.line(f"MPI_Send({a}, {count}, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD);")
    done = "MPI_Waitall(2, q, MPI_STATUSES_IGNORE);"
    if fault == "pending":
        return done
    out.line(done)
    return ""


def _swap(out: Text, swapping: list[str], condition: str) -> None:
    out.block(f"if ({condition})" if condition else "", swapping)


def _use(
    rng: random.Random, out: Text, a: str, b: str, size: int, fault: str, repack: bool, either: bool, name: str
) -> None:
    """What is read after the swap: ``either``: only what is surely there whichever buffer came."""
    if fault in ("after", "kept"):
        out.line(rng.choice((f"total += {b}[1];", f"total += sum({b}, {size});")))
    if fault == "name":
        out.line("total += old[2];")
    if fault == "stored":
        out.line(f"total += {name}_seen[0][1];")
    if fault == "held":
        out.line(f"total += was == {a} ? t : 7;")
        out.line(f"was = {a};")
    if fault == "size":
        out.line(f"{b}[{size - 1}] = t; total += {b}[{size - 1}];")
    if fault == "null" and rng.random() < 0.5:
        out.line(f"if ({b}) total += 2;")
    if fault in ("way", "twice") or (not either and rng.random() < 0.8):
        out.line(f"total += sum({a}, {size}) * (t + 1);")
    if not either and rng.random() < 0.5:
        out.line(f"for (int i = 0; i < {size}; i++) {a}[i] += field[i];")
    if rng.random() < 0.3 and not fault:
        out.line(f"for (int i = 0; i < {size}; i++) {b}[i] = t;")
        if rng.random() < 0.5:
            out.line(f"total += sum({b}, {size});")
