"""Pointers that are set to places in a block: ``*grid = all + n``.

Where a function sets them once, as it declares them, the text alone tells that, in functions that are not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import zero_constant
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast, within_statement
from opi_xform.ownership.explain.reaching.in_force import in_force
from opi_xform.ownership.explain.reaching.trades import trades_of
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of, is_moved, is_zero, roots_of

STEPS = 8  # names that are followed to where a value comes from

Words = tuple[str, tuple[tuple[Span, str], ...]]


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


def set_inside(program: Program, what: str, near: Sequence[int]) -> Words | None:
    """What is said of a pointer that has its value from one line alone, which sets it to a place in another's block."""
    names, moved = names_of(program), False
    node = program.graph.nodes[near[0]] if near else None
    if node is None or len({names.span(n) for n in near}) > 1 or not isinstance(node.action, ins.Define):
        return None
    value: ins.Operand = node.action.value
    for _ in range(STEPS):
        while isinstance(value, ins.PtrAdd) or (isinstance(value, ins.Op) and value.op == "cast"):
            moved = moved or (isinstance(value, ins.PtrAdd) and not zero_constant(value.index))
            value = value.base if isinstance(value, ins.PtrAdd) else value.args[0]
        name = names.name(node.frame, value) if isinstance(value, ins.Temp) else None
        found = names.defs.get(name, ()) if name is not None else ()
        action = program.graph.nodes[found[0]].action if len(found) == 1 else None
        if not isinstance(action, ins.Define):
            break
        value = action.value
    key = value.key if isinstance(value, ins.Var) and moved and value.key not in program.members else ""
    if not key or f"`{program.variables[key].name}`" == what:
        return None
    span = names.span(near[0])
    message = f"{line_of(span)} sets {what} to a place in the block of `{program.variables[key].name}`"
    return f"{message}; a message needs a buffer of its own", ((span, f"{what} is set here"),)


def other_start(program: Program, use: Use, refusal: Refusal) -> Refusal | None:
    """What the line of a refusal sets a call's pointer to, where it is not known to be the start of a buffer."""
    e = base_of(use.call.args[use.argument])
    span = refusal.notes[0][0] if refusal.notes else None
    if not isinstance(e, ast.VarRef) or span is None:
        return None
    traded, name = trades_of(program).get(e.var), spelling(e)
    if traded is not None:
        message = f"`{name}` changes places with `{program.variables[traded[0]].name}` at {line_of(traded[1])}"
        message += ", and could not be followed there as memory of its own"
        return Refusal(Reason.SEVERAL_BUFFERS, message, ((traded[1], "here"),))
    names = names_of(program)
    o = program.values.objects.by_name.get(e.var, ())
    every = [n for one in o for n in names.defs.get(("v", one, 0), ())]
    placed = set_inside(program, f"`{name}`", [n for n in every if names.span(n) == span])
    if placed is None:
        return None
    message, notes = placed
    if not any(names.span(n) == span for n in in_force(program, every, use.node)):
        message = (
            f"{message.partition(';')[0]}, not for this call; another pointer for that would let others be looked at"
        )
    return Refusal(refusal.reason, message, notes)


def block_of(program: Program, use: Use) -> str:
    """The block that a call's own pointer points into, ``s->p`` of ``row = &s->p[k]``; '' where it has none."""
    e, node = uncast(use.call.args[use.argument]), program.graph.nodes[use.node]
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


def is_all(program: Program, use: Use) -> bool:
    """The message is all that its variable holds."""
    if use.object < 0 or use.lo is None or use.length is None:
        return False
    info, resolve = program.values.objects.table[use.object], program.values.symbols.resolve
    size = None if info.type is None or info.kind != "variable" else info.type.size
    return size is not None and resolve(use.lo).constant == 0 and resolve(use.length).constant == size
