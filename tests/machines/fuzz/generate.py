"""Random correct MPI programs for two ranks, with deterministic output.

Every function of a program is one scenario with buffers of its own: objects of some storage, turns of a loop that pack,
exchange and unpack in random ways, and reads at random places.  Whatever is read has been defined, so the output is the
same in every run; about half of the scenarios read bytes that an earlier turn left, which a wrong conversion loses.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.machines.fuzz.families import FAMILIES, Family

FAMILY_SHARE = 0.6
"""How many of the scenarios are of a family; the others are drawn line by line."""

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, peer, seven, zero;
static double field[256];
static double total;

static void report(const char *name)
{
    printf("%d %s %.17g\\n", rank, name, total);
    total = 0;
}

static void fill(double *to, int n, double x)
{
    for (int i = 0; i < n; i++)
        to[i] = x + i;
}

static int append(double *to, const double *from, int n, int every)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (i % every == 0)
            to[k++] = from[i];
    return k;
}

static double sum(const double *from, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += from[i] * (i + 1);
    return s;
}
"""


@dataclass(frozen=True, slots=True)
class Buffer:
    """``rows``: buffers of an array (0: a plain one).  ``storage``: static, local or malloc."""

    name: str
    size: int
    storage: str
    rows: int


class Scenario:
    """One function of a random program."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.lines: list[str] = []
        self.depth = 1
        size = rng.choice((12, 16, 40))
        rows = rng.choice((0, 0, 0, 3))  # the same for both: row d is exchanged for row d
        self.sbuf = Buffer(f"{name}_s", size, rng.choice(("static", "local", "malloc", "inner")), rows)
        self.rbuf = Buffer(f"{name}_r", size, rng.choice(("static", "local", "malloc", "inner")), rows)
        self.safe = rng.random() < 0.5  # packs and reads whole messages only
        self.helped = rng.random() < 0.3  # exchanges in a function that gets the buffers as parameters

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def block(self, head: str) -> None:
        self.line(head + " {")
        self.depth += 1

    def end(self) -> None:
        self.depth -= 1
        self.line("}")

    def text(self) -> str:
        rng = self.rng
        out = "".join(self.outside(b) for b in (self.sbuf, self.rbuf) if b.storage == "static")
        for b in (self.sbuf, self.rbuf):
            if b.storage in ("local", "malloc"):
                self.declare(b)
        turns = rng.choice((1, 2, 3))
        self.block(f"for (int t = 0; t < {turns} + zero; t++)")
        self.line(f"int m = {rng.randrange(7, self.sbuf.size + 1)} - (t % 2) + zero;")
        inner = [b for b in (self.sbuf, self.rbuf) if b.storage == "inner"]
        for b in inner:
            self.declare(b)
        for _ in range(rng.choice((1, 1, 2))):
            self.phase()
        for b in inner:
            self.release(b)
        self.end()
        for b in (self.sbuf, self.rbuf):
            if b.storage != "inner":
                if rng.random() < 0.15 and not self.safe:
                    self.read(b)
                self.release(b)
        self.line(f'report("{self.name}");')
        body = "\n".join(self.lines)
        if self.helped:
            out += self.helper()
        return f"{out}static void {self.name}(void)\n{{\n{body}\n}}\n"

    def outside(self, b: Buffer) -> str:
        rows = f"[{b.rows}]" if b.rows else ""
        return f"static double {b.name}{rows}[{b.size}];\n"

    def declare(self, b: Buffer) -> None:
        heap = b.storage == "malloc" or (b.storage == "inner" and self.rng.random() < 0.5)
        zeroed = heap and self.rng.random() < 0.2
        make = f"calloc({b.size}, sizeof(double))" if zeroed else f"malloc({b.size} * sizeof(double))"
        if heap and b.rows:
            self.line(f"double *{b.name}[{b.rows}];")
            self.block(f"for (int d = 0; d < {b.rows}; d++)")
            self.line(f"{b.name}[d] = {make};")
            self.end()
        elif heap:
            self.line(f"double *{b.name} = {make};")
        elif b.rows:
            self.line(f"double {b.name}[{b.rows}][{b.size}];")
        else:
            self.line(f"double {b.name}[{b.size}];")
        self.heap = getattr(self, "heap", set()) | ({b.name} if heap else set())
        if not zeroed and not (self.safe and self.rng.random() < 0.8):
            self.each_row(b, lambda place: self.line(f"fill({place}, {b.size}, {self.rng.randrange(9)});"))
        elif self.safe and not zeroed:
            self.whole = getattr(self, "whole", set()) | {b.name}

    def release(self, b: Buffer) -> None:
        if b.name not in getattr(self, "heap", set()):
            return
        if b.rows:
            self.line(f"for (int d = 0; d < {b.rows}; d++)")
            self.line(f"    free({b.name}[d]);")
        else:
            self.line(f"free({b.name});")

    def each_row(self, b: Buffer, make: object) -> None:
        assert callable(make)
        if not b.rows:
            make(b.name)
            return
        self.block(f"for (int d = 0; d < {b.rows}; d++)")
        make(f"{b.name}[d]")
        self.end()

    def phase(self) -> None:
        """Pack, exchange, unpack; a buffer's roles may swap between phases."""
        rng = self.rng
        send, recv = self.sbuf, self.rbuf
        if not self.safe and rng.random() < 0.2 and send.rows == recv.rows:
            send, recv = recv, send
        count = rng.choice(("m", "m", str(send.size), str(rng.randrange(7, send.size + 1))))
        together = bool(send.rows) and rng.random() < 0.5
        if send.rows and not together:
            self.each_row(send, lambda place: self.pack(place, send, count))
            self.each_row(send, lambda place: self.exchange(place, f"{recv.name}[d]", count))
            self.each_row(recv, lambda place: self.unpack(place, recv, count))
            return

        asks = self.rng.randrange(3) if rng.random() < 0.12 else -1

        def all_of_it(place: str) -> None:
            if asks == 0:
                self.ask(place, send)
            self.pack(place, send, count)
            self.exchange(place, place.replace(send.name, recv.name), count)
            if asks >= 1:
                other = place.replace(send.name, recv.name)
                self.ask(place if asks == 1 else other, send if asks == 1 else recv)
            if rng.random() < 0.2 and not self.safe:
                self.look(place, send, count)
            self.unpack(place.replace(send.name, recv.name), recv, count)

        self.each_row(send, all_of_it)

    def pack(self, place: str, b: Buffer, count: str) -> None:
        rng = self.rng
        whole = [
            f"for (int i = 0; i < {count}; i++) {place}[i] = field[i + t];",
            f"for (int i = {count} - 1; i >= 0; i--) {place}[i] = field[i] * 2;",
            f"memcpy({place}, field + t, {count} * sizeof(double));",
            f"fill({place}, {count}, t + rank);",
            f"{{ double *p = {place}; for (int i = 0; i < {count}; i++) *p++ = field[i]; }}",
            f"{{ int k = 0; while (k < {count}) {{ if (k % 3 == 1) {place}[k++] = 1; else {place}[k++] = t; }} }}",
            f"append({place}, field, {count}, 1 + zero);",
            f"{{ int k = 0; for (int i = 0; i < {count}; i++) {{ {place}[k] = i; k++; }} }}",
            f"for (int i = 0; i < {count}; i++) {{ if ((i + rank) % 2) {place}[i] = 3; else {place}[i] = field[i]; }}",
            f"{{ int i = 0; do {{ {place}[i] = t; i++; }} while (i < {count}); }}",
        ]
        part = [
            f"for (int i = 1; i < {count}; i++) {place}[i] = field[i + t];",
            f"for (int i = 0; i < {count}; i += 2) {place}[i] = field[i];",
            f"for (int i = 0; i < {count} - 1; i++) {place}[i] = field[i];",
            f"memcpy({place}, field, ({count} - 2) * sizeof(double));",
            f"if (t == 0) fill({place}, {count}, rank);",
            f"if (rank == seven - 7) fill({place}, {count}, rank);",
            f"append({place}, field, {count}, 2);",
            f"{place}[t] = 4;",
            f"for (int i = 0; i < {count}; i++) {{ if (i == seven - 2) continue; {place}[i] = i; }}",
            f"for (int i = 0; i < {count}; i++) {{ if (i == seven) break; {place}[i] = i; }}",
            f"{{ double *p = {place}; for (int i = 0; i < {count}; i++) {{ *p = i; p += i == seven ? 0 : 1; }} }}",
            f"{{ int k = 0; for (int i = 0; i < {count}; i++) {{ {place}[k] = i; if (i != 3 + zero) k++; }} }}",
            f"for (int i = 0; i < {count}; i++) {place}[i] += 1;",
            f"{{ double *p = {place} + 1; for (int i = 1; i < {count}; i++) *p++ = 2; }}",
            f"for (int i = 0; i < {count}; i++) {{ if (t && i > 4) break; {place}[i] = i + 1; }}",
            f"memset({place}, 0, {count} * sizeof(float));",
            f"for (unsigned char c = 0; c < {count}; c += 1 + (c == 5 + zero)) {place}[c] = c;",
            f"switch (t) {{ case 0: fill({place}, {count}, 1); break; "
            f"case 1: {place}[0] = 2; default: {place}[1] = 2; }}",
        ]
        if b.name in getattr(self, "whole", set()) or self.safe or rng.random() < 0.5:
            self.line(rng.choice(whole))
            return
        for _ in range(rng.choice((1, 1, 2))):
            self.line(rng.choice(part))

    def helper(self) -> str:
        """The function that exchanges: with parameters that packs, aliases and reads may name, too."""
        rng = self.rng
        self.lines, self.depth, self.helped = [], 1, False
        s = rng.choice(("double *s", "double s[]")) if not self.safe or rng.random() < 0.7 else "double *restrict s"
        r = "double *r"
        if rng.random() < 0.3:
            self.line("for (int i = 0; i < n; i++) s[i] = field[i] + t;")
        alias = not self.safe and rng.random() < 0.2
        if alias:
            self.line("double *q = s;")
        self.exchange("s", "r", "n")
        if not self.safe:
            self.line(rng.choice(("", "total += s[n - 1];", "s[0] = t;", "r += zero;", "total += s[2];")))
        if alias:
            self.line("q[1] = 3; total += q[0];")
        if rng.random() < 0.5:
            self.line("total += sum(r, n);")
        body = "\n".join(self.lines)
        return f"static void {self.name}_swap({s}, {r}, int n, int t)\n{{\n{body}\n}}\n"

    def exchange(self, send: str, recv: str, count: str) -> None:
        rng = self.rng
        if self.helped:
            live = not self.safe and rng.random() < 0.1
            self.line(f"{self.name}_swap({'field' if live else send}, {recv}, {count}, t);")
            return
        give = f"{send}, {count}, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD"
        take = f"{recv}, {count}, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD"
        kind = rng.randrange(4)
        if kind == 0:
            self.block("if (rank == 0)")
            self.line(f"MPI_Send({give});")
            self.line(f"MPI_Recv({take}, MPI_STATUS_IGNORE);")
            self.depth -= 1
            self.block("} else")
            self.line(f"MPI_Recv({take}, MPI_STATUS_IGNORE);")
            self.line(f"MPI_Send({give});")
            self.end()
        elif kind == 1:
            tail = f"{recv}, {count}, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE"
            self.line(f"MPI_Sendrecv({send}, {count}, MPI_DOUBLE, peer, 3, {tail});")
        elif kind == 2:
            self.line("MPI_Request q[2];")
            self.line(f"MPI_Irecv({take}, &q[0]);")
            self.line(f"MPI_Isend({give}, &q[1]);")
            self.line("MPI_Waitall(2, q, MPI_STATUSES_IGNORE);")
        else:
            self.line("MPI_Request q;")
            self.line(f"MPI_Irecv({take}, &q);")
            self.line(f"MPI_Send({give});")
            self.line("MPI_Wait(&q, MPI_STATUS_IGNORE);")
        if kind >= 2:  # names of its own
            first = len(self.lines) - 4
            self.lines[first:] = ["    " * self.depth + "{", *("    " + x for x in self.lines[first:])]
            self.line("}")

    def unpack(self, place: str, b: Buffer, count: str) -> None:
        rng = self.rng
        inside = [
            f"for (int i = 0; i < {count}; i++) field[i] += {place}[i] * 0.25;",
            f"total += sum({place}, {count});",
            f"memcpy(field + 1, {place}, {count} * sizeof(double));",
            f"{{ const double *p = {place}; for (int i = 0; i < {count}; i++) total += *p++; }}",
            f"for (int i = 2; i < {count}; i++) total += {place}[i] * i;",
            f"if (t != 1) total += {place}[3];",
        ]
        if self.safe or rng.random() < 0.6:
            for _ in range(rng.choice((0, 1, 1, 2))):
                self.line(rng.choice(inside))
            return
        self.look(place, b, count)

    def ask(self, place: str, b: Buffer) -> None:
        """What a comparison of pointers finds is output, too, though it accesses nothing."""
        ways = [
            f"if ({place}) total += 2;",
            f"total += {place} != NULL;",
            f"total += !{place} ? 3 : 4;",
            f"{{ double *p = {place}; if (p == NULL) total += 5; }}",
        ]
        if b.storage == "static":  # no pointer to what has ended is read
            ways.append(f"{{ static double *was; total += was == {place} ? t : 7; was = {place}; }}")
        self.line(self.rng.choice(ways))

    def look(self, place: str, b: Buffer, count: str) -> None:
        self.line(
            self.rng.choice(
                (
                    f"total += {place}[{b.size - 1}];",
                    f"total += sum({place}, {b.size});",
                    f"if (t == 1) total += {place}[{b.size - 2}];",
                    f"for (int i = {count}; i < {b.size}; i++) total += {place}[i] * 3;",
                    f"{place}[0] += 1; total += {place}[0];",
                )
            )
        )

    def read(self, b: Buffer) -> None:
        self.each_row(b, lambda place: self.line(f"total += sum({place}, {b.size});"))


def program(seed: int, functions: int = 2, families: Sequence[Family] = ()) -> str:
    """The C text of one random program; its names are like those of no other seed's.

    families: the only ones that its scenarios are of.
    """
    rng = random.Random(seed)
    names = [f"s{seed}f{k}" for k in range(functions)]
    parts = [HEAD]
    for name in names:
        drawn = rng.random() < FAMILY_SHARE or families
        parts.append(rng.choice(families or FAMILIES)(rng, name) if drawn else Scenario(rng, name).text())
    calls = "\n".join(f"    {name}();" for name in names)
    twice = "\n".join(f"    {name}();" for name in names if rng.random() < 0.3)
    parts.append(
        f"""int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    seven = argc + 6;
    zero = argc - 1;
    for (int i = 0; i < 256; i++)
        field[i] = rank * 100 + i * 0.5;
{calls}
{twice}
    MPI_Finalize();
    return 0;
}}
"""
    )
    return "\n".join(parts)
