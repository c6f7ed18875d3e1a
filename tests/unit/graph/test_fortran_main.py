"""The ``main`` that libf2c brings to a translated Fortran program."""

from __future__ import annotations

import pytest

from opi_xform.graph.fortran_main import FORTRAN_MAIN, main_around
from opi_xform.ir import ast
from opi_xform.ir.span import NOWHERE
from opi_xform.ir.types import Type

INT = Type("int", "int", size=4, signed=True)


def function(name: str, params: tuple[str, ...] = (), static: bool = False) -> ast.Function:
    body = ast.Block(NOWHERE, ())
    return ast.Function(name, name, Type("function", "", elem=INT), params, {}, body, NOWHERE, static=static)


def functions(*found: ast.Function) -> dict[str, ast.Function]:
    return {f.key: f for f in found}


def test_it_calls_the_program_once_and_returns_0() -> None:
    main = main_around(functions(function(FORTRAN_MAIN)))
    assert main is not None
    assert main.key == "main"
    assert isinstance(main.body, ast.Block)
    called, end = main.body.body
    assert isinstance(called, ast.ExprStmt)
    assert isinstance(called.expr, ast.Call)
    assert isinstance(called.expr.callee, ast.FuncRef)
    assert called.expr.callee.name == FORTRAN_MAIN
    assert called.expr.args == ()
    assert isinstance(end, ast.Return)
    assert isinstance(end.value, ast.IntLit)
    assert end.value.value == 0


@pytest.mark.parametrize(
    "found",
    [
        (function("compute"),),
        (function(FORTRAN_MAIN), function("main")),  # its own
        (function(FORTRAN_MAIN, ("n",)),),  # nobody passes it anything
        (function(FORTRAN_MAIN, static=True),),  # libf2c cannot name it
    ],
)
def test_other_programs_have_none(found: tuple[ast.Function, ...]) -> None:
    assert main_around(functions(*found)) is None
