"""``if (!b) b = malloc(n);``: a test that asks whether the buffer is there yet, and does nothing but make it.

Whatever such a test finds in the new program, where a buffer that was given away is not there either: it makes one, or
(when OPI_Alloc stands elsewhere) nothing.  Only the size must be the same in every turn: the test may find nothing more
often than before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opi_xform.graph.graph import Node
from opi_xform.graph.statements import Flow, Level
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import parts_of
from opi_xform.memory.stretches import tails
from opi_xform.ownership.allocation.allocations import Allocation
from opi_xform.ownership.allocation.null_tests import gives_up
from opi_xform.ownership.allocation.repeated import has_effect
from opi_xform.ownership.model.buffers import Buffer, Program
from opi_xform.ownership.spelling.mentions import plain


def tests_of_allocations(
    program: Program, flow: Flow, buffer: Buffer, allocations: Sequence[Allocation], addressed: Collection[str]
) -> dict[int, Level]:
    """The nodes of such tests, each with its statement."""
    values = program.values
    if buffer.carrier.kind != "pointer" or buffer.carrier.rows or any(a.inside or a.kept for a in allocations):
        return {}
    asked = {tuple(map(values.symbols.resolve, values.args.get(n, ()))) for n in buffer.carrier.allocations}
    if len(asked) != 1 or any(values.symbols.scope(v) for given in asked for v in given):
        return {}
    if any(has_effect(e) for a in allocations for e in a.call.args):
        return {}
    error_exits = tails(program.graph, program.nest)
    out: dict[int, Level] = {}
    for allocation in allocations:
        for frame in flow.frames_of[allocation.function]:
            level = _test(program, flow, buffer, (frame, allocation.stmt))
            if level is None:
                return {}
            mine = {n for n in flow.by_frame[frame] if flow.stmt[n] == level[1]}
            for n in flow.members(level) - mine:
                node = program.graph.nodes[n]
                if (
                    node.frame in allocation.wrappers
                    or (node.frame == frame and flow.stmt[n] == allocation.stmt)
                    or node.block in error_exits
                    or _own_number(program, node, flow.info(level).stmt)
                    or (isinstance(node.action, ins.Branch) and gives_up(program, buffer, n, addressed))
                ):
                    continue
                return {}
            out.update(dict.fromkeys(mine, level))
    return out


def _own_number(program: Program, node: Node, test: ast.Stmt) -> bool:
    """A number is set that is declared inside the test, such as that of the bytes that are asked for.  It may be set
    each time, although the program has done so only once, with other numbers.
    """
    match node.action:
        case ins.Birth(var=key):
            variable = program.variables[key]
        case ins.Define(target=ins.Var(key=key), value=value):
            variable = program.variables[key]
            if not _always_defined(program, node.number, value):
                return False
        case _:
            return False
    inside = variable.span.file == test.span.file and test.span.begin <= variable.span.begin < test.span.end
    plain_type = variable.type.kind == "int" and not (variable.type.volatile or variable.type.atomic)
    return inside and variable.kind == "local" and plain_type


def _always_defined(program: Program, n: int, value: ins.Operand) -> bool:
    """What a node computes is defined by C whatever its operands are: nothing is divided by 0, no sum too large."""
    values = program.values
    found = values.operands.get(n, ())
    same = len(found) == 1 and not values.symbols.scope(values.symbols.resolve(found[0]))
    for part in parts_of(value):
        match part:
            case ins.Const() | ins.Var() | ins.Temp():
                pass
            case ins.Op(op="/" | "%", args=(_, ins.Const(value=right))):
                if right <= 0:
                    return False
            case ins.Op(op=">>", args=(_, ins.Const(value=right))):
                if not 0 <= right < 31:
                    return False
            case ins.Op(op="+" | "-" | "*" | "neg"):
                if not (part.unsigned or same):
                    return False
            case ins.Op(op="cast" | "~" | "&" | "|" | "^" | "not" | "==" | "!=" | "<" | "<=" | ">" | ">="):
                if part.view or part.type.kind != "int":
                    return False
            case _:
                return False
    return True


def _test(program: Program, flow: Flow, buffer: Buffer, level: Level) -> Level | None:
    """The ``if`` without ``else`` right around a statement that tests whether the carrier is NULL."""
    stmts = flow.lowered(level[0]).stmts
    at = stmts[level[1]].parent
    while at >= 0 and _done_once(stmts[at].stmt):
        at = stmts[at].parent
    test = stmts[at].stmt if at >= 0 else None
    if not isinstance(test, ast.If) or test.other is not None:
        return None
    e = plain(test.cond)
    if isinstance(e, ast.Unary) and e.op == "!":
        e = plain(e.operand)
    elif isinstance(e, ast.Binary) and e.op == "==":
        left, right = plain(e.left), plain(e.right)
        null = [x for x in (left, right) if isinstance(x, ast.IntLit) and x.value == 0]
        if not null:
            return None
        e = left if null[0] is right else right
    else:
        return None
    return (level[0], at) if program.names(e, buffer.carrier.variable) else None


def _done_once(s: ast.Stmt) -> bool:
    """What is in it is done, once: a block, ``if (1) …``, ``do … while (0);``."""
    match s:
        case ast.If(cond=ast.IntLit(value=value), other=None):
            return value != 0
        case ast.DoWhile(cond=ast.IntLit(value=value)):
            return value == 0
        case _:
            return isinstance(s, ast.Block)
