"""Scenarios of names: several structs after the same functions, and second names of a buffer."""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text, exchange


def twins(rng: random.Random, name: str) -> str:
    """Two or three structs with buffers, all made, packed, exchanged and freed by the same functions."""
    bad = rng.random() < BAD
    fault = rng.choice(("either", "once", "short", "later", "shared", "swapped", "copied", "zeros")) if bad else ""
    sizes = [rng.choice((8, 12, 40)) for _ in range(rng.choice((2, 2, 3)))]
    if fault in ("shared", "swapped", "copied", "either"):
        sizes = [sizes[0]] * len(sizes)
    out = Text()
    out.line(f"struct {name}_box {{")
    out.line(rng.choice(("    int n;", "    double first;\n    int n, more;")))
    out.line("    double *out, *in;")
    out.line("};")
    box = f"struct {name}_box"
    heap = rng.random() < 0.35
    clear = "calloc(n, sizeof(double))" if fault else "malloc(n * sizeof(double))"
    lines = ["b->n = n;", f"b->out = {clear};", f"b->in = {clear};"]
    if heap:
        out.line(f"static {box} *{name}_make(int n)")
        out.block("", [f"{box} *b = malloc(sizeof *b);", *lines, "return b;"])
    else:
        out.line(f"static void {name}_make({box} *b, int n)")
        out.block("", lines)
    out.line(f"static void {name}_end({box} *b)")
    out.block("", ["free(b->out);", "free(b->in);", *(["free(b);"] if heap else [])])
    guard = "if (t == 0) " if fault == "once" else ""
    first = "1" if fault == "short" else "0"
    pack = [f"{guard}for (int i = {first}; i < b->n; i++)", "    b->out[i] = field[i] * (t + 1);"]
    swap = exchange(rng, "b->out", "b->in", "b->n")
    read = ["for (int i = 0; i < b->n; i++)", "    total += b->in[i] * (i + 1);"]
    whole = rng.random() < 0.5
    if whole:
        out.line(f"static void {name}_all({box} *b, int t)")
        out.block("", [*pack, *swap, *read])
    else:
        for part, text in (("pack", pack), ("swap", swap), ("read", read)):
            out.line(f"static void {name}_{part}({box} *b, int t)")
            out.block("", [*text, "(void)t;"])
    static = not heap and rng.random() < 0.5
    boxes = [f"{name}_{c}" for c in "abc"[: len(sizes)]]
    if static:
        out.line(f"static {box} {', '.join(boxes)};")
    out.line(f"static void {name}(void)")
    out.open()
    if not heap and not static:
        out.line(f"{box} {', '.join(boxes)};")
    for one, size in zip(boxes, sizes, strict=True):
        out.line(f"{box} *{one} = {name}_make({size});" if heap else f"{name}_make(&{one}, {size});")
    named = [one if heap else f"&{one}" for one in boxes]
    fields = [f"{one}->" if heap else f"{one}." for one in boxes]
    a, b = fields[0], fields[1]
    if fault == "shared":
        out.line(f"free({b}out);")
        out.line(f"{b}out = {a}out;")
    if fault == "copied":
        held = f"*{boxes[0]}" if heap else boxes[0]
        other = f"*{boxes[1]}" if heap else boxes[1]
        out.line(f"{box} {name}_kept = {held};")
        out.line(f"{held} = {other};")
        out.line(f"{other} = {name}_kept;")
    out.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    order = list(named)
    if rng.random() < 0.3:
        rng.shuffle(order)
    for one in order:
        target = f"(t % 2 ? {order[0]} : {one})" if fault == "either" else one
        if whole:
            out.line(f"{name}_all({target}, t);")
    if not whole:
        skipped = rng.randrange(len(order)) if fault == "once" else -1
        for part in ("pack", "swap", "read"):
            for i, one in enumerate(order):
                if not (part == "pack" and i == skipped):
                    target = f"(t % 2 ? {order[0]} : {one})" if fault == "either" else one
                    out.line(f"{name}_{part}({target}, t);")
    if fault == "later":
        out.line(f"total += {rng.choice(fields)}out[{min(sizes) - 1}];")
    if fault == "swapped":
        out.line(f"double *{name}_was = {a}out;")
        out.line(f"{a}out = {b}out;")
        out.line(f"{b}out = {name}_was;")
    if rng.random() < 0.2:
        out.line(f"total += {rng.choice(fields)}n;")
    out.close()
    if fault == "zeros":
        out.line(f"total += {b}out[0];")
    for i, one in enumerate(named):
        if fault == "shared" and i == 1:
            out.line(f"{b}out = NULL;")
        out.line(f"{name}_end({one});")
    return out.done(name)


