"""Programs that define posix_memalign themselves: calls were read as the C library's (ir/lowering/memalign.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opi_xform.ir import ast
from opi_xform.ir.lowering.memalign import ALIGNED, NAMES
from opi_xform.ir.walk import within_statement


def without_misread(units: Sequence[ast.Unit]) -> Sequence[ast.Unit]:
    """The units with the functions that have such a call refused."""
    own = NAMES.intersection(key for unit in units for key in unit.functions)
    if not own:
        return units
    reason = f"`{min(own)}` is a function of the program's own"
    return [
        replace(
            unit,
            functions={
                key: replace(f, refused=f.refused or reason) if _has_call(f) else f for key, f in unit.functions.items()
            },
        )
        for unit in units
    ]


def _has_call(function: ast.Function) -> bool:
    return any(_asks(e) for e in within_statement(function.body, function.variables))


def _asks(e: ast.Expr) -> bool:
    match e:
        case ast.Call(callee=ast.FuncRef(name=name)):
            return name == ALIGNED
        case _:
            return False
