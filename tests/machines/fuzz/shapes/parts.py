"""Scenarios of buffers in parts: each part a message, packed and read in random ways, or something that spans two."""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text, exchange

FAULTS = (
    "whole_read", "whole_pack", "short", "after", "neighbour", "shifted", "stale", "resized", "difference", "compared",
    "twice", "crossed", "stored", "walks", "second", "grown", "either", "skipped",
)  # fmt: skip


def divided(rng: random.Random, name: str) -> str:
    """One object whose parts of one size are messages, by a loop over the parts or by constants."""
    fault = rng.choice(FAULTS) if rng.random() < BAD else ""
    count, size = rng.choice((2, 2, 3, 4)), rng.choice((6, 10, 24))
    out = Text()
    s, r, m = f"{name}_s", f"{name}_r", f"{name}_m"
    wide = rng.choice((m, m, str(size)))
    homes = {b: rng.choice(("array", "outside", "file", "local", "local", "inner")) for b in (s, r)}
    if fault in ("stale", "crossed"):
        homes[r] = rng.choice(("file", "local"))
    if {"array", "outside"} & set(homes.values()) and rng.random() < 0.8:
        wide = str(size)
    turns = rng.choice((1, 2, 3))
    for b, home in homes.items():
        if home == "array":
            extent = rng.choice((f"{count} * {size}", f"{size} * {count}", str(count * size)))
            out.line(f"static double {b}[{extent}];")
        elif home == "file":
            out.line(f"static double *{b};")
    helped = rng.random() < 0.3
    if helped:
        out.line(f"static void {name}_pack(double *to, int n, double by)")
        past = "n + 1" if fault == "neighbour" else "n"
        inside = ["for (int i = 0; i < n; i++)", "    to[i] = field[i] * by;"]
        if fault == "neighbour":
            inside = [*inside, f"if (by < 0) to[{past} - 1] = by;"]
        out.block("", inside)
    out.line(f"static void {name}(void)")
    out.open()
    out.line(f"{rng.choice(('int', 'int', 'const int', 'size_t'))} {m} = {size} + zero;")
    if fault == "resized":
        out.lines[-1] = f"    int {m} = {size} + zero;"

    def make(b: str) -> str:
        zeroed = bool(fault) or rng.random() < 0.3
        if zeroed:
            return rng.choice(
                (f"calloc({count} * {wide}, sizeof(double))", f"calloc({wide}, {count} * sizeof(double))")
            )
        return rng.choice(
            (
                f"malloc({count} * {wide} * sizeof(double))",
                f"malloc(sizeof(double) * {wide} * {count})",
                f"(double *)malloc((size_t){count} * {wide} * sizeof *{b})",
            )
        )

    for b, home in homes.items():
        if home == "outside":
            out.line(f"double {b}[{count} * {size}];")
            if fault:
                for d in range(count):
                    out.line(f"fill({b} + {d * size}, {size}, 0);")
        elif home == "file":
            out.line(f"{b} = {make(b)};")
        elif home == "local":
            if rng.random() < 0.3:
                out.line(f"double *{b};")
                out.line(f"{b} = {make(b)};")
            else:
                out.line(f"double *{b} = {make(b)};")
            if rng.random() < 0.2:
                out.line(f"if ({rng.choice((f'!{b}', f'{b} == NULL'))}) return;")
    if fault == "resized":
        out.line(f"{m} -= 1;")
    if fault == "stale":
        out.line(f"double *{name}_p = {r};")
    out.open(f"for (int t = 0; t < {turns} + zero; t++)")
    for b, home in homes.items():
        if home == "inner":
            out.line(f"double *{b} = {make(b)};")
    body(rng, out, name, (s, r, m), (count, size), wide, fault, helped)
    for b, home in homes.items():
        if home == "inner":
            out.line(f"free({b});")
    out.close()
    for b, home in homes.items():
        if home in ("file", "local"):
            out.line(rng.choice((f"free({b});", f"if ({b}) free({b});")))
            if home == "file" and rng.random() < 0.3:
                out.line(f"{b} = NULL;")
    return out.done(name)


def at(rng: random.Random, b: str, d: str, wide: str, inside: str = "") -> str:
    """A place in part ``d``, or an element of it."""
    start = rng.choice((f"{d} * {wide}", f"{wide} * {d}", f"({d}) * {wide}"))
    if inside:
        return rng.choice((f"{b}[{start} + {inside}]", f"{b}[{inside} + {start}]", f"*({b} + {start} + {inside})"))
    return rng.choice((f"{b} + {start}", f"&{b}[{start}]"))


