"""Functions that several threads may run: what the OpenMP regions of a program call.

Where such a region, or what it calls, calls MPI or a function by which threads may tell each other anything, the region
is no serial code (``frontend/lower/openmp.py``), and the function that holds it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements, within_statement
from opi_xform.record import dataclass

LEFT_OUT_HERE = "leaves out here but perhaps not elsewhere,"
"""Said of a directive under a false ``#if`` that other flags may bring in, after the line that has it."""

MORE = 2  # constructs of a function that are told after the first that is not followed

_ALONE = re.compile(
    r"(?:__builtin_)?(?:mem|str|wcs|is|to|f?abs|l?labs|l?div|malloc|calloc|realloc|free|posix_memalign|aligned_alloc|qsort"
    r"|bsearch|s?n?printf|fprintf|put|fput|perror|fflush|exit|_Exit|abort|__assert|rand|srand|[delmnjs]rand48|random"
    r"|time|clock|gettimeofday|expect|prefetch|assume_aligned|__assume|unreachable|object_size|omp_get_|omp_in_|omp_is_|omp_set_(?!lock|nest_lock)"
    r"|MPI_Wtime|MPI_Wtick|cblas_)"
)
"""Functions of libraries in which no thread waits for another one, or finds what another one left."""


def followed(
    units: Sequence[ast.Unit], effects: Mapping[str, FunctionEffect]
) -> tuple[Sequence[ast.Unit], tuple[Span, ...]]:
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
    program = _Program(functions, variables, tuple(sorted(taken)), effects)
    spans: dict[Span, None] = {}
    why: dict[str, list[str]] = {}
    for key, function in functions.items():
        found = zip(function.threads, function.pragmas, strict=True)
        for span, pragma in sorted(found, key=lambda one: LEFT_OUT_HERE in one[1]):  # what is compiled tells more
            stmt = next(s for s, _ in statements(function.body) if s.span == span)
            trouble, called = _reached(program, function, stmt)
            spans.update(dict.fromkeys((span, *(functions[name].span for name in called))))
            if trouble:
                why.setdefault(key, []).append(f"{pragma} {trouble}")
    return [_refused(unit, {key: in_one(found) for key, found in why.items()}) for unit in units], tuple(spans)


def in_one(found: Iterable[str]) -> str:
    """All that is not followed in a function, the first of it first."""
    first, *others = dict.fromkeys(found)
    more = [f"; {other}" for other in others[:MORE]]
    return "".join((first, *more, f"; and {len(others) - MORE} more" if len(others) > MORE else ""))


@dataclass(frozen=True, slots=True)
class _Program:
    """taken: functions whose address is taken; a call through a pointer may be one of any of them."""

    functions: Mapping[str, ast.Function]
    variables: Mapping[str, ast.Variable]
    taken: tuple[str, ...]
    effects: Mapping[str, FunctionEffect]


def _refused(unit: ast.Unit, why: Mapping[str, str]) -> ast.Unit:
    functions = {
        key: replace(f, refused=why[key]) if key in why and not f.refused else f for key, f in unit.functions.items()
    }
    return replace(unit, functions=functions)


def _reached(program: _Program, function: ast.Function, stmt: ast.Stmt) -> tuple[str, list[str]]:
    """Why a region is no serial code ('' where it is), and the functions that it may call."""
    why = ""
    called: dict[str, None] = {}
    each = isinstance(stmt, ast.DoWhile)  # one thread after the other: none may wait for another one
    work: list[tuple[ast.Function, ast.Stmt]] = [(function, stmt)]
    while work:
        function, stmt = work.pop()
        for e in within_statement(stmt, function.variables):
            why = why or _trouble(e, program, function.variables)
            if each and e.type.volatile and stmt is function.body:  # the region's own text was looked at before
                why = why or f"calls `{function.name}`, which uses a volatile variable: threads may wait for others"
            for name in _callees(e, program.taken):
                if name in program.functions and name not in called:
                    called[name] = None
                    if each and (program.functions[name].threads or program.functions[name].refused):
                        why = why or f"calls `{program.functions[name].name}`, in which threads may wait for others"
                    work.append((program.functions[name], program.functions[name].body))
    return why, list(called)


def _callees(e: ast.Expr, taken: Sequence[str]) -> Iterator[str]:
    if isinstance(e, ast.FuncRef):
        yield e.name  # called, or given to who may call it
    elif isinstance(e, ast.Call) and not isinstance(e.callee, ast.FuncRef):
        yield from taken


def _alone(name: str, effects: Mapping[str, FunctionEffect]) -> bool:
    effect = effects.get(name)
    return effect is not None and (effect.user or effect.source == "libm.toml" or bool(_ALONE.match(name)))


def _trouble(e: ast.Expr, program: _Program, own: Mapping[str, ast.Variable]) -> str:
    if isinstance(e, ast.FuncRef) and e.name not in program.functions and not _alone(e.name, program.effects):
        return f"calls `{e.name.rpartition(':')[2]}`"
    if e.type.atomic:
        return "uses an _Atomic variable"
    if isinstance(e, ast.Opaque):
        return f"does what is not followed ({e.reason})"
    if isinstance(e, ast.VarRef):
        variable = own.get(e.var) or program.variables.get(e.var)
        if variable is not None and variable.thread_local:
            return f"uses `{variable.name}`, of which each thread has one"
    return ""
