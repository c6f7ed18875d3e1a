"""The ``main`` of a Fortran program that f2c translated.

The program itself is ``MAIN__``.  libf2c has the ``main``: it sets up input and output, calls ``MAIN__`` once, without
arguments, and ends the program.  Its handlers of signals print and abort, and know nothing of the program.
"""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir import ast
from opi_xform.ir.span import NOWHERE
from opi_xform.ir.types import Type

FORTRAN_MAIN = "MAIN__"
_INT = Type("int", "int", size=4, signed=True)


def main_around(functions: Mapping[str, ast.Function]) -> ast.Function | None:
    """libf2c's ``main``, where these functions have a ``MAIN__`` and no ``main``; it stands in no file."""
    inner = functions.get(FORTRAN_MAIN)
    if inner is None or inner.static or inner.params or "main" in functions:
        return None
    result = inner.type.elem or _INT
    call = ast.Call(result, NOWHERE, ast.FuncRef(inner.type, NOWHERE, FORTRAN_MAIN), (), NOWHERE)
    end = ast.Return(NOWHERE, ast.IntLit(_INT, NOWHERE, 0))
    body = ast.Block(NOWHERE, (ast.ExprStmt(NOWHERE, call), end))
    return ast.Function("main", "main", inner.type, (), {}, body, NOWHERE, static=False)
