"""Functions that do one thing or another, as an argument says: a number where they are called, most of the time."""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text, storage

PACK, SWAP, UNPACK, LOOK = range(4)


def modes(rng: random.Random, name: str) -> str:
    """Packing, exchange, unpacking and a look at what was sent share a function; a faulty program does look, or comes
    to the code that looks by a way that the argument does not show."""
    fault = rng.choice(("look", "changed", "address", "through", "jump", "computed")) if rng.random() < BAD else ""
    size = rng.choice((6, 19))
    out = Text()
    send = storage(rng, out, f"{name}_s", "double", size + 2, bool(fault))
    recv = storage(rng, out, f"{name}_r", "double", size + 2, bool(fault))
    numbers = rng.sample(range(9), 4)
    s, r = "s", "r"
    kind = rng.choice(("int", "unsigned", "unsigned char", "long", "const int"))
    if fault in ("changed", "address"):
        kind = "int"
    if fault == "address":
        out.line(f"static void {name}_turn(int *mode) {{ *mode = {numbers[LOOK]}; }}")
    out.line(f"static void {name}_do({kind} mode, double *{s}, double *{r}, int t)")
    out.open()
    bodies = {
        PACK: [f"for (int i = 0; i < {size}; i++)", f"    {s}[i] = field[i] * (t + 1);"],
        SWAP: [
            f"MPI_Sendrecv({s}, {size}, MPI_DOUBLE, peer, 3, {r}, {size}, MPI_DOUBLE, peer, 3,",
            "    MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        ],
        UNPACK: [f"for (int i = 0; i < {size}; i++)", f"    total += {r}[i] * (i + 2);"],
        LOOK: [f"total += {s}[{rng.randrange(size)}] + sizeof(*{s});"],
    }
    if fault == "changed":
        bodies[SWAP].append(f"if (t == 1) mode = {numbers[LOOK]};")
    elif fault == "address":
        bodies[SWAP].append(f"{name}_turn(&mode);")
    elif fault == "jump":
        bodies[SWAP].append("if (t >= 1) goto look;")
        bodies[LOOK].insert(0, "look:")
    order = [PACK, SWAP, UNPACK, LOOK]
    if rng.random() < 0.5 and not fault:
        order = rng.sample(order, 4)
    if fault not in ("changed", "address", "jump") and rng.random() < 0.5:
        out.open("switch (mode)")
        for mode in order:
            out.line(f"case {numbers[mode]}:")
            for line in bodies[mode]:
                out.line("    " + line)
            falls = fault == "through" and mode in (SWAP, UNPACK)
            out.line("    /* fall through */" if falls else "    break;")
        if rng.random() < 0.5:
            out.line("default: total += 1000;")
        out.close()
    else:
        other = fault not in ("changed", "address", "jump", "through") and rng.random() < 0.5
        for k, mode in enumerate(order):
            test = rng.choice(
                ("mode == {n}", "{n} == mode", "!(mode != {n})", "mode - {n} == 0", "mode == {n} && t >= 0")
            )
            if kind.startswith("unsigned"):
                test = "mode == {n}"
            test = test.replace("{n}", str(numbers[mode]))
            if fault == "through" and mode == LOOK:
                test += f" || mode == {numbers[UNPACK]}"
            out.open(("else " if other and k else "") + f"if ({test})")
            for line in bodies[mode]:
                out.line(line)
            out.close()
    out.close()
    relayed = rng.random() < 0.4
    if relayed:
        out.line(f"static void {name}_go(int mode, double *s, double *r, int t) {{ {name}_do(mode, s, r, t); }}")
    call = f"{name}_go" if relayed else f"{name}_do"
    out.line(f"static void {name}(void)")
    out.open()
    send.start(out)
    recv.start(out)
    out.open(f"for (int t = 0; t < {rng.choice((2, 3))} + zero; t++)")
    for mode in (PACK, SWAP, UNPACK):
        number = str(numbers[mode])
        if fault == "computed" and mode != SWAP:
            number = f"{number} + zero"
        out.line(f"{call}({number}, {send.place}, {recv.place}, t);")
        if fault == "look" and mode == SWAP:
            out.line(f"{call}({numbers[LOOK]}, {send.place}, {recv.place}, t);")
        if fault == "computed" and mode == SWAP:
            out.line(f"{call}({numbers[LOOK]} + 2 * zero, {send.place}, {recv.place}, t);")
    out.close()
    send.stop(out)
    recv.stop(out)
    return out.done(name)
