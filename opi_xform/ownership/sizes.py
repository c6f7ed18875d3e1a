"""How many bytes OPI_Alloc asks for, as text: the declared size, or what malloc was given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.ownership.flow import Flow, Level
from opi_xform.ownership.mentions import Definitions, Texts, plain, walk
from opi_xform.ownership.model import Buffer, Program

_ALLOCATING_PARTS = (ast.VarRef, ast.IntLit, ast.SizeOf, ast.Binary, ast.Cast, ast.MacroConst, ast.Unary)


@dataclass(frozen=True, slots=True)
class Allocation:
    """One malloc or calloc in the source whose result the carrier takes.

    statement: the declaration or assignment, in function ``function``.  value: the expression that goes (the call with
    its casts).  declared: it initialises the carrier's declaration.  nodes: its copies in the graph.
    """

    function: str
    stmt: int
    call: ast.Call
    value: ast.Expr
    declared: bool
    nodes: tuple[int, ...]


def array_size(program: Program, buffer: Buffer, texts: Texts) -> str | None:
    """``sizeof(double[N])`` as the declaration spells it; None when it cannot be written."""
    variable = program.variables[buffer.carrier.variable]
    element: Type | None = variable.type
    while element is not None and element.is_array:
        element = element.elem
    for declarator in sorted(variable.declarators, key=lambda d: not d.definition):
        if declarator.suffix is None or not declarator.suffix.editable:
            continue
        suffix = re.sub(r"/\*.*?\*/|//[^\n]*", " ", texts.of(declarator.suffix), flags=re.DOTALL)
        dims = [d.strip() for d in _brackets(" ".join(suffix.split()))]
        if len(dims) <= buffer.carrier.rows:
            continue
        if dims[0] == "":
            if variable.type.count is None:
                continue
            dims[0] = str(variable.type.count)
        kept = dims[buffer.carrier.rows :]
        if element is None or "(" in element.spelling or any(d == "" for d in kept):
            return None
        spelling = _unqualified(element.spelling)
        gap = "" if not spelling.endswith("*") else " "
        return f"sizeof({spelling}{gap}{''.join(f'[{d}]' for d in kept)})"
    return None


def _unqualified(spelling: str) -> str:
    return re.sub(r"\b(const|volatile|restrict)\b\s*", "", spelling).strip()


def _brackets(suffix: str) -> Iterator[str]:
    depth, start = 0, 0
    for i, c in enumerate(suffix):
        if c == "[":
            if depth == 0:
                start = i + 1
            depth += 1
        elif c == "]":
            depth -= 1
            if depth == 0:
                yield suffix[start:i]


def find_allocations(program: Program, flow: Flow, buffer: Buffer) -> list[Allocation] | None:
    """The carrier's allocations by source place; None when one is not written as `v = malloc(…)` or in the declaration."""
    found: dict[tuple[str, int, int], Allocation] = {}
    for n in buffer.carrier.allocations:
        node = program.graph.nodes[n]
        call = node.action
        if not isinstance(call, ins.CallInstr) or flow.stmt[n] < 0:
            return None
        lowered = flow.lowered(node.frame)
        stmt = flow.stmt[n]
        key = (lowered.function.key, stmt, call.span.begin)
        known = found.get(key)
        if known is not None:
            found[key] = Allocation(known.function, stmt, known.call, known.value, known.declared, (*known.nodes, n))
            continue
        value, declared = _assigned(lowered.function, lowered.stmts[stmt].stmt, call.call, buffer)
        if value is None or not value.span.editable:
            return None
        found[key] = Allocation(lowered.function.key, stmt, call.call, value, declared, (n,))
    return list(found.values())


def _assigned(
    function: ast.Function, stmt: ast.Stmt, call: ast.Call, buffer: Buffer
) -> tuple[ast.Expr | None, bool]:
    carrier = buffer.carrier.variable
    if isinstance(stmt, ast.DeclStmt) and carrier in stmt.variables:
        init = function.variables[carrier].init
        if init is not None and plain(init) is call:
            return init, True
    if isinstance(stmt, ast.ExprStmt) and isinstance(stmt.expr, ast.Assign) and stmt.expr.op == "":
        target = stmt.expr.target
        if isinstance(target, ast.VarRef) and target.var == carrier and plain(stmt.expr.value) is call:
            return stmt.expr.value, False
    return None, False


def requested(program: Program, allocation: Allocation, texts: Texts) -> str | None:
    """The size that malloc or calloc was asked for, as text."""
    call = allocation.call
    effect = program.effects.get(call.callee.name) if isinstance(call.callee, ast.FuncRef) else None
    spec = effect.allocates if effect is not None else None
    if spec is None or spec.size is None or spec.into is not None:
        return None
    parts = []
    for factor in spec.size:
        if factor.kind == "const":
            if factor.value != 1:
                parts.append(str(factor.value))
        elif factor.kind == "arg" and factor.value < len(call.args) and call.args[factor.value].span.editable:
            argument = call.args[factor.value]
            text = texts.of(argument.span)
            parts.append(text if len(spec.size) == 1 or not _loose(argument) else f"({text})")
        else:
            return None
    return " * ".join(parts) if parts and all(parts) else None


def _loose(e: ast.Expr) -> bool:
    e = plain(e)
    return isinstance(e, ast.Conditional) or isinstance(e, ast.Binary) and e.op not in ("*",)


def same_everywhere(
    program: Program, flow: Flow, allocation: Allocation, defs: Definitions, level: Level
) -> bool:
    """The size text means the same at a statement as at the allocation: its variables are set once, and are visible."""
    function = flow.lowered(level[0]).function
    keys: set[str] = set()
    for argument in allocation.call.args:
        for e in walk(argument):
            if not isinstance(e, _ALLOCATING_PARTS):
                return False
            if isinstance(e, ast.SizeOf):
                continue
            if isinstance(e, ast.VarRef):
                keys.add(e.var)
    evaluated = {v.var for argument in allocation.call.args for v in _evaluated(argument)}
    for key in sorted(keys):
        variable = program.variables[key]
        if key in evaluated:
            if variable.is_global or variable.function != function.key or allocation.function != function.key:
                return False
            nodes = [n for n in defs.nodes.get(key, ()) if program.graph.nodes[n].frame == level[0]]
            setting = [n for n in nodes if not isinstance(program.graph.nodes[n].action, ins.Birth)]
            if key in defs.addressed or len(setting) > 1 or not _visible(flow, variable, level):
                return False
            if not any(program.graph.nodes[n].frame == level[0] for n in allocation.nodes):
                return False
        elif variable.function and variable.function != function.key:
            return False
    # the text may hold macros and types of its file
    return flow.info(level).stmt.span.file == allocation.call.span.file


def _evaluated(root: ast.Expr) -> Iterator[ast.VarRef]:
    stack = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.VarRef):
            yield item
        if isinstance(item, ast.SizeOf):
            continue
        for name in type(item).__slots__:
            value = getattr(item, name)
            if isinstance(value, ast.Expr):
                stack.append(value)


def _visible(flow: Flow, variable: ast.Variable, level: Level) -> bool:
    if variable.kind == "param":
        return True
    lowered = flow.lowered(level[0])
    for i, info in enumerate(lowered.stmts):
        if isinstance(info.stmt, ast.DeclStmt) and variable.key in info.stmt.variables:
            at = level[1]
            while at >= 0 and at != info.parent:
                at = lowered.stmts[at].parent
            return at == info.parent and level[1] > i
    return False

