"""All translation units of a program as one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from opi_xform.graph.fortran_main import main_around
from opi_xform.graph.graph import MAIN
from opi_xform.ir import ast
from opi_xform.ir.cells import with_cells
from opi_xform.ir.span import Span
from opi_xform.ir.types import Record
from opi_xform.ir.walk import children, expressions
from opi_xform.program.changed_macros import unsteady_macros


@dataclass(slots=True)
class Whole:
    """All units merged."""

    functions: dict[str, ast.Function] = field(default_factory=dict)
    variables: dict[str, ast.Variable] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)  # functions whose address is taken
    files: tuple[str, ...] = ()
    shared: frozenset[str] = frozenset()  # files that several units read
    unsteady: frozenset[str] = frozenset()  # macros that mean one thing here and another there
    names_proc_null: bool = True
    threads: tuple[Span, ...] = ()  # text that several threads may run
    freeing: frozenset[str] = frozenset()  # files in which free is known
    f2c: bool = False  # some file reads f2c.h
    loose: bool = False  # some file lets memory be read as another type than it was written
    left_out: tuple[Span, ...] = ()  # text that the preprocessor leaves out
    pointers: bool = False  # subscripts may have been a pointer's (``Options``)


def merge(units: Sequence[ast.Unit]) -> Whole:
    """Functions, variables and MPI constants of all units; of a variable's declarations the defining one counts."""
    files = sorted({path for unit in units for path in (unit.path, *unit.files)})
    real = {path: os.path.realpath(path) for path in files}  # a header may have several names
    readers = Counter(file for unit in units for file in {real[path] for path in (unit.path, *unit.files)})
    named = any(unit.names_proc_null for unit in units)
    without = {path for unit in units if "free" not in unit.declared for path in (unit.path, *unit.files)}
    whole = Whole(
        files=tuple(files),
        shared=frozenset(path for path in files if readers[real[path]] > 1),
        freeing=frozenset(files) - without,
        unsteady=unsteady_macros(units),
        names_proc_null=named,
        f2c=any(unit.f2c for unit in units),
        loose=any(unit.loose for unit in units),
        left_out=tuple(span for unit in units for span in (*(s.span for s in unit.skipped), *unit.never)),
    )
    for unit in units:
        whole.records.update(unit.records)
        for key, function in unit.functions.items():
            whole.variables.update(whole.functions.setdefault(key, with_cells(function)).variables)
        for key, var in unit.globals.items():
            known = whole.variables.get(key)
            if known is not None:
                best = var if _rank(var) > _rank(known) else known
                var = replace(best, declarators=_together(known.declarators, var.declarators))
            whole.variables[key] = var
        whole.constants.update(unit.int_macros)
        whole.taken.update(unit.address_taken_functions)
    main = main_around(whole.functions) if whole.f2c else None
    if main is not None:
        whole.functions[main.key] = main
    return whole


def _together(known: Sequence[ast.Declarator], more: Sequence[ast.Declarator]) -> tuple[ast.Declarator, ...]:
    """A header's are seen by several units; in one of them it may define what it declares in the others (`EXTERN`)."""
    unique: dict[tuple[str, int], ast.Declarator] = {}
    for d in (*known, *more):
        there = unique.setdefault((d.name_span.file, d.name_span.begin), d)
        if (d.definition, d.tentative) > (there.definition, there.tentative):
            unique[d.name_span.file, d.name_span.begin] = d
    return tuple(unique.values())


def _rank(var: ast.Variable) -> int:
    if var.init is not None:
        return 3
    if any(d.definition for d in var.declarators):
        return 2
    return 1 if any(d.tentative for d in var.declarators) else 0


def entries(whole: Whole) -> tuple[str, ...]:
    """main, or without one every function that other files can call."""
    if MAIN in whole.functions:
        return (MAIN,)
    return tuple(sorted(k for k, f in whole.functions.items() if not f.static))


def initialised(whole: Whole) -> list[str]:
    """Variables that initialisers of static storage name; those of local variables are instructions."""
    own = (v for f in whole.functions.values() for v in f.variables.values())
    stack = [v.init for v in (*whole.variables.values(), *own) if v.is_global and v.init is not None]
    found: set[str] = set()
    while stack:
        e = stack.pop()
        if isinstance(e, ast.VarRef):
            found.add(e.var)
        stack.extend(children(e))
    return sorted(found)


def called_back(whole: Whole) -> list[str]:
    """Globals that functions mention whose address is taken, and functions that these call.

    Unknown code may have got the address, also inside a structure (``sigaction``), and call it now or later.
    """
    found: set[str] = set()
    seen: set[str] = set()
    work = sorted(whole.taken)
    while work:
        name = work.pop()
        function = whole.functions.get(name)
        if name in seen or function is None:
            continue
        seen.add(name)
        inits = [v.init for v in function.variables.values() if v.init is not None]
        stack = [*expressions(function.body), *inits]
        while stack:
            e = stack.pop()
            if isinstance(e, ast.VarRef) and e.var in whole.variables and whole.variables[e.var].is_global:
                found.add(e.var)
            elif isinstance(e, ast.FuncRef):
                work.append(e.name)
            stack.extend(children(e))
    return sorted(found)
