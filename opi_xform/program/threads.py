"""Functions that several threads may run: what the OpenMP regions of a program call.

Where such a region, or what it calls, calls MPI or tells its threads in which order they run, the region is no serial
code (``frontend/openmp.py``), and the function that holds it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements, within_statement

_UNORDERED = re.compile(r"omp_(?:un)?set_(?:nest_)?lock|omp_test_|__sync_|__atomic_|atomic_|pthread_|GOMP_")
"""Functions whose calls tell threads in which order they run."""

_CLOCK = frozenset({"MPI_Wtime", "MPI_Wtick"})


def followed(units: Sequence[ast.Unit]) -> tuple[Sequence[ast.Unit], tuple[Span, ...]]:
    """The units, some of their functions refused, and all text that several threads may run."""
    if not any(function.threads for unit in units for function in unit.functions.values()):
        return units, ()
    functions: dict[str, ast.Function] = {}
    variables: dict[str, ast.Variable] = {}
    taken: set[str] = set()
    for unit in units:
        variables.update(unit.globals)
        taken.update(unit.address_taken_functions)
        for key, function in unit.functions.items():
            functions.setdefault(key, function)
    program = _Program(functions, variables, tuple(sorted(taken)))
    spans: dict[Span, None] = {}
    why: dict[str, str] = {}
    for key, function in functions.items():
        for span in function.threads:
            stmt = next(s for s, _ in statements(function.body) if s.span == span)
            trouble, called = _reached(program, function, stmt)
            spans.update(dict.fromkeys((span, *(functions[name].span for name in called))))
            if trouble:
                why.setdefault(key, f"the OpenMP region in line {span.line} {trouble}")
    return [_refused(unit, why) for unit in units], tuple(spans)


@dataclass(frozen=True, slots=True)
class _Program:
    """taken: functions whose address is taken; a call through a pointer may be one of any of them."""

    functions: Mapping[str, ast.Function]
    variables: Mapping[str, ast.Variable]
    taken: tuple[str, ...]


def _refused(unit: ast.Unit, why: Mapping[str, str]) -> ast.Unit:
    functions = {
        key: replace(f, refused=why[key]) if key in why and not f.refused else f for key, f in unit.functions.items()
    }
    return replace(unit, functions=functions)


def _reached(program: _Program, function: ast.Function, stmt: ast.Stmt) -> tuple[str, list[str]]:
    """Why a region is no serial code ('' where it is), and the functions that it may call."""
    why = ""
    called: dict[str, None] = {}
    work: list[tuple[ast.Function, ast.Stmt]] = [(function, stmt)]
    while work:
        function, stmt = work.pop()
        for e in within_statement(stmt, function.variables):
            why = why or _trouble(e, program.variables, function.variables)
            for name in _callees(e, program.taken):
                if name in program.functions and name not in called:
                    called[name] = None
                    work.append((program.functions[name], program.functions[name].body))
    return why, list(called)


def _callees(e: ast.Expr, taken: Sequence[str]) -> Iterator[str]:
    if isinstance(e, ast.FuncRef):
        yield e.name  # called, or given to who may call it
    elif isinstance(e, ast.Call) and not isinstance(e.callee, ast.FuncRef):
        yield from taken


def _trouble(e: ast.Expr, variables: Mapping[str, ast.Variable], own: Mapping[str, ast.Variable]) -> str:
    if isinstance(e, ast.FuncRef):
        if e.name.startswith(("MPI_", "PMPI_")) and e.name not in _CLOCK:
            return f"calls `{e.name}`"
        if _UNORDERED.match(e.name):
            return f"calls `{e.name}`"
    if e.type.atomic:
        return "uses an _Atomic variable"
    if isinstance(e, ast.VarRef):
        variable = own.get(e.var) or variables.get(e.var)
        if variable is not None and variable.thread_local:
            return f"uses `{variable.name}`, of which each thread has one"
    return ""
