"""Functions of the program that ask ``malloc`` for the bytes they are given and do nothing else: ``xmalloc(bytes)``."""

from __future__ import annotations

from opi_xform.graph.graph import Node
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ownership.allocation.allocating import only_allocates
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.placement.place import tables


def wrapping(program: Program, n: int) -> Node | None:
    """The call of such a function in which node ``n`` calls malloc; None where malloc is called in another way.

    The function may be called once for each part of a buffer: nothing happens but that, or the program ends since there
    is no memory.
    """
    graph = program.graph
    inner, frame = graph.nodes[n].action, graph.nodes[n].frame
    function = program.functions.get(graph.frames[frame].function)
    at = graph.frames[frame].call
    outer = graph.nodes[at].action if at >= 0 else None
    if function is None or not isinstance(inner, ins.CallInstr) or not isinstance(outer, ins.CallInstr):
        return None
    if inner.callee != ins.AddrFunc("malloc") or not isinstance(outer.callee, ins.AddrFunc):
        return None
    if len(function.params) != 1 or len(outer.call.args) != 1 or not _is_given(inner.call.args[0], function.params[0]):
        return None
    return graph.nodes[at] if only_allocates(program, tables(program).flow, frame, n) else None


def callee_of(call: Node) -> str:
    """The function that a node calls by its name."""
    assert isinstance(call.action, ins.CallInstr)
    assert isinstance(call.action.callee, ins.AddrFunc)
    return call.action.callee.key


def _is_given(e: ast.Expr, key: str) -> bool:
    """A parameter, as it is; no conversion makes it smaller."""
    while isinstance(e, ast.Cast):
        if e.type.kind != "int" or (e.type.size or 0) < (e.operand.type.size or 0):
            return False
        e = e.operand
    return isinstance(e, ast.VarRef) and e.var == key and e.type.kind == "int"
