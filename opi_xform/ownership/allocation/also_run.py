"""Functions of the program that also run where the graph does not show it."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.graph.graph import RECURSION, Lost
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lvalues import function_expressions


def also_run(program: Program, again: bool = True) -> frozenset[str]:
    """Those that calls lead to which are not followed for what these may do.

    again: also calls that enter a copy from inside itself.
    """
    work: list[str] = []
    for node in program.graph.nodes:
        action = node.action
        if isinstance(action, Lost):
            if not again and action.reason == RECURSION and program.graph.entered_again(node) >= 0:
                continue
            work.extend(action.functions)
        elif isinstance(action, ins.CallInstr) and node.number not in program.graph.followed:
            key = called_key(action)
            effect = program.effects.get(key)
            if effect is None or effect.calls:
                work.extend(program.taken)
    return _with_callees(program, work)


@once
def run_unwatched(program: Program) -> frozenset[str]:
    """The same, and those that are not followed since no message depends on them (``atexit(done)``).

    What such a call does with memory that the function hands out is not known.
    """
    return also_run(program) | _with_callees(program, _passed_over(program))


def _passed_over(program: Program) -> set[str]:
    """Of the functions that are not followed where no message depends on them: those of which this shows somewhere.

    A call whose result is wanted is followed, whatever the function (``malloc`` in one of the program's own).
    """
    graph = program.graph
    entered = {frame.call for frame in graph.frames}
    inside = {frame.function for frame in graph.frames} - program.taken
    called = {
        node.action.callee.key
        for node in graph.nodes
        if isinstance(node.action, ins.CallInstr)
        and isinstance(node.action.callee, ins.AddrFunc)
        and node.number not in entered
    }
    return {f for f in graph.passed if f not in inside or f in called}


@once
def run_besides(program: Program) -> frozenset[str]:
    """Functions that run beside the graph, but for deeper levels of those that call themselves: it has one level."""
    return also_run(program, again=False) | _with_callees(program, program.graph.passed)


def _with_callees(program: Program, functions: Iterable[str]) -> frozenset[str]:
    work = list(functions)
    seen: set[str] = set()
    while work:
        key = work.pop()
        if key in program.functions and key not in seen:
            seen.add(key)
            named = (e for e in function_expressions(program.functions[key]) if isinstance(e, ast.FuncRef))
            work.extend(e.name for e in named)
    return frozenset(seen)
