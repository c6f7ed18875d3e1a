"""A buffer that a function returns: its own variable, what is not followed, or memory that it allocates."""

from __future__ import annotations

from opi_xform.graph.graph import Lost
from opi_xform.graph.statements import Flow
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements, uncast
from opi_xform.ownership.allocation.allocating import only_allocates
from opi_xform.ownership.explain.called import node_span, of_callee
from opi_xform.ownership.model.buffers import Buffer, Program
from opi_xform.ownership.model.lines import line_of, lines_of

SHOWN = 3
Words = tuple[str, tuple[tuple[Span, str], ...]]


def returns_own(program: Program, function: str, key: str) -> Words:
    """What is said of a pointer that a function returns: the address of a variable of its own."""
    variable = program.variables[key]
    whose = f"a variable of `{function}` that is gone when it returns"
    if variable.kind == "local-static":
        whose = f"a static variable of `{function}`, which all its calls share"
    elif variable.is_global:
        whose = f"a variable of the file, whose address `{function}` returns"
    message = f"the buffer is `{variable.name}`, {whose}"
    return message, ((variable.span, "declared here"),)


def returned_unseen(program: Program, n: int, key: str) -> Words:
    """Why a buffer is not known that a call returns which is not followed: what its text returns, or why that is so."""
    function, action = program.functions[key], program.graph.nodes[n].action
    found = [s.value for s, _ in statements(function.body) if isinstance(s, ast.Return) and s.value is not None]
    first = uncast(found[0]) if len(found) == 1 else None
    if isinstance(first, ast.AddrOf):
        first = uncast(first.operand)
    if isinstance(first, ast.VarRef) and first.type.is_array:
        return returns_own(program, function.name, first.var)
    why = of_callee(program, n, action.reason) if isinstance(action, Lost) else ""
    return f"the buffer is what `{function.name}` returns, which is not followed: {why}", (
        (node_span(program, n), "here"),
    )


def allocated_by_function(program: Program, flow: Flow, buffer: Buffer) -> Words | None:
    """Why the allocation in a function could not be rewritten for a buffer that a call of it returns.

    It sets a local variable to memory in several places, or is called for other memory as well.
    """
    graph, values, mine = program.graph, program.values, set(buffer.carrier.allocations)
    home = program.variables[buffer.carrier.variable].function
    for n in buffer.carrier.allocations:
        frame, action = graph.frames[graph.nodes[n].frame], graph.nodes[n].action
        if frame.call < 0 or frame.function in ("", home) or not isinstance(action, ins.CallInstr):
            continue
        if only_allocates(program, flow, frame.number, n):  # a call of it is as good as the allocation
            continue
        name, inside = program.functions[frame.function].name, set(map(values.objects.by_node.get, mine))
        sets: dict[str, dict[Span, None]] = {}
        for node in graph.nodes:
            given = values.operands.get(node.number, ())
            if node.frame != frame.number or not isinstance(node.action, ins.Define) or not given:
                continue
            target = node.action.target
            if isinstance(target, ins.Var) and values.symbols.base(values.symbols.not_null(given[0])) in inside:
                sets.setdefault(target.key, {})[node_span(program, node.number)] = None
        for key, places in sets.items():
            if len(places) > 1 and program.variables[key].kind == "local":
                local = program.variables[key].name
                message = f"`{name}`, which allocates `{buffer.name}`, sets `{local}` to memory at {lines_of(places)}"
                notes = tuple((span, f"`{local}` is set here") for span in list(places)[:SHOWN])
                return f"{message}; with one allocation in it, it could be followed", notes
        for node in graph.nodes:
            other = node.action
            if not isinstance(other, ins.CallInstr) or other.call is not action.call or node.number in mine:
                continue
            span, here = node_span(program, graph.frames[node.frame].call), node_span(program, n)
            if span.line <= 0:  # it may be called from files that were not given
                continue
            message = f"`{name}`, which allocates `{buffer.name}` at {line_of(here)}, allocates other memory for"
            notes = ((here, "allocated here"), (span, f"`{name}` is called for other memory here"))
            return f"{message} {line_of(span)}; a function for `{buffer.name}` alone could be followed", notes
    return None