def second(rng: random.Random, name: str) -> str:
    """A buffer that is packed or unpacked through a pointer set from it: another name of it, or not quite."""
    size = rng.choice((10, 32))
    bad = rng.random() < BAD
    faults = ("inside", "walks", "either", "static", "outer", "moved", "late", "compared", "addressed")
    fault = rng.choice(faults) if bad else ""
    out = Text()
    kind = rng.choice(("static", "local", "malloc", "bytes"))
    s, r, p, q = (f"{name}_{c}" for c in ("s", "r", "p", "q"))
    element = "char" if kind == "bytes" else "double"
    count = f"{size} * sizeof(double)" if kind == "bytes" else str(size)
    if kind in ("static", "bytes"):
        align = " __attribute__((aligned(16)))" if kind == "bytes" else ""
        out.line(f"static {element} {s}[{count}]{align}, {r}[{count}]{align};")
    out.line(f"static void {name}(void)")
    out.open()
    if kind == "local":
        out.line(f"double {s}[{size}], {r}[{size}];")
    elif kind == "malloc":
        out.line(f"double *{s} = malloc({size} * sizeof(double)), *{r} = malloc({size} * sizeof(double));")
    if bad:
        out.line(f"memset({s}, 0, {size} * sizeof(double));")
        out.line(f"memset({r}, 0, {size} * sizeof(double));")
    cast = "(double *)" if kind == "bytes" else rng.choice(("", "", "(double *)"))
    setting = [f"double *{p} = {cast}{s};", f"double *{q} = {cast}{r};"]
    if rng.random() < 0.2:
        setting = [f"double *{p}, *{q};", f"{p} = {cast}{s};", f"{q} = {cast}{r};"]
    if fault == "inside":
        setting[-1] = f"double *{q} = (double *){r} + 2;" if len(setting) == 2 else f"{q} = (double *){r} + 2;"
    if fault == "either":
        setting += [f"double {name}_t[{size}];", f"fill({name}_t, {size}, 3);", f"if (zero) {q} = {name}_t;"]
    if fault == "addressed":
        setting.append(f"double **{name}_w = &{q};")
    inner = rng.random() < 0.4 and fault != "outer"
    if not inner:
        for text in setting:
            out.line(text)
    if fault == "outer":
        out.line(f"double *{name}_o = {p};")
    out.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    if inner:
        for text in setting:
            out.line(text)
    packed = rng.choice((p, p, f"((double *){s})"))
    out.line(f"for (int i = 0; i < {size}; i++)")
    out.line(f"    {packed}[i] = field[i] + t;")
    if fault == "static":
        out.line(f"static double *{name}_k;")
        out.line(f"if (t == 0) {name}_k = (double *){r};")
    lines = exchange(rng, s, r, f"{size}")
    for text in lines:
        out.line(text)
    unpacked = rng.choice((q, q, f"((double *){r})"))
    if fault == "inside":
        out.line(f"for (int i = 2; i < {size}; i++)")
        out.line(f"    total += {q}[i - 2] * (i + 1);")
    elif fault == "walks":
        out.line(f"for (int i = 0; i < {size}; i++)")
        out.line(f"    total += *{q}++ * (i + 1);")
        out.line(f"{q} -= {size};")
    elif fault == "addressed":
        out.line(f"for (int i = 0; i < {size}; i++)")
        out.line(f"    total += (*{name}_w)[i] * (i + 1);")
    else:
        out.line(f"for (int i = 0; i < {size}; i++)")
        out.line(f"    total += {unpacked}[i] * (i + 1);")
    if fault == "static":
        out.line(f"total += {name}_k[1];")
    if fault == "late":
        out.line(f"total += {p}[{size - 1}];")
    if fault == "compared":
        out.line(f"total += {p} == (double *){s} ? 1 : 2;")
    if fault == "outer":
        out.line(f"total += {name}_o[0];")
    if fault == "moved" and kind == "malloc":
        out.line(f"if (t == 0) {{ double *{name}_m = malloc({size} * sizeof(double));")
        out.line(f"    fill({name}_m, {size}, 1); {s} = {name}_m; }}")
        out.line(f"total += {p}[0];")
    out.close()
    if kind == "malloc":
        out.line(f"free({r});")
        if fault != "moved":
            out.line(f"free({s});")
    return out.done(name)
