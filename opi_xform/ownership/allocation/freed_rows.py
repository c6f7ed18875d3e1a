"""Functions that are given a table of buffers: ``for (d = 0; d < n; d++) free(in[d]);``, and the like.

Where every call gives the table itself, and the function does nothing with its parameter but to name rows, ``in[d]`` is
a row of the table there as well as where that is declared: `OPI_Free(&in[d])` sets it.
"""

from __future__ import annotations

import re

from opi_xform.ir import ast
from opi_xform.ir.walk import within_statement
from opi_xform.once import once, once_each
from opi_xform.ownership.model.buffers import Carrier, Program
from opi_xform.ownership.spelling.mentions import Texts, plain
from opi_xform.ownership.spelling.parameters import Called, same_pointed


def row_of_given(program: Program, carrier: Carrier, e: ast.Expr) -> bool:
    """``in[d]``, of a parameter that is the carrier's table."""
    base = plain(e.base) if isinstance(e, ast.Index) else None
    return isinstance(base, ast.VarRef) and base.var in tables_given(program, carrier)


def tables_given(program: Program, carrier: Carrier) -> frozenset[str]:
    """The parameters that are the carrier, an array of pointers, in every call of their functions."""
    return _tables_given(program, carrier.variable) if carrier.rows == 1 else frozenset()


@once
def _called(program: Program) -> Called:
    return Called(program)


@once_each
def _tables_given(program: Program, table: str) -> frozenset[str]:
    if program.alone or not program.variables[table].type.is_array:
        return frozenset()
    functions = (program.functions[key] for key in sorted(_called(program).calls) if key in program.functions)
    keys = [(function, i) for function in functions for i in range(len(function.params))]
    return frozenset(f.params[i] for f, i in keys if _is_table(program, program.variables[table], f, i))


def _is_table(program: Program, table: ast.Variable, function: ast.Function, i: int) -> bool:
    """A parameter is another name of an array of pointers, and its function does nothing with it but to name rows."""
    called, parameter = _called(program), program.variables[function.params[i]]
    calls = called.calls[function.key]
    if not all(i < len(call.args) and program.names(plain(call.args[i]), table.key) for _, call in calls):
        return False
    if function.refused or (not function.static and not program.complete) or function.key in called.taken:
        return False
    here, there = parameter.type.elem, table.type.elem
    if here is None or there is None or not (here.is_pointer and there.is_pointer) or here.const or here.volatile:
        return False
    if here.elem is None or there.elem is None or not same_pointed(here.elem, there.elem):
        return False
    inside = list(within_statement(function.body, function.variables))
    rows = [plain(e.base) for e in inside if isinstance(e, ast.Index)]
    named, as_row = (sum(isinstance(e, ast.VarRef) and e.var == parameter.key for e in x) for x in (inside, rows))
    return named == as_row and not _named_elsewhere(program, function)


def _named_elsewhere(program: Program, function: ast.Function) -> bool:
    """Text that the preprocessor leaves out names a function: it may give it something else."""
    texts = Texts()
    return any(re.search(rf"\b{function.name}\b", texts.of(span)) for span in program.left_out)
