"""The pieces that random scenarios are made of: lines with their indentation, objects of some storage, exchanges."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


class Text:
    """Lines of C, indented by the blocks that are open; ``done`` closes what is open behind a report of the total."""

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
    give = f"{send}, {count}, {kind}, peer, {tag}, MPI_COMM_WORLD"
    take = f"{recv}, {received or count}, {kind}, peer, {tag}, MPI_COMM_WORLD"
    way = rng.randrange(6)
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
    first = [f"    MPI_Irecv({take}, &q[0]);", f"    MPI_Isend({give}, &q[1]);"]
    return ["{", "    MPI_Request q[2];", *first, *end, "}"]
