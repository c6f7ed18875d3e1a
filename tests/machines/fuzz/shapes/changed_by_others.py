"""Scenarios of what changes behind the program's back, and of addresses that come back by odd ways (``ways``)."""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text, exchange, storage
from tests.machines.fuzz.ways import change, drawn

SIZE = 40


def changed(rng: random.Random, name: str) -> str:
    """A number counts what is packed, and more is sent: something else changed it in between."""
    fault = rng.random() < 2 * BAD
    less, more = rng.choice((6, 7, 8)), rng.choice((10, 11, 12))
    out = Text()
    send = storage(rng, out, f"{name}_s", "double", SIZE, True)
    recv = storage(rng, out, f"{name}_r", "double", SIZE, True)
    where = rng.choice(("n", f"{name}_k", f"{name}_box.n"))
    how, number = change(rng, name, where, less, more)
    for text in how.outside:
        out.line(text)
    if number == f"{name}_k":
        out.line(f"static int {name}_k;")
    if number == f"{name}_box.n":
        out.line(f"static struct {{ double x; int n; }} {name}_box;")
    out.line(f"static void {name}(void)")
    out.open()
    send.start(out)
    recv.start(out)
    s, r = send.place, recv.place
    out.line(f"for (int i = 0; i < {SIZE}; i++)")
    out.line(f"    {s}[i] = field[i] + 0.5;")
    for text in exchange(rng, s, r, str(SIZE)):
        out.line(text)
    out.line(f"total += sum({r}, {SIZE});")
    if number == "n":
        out.line("int n;")
    if "->" not in number:
        out.line(f"{number} = {less};")
    for text in how.before:
        out.line(text)
    if not fault:
        _block(out, how.event)
    out.line(f"for (int i = 0; i < {number}; i++)")
    out.line(f"    {s}[i] = field[i] * 2;")
    if fault:
        _block(out, how.event)
    for text in exchange(rng, s, r, number, received=str(SIZE)):
        out.line(text)
    out.line(f"total += sum({r}, {number});")
    for text in how.after:
        out.line(text)
    send.stop(out)
    recv.stop(out)
    return out.done(name)


def carried(rng: random.Random, name: str) -> str:
    """The address of the buffer, of its number or of a flag comes back by another way, and is used."""
    fault = rng.choice(("read", "number", "number", "flag", "written")) if rng.random() < 2 * BAD else ""
    less, more = rng.choice((6, 7, 8)), rng.choice((10, 11, 12))
    out = Text()
    send = storage(rng, out, f"{name}_s", "double", SIZE, True)
    recv = storage(rng, out, f"{name}_r", "double", SIZE, True)
    s, r = send.place, recv.place
    home = rng.choice(("n", f"{name}_k", f"{name}_box.n"))
    target, type_ = (s, "double") if fault in ("read", "written") else (f"&{home}", "int")
    outside, make = drawn(rng, name, type_, target)
    for text in outside:
        out.line(text)
    if home == f"{name}_k":
        out.line(f"static int {name}_k;")
    if home == f"{name}_box.n":
        out.line(f"static struct {{ double x; int n; }} {name}_box;")
    out.line(f"static void {name}(void)")
    out.open()
    send.start(out)
    recv.start(out)
    if home == "n":
        out.line("int n = 0;")
    out.line(f"{home} = {more if fault in ('read', 'written') else less};")
    out.line(f"for (int i = 0; i < {SIZE}; i++)")
    out.line(f"    {s}[i] = field[i] + 0.5;")
    for text in exchange(rng, s, r, str(SIZE)):
        out.line(text)
    out.line(f"total += sum({r}, {SIZE});")
    for text in make:
        out.line(text)
    if not fault:
        out.line(f"*q = {more};")
    if fault == "flag":
        out.line(f"{home} = 0;")
        out.line(f"*q = {less};")
        out.line(f"if (!{home})")
        out.line("    for (int i = 0; i < 4; i++)")
        out.line(f"        {s}[i] = field[i] * 2;")
    else:
        begin = rng.choice(("0", "1")) if fault == "written" else "0"
        out.line(f"for (int i = {begin}; i < {home}; i++)")
        out.line(f"    {s}[i] = field[i] * 2;")
    if fault == "number":
        out.line(f"*q = {more};")
    elif fault == "written":
        out.line("q[0] = 7;")
    for text in exchange(rng, s, r, home, received=str(SIZE)):
        out.line(text)
    if fault == "read":
        out.line(f"total += q[{rng.choice((0, 3, more))}];")
    out.line(f"total += sum({r}, {home});")
    send.stop(out)
    recv.stop(out)
    return out.done(name)


def _block(out: Text, lines: tuple[str, ...]) -> None:
    """The lines in a scope of their own."""
    out.open()
    for text in lines:
        out.line(text)
    out.close()
