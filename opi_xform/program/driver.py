"""From translation units to a plan: the order in which everything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opi_xform.ir import ast
from opi_xform.ir.loops import loop_nest
from opi_xform.memory.constraints import GraphPointsTo
from opi_xform.memory.interp import interpret
from opi_xform.memory.objects import Objects
from opi_xform.ownership.model import Program
from opi_xform.ownership.plan import Edit
from opi_xform.program.effects import Effects, load_effects
from opi_xform.program.graph import Lowerings, build


@dataclass(frozen=True, slots=True)
class Options:
    """strict: no named assumptions, no user-supplied effects.  effects: an opi.toml.

    obstacle: why an edit cannot be made ('' when it can): its text is written by a macro, its file lies outside what
    may be edited, an array type hides behind a typedef.  A site that needs such an edit is kept (OPI109, 112, 113).
    """

    strict: bool = False
    effects: Path | None = None
    obstacle: Callable[[Edit], str] = lambda edit: ""


@dataclass(slots=True)
class Whole:
    """All units merged."""

    functions: dict[str, ast.Function] = field(default_factory=dict)
    variables: dict[str, ast.Variable] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)


def merge(units: Sequence[ast.Unit]) -> Whole:
    """Functions, variables and MPI constants of all units; of a variable's declarations the defining one counts."""
    whole = Whole()
    for unit in units:
        for key, function in unit.functions.items():
            whole.functions.setdefault(key, function)
            whole.variables.update(function.variables)
        for key, var in unit.globals.items():
            known = whole.variables.get(key)
            if known is None or _rank(var) > _rank(known):
                whole.variables[key] = var
        whole.constants.update(unit.int_macros)
    return whole


def _rank(var: ast.Variable) -> int:
    if var.init is not None:
        return 3
    if any(d.definition for d in var.declarators):
        return 2
    return 1 if any(d.tentative for d in var.declarators) else 0


def entries(whole: Whole) -> tuple[str, ...]:
    """main, or without one every function that other files can call."""
    if "main" in whole.functions:
        return ("main",)
    return tuple(sorted(k for k, f in whole.functions.items() if not f.static))


def program(whole: Whole, effects: Effects, entry: str) -> Program:
    """The analysed graph of everything reached from ``entry``."""
    variables: Mapping[str, ast.Variable] = whole.variables
    global_variables = {k: v for k, v in variables.items() if v.is_global}
    lowerings = Lowerings(whole.functions, global_variables)
    indirect = sorted(whole.functions)
    graph = build(lowerings, entry, effects, indirect)
    nest = loop_nest(graph.succs, graph.preds)
    objects = Objects(variables)
    for key in sorted(global_variables):
        o = objects.variable(-1, key)
        if entry != "main" and variables[key].kind == "extern":
            objects.exposed.add(o)
    points_to = GraphPointsTo(graph, variables, objects, effects)
    values = interpret(graph, nest, variables, objects, points_to, effects, entry == "main")
    size = 4 if whole.constants.get("MPICH_VERSION") else 8
    return Program(graph, nest, values, variables, whole.functions, effects, whole.constants, size)


def default_effects(options: Options) -> Effects:
    return load_effects(options.effects, strict=options.strict)
