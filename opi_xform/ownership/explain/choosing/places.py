"""Pointers that a function sets once, where it declares them, to places in one block: ``*grid = all + n``.

The text alone tells that, in functions that are not looked at.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import within_statement
from opi_xform.ownership.explain.choosing.argument import without_casts
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of, is_moved, is_zero, roots_of


def names_of_places(function: ast.Function, e: ast.Expr) -> list[ast.Expr]:
    """The other pointers of a function by which it names the memory of a message."""
    base = base_of(e)
    if not isinstance(base, ast.VarRef):
        return []
    start = _starts(function)
    mine = start.get(base.var, base.var)
    others = {key for key in (*start, mine) if start.get(key, key) == mine and key != base.var}
    every = within_statement(function.body, function.variables)
    named = {x.var: x for x in every if isinstance(x, ast.VarRef) and x.var in others}
    return list(named.values())


def set_to_a_place(function: ast.Function, e: ast.Expr) -> Refusal | None:
    """Why a call stays whose pointer is set to a place inside a block, or that of a block with another such pointer."""
    base = base_of(e)
    if not isinstance(base, ast.VarRef) or not base.type.is_pointer:
        return None
    start, name = _starts(function), spelling(base)
    init = function.variables[base.var].init if base.var in start else None
    if init is not None and is_moved(init):
        span = function.variables[base.var].span
        message = f"{line_of(span)} sets `{name}` to a place in the block of `{spelling(base_of(init))}`"
        return Refusal(Reason.CARRIER, f"{message}; a message needs a buffer of its own", ((span, "set here"),))
    for key, first in start.items():
        variable = function.variables[key]
        if first == start.get(base.var, base.var) and variable.init is not None and is_moved(variable.init):
            message = f"{line_of(variable.span)} sets `{variable.name}` to a place in the block that `{name}` names"
            return Refusal(
                Reason.CARRIER, f"{message}; a message needs a buffer of its own", ((variable.span, "set here"),)
            )
    return None


def block_of(program: Program, use: Use) -> str:
    """The block that a call's own pointer points into, ``s->p`` of ``row = &s->p[k]``; '' where it has none."""
    e, node = without_casts(use.call.args[use.argument]), program.graph.nodes[use.node]
    if not isinstance(e, ast.VarRef) or program.variables[e.var].kind != "local":
        return ""
    found = roots_of(program).of(e, node.frame)
    if found is None or not (found.moved or found.inside or isinstance(found.base, ast.Member)):
        return ""
    name = spelling(found.base)
    return "" if found.frame != node.frame or name in (UNSPELLED, spelling(e)) else name


def at_another_place(program: Program, use: Use, n: int) -> bool:
    """All that a call in a message's own function writes it names by a pointer to another place of the block:
    ``in = all + n`` is none of ``out = all``.
    """
    node, mine = program.graph.nodes[n], base_of(use.call.args[use.argument])
    effect = names_of(program).effect(node.action) if isinstance(node.action, ins.CallInstr) else None
    if not isinstance(node.action, ins.CallInstr) or effect is None or not isinstance(mine, ast.VarRef):
        return False
    args, frame = node.action.call.args, node.frame
    regions = [r for r in effect.all_writes if not r.rest and r.arg < len(args)]
    its = [base_of(args[r.arg]) for r in regions]
    if frame != program.graph.nodes[use.node].frame or len(its) < len(effect.all_writes):
        return False
    own = _once(program, frame, mine)
    others = [_once(program, frame, e) for e in its if isinstance(e, ast.VarRef) and e.type.is_pointer]
    others = [e for e in others if e is None or own is None or spelling(base_of(e)) == spelling(base_of(own))]
    return own is not None and bool(others) and all(e is not None and is_moved(e) != is_moved(own) for e in others)


def _once(program: Program, frame: int, e: ast.VarRef) -> ast.Expr | None:
    """What a local pointer is set to, where that is said once."""
    every = roots_of(program).sets(program.graph.frames[frame].function).get(e.var, [])
    values = [v for v in every if v is None or not is_zero(v)]
    return values[0] if len(values) == 1 and program.variables[e.var].kind == "local" else None


def _starts(function: ast.Function) -> dict[str, str]:
    """By pointer that is set where it is declared, and nowhere else: the one with which its block begins."""
    out: dict[str, str] = {}
    changed: set[str] = set()
    for x in within_statement(function.body, function.variables):
        match x:
            case ast.Assign(target=ast.VarRef(var=key)) | ast.IncDec(operand=ast.VarRef(var=key)):
                changed.add(key)
            case ast.AddrOf(operand=ast.VarRef(var=key)):
                changed.add(key)
            case _:
                pass
    for key, variable in function.variables.items():
        base = base_of(variable.init) if variable.init is not None and variable.type.is_pointer else None
        if isinstance(base, ast.VarRef) and base.type.is_pointer and not changed.intersection((key, base.var)):
            out[key] = out.get(base.var, base.var)
    return out
