"""Programs with one buffer and its send, whose memory comes from somewhere."""

from __future__ import annotations

from ownership_support import Source, source

from opi_xform.graph.graph import Node
from opi_xform.ir import instr as ins

SEND = "MPI_Send(b, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"
TOP = "void *calloc(size_t, size_t); void *realloc(void *, size_t); void other(void *); static int calls, n = 10;\n"


def program(body: str, top: str = "") -> Source:
    return source(f"{TOP}{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")


def called(found: Source, name: str) -> list[Node]:
    """The calls of a function by its name, whether they are followed or not."""
    return [
        n
        for n in found.program.graph.nodes
        if isinstance(n.action, ins.CallInstr)
        and isinstance(n.action.callee, ins.AddrFunc)
        and n.action.callee.key.rpartition(":")[2] == name
    ]
