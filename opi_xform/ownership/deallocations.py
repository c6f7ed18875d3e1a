"""Where the program frees a carrier's memory: calls of free, and of its own functions that do nothing else."""

from __future__ import annotations

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ownership.mentions import plain
from opi_xform.ownership.model import Program
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Deallocation:
    """freeing: the node of the call of free.  node, argument: the call in the source that names the carrier.

    wrappers: the frames in between.  out: the call is given the carrier's address (``done(&b)``).
    """

    freeing: int
    node: int
    argument: int
    wrappers: tuple[int, ...] = ()
    out: bool = False


def deallocation(program: Program, n: int, argument: int) -> Deallocation:
    """The call that stands for the one at node ``n``: itself, or that of the outermost function that only frees."""
    graph = program.graph
    at = n
    wrappers: list[int] = []
    while True:
        frame = graph.nodes[at].frame
        function = program.functions.get(graph.frames[frame].function)
        outer = graph.frames[frame].call
        action = graph.nodes[at].action
        assert isinstance(action, ins.CallInstr)
        out = graph.out_parameters.get(frame)
        if function is None or outer < 0 or not _direct(program, outer) or not _only_frees(function, action.call, out):
            return Deallocation(n, at, argument, tuple(wrappers))
        wrappers.append(frame)
        at, argument = outer, 0
        if out is not None:
            return Deallocation(n, at, argument, tuple(wrappers), True)


def _direct(program: Program, n: int) -> bool:
    """The call at node ``n`` is written with the function's name: a pointer could mean another one as well."""
    action = program.graph.nodes[n].action
    return isinstance(action, ins.CallInstr) and isinstance(action.call.callee, ast.FuncRef)


def _only_frees(function: ast.Function, call: ast.Call, out: str | None) -> bool:
    """``void f(T *p) { if (p) free(p); }``, or less; ``call``: of free.  Of ``out``, what it points to counts."""
    if len(function.params) != 1 or len(call.args) != 1 or function.type.elem is None:
        return False
    key = function.params[0]
    if function.type.elem.kind != "void" or not _names(call.args[0], key, out):
        return False
    work: list[ast.Stmt] = [function.body]
    freed = False
    while work:
        match work.pop():
            case ast.Block(body=items):
                work.extend(items)
            case ast.If(cond=cond, then=then, other=None) if _is_set(cond, key, out):
                work.append(then)
            case ast.ExprStmt(expr=e) if plain(e) is call:
                freed = True
            case ast.ExprStmt(expr=ast.Assign(target=target, op="", value=value)) if _names(target, key, out):
                number = plain(value)
                if not isinstance(number, ast.IntLit) or (out is not None and number.value):
                    return False
            case ast.Return(value=None) | ast.Null():
                pass
            case _:
                return False
    return freed


def _names(e: ast.Expr, key: str, out: str | None) -> bool:
    e = plain(e)
    if key == out:
        if not isinstance(e, ast.Deref):
            return False
        e = plain(e.operand)
    return isinstance(e, ast.VarRef) and e.var == key


def _is_set(cond: ast.Expr, key: str, out: str | None) -> bool:
    """``p`` or ``p != NULL``."""
    e = plain(cond)
    if isinstance(e, ast.Binary) and e.op == "!=":
        left, right = plain(e.left), plain(e.right)
        if isinstance(right, ast.IntLit) and right.value == 0:
            e = left
        elif isinstance(left, ast.IntLit) and left.value == 0:
            e = right
    return _names(e, key, out)
