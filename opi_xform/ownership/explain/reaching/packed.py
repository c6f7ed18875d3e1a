"""What writes a message's memory on a way to its next send: a line, or a call of a function of which nothing is known.

It is told where a pointer may stand for several buffers, so that its names are what says whose memory is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reaching.touching import Touching
from opi_xform.ownership.explain.reaching.ways import ahead, between
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, Expressions, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of, variables_in

Words = tuple[str, tuple[tuple[Span, str], ...]]


def writes_between(touch: Touching, program: Program, use: Use, objects: Collection[int], again: int) -> Words:
    """What is said of the first write of a message's objects before the next send, with its note; '' where none is."""
    excluded, names = branches_of(program).excluded, names_of(program)
    nodes = {n for o in objects for n in program.values.accesses.nodes(o) if o != UNKNOWN}
    computed = {n for n in nodes if touch.computes(n) and not _of_a_struct(touch, program, use, n)}
    own = {n for n in computed if _named(touch, program, use, n)}  # else those of the call's own function
    own = own or {n for n in computed if program.graph.nodes[n].frame == program.graph.nodes[use.node].frame}
    writes = own | {n for n in nodes if _written(touch, program, use, n)}
    writes = {n for n in writes if not excluded(use.node, n)}
    accesses = program.values.accesses
    unsure = {n for n in writes if UNKNOWN in objects or UNKNOWN in accesses.objects(n)}  # either may be any memory
    writes -= {n for n in unsure if not _named(touch, program, use, n)}
    nest, graph = program.nest, program.graph
    around = {*nest.chain(graph.nodes[use.node].block)}.intersection(nest.chain(graph.nodes[again].block))
    if found := ahead(graph, use.node, set(between(program, use.node, again, writes))):  # in a loop around both, first
        span = names.span(max(found, key=lambda n: len(around.intersection(nest.chain(graph.nodes[n].block)))))
        return f"; {line_of(span)} writes into it before that", ((span, "it is written here"),)
    given = {n for n in nodes if touch.unknown(n) and _named(touch, program, use, n) and not excluded(use.node, n)}
    for n in ahead(program.graph, use.node, set(between(program, use.node, again, given))):
        action, span = program.graph.nodes[n].action, names.span(n)
        if isinstance(action, ins.CallInstr) and isinstance(action.call.callee, ast.FuncRef):
            called = f"`{action.call.callee.name}`"
            message = f"; {called} at {line_of(span)}, of which nothing is known, may write into it before that"
            return message, ((span, f"{called} is given it here"),)
    return "", ()


def begins_late(program: Program, n: int) -> str:
    """What is said of a store in a loop whose index begins at a number that the program computes; '' of others."""
    node = program.graph.nodes[n]
    function = program.functions[program.graph.frames[node.frame].function]
    e, span = Expressions(program).of(function.key, node.action), names_of(program).span(n)
    used = set(variables_in(e.index)) if isinstance(e, ast.Index) else set[str]()
    for loop, _ in statements(function.body):
        inside = loop.span.file == span.file and loop.span.begin <= span.begin < loop.span.end
        if not isinstance(loop, ast.For) or not inside:
            continue
        for key, value in _set_at_first(function, loop.init):
            begin = value.operand if isinstance(value, ast.Cast) else value
            if key in used and isinstance(begin, (ast.VarRef, ast.Member)) and spelling(begin) != UNSPELLED:
                return f": the loop in {line_of(loop.span)} writes it from `{spelling(begin)}` on"
    return ""


def _set_at_first(function: ast.Function, init: ast.Stmt | None) -> Iterator[tuple[str, ast.Expr]]:
    """What a loop sets its variables to before its first turn."""
    match init:
        case ast.DeclStmt(variables=keys):
            found = ((key, function.variables[key].init) for key in keys if key in function.variables)
            yield from ((key, value) for key, value in found if value is not None)
        case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=key), value=value)):
            yield key, value
        case _:
            pass


def _written(touch: Touching, program: Program, use: Use, n: int) -> bool:
    """A node calls a library's function, none of MPI, that writes a message's memory by its name: ``memcpy``."""
    action = program.graph.nodes[n].action
    effect = names_of(program).effect(action) if isinstance(action, ins.CallInstr) else None
    if (
        not isinstance(action, ins.CallInstr)
        or effect is None
        or effect.mpi is not None
        or effect.allocates is not None
    ):
        return False
    found = (r.arg for r in effect.all_writes if r.arg < len(action.call.args) and not (r.rest or r.indirect))
    return _named(touch, program, use, n, [action.call.args[i] for i in found])


def _of_a_struct(touch: Touching, program: Program, use: Use, n: int) -> bool:
    """A node sets a member of a struct, `s->full = 1`, that by the program's words is none of what a message has."""
    e, frame = next(touch.lvalues(n), None), program.graph.nodes[n].frame
    wanted = touch.roots.of(argument := use.call.args[use.argument], program.graph.nodes[use.node].frame)
    if not isinstance(e, ast.Member) or wanted is None:
        return False
    messages = (bare.type.elem for bare in (argument, base_of(argument)) if bare.type.elem is not None)
    if any(elem.record == e.base.type.record for elem in messages):
        return False
    found = touch.roots.of(e.base, frame)
    return found is None or found.root != wanted.root


def _named(touch: Touching, program: Program, use: Use, n: int, among: Iterable[ast.Expr] | None = None) -> bool:
    """One of the addresses that a node names goes out from what the call of a message names."""
    nodes = program.graph.nodes
    wanted = touch.roots.of(use.call.args[use.argument], nodes[use.node].frame)
    found = (touch.roots.of(e, nodes[n].frame) for e in (touch.lvalues(n) if among is None else among))
    return wanted is not None and any(origin is not None and origin.root == wanted.root for origin in found)