def body(
    rng: random.Random,
    out: Text,
    name: str,
    names: tuple[str, str, str],
    shape: tuple[int, int],
    wide: str,
    fault: str,
    helped: bool,
) -> None:
    """One turn."""
    s, r, m = names
    count, size = shape
    looped = rng.random() < 0.6
    together = rng.random() < 0.4
    parts = ["d"] if looped else [str(d) for d in range(count)]
    if looped and not together:
        out.open(f"for (int d = 0; d < {count}; d++)")
    if fault == "stored":
        out.line(f"double *{name}_k[{count}] = {{{', '.join(f'{s} + {d} * {wide}' for d in range(count))}}};")
    if fault == "compared":
        out.line(f"total += {s} + {wide} > {s} ? 1 : 2;")
    if fault == "whole_pack":
        out.line(f"for (int i = 0; i < {count} * {size}; i++)")
        out.line(f"    {s}[i] = field[i] + t;")

    def over(action: list[tuple[str, str]]) -> None:
        if looped and together:
            out.open(f"for (int d = 0; d < {count}; d++)")
        for d in parts:
            for kind, text in action:
                step(kind, text, d)
        if looped and together:
            out.close()

    def step(kind: str, text: str, d: str) -> None:
        if kind == "pack":
            pack(d)
        elif kind == "swap":
            where = at(rng, r, d, wide)
            if fault == "crossed" and rng.random() < 0.5:
                where = at(rng, r, f"({count} - 1 - {d})", wide)
            lines = exchange(rng, at(rng, s, d, wide), where, wide if wide != m else f"(int){m}")
            if fault == "twice" and rng.random() < 0.5:
                lines = [*lines, *exchange(rng, at(rng, s, d, wide), at(rng, r, d, wide), str(size - 1))]
            for line in lines:
                out.line(line)
            if fault == "after" and rng.random() < 0.7:
                out.line(f"total += {s}[{rng.randrange(count * size - 1)}];")
        else:
            read(d)

    def pack(d: str) -> None:
        guard = f"if (t == 0 || {d} != 0) " if fault == "skipped" else ""
        first = "1" if fault == "short" else "0"
        value = f"field[i] * (t + 1) + {d}"
        turns = f"for (int i = {first}; i < (int){wide}; i++)"
        way = rng.randrange(7)
        if fault == "stored":
            out.line(f"for (int i = 0; i < {size} - 1; i++) {name}_k[{d}][i] = {value};")
        elif fault == "either":
            out.line(f"{{ double *e = t % 2 ? {at(rng, s, d, wide)} : {s};")
            out.line(f"    for (int i = 0; i < {size} - 1; i++) e[i] = {value}; }}")
        elif fault == "shifted":
            out.line(f"for (int i = 0; i < {size} - 1; i++) {at(rng, s, d, wide, 'i + 1')} = {value};")
        elif fault == "second" and way < 4:
            out.line(f"{{ double *e = {at(rng, s, d, wide)}, *f = e;")
            out.line(f"    for (int i = 0; i < {size} - 1; i++) *f++ = {value}; }}")
        elif fault == "walks":
            out.line(f"{{ double *e = {s}; for (int k = 0; k < {d}; k++) e += {wide};")
            out.line(f"    for (int i = 0; i < {size}; i++) e[i] = {value}; }}")
        elif helped:
            out.line(f"{guard}{name}_pack({at(rng, s, d, wide)}, {wide}, t + {d} + 1.5);")
        elif way == 0:
            out.line(f"{guard}fill({at(rng, s, d, wide)}, {wide}, t + {d});")
        elif way == 1:
            out.line(f"{guard}memcpy({at(rng, s, d, wide)}, field + {d}, {wide} * sizeof(double));")
        elif way == 2:
            out.line(f"{{ double *e = {at(rng, s, d, wide)}; {turns} *e++ = {value}; }}")
        elif way == 3:
            out.line(f"{{ double *e = {at(rng, s, d, wide)}; {turns} e[i] = {value}; }}")
        else:
            step_ = "" if rng.random() < 0.7 else " + 0 * t"
            out.line(f"{guard}{turns} {at(rng, s, d, wide, 'i')} = {value}{step_};")
        if fault == "neighbour":
            here, there = at(rng, s, d, wide, "i"), at(rng, s, d, wide, "i + 1")
            out.line(f"for (int i = 0; i + 1 < {size}; i++) {here} += {there};")
            if rng.random() < 0.5:
                out.line(f"{at(rng, s, '0', wide, f'{size} - 1')} += {s}[{size}];")

    def read(d: str) -> None:
        way = rng.randrange(5)
        if fault == "stale":
            out.line(f"for (int i = 0; i < {size} - 1; i++) total += {name}_p[i] * (i + 1);")
            out.line(f"{name}_p = {at(rng, r, d, wide)};")
        elif way == 0:
            out.line(f"total += sum({at(rng, r, d, wide)}, {wide});")
        elif way == 1:
            out.line(f"for (int i = 0; i < (int){wide}; i++) total += {at(rng, r, d, wide, 'i')} * i;")
        elif way == 2:
            out.line(f"{{ const double *e = {at(rng, r, d, wide)};")
            out.line(f"    for (int i = 0; i < (int){wide}; i++) total += *e++ * i; }}")
        elif way == 3:
            out.line(f"memcpy(field + {d}, {at(rng, r, d, wide)}, {wide} * sizeof(double));")
        else:
            out.line(f"if (t != 1) total += {at(rng, r, d, wide, '1')};")
        if fault == "difference":
            out.line(f"total += (double)(({at(rng, r, d, wide)}) - {r});")

    if fault == "grown":
        out.line(f"int {name}_g = {count} + zero;")
        out.line(f"for (int d = 0; d < {name}_g; d++)")
        out.line(f"    {at(rng, s, 'd', wide, '1')} = t;")
    if together:
        over([("pack", "")])
        over([("swap", "")])
        over([("read", "")])
    else:
        over([("pack", ""), ("swap", ""), ("read", "")])
    if looped and not together:
        out.close()
    if fault == "whole_read":
        out.line(f"total += sum({rng.choice((s, r))}, {count * size - 1});")
