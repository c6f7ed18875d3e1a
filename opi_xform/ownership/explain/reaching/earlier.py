"""Nodes that run only in an earlier turn of a loop than a message: what `if (r == 0)` does is done when `r` is 1."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.memory.poly import number
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reaching.numbers import Test, fixed_by
from opi_xform.ownership.model.buffers import Program

FIRST = 16  # turns that are counted


def earlier(program: Program, n: int, nodes: Iterable[int]) -> set[int]:
    """Those of some nodes that run only in turns before those of a node."""
    return {m for m in nodes if only_earlier(program, n, m)}


def only_earlier(program: Program, n: int, other: int) -> bool:
    """Tests of the turn leave one turn of a loop for another node, and only later ones for a node: a process that comes
    from this one to the other has left the loop before, and no way leads back into it.
    """
    graph, nest, symbols = program.graph, program.nest, program.values.symbols
    mine, there = graph.nodes[n].block, graph.nodes[other].block
    for loop in (loop for loop in nest.chain(mine) if loop in nest.chain(there)):
        tested, count = branches_of(program).tested, symbols.count(loop)
        turns = frozenset((loop,))
        turn = fixed_by(tested(there, turns)).get(count)
        if turn is None or not 0 <= turn < FIRST:
            continue
        if any(_later(test, count, turn) for test in tested(mine, turns)) and not _again(program, loop):
            return True
    return False


def _later(test: Test, count: int, turn: int) -> bool:
    """A test holds in no turn of a loop up to this one."""
    p, signs = test
    for k in range(turn + 1):
        value = p.substitute({count: number(k)}.get).constant
        if value is None or (value > 0) - (value < 0) in signs:
            return False
    return True


def _again(program: Program, loop: int) -> bool:
    """A way leads from behind a loop back into it."""
    graph, inside = program.graph, program.nest.loops[loop].blocks
    work = [s for block in inside for s in graph.succs[block] if s not in inside]
    seen = set(work)
    while work:
        block = work.pop()
        if block in inside:
            return True
        fresh = [s for s in graph.succs[block] if s not in seen]
        seen.update(fresh)
        work += fresh
    return False
