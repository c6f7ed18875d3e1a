"""Tests of a pointer against NULL: they must find the same when its buffer has been given away, or was not made yet.

Where the program has surely set the pointer to memory, the test finds some, and OPI_Alloc comes ahead of it.  Where it
may be NULL in the program, no call may be put in that decides it; and what becomes of a test's value is not followed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from opi_xform.ir import instr as ins
from opi_xform.memory.nullable import may_be_null
from opi_xform.memory.poly import ZERO
from opi_xform.memory.stretches import tails
from opi_xform.ownership.model import Buffer, Program


def uncertain_test(program: Program, buffer: Buffer, tests: Iterable[int], known: Collection[int]) -> int | None:
    """The first test that may find NULL in the program; known: those that do the same whatever they find."""
    error_exits: frozenset[int] | None = None
    for n in sorted(tests):
        if n in known or _certain(program, buffer, n):
            continue
        if error_exits is None:
            error_exits = tails(program.graph, program.nest)
        if not gives_up(program, buffer, n, error_exits):
            return n
    return None


def _certain(program: Program, buffer: Buffer, n: int) -> bool:
    """The outcome is known: the pointer was set to memory, or to NULL, and nothing else can be in it."""
    if not isinstance(program.graph.nodes[n].action, ins.Branch):
        return False
    symbols = program.values.symbols
    found = program.values.operands.get(n, ())
    bases = [symbols.base(v) for v in found]
    if not any(base is not None for base in bases):
        return bool(found) and all(v == ZERO for v in found)
    if any(may_be_null(program.values, v) for v in found):
        return False
    table = program.values.objects.table
    return not any(
        base in buffer.objects and (table[base].kind == "family" or symbols.resolve(symbols.offset(v)).constant is None)
        for base, v in zip(bases, found, strict=True)
        if base is not None
    )


def gives_up(program: Program, buffer: Buffer, n: int, error_exits: frozenset[int]) -> bool:
    """The buffer is held at the test, and where there is none the program ends."""
    symbols = program.values.symbols
    if not any(symbols.base(v) in buffer.objects for v in program.values.operands.get(n, ())):
        return False
    condition = program.values.conditions.get(n)
    following = program.graph.succs[program.graph.nodes[n].block]
    if condition is None or condition.op not in ("==", "!=") or len(following) != 2:
        return False
    return following[0 if condition.op == "==" else 1] in error_exits
