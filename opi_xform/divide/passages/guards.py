"""Messages that stand under a condition which is known to hold: ``if (peer != MPI_PROC_NULL) MPI_Send(…);``.

What a passage begins with is then evaluated before the condition.  So it has to be one that holds each time.
"""

from __future__ import annotations

from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.procnull.real_ranks import not_negative


def comes_to(program: Program, enter: int, message: int, leave: int) -> bool:
    """No way from one node to another leads past a message, but such as a condition of known outcome closes."""
    if program.dominates(message, leave):
        return True
    graph = program.graph
    block = graph.nodes[enter].block
    work = [(block, graph.blocks[block].index(enter) + 1)]
    seen: set[int] = set()
    while work:
        block, start = work.pop()
        nodes = graph.blocks[block]
        here = nodes[start:]
        end = next((n for n in here if n in (message, leave)), None)
        if end == leave:
            return False
        if end is None:
            more = [b for b in open_ways(program, block) if b not in seen]
            seen.update(more)
            work += [(b, 0) for b in more]
    return True


def open_ways(program: Program, block: int) -> tuple[int, ...]:
    """The blocks after one, without that to which a condition of known outcome does not lead."""
    graph = program.graph
    succs = tuple(graph.succs[block])
    if len(succs) != 2 or not graph.blocks[block]:
        return succs
    holds = outcome(program, graph.blocks[block][-1])
    return succs if holds is None else (succs[0 if holds else 1],)


def outcome(program: Program, last: int) -> bool | None:
    """Whether a node's comparison for equality holds; None where that is not known.

    What is not negative, as the number of a rank, is no negative number, as ``MPI_PROC_NULL``.
    """
    condition = program.values.conditions.get(last)
    if condition is None or condition.unsigned or condition.op not in ("==", "!="):
        return None
    symbols = program.values.symbols
    left, right = symbols.resolve(condition.left), symbols.resolve(condition.right)
    if left.constant is not None and right.constant is not None:
        return (left.constant == right.constant) == (condition.op == "==")
    for one, other in ((left, right), (right, left)):
        if other.constant is not None and other.constant < 0 and not_negative(program, last, one):
            return condition.op == "!="
    return None
