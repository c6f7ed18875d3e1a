"""Parameters that are one number in one copy of a function, and the branches that this decides.

``walk(…, 0)`` packs and ``walk(…, 1)`` unpacks: of ``if (unpack)`` each copy keeps the arm that it executes.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from opi_xform.ir import ast
from opi_xform.ir import instr as ins

_DEPTH = 16  # of operands that are computed; deeper ones count as unknown
_NAMED = "MPI_"  # what these constants are is the MPI's affair: with another one another branch is taken
_SUCCESS = "MPI_SUCCESS"  # which is 0 in every MPI (MPI 4.1, 9.4)


def temporary(number: int) -> str:
    """What a temporary is called among the variables that are a number."""
    return f"%{number}"


def constant_parameters(
    body: ins.Lowered, assigned: Container[str], args: tuple[ins.Operand, ...], fixed: Mapping[str, int]
) -> dict[str, int]:
    """The parameters that are a number all through a copy: of these arguments, where ``fixed`` holds in the caller.

    assigned: variables that the function may set, or whose address it takes.
    """
    out = {}
    for key, arg in zip(body.function.params, args, strict=True):
        type_ = body.function.variables[key].type
        if key in assigned or type_.volatile or type_.atomic:
            continue
        value = number(arg, fixed)
        if value is not None and type_.holds(value):
            out[key] = value
    return out


def successors(
    body: ins.Lowered, last: ins.Instr | None, succs: tuple[int, ...], fixed: Mapping[str, int]
) -> tuple[int, ...]:
    """Where a block of a copy goes on: all of ``succs``, or the one that an ``if`` or ``switch`` on a number takes."""
    if not fixed or last is None or len(succs) < 2:
        return succs
    if isinstance(last, ins.Branch) and isinstance(body.stmts[last.stmt].stmt, (ast.If, ast.Switch)):
        value = number(last.cond, fixed)
        return succs if value is None else (succs[0 if value else 1],)
    if isinstance(last, ins.SwitchOn):
        value = number(last.value, fixed)
        if value is not None:
            for case, succ in zip(last.cases, succs, strict=True):
                if case is not None and case[0] <= value <= case[1]:
                    return (succ,)
            return tuple(succ for case, succ in zip(last.cases, succs, strict=True) if case is None)
    return succs


def number(operand: ins.Operand, fixed: Mapping[str, int], depth: int = _DEPTH) -> int | None:
    """The value of an integer operand where some variables are numbers; None: not known, or not without overflow."""
    match operand:
        case ins.Const(value=value, name=name):
            return None if name.startswith(_NAMED) and name != _SUCCESS else value
        case ins.Var(key=key):
            return fixed.get(key)
        case ins.Temp(number=temp):
            return fixed.get(temporary(temp))
        case ins.Op(type=type_) if depth and type_.kind == "int":
            values = [number(arg, fixed, depth - 1) for arg in operand.args]
            known = [v for v in values if v is not None]
            return _computed(operand, known) if len(known) == len(values) else None
        case _:
            return None


def _computed(op: ins.Op, values: list[int]) -> int | None:
    if op.unsigned and any(v < 0 for v in values):
        return None
    match op.op, values:
        case "cast", [a]:
            value = int(a != 0) if op.type.boolean else a
        case "not", [a]:
            value = int(a == 0)
        case "neg", [a]:
            value = -a
        case "==", [a, b]:
            value = int(a == b)
        case "!=", [a, b]:
            value = int(a != b)
        case "<", [a, b]:
            value = int(a < b)
        case "<=", [a, b]:
            value = int(a <= b)
        case ">", [a, b]:
            value = int(a > b)
        case ">=", [a, b]:
            value = int(a >= b)
        case "&", [a, b] if a >= 0 and b >= 0:
            value = a & b
        case "|", [a, b] if a >= 0 and b >= 0:
            value = a | b
        case "+", [a, b]:
            value = a + b
        case "-", [a, b]:
            value = a - b
        case _:
            return None
    return value if op.type.holds(value) else None
