"""Pointers in a local struct that is a copy of another one, which points to the same memory: ``p = all[i];``."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import function_expressions, place, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of

Words = tuple[str, tuple[tuple[Span, str], ...]]


def copies(program: Program, argument: ast.Expr, frame: int) -> set[int]:
    """The nodes that set, as a whole, the local struct a member of which an address is: ``p.data``."""
    e = base_of(argument)
    e = e.base if isinstance(e, ast.Member) else e
    if not isinstance(e, ast.VarRef) or program.variables[e.var].is_global:
        return set()
    nodes = (node for node in program.graph.nodes if node.frame == frame and isinstance(node.action, ins.CopyBytes))
    targets = ((node.number, node.action.target) for node in nodes if isinstance(node.action, ins.CopyBytes))
    return {n for n, to in targets if isinstance(to, ins.AddrVar) and to.key == e.var}


def copy_of(program: Program, argument: ast.Expr, frame: int) -> Words | None:
    """That the pointer an address is stays in a struct of which that of the call is a copy; None where it need not."""
    names, function = names_of(program), program.functions[program.graph.frames[frame].function]
    found = copies(program, argument, frame)
    if not found or spelling(base_of(argument)) in map(spelling, _set(function)):
        return None
    spans, values = {names.span(n) for n in found}, dict(_values(function))
    sources = [values.get((span.file, span.begin, span.end)) for span in spans]
    if len(spans) != 1 or not isinstance(sources[0], (ast.Index, ast.Member, ast.Deref, ast.VarRef)):
        return None
    (span,), e = spans, base_of(argument)
    struct, other = spelling(e.base) if isinstance(e, ast.Member) else "", spelling(sources[0])
    message = f"{line_of(span)} copies `{other}` to `{struct}`, and `{other}` still has the pointer `{spelling(e)}`"
    return message, ((span, "copied here"),)


def copied_into(program: Program, table: int, named: ast.Expr | None) -> Words | None:
    """That whole structs are copied over those of an array: the pointers in them are then of another struct, too."""
    if not isinstance(named, ast.Member) or not isinstance(named.base, ast.Index):
        return None
    symbols, struct = program.values.symbols, spelling(named.base)
    for node in program.graph.nodes:
        operands = program.values.operands.get(node.number, ())
        if not isinstance(node.action, ins.CopyBytes) or not operands or symbols.base(operands[0]) != table:
            continue
        span = names_of(program).span(node.number)
        if len(operands) > 1 and symbols.base(operands[1]) != table:
            message = f"{line_of(span)} copies a whole struct to `{struct}`, so that `{spelling(named)}` is a pointer"
            return f"{message} which another struct has, too", ((span, "copied here"),)
    return None


def _set(function: ast.Function) -> Iterator[ast.Expr]:
    """Pointers in structs that a function sets, one by one, or lets others set."""
    for e in function_expressions(function):
        match e:
            case ast.Assign(target=ast.Member() as target) | ast.IncDec(operand=ast.Member() as target):
                yield target
            case ast.AddrOf(operand=ast.Member() as target) if target.type.is_pointer:
                yield target


def _values(function: ast.Function) -> Iterator[tuple[tuple[str, int, int], ast.Expr]]:
    """What structs are set to, by the place that a node has for it."""
    for variable in function.variables.values():
        if variable.init is not None and variable.type.kind == "record":
            yield place(variable.init), variable.init
    for e in function_expressions(function):
        if isinstance(e, ast.Assign) and e.type.kind == "record":
            yield place(e), e.value
