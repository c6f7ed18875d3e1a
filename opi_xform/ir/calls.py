"""The calls in functions, found once for each."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import children, expressions

# A function has its fields and nothing else, since it is stored (``frontend/pickling.py``), and programs share it.
_known: dict[int, tuple[ast.Function, tuple[ast.Call, ...]]] = {}
_MOST = 50_000


def calls_of(function: ast.Function) -> tuple[ast.Call, ...]:
    """All calls in a function: in its statements, and in the initialisers of its variables."""
    known = _known.get(id(function))
    if known is None or known[0] is not function:
        if len(_known) >= _MOST:
            _known.clear()
        known = _known[id(function)] = (function, tuple(_calls_of(function)))
    return known[1]


def _calls_of(function: ast.Function) -> list[ast.Call]:
    out: list[ast.Call] = []
    inits = (v.init for v in function.variables.values() if v.init is not None)
    for whole in (*expressions(function.body), *inits):
        stack = [whole]
        while stack:
            e = stack.pop()
            if isinstance(e, ast.Call):
                out.append(e)
            stack.extend(reversed(children(e)))
    return out


def called_name(call: ast.Call) -> str:
    """The key of the function that a call names; '' where it calls by a pointer."""
    return call.callee.name if isinstance(call.callee, ast.FuncRef) else ""


def called_key(action: object) -> str:
    """The key of the function that an instruction calls by its name; '' where it calls by a pointer, or not at all."""
    return action.callee.key if isinstance(action, ins.CallInstr) and isinstance(action.callee, ins.AddrFunc) else ""


def functions_called(function: ast.Function) -> set[str]:
    """The functions that a function calls by name."""
    return {call.callee.name for call in calls_of(function) if isinstance(call.callee, ast.FuncRef)}


Callers = Mapping[str, list[tuple[ast.Function, ast.Call]]]
"""By the key of a function: its calls by name, and the functions in which they are."""


def callers_of(functions: Mapping[str, ast.Function]) -> Callers:
    """The calls of the program's own functions."""
    out: dict[str, list[tuple[ast.Function, ast.Call]]] = {}
    for function in functions.values():
        for call in calls_of(function):
            if isinstance(call.callee, ast.FuncRef) and call.callee.name in functions:
                out.setdefault(call.callee.name, []).append((function, call))
    return out
