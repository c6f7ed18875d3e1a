"""The pieces that random scenarios are made of: lines with their indentation, objects of some storage, exchanges."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

BAD = 0.45
"""The share of scenarios with a violation."""


class Text:
    """Lines of C, indented by the blocks that are open; ``done`` closes what is open after a report of the total."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.body_end = False

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def open(self, head: str = "") -> None:
        self.line(f"{head} {{" if head else "{")
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1
        self.line("}")

    def block(self, head: str, inside: Sequence[str]) -> None:
        self.open(head)
        for text in inside:
            self.line(text)
        self.close()

    def done(self, name: str) -> str:
        """The text, the last function's body ended by its report."""
        if self.body_end:
            self.lines.pop()
        self.depth = 1
        self.line(f'report("{name}");')
        self.close()
        return "\n".join(self.lines) + "\n"


@dataclass(frozen=True, slots=True)
class Object:
    """A buffer: ``place`` names its first element; ``make`` and ``end`` stand in the function that owns it."""

    place: str
    make: tuple[str, ...]
    end: tuple[str, ...]

    def start(self, out: Text) -> None:
        for text in self.make:
            out.line(text)

    def stop(self, out: Text) -> None:
        for text in self.end:
            out.line(text)


def storage(
    rng: random.Random, out: Text, name: str, element: str, size: int, defined: bool, structs: bool = False
) -> Object:
    """An object of ``size`` elements, declared outside where it is static.  defined: all of it may be read at once."""
    kind = rng.choice(("static", "local", "malloc", "member"))
    bytes_of = f"{size} * sizeof({element})"
    clear = (f"memset({name}, 0, {bytes_of});",) if defined else ()
    if kind == "static":
        out.line(f"static {element} {name}[{size}];")
        return Object(name, (), ())
    if kind == "local":
        return Object(name, (f"{element} {name}[{size}];", *clear), ())
    make = f"calloc({size}, sizeof({element}))" if defined else f"malloc({bytes_of})"
    if kind == "member" and not structs:
        out.line(f"static struct {{ int n; {element} *p; }} {name};")
        return Object(f"{name}.p", (f"{name}.p = {make};",), (f"free({name}.p);",))
    return Object(name, (f"{element} *{name} = {make};",), (f"free({name});",))


def exchange(
    rng: random.Random, send: str, recv: str, count: str, kind: str = "MPI_DOUBLE", received: str = ""
) -> list[str]:
    """The lines of one exchange with the peer, each call on a line of its own; ``received``: the receive's count."""
    tag = rng.randrange(2, 9)
    source = "peer" if rng.random() < 0.92 else "MPI_ANY_SOURCE"
    give = f"{send}, {count}, {kind}, peer, {tag}, MPI_COMM_WORLD"
    take = f"{recv}, {received or count}, {kind}, {source}, {tag}, MPI_COMM_WORLD"
    way = rng.randrange(6) if rng.random() < 0.85 else 6 + rng.randrange(5)
    if way == 0:
        return [
            "if (rank == 0) {",
            f"    MPI_Send({give});",
            f"    MPI_Recv({take}, MPI_STATUS_IGNORE);",
            "} else {",
            f"    MPI_Recv({take}, MPI_STATUS_IGNORE);",
            f"    MPI_Send({give});",
            "}",
        ]
    if way == 1:
        return [f"MPI_Sendrecv({give[: give.rindex(',')]}, {take}, MPI_STATUS_IGNORE);"]
    first = [f"    MPI_Irecv({take}, &q[0]);", f"    MPI_Isend({give}, &q[1]);"]
    if way >= 6:
        return ["{", "    MPI_Request q[2];", *_rarely(way, give, take, recv, kind, tag), "}"]
    if way == 2:
        end = ["    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);"]
    elif way == 3:
        end = ["    MPI_Wait(&q[1], MPI_STATUS_IGNORE);", "    MPI_Wait(&q[0], MPI_STATUS_IGNORE);"]
    elif way == 4:
        end = [
            "    int at, ended = 0;",
            "    while (ended < 2) {",
            "        MPI_Waitany(2, q, &at, MPI_STATUS_IGNORE);",
            "        ended++;",
            "    }",
        ]
    else:
        end = [
            "    int flag = 0;",
            "    while (!flag)",
            "        MPI_Testall(2, q, &flag, MPI_STATUSES_IGNORE);",
        ]
    return ["{", "    MPI_Request q[2];", *first, *end, "}"]


def _rarely(way: int, give: str, take: str, recv: str, kind: str, tag: int) -> list[str]:
    """Ways that codes seldom take: synchronous, persistent, probed, by single tests, each request by itself."""
    receive, send = f"    MPI_Irecv({take}, &q[0]);", f"    MPI_Isend({give}, &q[1]);"
    if way == 6:
        return [f"    MPI_Irecv({take}, q);", f"    MPI_Ssend({give});", "    MPI_Wait(q, MPI_STATUS_IGNORE);"]
    if way == 7:
        return [
            f"    MPI_Recv_init({take}, q);",
            f"    MPI_Send_init({give}, q + 1);",
            "    MPI_Startall(2, q);",
            "    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);",
            "    MPI_Request_free(&q[0]);",
            "    MPI_Request_free(&q[1]);",
        ]
    if way == 8:
        return [
            "    MPI_Status st;",
            "    int got;",
            f"    MPI_Isend({give}, q);",
            f"    MPI_Probe(peer, {tag}, MPI_COMM_WORLD, &st);",
            f"    MPI_Get_count(&st, {kind}, &got);",
            f"    MPI_Recv({recv}, got, {kind}, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD, &st);",
            "    MPI_Wait(&q[0], &st);",
        ]
    if way == 9:
        return [
            receive,
            send,
            "    for (int k = 0; k < 2; k++) {",
            "        int flag = 0;",
            "        do",
            "            MPI_Test(&q[k], &flag, MPI_STATUS_IGNORE);",
            "        while (!flag);",
            "    }",
        ]
    return [
        receive,
        send,
        "    int left = 2, some, at[2];",
        "    do {",
        "        MPI_Testsome(2, q, &some, at, MPI_STATUSES_IGNORE);",
        "        if (some > 0)",
        "            left -= some;",
        "    } while (left > 0);",
    ]
