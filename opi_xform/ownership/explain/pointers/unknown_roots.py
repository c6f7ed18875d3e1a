"""Why it is not known what a pointer points to from which a call's own is read: ``a[k][j]``, ``h->out``."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.graph.graph import Bind, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import lines_of
from opi_xform.ownership.model.lvalues import function_expressions, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of, is_zero, member_key

STEPS = 8  # names that are followed to where a pointer comes from
SHOWN = 3

Words = tuple[str, tuple[tuple[Span, str], ...]]


def pointer_of(e: ast.Expr) -> ast.Expr | None:
    """The pointer that an lvalue goes through."""
    while isinstance(e, (ast.Member, ast.Index, ast.Cast)):
        if isinstance(e, ast.Index) and not e.base.type.is_array:
            return e.base
        e = e.operand if isinstance(e, ast.Cast) else e.base
    return e.operand if isinstance(e, ast.Deref) else None


def one_of_a_table(program: Program, e: ast.Expr, n: int) -> Words | None:
    """The pointer is itself one of a table: of tables, or of structs.  n: the node that reads the call's pointer."""
    inner = pointer_of(e)
    inner = None if inner is None else uncast(inner)
    if not isinstance(inner, ast.Index):
        return None
    action, frame = program.graph.nodes[n].action, program.graph.nodes[n].frame
    assert isinstance(action, ins.Load)
    root, name = spelling(inner), spelling(e)
    spans, does = _set(program, inner), "sets"
    if not spans:
        objects, table = program.points_to.operand(frame, action.address), program.values.objects.table
        known = UNKNOWN not in objects and all(table[o].kind == "heap" for o in objects)
        spans, does = (_in_order(node_span(program, m) for o in objects for m in table[o].nodes), "allocates")
        spans = spans if known else ()
    made = ""
    if spans:
        made = f", which {lines_of(spans[:SHOWN])} {does if len(spans) == 1 else does.removesuffix('s')}"
    notes = tuple((span, "set here" if does == "sets" else "allocated here") for span in spans[:SHOWN])
    here = ((node_span(program, n), "read from memory here"),)
    if isinstance(e, ast.Index):
        message = f"`{root}` is one of several tables of pointers{made}, so `{name}` may be a row of any of them"
        return f"{message}; rows of one table, by one index, would be told apart", notes or here
    return f"`{root}` is one of several structs{made}, so `{name}` may be that of any of them", notes or here


def without_a_value(program: Program, address: ins.Operand, n: int, root: str, name: str) -> Words | None:
    """The pointer comes from a function that ends without a value."""
    names, nodes, frame = names_of(program), program.graph.nodes, program.graph.nodes[n].frame
    for _ in range(STEPS):
        while isinstance(address, ins.PtrAdd) or (isinstance(address, ins.Op) and address.op == "cast"):
            address = address.base if isinstance(address, ins.PtrAdd) else address.args[0]
        found = names.name(frame, address)
        defs = names.defs.get(found, ()) if found is not None else ()
        defs = [d for d in defs if not isinstance(nodes[d].action, ins.Birth)]
        action = nodes[defs[0]].action if len(defs) == 1 else None
        if isinstance(action, Bind) and isinstance(address, ins.Var) and address.key in action.params:
            address, frame, n = action.args[action.params.index(address.key)], action.caller, defs[0]
        elif isinstance(action, ins.Define):
            address, n = action.value, defs[0]
        else:
            break
    if not isinstance(address, ins.Temp) or defs:
        return None
    return _ends_so(program, n, frame, root, name)


def _ends_so(program: Program, n: int, frame: int, root: str, name: str) -> Words | None:
    """The call whose result a node keeps, of which the graph has no value."""
    graph, span = program.graph, node_span(program, n)
    for node in graph.nodes:
        if not isinstance(node.action, Unbind) or node.frame != frame or node.action.value is not None:
            continue
        function = program.functions[graph.frames[node.action.callee].function]
        call = node_span(program, graph.frames[node.action.callee].call)
        within = call.file == span.file and span.begin <= call.begin < call.end <= span.end
        if within and function.type.elem is not None:
            message = f"`{function.name}` ends without returning a value, so what `{root}` points to is not known"
            message += f", and `{name}` may be any of several buffers"
            return message, ((function.span, "no value is returned here"), (call, "its value is used here"))
    return None


def _set(program: Program, wanted: ast.Index) -> tuple[Span, ...]:
    """Where the text sets the pointers of a table in a struct, by the table's own member, of whatever struct."""
    table = base_of(wanted.base)
    if not isinstance(table, ast.Member):
        return ()
    found = []
    for function in program.functions.values():
        for a in function_expressions(function):
            if isinstance(a, ast.Assign) and isinstance(a.target, ast.Index) and not is_zero(a.value):
                base = base_of(a.target.base)
                if isinstance(base, ast.Member) and member_key(base) == member_key(table):
                    found.append(a.span)
    return _in_order(found)


def _in_order(spans: Iterable[Span]) -> tuple[Span, ...]:
    return tuple(sorted(dict.fromkeys(spans), key=lambda span: (span.file, span.begin)))
