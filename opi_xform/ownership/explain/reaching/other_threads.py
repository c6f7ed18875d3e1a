"""A message's variable that other threads, or handlers of signals, use by its name: for reasons that are told."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name, calls_of
from opi_xform.ownership.model.buffers import Program, Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import function_expressions


def started(program: Program, variable: str) -> Refusal | None:
    """Why a global variable is not the program's alone: a call starts what names it, beside all that comes after."""
    found = program.variables.get(variable)
    if found is None or not found.is_global:
        return None
    for call, function in _starts(program):
        if _names(program, function, variable):
            what = f"`{found.name}` is used in `{program.functions[function].name}`"
            message = f"{what}, which {line_of(call.span)} starts beside the rest of the program"
            return Refusal(Reason.CONCURRENT, message, ((call.span, "started here"),))
    return None


def _starts(program: Program) -> Iterator[tuple[ast.Call, str]]:
    """Calls that start a function of the program at the same time as what comes after them."""
    for function in program.functions.values():
        for call in calls_of(function):
            effect = program.effects.get(called_name(call))
            for callback in effect.calls if effect is not None else ():
                e = call.args[callback.arg] if callback.arg < len(call.args) else None
                while isinstance(e, (ast.Cast, ast.AddrOf)):
                    e = e.operand
                if callback.when == "concurrent" and isinstance(e, ast.FuncRef) and e.name in program.functions:
                    yield call, e.name


def _names(program: Program, function: str, variable: str) -> bool:
    """A function, or one that it calls by name, names a variable."""
    seen, work = {function}, [function]
    while work:
        found = program.functions[work.pop()]
        if any(isinstance(e, ast.VarRef) and e.var == variable for e in function_expressions(found)):
            return True
        called = {c.callee.name for c in calls_of(found) if isinstance(c.callee, ast.FuncRef)}
        fresh = sorted(name for name in called - seen if name in program.functions)
        seen.update(fresh)
        work.extend(fresh)
    return False
