"""Functions that are left without an end: by ``longjmp``, or because the thread ends in one of those that they call.

An array of theirs is gone then.  What would stand for it is memory of the heap, and nothing would free it: where the
program does so again and again, it would lose more and more.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.dataflow.scc import reached
from opi_xform.ir import ast
from opi_xform.ir.calls import calls_of, functions_called
from opi_xform.once import once
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal
from opi_xform.ownership.model.endings import ELSEWHERE


def jump_refusal(program: Program, buffer: Buffer) -> Refusal | None:
    """The buffer is an array of a function that something may leave so."""
    variable = program.variables[buffer.carrier.variable]
    if buffer.carrier.kind != "array" or variable.is_global or variable.function not in _left(program):
        return None
    name = program.functions[variable.function].name
    message = f"`{variable.name}` is an array, and a jump or a thread's end may leave `{name}` before its end"
    return Refusal(Reason.DECLARATION, message, ((variable.span, "declared here"),))


@once
def _left(program: Program) -> frozenset[str]:
    """The functions of the program but ``main``: those that jump, and all that may call one of them."""
    found = {key for key, function in program.functions.items() if _jumps(program, function)}
    if not ELSEWHERE.isdisjoint(program.taken):
        found = set(program.functions)
    callers: dict[str, list[str]] = {}
    for key, function in program.functions.items() if found else ():
        for name in functions_called(function):
            callers.setdefault(name, []).append(key)
    out = set(reached(sorted(found), lambda key: callers.get(key, ())))
    if not out.isdisjoint(program.taken):  # one may be called anywhere: through a pointer, by the library, by a signal
        out = set(program.functions)
    return frozenset(key for key in out if program.functions[key].name != "main")


def _jumps(program: Program, function: ast.Function) -> bool:
    names = (call.callee.name for call in calls_of(function) if isinstance(call.callee, ast.FuncRef))
    return any(name in ELSEWHERE and name not in program.functions for name in names)


def check(facts: BufferFacts) -> Refusal | None:
    """See ``jump_refusal``."""
    return jump_refusal(facts.program, facts.found)


CONDITION = Condition(
    "declaration",
    "A function that has an array for a buffer is left at its end only.",
    cases=("jump_*",),
    buffer=check,
)
