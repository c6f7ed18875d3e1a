"""Scenarios of messages as long as a product of sizes, packed and read by loops inside one another."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.machines.fuzz.forms import BAD, Text, exchange, storage

Body = Callable[[str, int], str]
"""What is done at a place, of a field."""

ROOM = 220
PACKING = ("first", "last", "wide", "odd", "left", "shifted")
READING = ("more", "shifted", "wide")


@dataclass(frozen=True, slots=True)
class Nest:
    """Loops, the outermost first, with one subscript; ``begin`` and ``after``: of a counter."""

    heads: tuple[str, ...]
    at: str
    begin: str = ""
    after: str = ""


def product(rng: random.Random, name: str) -> str:
    """Packed row by row, column by column or by a counter; one field or two; sizes from many places."""
    faulty = rng.random() < BAD
    pack = rng.choice(PACKING) if faulty and rng.random() < 0.5 else ""
    read = rng.choice(READING) if faulty and not pack else ""
    changed = faulty and rng.random() < 0.15
    values = [rng.choice((1, 2, 3, 4)) for _ in range(rng.choice((2, 2, 3)))]
    fields = rng.choice((1, 1, 2))
    out = Text()
    names = [f"n{i}" for i in range(len(values))]
    home = rng.choice(("local", "local", "global", "member", "parameter"))
    if home == "global":
        names = [f"{name}_{n}" for n in names]
        out.line(f"static int {', '.join(names)};")
    if home == "member":
        out.line(f"static struct {{ int {', '.join(names)}; }} {name}_g;")
        names = [f"{name}_g.{n}" for n in names]
    send = storage(rng, out, f"{name}_s", "double", ROOM, faulty)
    recv = storage(rng, out, f"{name}_r", "double", ROOM, faulty)
    given = [f"seven - {7 - v}" for v in values]
    if home == "parameter":
        out.line(f"static void {name}_run({', '.join(f'int {n}' for n in names)})")
    else:
        out.line(f"static void {name}(void)")
    out.open()
    if home != "parameter":
        for n, value in zip(names, given, strict=True):
            out.line(f"{'int ' if home == 'local' else ''}{n} = {value};")
    if rng.random() < 0.6:
        least = rng.choice((0, 1))
        out.line(f"if ({' || '.join(f'{n} < {least}' for n in names)})")
        out.line("    return;")
    send.start(out)
    recv.start(out)
    count = " * ".join([*(["2"] if fields == 2 else []), *rng.sample(names, len(names))])
    out.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    _loops(out, _nest(rng, names, pack), fields, names, lambda at, k: f"{send.place}[{at}] = field[a0 + a1] + t + {k};")
    for line in exchange(rng, send.place, recv.place, count):
        out.line(line)
    if changed:
        out.line(f"{names[0]}++;")
    nest = _nest(rng, names, read)
    _loops(out, nest, fields, names, lambda at, k: f"total += {recv.place}[{at}] * (a0 + {k + 1});")
    if changed:
        out.line(f"{names[0]}--;")
    out.close()
    send.stop(out)
    recv.stop(out)
    if home == "parameter":
        out.close()
        out.line(f"static void {name}(void)")
        out.open()
        out.line(f"{name}_run({', '.join(given)});")
    return out.done(name)


def _loops(out: Text, nest: Nest, fields: int, names: Sequence[str], body: Body) -> None:
    out.open()
    if nest.begin:
        out.line(nest.begin)
    for head in nest.heads[:-1]:
        out.line(head)
        out.depth += 1
    out.open(nest.heads[-1])
    out.line(body(nest.at, 0))
    if fields == 2:
        out.line(body(f"{nest.at} + {' * '.join(names)}", 1))
    if nest.after:
        out.line(nest.after)
    out.close()
    out.depth -= len(nest.heads) - 1
    out.close()


def _nest(rng: random.Random, names: Sequence[str], fault: str) -> Nest:
    which = rng.randrange(len(names)) if fault in ("first", "last", "more") else -1
    digits = [f"a{i}" for i in range(len(names))]
    heads = []
    for i, n in enumerate(names):
        a, less = f"a{i}", " - 1" if i == which and fault == "last" else ""
        if i == which and fault in ("first", "more"):
            first, stays = ("1", "<") if fault == "first" else ("0", "<=")
            heads.append(f"for (int {a} = {first}; {a} {stays} {n}; {a}++)")
            continue
        form = rng.randrange(5)
        if form == 0:
            heads.append(f"for (int {a} = {n}{less} - 1; {a} >= 0; {a}--)")
        elif form == 1:
            heads.append(f"for (int {a} = 1; {a} <= {n}{less}; {a}++)")
            digits[i] = f"({a} - 1)"
        else:
            heads.append(f"for (int {a} = 0; {a} < {n}{less}; {a}++)")
    wide = " + 1" if fault == "wide" else ""
    at = digits[0]
    for digit, n in zip(digits[1:], names[1:], strict=True):
        factor = f"({n}{wide})" if wide else n
        at = f"{at} * {factor} + {digit}" if at == digits[0] else f"({at}) * {factor} + {digit}"
    shifted = " + 1" if fault == "shifted" else ""
    begin = after = ""
    form = rng.randrange(4)
    if form == 0:
        rng.shuffle(heads)
    elif form == 1 and fault != "wide":
        begin, at, after = f"int p = {1 if shifted else 0};", "p", "p++;"
    at = at if at == "p" else f"{at}{shifted}"
    if fault == "odd":
        heads[-1] += " if (a0 + a1 != 1 + seven - 7)"
    if fault == "left":
        after = f"{after} if (a0 + a1 == seven - 6) break;".strip()
    return Nest(tuple(heads), at, begin, after)
